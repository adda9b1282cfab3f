"""What sift loses, beside its goals on Adult and beside every other method of ours on other tables.

    python benchmarks/sift_loss.py [--data FOLDER] [--effort balanced] [--only adult,sets,equal,others,census,...]
                                   [--methods mondrian,fcm,pca,fragment,swap,kaca] [--t 0.5,0.3,0.2,0.1]

All runs with k = 5 unless said, nothing suppressed; every release is judged by the plain models before it counts.
`others` compares the methods on Adult. Census-Income and Diabetes-130 are cut to their first 30,000 rows so that the
slower methods finish.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from adult import DATA, HIERARCHY, QUASI, adult

from polyveil.errors import PolyveilError
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.models import attributes_of, codes_of, from_classes, models_for
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

GOALS: Mapping[str, tuple[float, float]] = {"0.5": (0.111, 0.09), "0.3": (0.365, 0.30), "0.2": (1.039, 0.85)}
GOALS = {**GOALS, "0.1": (2.430, 2.0), "k": (0.093, 0.075)}
SET_GOALS = {2: (0.014, 0.010), 5: (0.051, 0.038), 10: (0.107, 0.080), 20: (0.221, 0.17)}
ROWS = 30_000
OTHER_TABLES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "census": (
        "census_income_kdd.parquet",
        {"age": "numeric", "class_of_worker": "", "education": "", "marital_stat": "", "race": "", "sex": ""},
        {"major_occupation_code": "equal", "weeks_worked_in_year": "ordered"},
    ),
    "diabetes": (
        "diabetes130.parquet",
        {"age": "", "race": "", "gender": "", "admission_type_id": "", "time_in_hospital": "numeric"},
        {"medical_specialty": "equal", "num_medications": "ordered"},
    ),
    "credit": (
        "credit_default_tw.parquet",
        {"AGE": "numeric", "SEX": "", "EDUCATION": "", "MARRIAGE": ""},
        {"LIMIT_BAL": "ordered", "PAY_0": "ordered"},
    ),
}
TITLES = {"others": "adult", "census": "census", "diabetes": "diabetes", "credit": "credit"}
"""Tables on which sift is compared with other methods, as --only names them and as they are shown."""
METHODS = "mondrian,fcm,pca,fragment,swap,kaca"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--effort", default="balanced")
    parser.add_argument("--only", default="adult,sets,equal,others,census,diabetes,credit")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--t", default="0.5,0.3,0.2,0.1")
    chosen = parser.parse_args()
    effort: Any = float(chosen.effort) if chosen.effort.replace(".", "").isdigit() else chosen.effort
    only, thresholds = chosen.only.split(","), chosen.t.split(",")
    frame = adult(chosen.data)
    if "adult" in only:
        for t in ("k", *thresholds):
            sketch, goal = GOALS.get(t, (np.nan, np.nan))
            policy = adult_policy(chosen.data, None if t == "k" else float(t), 5)
            show(f"Adult {'k only' if t == 'k' else 't = ' + t}", *run(frame, policy, "sift", effort), sketch, goal)
    if "sets" in only:
        for k, (mondrian, goal) in SET_GOALS.items():
            found = run(frame, adult_policy(chosen.data, None, k, sets=True), "sift", effort)
            show(f"Adult sets, k = {k}", *found, mondrian, goal)
    if "equal" in only:
        found = run(frame, adult_policy(chosen.data, 0.2, 5, sets=True), "sift", effort)
        show("Adult sets, occupation equal, t = 0.2", *found, 3.61, 1.6)
    for name in TITLES:
        if name in only:
            compare(name, chosen.data, thresholds, [name for name in chosen.methods.split(",") if name], effort)


def show(what: str, loss: float, classes: int, seconds: float, before: float, goal: float) -> None:
    print(f"{what:42} {loss:8.4f}  ({classes} classes, {seconds:.0f} s CPU)  before {before}, goal {goal}", flush=True)


def adult_policy(folder: Path, t: float | None, k: int, *, sets: bool = False) -> Policy:
    """With sets, no quasi-identifier has a hierarchy and occupations are all equally far apart."""
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}}
    for name in (*QUASI[1:], "occupation"):
        tree = str(folder / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv")
        columns[name] = {"role": "quasi", "recode": "set"} if sets else {"role": "quasi", "hierarchy": tree}
    columns["occupation"] = {"role": "sensitive", **({} if sets else {"hierarchy": columns["occupation"]["hierarchy"]})}
    columns["education-num"] = {"role": "sensitive", "type": "numeric"}
    privacy = {"k": k} if t is None else {"k": k, "t": t}
    return Policy.from_dict({"columns": columns, "privacy": privacy})


def other_frame(name: str, folder: Path) -> pl.DataFrame:
    """The columns and rows of a table other than Adult that are anonymized here."""
    file, quasi, sensitive = OTHER_TABLES[name]
    frame = pl.read_parquet(folder / file).select(*quasi, *sensitive).head(ROWS)
    return frame.with_columns(pl.col([c for c, kind in quasi.items() if not kind]).cast(pl.String))


def other_policy(name: str, t: float, k: int) -> Policy:
    """The same t for both sensitive columns of a table other than Adult."""
    _, quasi, sensitive = OTHER_TABLES[name]
    columns: dict[str, Any] = {c: {"role": "quasi", **({"type": kind} if kind else {})} for c, kind in quasi.items()}
    for column, distance in sensitive.items():
        kind = "numeric" if distance == "ordered" else "categorical"
        columns[column] = {"role": "sensitive", "type": kind, "distance": distance}
    return Policy.from_dict({"columns": columns, "privacy": {"k": k, "t": t}})


def compare(name: str, folder: Path, thresholds: list[str], methods: list[str], effort: Any) -> None:
    """sift beside other methods on one table, and how it stands against the best of them."""
    frame = adult(folder) if name == "others" else other_frame(name, folder)
    for t in thresholds:
        policy = adult_policy(folder, float(t), 5) if name == "others" else other_policy(name, float(t), 5)
        cells, losses = [], {}
        for method in ("sift", *methods):
            try:
                losses[method], _, seconds = run(frame, policy, method, effort)
                cells.append(f"{method} {losses[method]:.4f} ({seconds:.0f} s)")
            except PolyveilError as error:
                cells.append(f"{method} {type(error).__name__}")
        best = min(((loss, method) for method, loss in losses.items() if method != "sift"), default=(0.0, ""))
        stands = f"; sift loses {losses['sift'] / best[0]:.3f} of the best other, {best[1]}" if best[0] > 0 else ""
        print(f"{TITLES[name]:9} t = {t}: {', '.join(cells)}{stands}", flush=True)


def run(frame: pl.DataFrame, policy: Policy, method: str, effort: Any) -> tuple[float, int, float]:
    """Information loss, classes and processor seconds of one run, once the models have judged it."""
    table = encode(bind(policy, read(frame.select(*policy.columns))))
    attributes = attributes_of(table)
    models = models_for(policy, attributes)
    task = Task(table, models, attributes, policy.privacy, np.random.default_rng(1))
    start = time.process_time()
    options = {"effort": effort} if method == "sift" else {}
    found = make_method(MethodChoice(name=method, **options)).partition(task)
    seconds = time.process_time() - start
    statistics = from_classes(found.class_of_row, codes_of(table), attributes)
    broken = [model for model in models if not model.judge(statistics).holds]
    if broken:
        raise SystemExit(f"{method} broke {broken}")
    return measure_loss(table, found.class_of_row).information_loss, found.classes, seconds


if __name__ == "__main__":
    main()
