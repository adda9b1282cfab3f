"""Diabetes-130 protected by rows and by people: 101,766 stays of 71,518 patients, who have up to 40 stays each.

    python benchmarks/people_diabetes.py [--data FOLDER] [--rows N] [--t 0.2,0.3] [--effort fast] [--write]

For k alone and for every t the same policy runs twice: `patient_nbr` as an identifier, so that guarantees count rows,
and as the person, so that they count people. The first line is what is lost when all rows of a person look alike, and
every person is a group: no release by people can lose less. Groups of fewer than k people are counted from the released
classes and the input, by plain counting. Seconds are the processor's, of all cores, after kernels are compiled.
`--rows` takes the first patients with about that many rows, `--write` puts the table into docs/how-to/people.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from measured_pages import PEOPLE, markdown, put

import polyveil
from polyveil.measure import measure_loss
from polyveil.policy import load_policy
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

K = 5
QUASI = {
    "race": {"recode": "set"},
    "gender": {"recode": "set"},
    "age": {"type": "ordinal", "hierarchy": {"order": [f"[{n}-{n + 10})" for n in range(0, 100, 10)]}},
    "admission_type_id": {"type": "categorical", "recode": "set"},
    "medical_specialty": {"recode": "set"},
    "time_in_hospital": {"type": "numeric"},
}
SENSITIVE = {
    "diag_1": {"type": "categorical"},
    "num_medications": {"type": "numeric"},
    "readmitted": {"type": "categorical"},
}
"""The first three digits of the diagnosis are grouped by the chapters of ICD-9 before anything else."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--t", default="0.2,0.3")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    frame = stays(asked.data / "diabetes130.parquet", asked.rows)
    polyveil.anonymize(stays(asked.data / "diabetes130.parquet", 500), policy_of("identifier", 0.5, "fast"))  # compiles
    polyveil.anonymize(stays(asked.data / "diabetes130.parquet", 500), policy_of("person", 0.5, "fast"))
    rows = [["any", "people, at least", alone(frame), "", "", ""]]
    for t in [1.0, *map(float, asked.t.split(","))]:
        for role, name in (("identifier", "rows"), ("person", "people")):
            rows.append(["none" if t == 1 else f"{t:g}", name, *measured(frame, policy_of(role, t, asked.effort))])
            print(*rows[-1], sep=" | ", flush=True)
    header = ("t", "guarantees count", "detail lost", "groups", f"groups of fewer than {K} people", "processor seconds")
    if asked.write:
        put("people", markdown(header, rows, words=2), PEOPLE)


def stays(file: Path, rows: int) -> pl.DataFrame:
    """The columns used, with diagnoses grouped as in the data set's own paper (Strack et al. 2014)."""
    frame = pl.read_parquet(file)
    if rows:
        frame = frame.sort("patient_nbr").head(rows)
    code = pl.col("diag_1").str.head(3).cast(pl.Int64, strict=False)
    chapters = [
        ("circulatory", code.is_between(390, 459) | (code == 785)),
        ("respiratory", code.is_between(460, 519) | (code == 786)),
        ("digestive", code.is_between(520, 579) | (code == 787)),
        ("diabetes", code == 250),
        ("injury", code.is_between(800, 999)),
        ("musculoskeletal", code.is_between(710, 739)),
        ("genitourinary", code.is_between(580, 629) | (code == 788)),
        ("neoplasms", code.is_between(140, 239)),
    ]
    group = pl.coalesce([pl.when(test).then(pl.lit(name)) for name, test in chapters] + [pl.lit("other")])
    return frame.with_columns(group.alias("diag_1")).select("patient_nbr", *QUASI, *SENSITIVE)


def policy_of(role: str, t: float, effort: str) -> dict[str, Any]:
    return {
        "columns": {
            "patient_nbr": {"role": role},
            **{name: {"role": "quasi", **about} for name, about in QUASI.items()},
            **{name: {"role": "sensitive", **about} for name, about in SENSITIVE.items()},
        },
        "privacy": {"k": K, "t": t} if t < 1 else {"k": K},
        "method": {"name": "sift", "effort": effort},
        "release": {"form": "generalized"},
    }


def alone(frame: pl.DataFrame) -> str:
    """What is lost where every person is a group."""
    coded = encode(bind(load_policy(policy_of("person", 1.0, "fast")), read(frame)))
    if coded.person is None:
        raise SystemExit("every person has one row")
    return percent(measure_loss(coded, coded.person).normalized_loss)


def percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def measured(frame: pl.DataFrame, policy: dict[str, Any]) -> Iterator[str]:
    began = time.process_time()
    release = polyveil.anonymize(frame, policy, seed=1)
    seconds = time.process_time() - began
    found = frame.select("patient_nbr", pl.Series("group", release.class_of_row))
    people = found.group_by("group").agg(pl.col("patient_nbr").n_unique())
    yield percent(release.loss["normalized_loss"])
    yield f"{people.height:,}"
    yield f"{people.filter(pl.col('patient_nbr') < K).height:,}"
    yield f"{seconds:.0f}"


if __name__ == "__main__":
    main()
