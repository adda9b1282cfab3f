"""Whether sift keeps its seconds, and what more of them bring, over twelve tables of 583 to a million rows.

    python benchmarks/sift_effort.py [--data FOLDER] [--seconds 2,5,20,60] [--only ilpd,adult,...] [--most-rows 1000000]

For each table: what mondrian loses, and for every effort in seconds how long the partition took, by how much that is
too long, and what it loses. Asked: no more than 15 % or one second too long; never more loss than mondrian; never more
than 1 % more loss with more seconds. On a machine that does other work, seconds are longer than they would be: the load
is shown, and processor seconds beside them.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from adult import DATA, QUASI, adult, coded
from sift_wide import creditcard

from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.models import KAnonymity, TCloseness, attributes_of, codes_of, from_classes
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

BLOOD = ("ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT")
LIVER = ("total_bilirubin", "alkaline_phosphatase", "albumin")
CENSUS = "age class_of_worker education marital_stat race hispanic_origin sex tax_filer_stat family_members_under_18"
CENSUS_WIDE = f"{CENSUS} citizenship veterans_benefits"
MONEY = ("BILL_AMT1", "BILL_AMT2", "PAY_AMT1", "PAY_AMT2", "LIMIT_BAL")
INCOMES = ("wage_per_hour", "capital_gains", "capital_losses", "dividends_from_stocks", "weeks_worked_in_year")
ILL = "AGE SEX MEDICAL_UNIT PREGNANT DIABETES COPD ASTHMA HIPERTENSION OBESITY TOBACCO RENAL_CHRONIC OTHER_DISEASE"


@dataclass(frozen=True)
class Asked:
    """A table: its file, columns, first rows and threshold; few-valued and text columns are categories."""

    file: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    t: float | None = None
    rows: int = 10**7
    sets: bool = False


TABLES = {
    "ilpd": Asked("ilpd.csv.gz", ("age", "gender", "class"), LIVER, 0.4),
    "hcv": Asked("hcv.csv.gz", ("Age", "Sex", "Category"), BLOOD, 0.5),
    "census-8k": Asked(
        "census_income_kdd.parquet",
        tuple(CENSUS_WIDE.split()),
        ("detailed_occupation_recode", "major_occupation_code"),
        0.2,
        8000,
        True,
    ),
    "adult": Asked("adult", QUASI, ("occupation", "education-num"), 0.2),
    "adult-k": Asked("adult", QUASI),
    "creditcard": Asked("creditcard", ()),
    "credit": Asked("credit_default_tw.parquet", ("AGE", "SEX", "EDUCATION", "MARRIAGE"), MONEY, 0.3),
    "census-40": Asked("census_income_kdd.parquet", ("*40",), rows=30_000, sets=True),
    "diabetes": Asked(
        "diabetes130.parquet",
        ("age", "race", "gender", "admission_type_id", "time_in_hospital"),
        ("medical_specialty", "num_medications"),
        0.2,
    ),
    "census": Asked("census_income_kdd.parquet", ("age", "sex", "race", "education", "marital_stat"), INCOMES, 0.3),
    "covid": Asked("covid_mx.parquet", ("AGE", "SEX", "MEDICAL_UNIT"), ("DATE_DIED", "ICU", "INTUBED"), 0.3),
    "covid-k": Asked("covid_mx.parquet", tuple(ILL.split())),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seconds", default="2,5,20,60")
    parser.add_argument("--only", default=",".join(TABLES))
    parser.add_argument("--most-rows", type=int, default=10**7)
    chosen = parser.parse_args()
    partition_of(
        coded(adult(chosen.data).head(2000), chosen.data), 0.4, effort="fast"
    )  # compiled before the clocks run
    print(f"{'table':11} {'rows':>9} {'quasi':>5} {'sens':>4}  effort    took    over     CPU    loss", flush=True)
    for name in chosen.only.split(","):
        table = table_of(TABLES[name], chosen.data)
        if table.rows <= chosen.most_rows:
            measure(name, table, TABLES[name].t, [float(one) for one in chosen.seconds.split(",")])


def measure(name: str, table: CodedTable, t: float | None, efforts: list[float]) -> None:
    """One line for mondrian and one for each effort; what is not as asked is marked."""
    plain, took, busy = partition_of(table, t, name="mondrian")
    head = f"{name:11} {table.rows:>9,} {len(table.quasi):>5} {len(table.sensitive):>4}"
    print(f"{head}  mondrian {took:5.1f} {'':7} {busy:7.1f} {plain:7.4f}", flush=True)
    before = np.inf
    for seconds in efforts:
        loss, took, busy = partition_of(table, t, effort=seconds)
        faults = ["too long"] if took > max(1.15 * seconds, seconds + 1.0) else []
        faults += ["above mondrian"] if loss > plain * (1 + 1e-9) else []
        faults += ["above fewer seconds"] if loss > 1.01 * before else []
        before = min(before, loss)
        load = f"load {os.getloadavg()[0]:.1f}"
        print(
            f"{head}  {seconds:6g} s {took:6.2f} {took - seconds:+7.2f} {busy:7.1f} {loss:7.4f}  {load}"
            f"{'  ' + ', '.join(faults) if faults else ''}",
            flush=True,
        )


def partition_of(table: CodedTable, t: float | None, name: str = "sift", **options: Any) -> tuple[float, float, float]:
    """Information loss, seconds and processor seconds of one run, once the plain models have judged it."""
    attributes = attributes_of(table)
    models = (KAnonymity(5), *(TCloseness(t, column.name) for column in table.sensitive if t is not None))
    task = Task(table, models, attributes, Privacy(k=5, t=t), np.random.default_rng(1))
    start, busy = time.perf_counter(), time.process_time()
    found = make_method(MethodChoice(name=name, **options)).partition(task)
    took, busy = time.perf_counter() - start, time.process_time() - busy
    statistics = from_classes(found.class_of_row, codes_of(table), attributes)
    if not all(model.judge(statistics).holds for model in models):
        raise SystemExit(f"{name} broke a model")
    return measure_loss(table, found.class_of_row).information_loss, took, busy


def table_of(asked: Asked, folder: Path) -> CodedTable:
    """The table as methods see it."""
    if asked.file == "adult":
        return coded(adult(folder, asked.sensitive), folder)
    if asked.file == "creditcard":
        return creditcard(folder / "arx_creditcard", 30_000)
    path = folder / asked.file
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)
    quasi = tuple(frame.columns[:41]) if asked.quasi == ("*40",) else asked.quasi
    quasi = tuple(column for column in quasi if column != "instance_weight")
    frame = frame.select(*quasi, *asked.sensitive).head(asked.rows)
    columns = {c: _column(frame[c], "quasi" if c in quasi else "sensitive", asked.sets) for c in frame.columns}
    return encode(bind(Policy.from_dict({"columns": columns, "privacy": {"k": 5}}), read(frame)))


def _column(values: pl.Series, role: str, sets: bool) -> dict[str, Any]:
    if values.dtype.is_numeric() and values.n_unique() > 20:
        return {"role": role, "type": "numeric"}
    as_set = {"recode": "set"} if sets and role == "quasi" else {}
    return {"role": role, "type": "categorical", **as_set}


if __name__ == "__main__":
    main()
