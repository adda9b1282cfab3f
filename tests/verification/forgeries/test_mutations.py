"""Any one thing of a release changed and everything restamped: nothing that changes what a reader learns is accepted.

    POLYVEIL_MUTATIONS=10000 POLYVEIL_SEED=1 pytest -s tests/verification/forgeries/test_mutations.py

makes as many and prints how they ended. What counts as accepted is said in `mutator.py`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.releases.signing import make_keys
from releases.test_relational import clinic as linked_tables
from releases.test_relational import policy as linked_policy
from verification.forgeries.forger import FORMS, people, policy
from verification.forgeries.mutator import KINDS, Mutator

MUTATIONS = int(os.environ.get("POLYVEIL_MUTATIONS", "240"))
SEED = int(os.environ.get("POLYVEIL_SEED", "2026"))


def with_people(asked: dict[str, Any], key: str) -> dict[str, Any]:
    asked["columns"]["who"] = {"role": "person"}
    asked["release"]["person"] = key
    return asked


def common_illness(frame: pl.DataFrame) -> pl.DataFrame:
    """More people have the flu than can hide among the others, so some rows are left out."""
    often = pl.int_range(pl.len()) % 5 < 3
    return frame.with_columns(pl.when(often).then(pl.lit("flu")).otherwise(pl.col("illness")).alias("illness"))


def variants() -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    """Every form and format as it is; people, rows left out, counts and other kinds of columns in some."""
    frame = people()
    twice = pl.Series([i // 2 if i < 60 else i for i in range(frame.height)])
    several = frame[twice].with_columns(twice.alias("who"))
    rich = frame.with_columns(
        pl.Series("day", [f"2026-0{1 + i % 9}-1{i % 7}" for i in range(frame.height)]),
        pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise(pl.col("illness")).alias("illness"),
        pl.when(pl.int_range(pl.len()) % 40 == 0).then(None).otherwise(pl.col("age")).alias("age"),
    )
    found = {f"{form} {ending}": (frame, policy(form, ending)) for form in FORMS for ending in ("csv", "parquet")}
    for ending in ("csv", "parquet"):
        found[f"people {ending}"] = several, with_people(policy("generalized", ending), "none")
        found[f"keys {ending}"] = several, with_people(policy("generalized", ending), "pseudonym")
        asked = policy("generalized", ending)
        asked["columns"] |= {"day": {"role": "quasi", "type": "date"}, "town": {"role": "quasi", "recode": "set"}}
        found[f"dates and sets {ending}"] = rich, asked
        asked = policy("sliced", ending)
        asked["release"] |= {"counts": True, "generalize": "kaca"}
        asked["privacy"]["k"] = 3
        found[f"counts {ending}"] = frame, asked
        for form in ("generalized", "anatomized"):
            asked = policy(form, ending)
            asked["method"] = {"name": "mbf"}
            asked["release"]["form"] = form
            asked["privacy"]["suppression_limit"] = 0.6
            found[f"left out of {form} {ending}"] = common_illness(frame), asked
        asked = policy("generalized", ending)
        asked |= {"privacy": {"k": 4, "any": 1}, "method": {"name": "sift", "effort": "fast"}}
        found[f"any column {ending}"] = frame, asked
        asked = policy("generalized", ending)
        risk = {"max": 0.1, "attacker": "journalist", "population": {"weights": True}}
        asked |= {"privacy": {"k": 4, "t": 0.6, "risk": risk}}
        asked["columns"]["weight"] = {"role": "weight"}
        weights = pl.Series("weight", [1 + i * 7 % 11 / 3 for i in range(frame.height)])
        found[f"weights {ending}"] = frame.with_columns(weights), asked
    return found


def population(frame: pl.DataFrame) -> pl.DataFrame:
    """Everybody of the table, and three others for each."""
    others = [frame.with_columns(pl.col("age") + years) for years in (1, -1, 2)]
    return pl.concat([frame, *others]).select("age", "town")


def linked(keys: bool, ending: str) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """Linked tables, by the groups of their people or by a key of every person."""
    asked = linked_policy(keys=keys, l=2, **({"rows_per_person": {"at_most": 1}} if keys else {"t": 0.6}))
    asked["release"]["format"] = ending
    return linked_tables(150, seed=3) if keys else linked_tables(60), asked


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Mutator]:
    """A release of every variant, signed where its name says so, with a place to change it in."""
    place = tmp_path_factory.mktemp("genuine")
    make_keys(place / "key")
    found: dict[str, Mutator] = {}
    for name, (frame, asked) in variants().items():
        polyveil.anonymize(frame, asked, out=place / name, seed=1)
        found[name] = Mutator(place / name, place / f"changed {name}")
    for ending in ("csv", "parquet"):
        for keys in (False, True):
            name = f"linked tables {'by keys' if keys else 'by group'} {ending}"
            polyveil.anonymize(*linked(keys, ending), out=place / name, seed=1)
            found[name] = Mutator(place / name, place / f"changed {name}")
        name, people_file = f"population {ending}", place / f"people of {ending}.csv"
        population(people()).write_csv(people_file)
        asked = policy("generalized", ending)
        asked["privacy"] = {
            "l": 2, "risk": {"max": 0.05, "attacker": "journalist", "population": {"table": str(people_file)}}
        }  # fmt: skip
        polyveil.anonymize(people(), asked, out=place / name, seed=1)
        found[name] = Mutator(place / name, place / f"changed {name}", population=population(people()))
    for form in FORMS:
        name = f"signed {form}"
        asked = policy(form, "parquet")
        polyveil.anonymize(people(), asked, out=place / name, seed=1, sign=place / "key")
        found[name] = Mutator(place / name, place / f"changed {name}", place / "key.pub")
    return found


def test_no_change_is_accepted_that_tells_a_reader_something_else(genuine: dict[str, Mutator]) -> None:
    ended: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    accepted = []
    names = sorted(genuine)
    for number in range(MUTATIONS):
        name = names[number % len(names)]
        what, outcome = genuine[name].mutate(SEED * 1_000_003 + number)
        ended[outcome] += 1
        by_kind[what.split(":")[0]][outcome] += 1
        if outcome == "not made":
            ended[what] += 1
        if outcome == "accepted":
            accepted.append(f"{number} {name}: {what}")
            print(accepted[-1], flush=True)
        if number % 500 == 499:
            print(number + 1, dict(ended), flush=True)
    print(dict(ended), *(f"{kind}: {dict(counts)}" for kind, counts in by_kind.items()), sep="\n")
    assert not accepted, accepted[:20]
    assert ended["refused"] > 0.7 * MUTATIONS
    assert ended["not made"] < 0.1 * MUTATIONS


def test_every_kind_of_change_is_made(genuine: dict[str, Mutator]) -> None:
    assert len(KINDS) >= 9
    assert len(genuine) >= 18
