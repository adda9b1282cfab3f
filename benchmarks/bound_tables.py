"""Whether the bound is ever above a release: every method on every table of the data folder; writes bound.md.

    python benchmarks/bound_tables.py [--data FOLDER] [--rows 1000] [--seconds 3] [--only adult,census,...]

Each table (some of its rows) is released with k = 5 and t = 0.5, with k = 5 and t = 0.2, and with k = 5, two values in
every group and a tenth of the rows that may be left out; some also with risk, any, people or weights. Every method
makes a release through the pipeline, and what its manifest says is lost is compared with the bound. A method that
refuses or finds no release is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from adult import DATA, HIERARCHY, QUASI, adult
from measured_pages import BOUND, markdown, percent, put
from methods_tables import described
from sift_loss import OTHER_TABLES

import polyveil
from polyveil.errors import PolyveilError
from polyveil.methods import METHODS
from polyveil.pipeline import try_out

TABLES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    **OTHER_TABLES,
    "hcv": ("hcv.csv.gz", {"Age": "numeric", "Sex": ""}, {"ALB": "ordered", "ALT": "ordered"}),
    "ilpd": ("ilpd.csv.gz", {"age": "numeric", "gender": ""}, {"total_bilirubin": "ordered", "albumin": "ordered"}),
    "covid": (
        "covid_mx.parquet",
        {"AGE": "numeric", "SEX": "", "MEDICAL_UNIT": "", "PREGNANT": "", "TOBACCO": ""},
        {"CLASIFFICATION_FINAL": "equal", "PNEUMONIA": "equal"},
    ),
    "creditcard (ARX)": (
        "arx_creditcard/creditcard_int.csv.gz",
        {"SEX": "", "EDUCATION": "", "MARRIAGE": "", "AGE": "numeric", "PAY_2": "numeric", "BILL_AMT1": "numeric"},
        {"LIMIT_BAL": "ordered", "PAY_0": "ordered"},
    ),
}
"""File, quasi-identifiers with their types, and sensitive columns with their distances."""
NOT_RUN = ("auto",)
"""It tries the others."""
LEFT_OUT = {"k": 5, "l": 2, "diversity": "distinct", "suppression_limit": 0.1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", default=",".join(("adult", *TABLES)))
    chosen = parser.parse_args()
    names = chosen.only.split(",")
    lines = []
    for title, frame, policy in cases(chosen.data, names):
        lines.append([title, *compared(frame.sample(min(chosen.rows, frame.height), seed=1), policy, chosen.seconds)])
        print(*lines[-1], sep="   ", flush=True)
    head = ["table and requirements", "every release loses at least", "the best method loses", "which", "releases"]
    if len(names) == 1 + len(TABLES):
        put("bound-tables", markdown(head, lines), BOUND)


def compared(frame: pl.DataFrame, policy: dict[str, Any], seconds: float) -> list[str]:
    """The bound, the least loss of all methods, which, and how many made a release; the bound is below each."""
    least, losses = polyveil.bound(frame, policy, seconds=seconds), {}
    for name in [name for name in METHODS if name not in NOT_RUN]:
        options = {"effort": "fast"} if name == "sift" else {}
        try:
            made = try_out(frame, {**policy, "method": {"name": name, **options}}, seed=1)
        except PolyveilError:
            continue
        losses[name] = made.loss["information_loss"]
        if least.information_loss > losses[name]:
            raise SystemExit(f"the bound {least.information_loss} is above a release of {name}: {losses[name]}")
    if not losses:
        return [percent(least.normalized_loss), "no release", "", "0"]
    best = min(losses, key=lambda name: losses[name])
    columns = sum(about["role"] == "quasi" for about in policy["columns"].values())
    return [percent(least.normalized_loss), percent(losses[best] / columns), best, str(len(losses))]


def cases(folder: Path, names: list[str]) -> Iterator[tuple[str, pl.DataFrame, dict[str, Any]]]:
    """Titles, tables and policies."""
    for name in names:
        frame, columns = _adult(folder) if name == "adult" else _other(name, folder)
        for title, privacy in {
            "t = 0.5": {"k": 5, "t": 0.5},
            "t = 0.2": {"k": 5, "t": 0.2},
            "two values, rows left out": LEFT_OUT,
            **_further(name),
        }.items():
            yield f"{name}, {title}", frame, _policy(columns, privacy)
    if "diabetes" in names:
        frame, columns = _other("diabetes", folder, "patient_nbr")
        for title, privacy in {"people": {"k": 5}, "people, t = 0.5": {"k": 5, "t": 0.5}}.items():
            yield f"diabetes, {title}", frame, _policy({**columns, "patient_nbr": {"role": "person"}}, privacy)
    if "census" in names:
        frame, columns = _other("census", folder, "instance_weight")
        with_weights = {**columns, "instance_weight": {"role": "weight"}}
        yield "census, weights, t = 0.5", frame, _policy(with_weights, {"k": 5, "t": 0.5})


def _further(name: str) -> dict[str, dict[str, Any]]:
    """More requirements for some tables."""
    if name == "adult":
        mean = {"average": 0.1, "strict_k": 3}
        return {"risk 0.09": {"risk": {"max": 0.09}}, "mean risk 0.1": {"risk": mean}, "any two": {"k": 5, "any": 2}}
    return {"any two": {"k": 5, "any": 2}} if name == "credit" else {}


def _policy(columns: dict[str, Any], privacy: dict[str, Any]) -> dict[str, Any]:
    return {"columns": columns, "privacy": privacy, "release": {"form": "generalized"}}


def _adult(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    trees = {name: folder / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv" for name in QUASI[1:]}
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}}
    columns |= {name: {"role": "quasi", "hierarchy": str(tree)} for name, tree in trees.items()}
    columns |= {"occupation": {"role": "sensitive"}, "education-num": {"role": "sensitive", "type": "numeric"}}
    return adult(folder).select(*columns), columns


def _other(name: str, folder: Path, *more: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    file, quasi, sensitive = TABLES[name]
    wanted = [*quasi, *sensitive, *more]
    if file.endswith(".parquet"):
        frame = pl.read_parquet(folder / file, columns=wanted)
    else:
        separator = ";" if "arx" in file else ","
        frame = pl.read_csv(
            folder / file, separator=separator, null_values=["", "NA"], infer_schema_length=None
        ).select(wanted)
    return described(frame, quasi, sensitive)


if __name__ == "__main__":
    main()
