"""Tables in which a person has several rows: every class counted again in people, by plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError

METHODS = ("sift", "mondrian", "kaca", "fcm", "pca", "swap", "mbf")
K, L, T = 3, 2, 0.4


def visits(people: int, seed: int) -> pl.DataFrame:
    """People of one to four rows; age changes a little between them, illness and wage as they like."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for person in range(people):
        age = int(rng.integers(20, 60))
        for _ in range(int(rng.integers(1, 5))):
            town = str(rng.choice(["a", "b", "c"]))
            illness, wage = str(rng.choice(list("uvwxyz"))), int(rng.integers(0, 8))
            rows.append((f"p{person}", age + int(rng.integers(0, 3)), town, illness, wage))
    return pl.DataFrame(rows, schema=["who", "age", "town", "illness", "wage"], orient="row")


def policy(method: str, **privacy: Any) -> dict[str, Any]:
    return {
        "columns": {
            "who": {"role": "person"},
            "age": {"role": "quasi", "type": "numeric"},
            "town": {"role": "quasi", "recode": "set"},
            "illness": {"role": "sensitive"},
            "wage": {"role": "sensitive", "type": "numeric"},
        },
        "privacy": privacy,
        "method": {"name": method, **({"effort": "fast"} if method == "sift" else {})},
        "release": {"form": "generalized"},
    }


def by_class(frame: pl.DataFrame, class_of_row: Sequence[int]) -> dict[int, dict[str, list[dict[str, Any]]]]:
    found: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for owner, row in zip(class_of_row, frame.iter_rows(named=True), strict=True):
        found[owner][row["who"]].append(row)
    return found


def shares(people: dict[str, list[dict[str, Any]]], column: str) -> dict[Any, float]:
    total: dict[Any, float] = defaultdict(float)
    for rows in people.values():
        for row in rows:
            total[row[column]] += 1 / len(rows) / len(people)
    return total


def apart(one: dict[Any, float], two: dict[Any, float], ordered: bool) -> float:
    values = sorted({*one, *two})
    if not ordered:
        return sum(max(one.get(v, 0.0) - two.get(v, 0.0), 0.0) for v in values)
    upto, moved = 0.0, 0.0
    for value in values[:-1]:
        upto += one.get(value, 0.0) - two.get(value, 0.0)
        moved += abs(upto)
    return moved / max(len(values) - 1, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_class_keeps_its_guarantees_in_people_and_in_rows(method: str, seed: int) -> None:
    frame = visits(60, seed)
    asked = policy(method, k=K, l=L) if method == "mbf" else policy(method, k=K, l=L, t=T)
    try:
        release = polyveil.anonymize(frame, asked, seed=seed)
    except polyveil.Unsatisfiable:
        assert method == "mbf"  # it leaves rows out rather than merging, and none may be left out here
        return
    assert release.class_of_row is not None
    whole = by_class(frame, [0] * frame.height)[0]
    for people in by_class(frame, release.class_of_row.tolist()).values():
        assert len(people) >= K
        everything = [row for rows in people.values() for row in rows]
        for column in ("illness", "wage"):
            for value in {row[column] for row in everything}:
                having = sum(any(row[column] == value for row in rows) for rows in people.values())
                assert having <= len(people) / L + 1e-9
            if method != "mbf":
                ordered = column == "wage"
                assert apart(shares(people, column), shares(whole, column), ordered) <= T + 1e-6
                of_rows = shares({str(i): [row] for i, row in enumerate(everything)}, column)
                table = shares({str(i): [row] for i, row in enumerate(frame.iter_rows(named=True))}, column)
                assert apart(of_rows, table, ordered) <= T + 1e-9


def test_all_rows_of_a_person_lie_in_one_class_and_nothing_tells_whose_they_are() -> None:
    frame = visits(60, 3)
    release = polyveil.anonymize(frame, policy("mondrian", k=K))
    assert release.class_of_row is not None
    owners = frame.select("who", pl.Series("class", release.class_of_row)).unique()
    assert owners["who"].is_unique().all()
    assert "who" not in release.table.columns
    assert release.manifest["people"]["count"] == 60
    assert release.to_dict()["privacy"]["k"] >= K


@pytest.mark.parametrize("method", ["sift", "mondrian", "kaca"])
def test_one_row_per_person_changes_nothing(method: str) -> None:
    frame = visits(60, 4).unique("who", maintain_order=True)
    as_person = polyveil.anonymize(frame, policy(method, k=K, t=T), seed=1)
    asked = policy(method, k=K, t=T)
    asked["columns"]["who"] = {"role": "identifier"}
    as_row = polyveil.anonymize(frame, asked, seed=1)
    assert as_person.class_of_row is not None
    assert as_row.class_of_row is not None
    assert np.array_equal(as_person.class_of_row, as_row.class_of_row)
    one, two = (each.table.sort(pl.all()).write_csv() for each in (as_person, as_row))
    assert one == two  # the order of rows is chance
    told = {key: value for key, value in as_person.manifest.items() if key not in ("people", "policy")}
    assert told == {key: value for key, value in as_row.manifest.items() if key != "policy"}


def test_a_row_without_a_person_is_a_fault() -> None:
    who = pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("who")).alias("who")
    with pytest.raises(PolicyError, match="1 rows do not say whom they are about"):
        polyveil.anonymize(visits(20, 5).with_columns(who), policy("mondrian", k=2))


def test_slices_cannot_keep_a_persons_rows_together() -> None:
    asked = policy("sloms", k=3, l=2)
    asked["release"] = {}
    with pytest.raises(PolicyError, match="rows of a person together"):
        polyveil.anonymize(visits(40, 6), asked)
