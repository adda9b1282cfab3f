"""Stand-ins for the real tables, from the built-in census: the same file and column names, a few hundred rows.

They let every script run to its end without the real tables. What a page says of them means nothing.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.demo import EXAMPLES

ROWS = 1_500
CENSUS_INCOME = {
    "age": "age",
    "sex": "sex",
    "race": "race",
    "marital-status": "marital_stat",
    "relationship": "full_or_part_time_employment_stat",
    "occupation": "detailed_occupation_recode",
    "hours-per-week": "detailed_industry_recode",
    "workclass": "class_of_worker",
    "education": "education",
    "education-num": "major_industry_code",
    "native-country": "major_occupation_code",
}
CREDIT = {
    "sex": "SEX",
    "education": "EDUCATION",
    "marital-status": "MARRIAGE",
    "age": "AGE",
    "fnlwgt": "LIMIT_BAL",
    "hours-per-week": "BILL_AMT1",
    "education-num": "PAY_AMT1",
}
HCV = {"age": "Age", "sex": "Sex", "hours-per-week": "ALB", "education-num": "ALP"}
ILPD = {"age": "age", "sex": "gender", "hours-per-week": "total_bilirubin", "education-num": "albumin"}


def write_stand_in(folder: Path) -> Path:
    """Write a table under every name the experiments read, and return the folder."""
    census = EXAMPLES["census"]
    people = census.make_chunk(np.random.default_rng(1), ROWS, 0)
    split = pl.Series("split", ["train", "train", "test"] * (ROWS // 3))
    write_csv(people.with_columns(split), folder / "adult.csv.gz")
    (folder / "hierarchies").mkdir()
    for name, text in census.hierarchies.items():
        known = name.replace("income", "salary-class")
        (folder / "hierarchies" / f"adult_hierarchy_{known}").write_text(text, encoding="utf-8")
    complete = people.drop_nulls()
    renamed(complete, CENSUS_INCOME).write_parquet(folder / "census_income_kdd.parquet")
    renamed(complete, CREDIT).write_parquet(folder / "credit_default_tw.parquet")
    write_csv(renamed(complete, HCV), folder / "hcv.csv.gz")
    write_csv(renamed(complete, ILPD), folder / "ilpd.csv.gz")
    return folder


def renamed(frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    return frame.select(pl.col(old).alias(new) for old, new in names.items())


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.write_csv(null_value="?").encode()))
