"""Random tables in which people have several rows: every method with every model, counted again by plain Python.

Everything is counted from the written files, the private map of rows and the table itself (`counted_by_hand`). Some
cases per run; POLYVEIL_PEOPLE_CASES=N runs N, which go round all pairs of a method and a model with new tables.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from conformance.counted_by_hand import PROMISES, People, Promise
from conformance.visits import people_in, policy, visits
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.methods import METHODS as REGISTERED

METHODS = tuple(REGISTERED)
CANNOT = ("sloms", *(name for name in METHODS if name.startswith(("mbf", "msdcf", "mmdcf"))))
"""Methods that may refuse: slices of their own, or buckets, which leave rows out instead of merging."""
CASES = int(os.environ.get("POLYVEIL_PEOPLE_CASES", "57"))
Box = tuple[int, int, frozenset[str]]


def box_of_cells(row: dict[str, Any]) -> Box:
    ends = [int(end) for end in row["age"].strip("[]").split("-")]
    return ends[0], ends[-1], frozenset(row["town"].strip("{}").split(", "))


def groups_seen(frame: pl.DataFrame, written: pl.DataFrame, mapped: pl.DataFrame) -> dict[Box, list[dict[str, Any]]]:
    """The rows of the input behind each group that a reader sees; checks that the files show just these."""
    assert mapped["row"].to_list() == list(range(1, frame.height + 1))
    classes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row, number in zip(frame.to_dicts(), mapped["class"], strict=True):
        if number is not None and number >= 0:
            classes[number].append(row)
    owners = [who for rows in classes.values() for who in people_in(rows)]
    assert len(owners) == len(set(owners)), "somebody's rows are in two groups"
    behind: dict[Box, list[dict[str, Any]]] = defaultdict(list)
    for rows in classes.values():
        ages = [row["age"] for row in rows]
        behind[min(ages), max(ages), frozenset(row["town"] for row in rows)] += rows
    shown: dict[Box, Counter[Hashable]] = defaultdict(Counter)
    names = [name for name in written.columns if name in ("x", "n", "y")]
    for row in written.to_dicts():
        shown[box_of_cells(row)][tuple(row[name] for name in names)] += 1
    assert shown == {box: Counter(tuple(row[name] for name in names) for row in rows) for box, rows in behind.items()}
    return behind


def told_apart(rows: list[dict[str, Any]], who: str) -> list[People]:
    """The people of a group by how many rows they have, which keys show."""
    found: dict[int, dict[Hashable, list[dict[str, Any]]]] = defaultdict(dict)
    for person, own in people_in(rows, who).items():
        found[len(own)][person] = own
    return list(found.values())


def within_reach(frame: pl.DataFrame, promise: Promise, k: int, *, keyed: bool) -> bool:
    """Whether all people as one group, or as one for every number of rows, keep the promise."""
    rows = frame.to_dicts()
    whole = people_in(rows)
    return all(promise.kept(group, whole, k) for group in (told_apart(rows, "who") if keyed else [whole]))


def case(number: int) -> tuple[str, str]:
    """The method and the model of a case: each method in turn, and with each model before any pair comes again."""
    turn, place = divmod(number, len(METHODS))
    return METHODS[place], list(PROMISES)[(turn + place) % len(PROMISES)]


@pytest.mark.parametrize("number", range(CASES))
def test_every_method_keeps_every_promise_in_people(number: int, tmp_path: Path) -> None:
    method, name = case(number)
    promise, rng = PROMISES[name], np.random.default_rng([7, number])
    keyed = bool(rng.random() < 0.2)
    k, limit = int(rng.integers(2, 5)), 0.0 if keyed else float(rng.choice([0.0, 0.0, 0.15]))
    frame = visits(rng, 2 if keyed else 4, people=int(rng.integers(24, 50)))
    asked = policy(method, promise, k, limit, keyed=keyed)
    try:
        release = polyveil.anonymize(frame, asked, out=tmp_path / "release", seed=number)
    except (PolicyError, Unsatisfiable) as error:
        if method not in CANNOT and (isinstance(error, PolicyError) or within_reach(frame, promise, k, keyed=keyed)):
            raise
        return
    release.save_private(tmp_path / "private")
    mapped = pl.read_parquet(tmp_path / "private" / "row_map.parquet").sort("row")
    written = pl.read_parquet(tmp_path / "release" / "table.parquet")
    behind = groups_seen(frame, written, mapped)
    released = people_in([row for rows in behind.values() for row in rows])
    everybody = people_in(frame.to_dicts())
    assert sum(map(len, everybody.values())) - sum(map(len, released.values())) <= limit * frame.height
    references = [released, everybody] if release.manifest["counts_of"] == "input" else [released]
    for rows in behind.values():
        for group in told_apart(rows, "who") if keyed else [people_in(rows)]:
            assert all(promise.kept(group, whole, k) for whole in references)
    if keyed:
        by_key = [told_apart(rows.to_dicts(), "who") for _, rows in written.group_by("age", "town")]
        shown = sorted((len(group), len(next(iter(group.values())))) for groups in by_key for group in groups)
        groups = [group for rows in behind.values() for group in told_apart(rows, "who")]
        assert shown == sorted((len(group), len(next(iter(group.values())))) for group in groups)


def test_counting_by_hand_refuses_what_breaks_a_promise() -> None:
    """The plain counting can fail: a group of one value, or of too few people, keeps nothing but k = 1."""
    letters = [{"who": f"p{i}", "x": "abcdefgh"[i % 8], "n": i % 8, "y": "st"[i % 2]} for i in range(64)]
    alone = people_in([row for row in letters if row["x"] == "a"])
    whole = people_in(letters)
    for name, promise in PROMISES.items():
        assert promise.kept(whole, whole, 5), name
        assert promise.kept(alone, whole, 1) == (name == "k"), name
        assert not promise.kept(people_in(letters[:1]), whole, 2), name
