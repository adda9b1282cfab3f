"""Keys for people: what a reader of keys can count, and what an attacker gains who knows all rows of a person."""

from __future__ import annotations

import copy
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError

K = 3
COLUMNS = {
    "who": {"role": "person"},
    "age": {"role": "quasi", "type": "numeric"},
    "blood": {"role": "sensitive", "type": "categorical"},
}


def donations(people: int, seed: int) -> pl.DataFrame:
    """One to three rows per person; age grows between them, the blood group never changes."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 4, people))
    return pl.DataFrame(
        {
            "who": [f"p{number}" for number in person],
            "age": rng.integers(20, 60, people)[person] + rng.integers(0, 12, len(person)),
            "blood": rng.choice(["A", "B", "AB", "0"], people)[person],
        }
    )


def policy(method: str = "mondrian", person: str = "pseudonym", **privacy: Any) -> dict[str, Any]:
    return {
        "columns": copy.deepcopy(COLUMNS),
        "privacy": privacy or {"k": K},
        "method": {"name": method, **({"effort": "fast"} if method == "sift" else {})},
        "release": {"form": "generalized", "person": person},
    }


def ends(cell: str) -> tuple[int, int]:
    low, _, high = cell.strip("[]").partition("-")
    return int(low), int(high or low)


def covers(cell: str, ages: list[int]) -> bool:
    low, high = ends(cell)
    return all(low <= age <= high for age in ages)


def ages_of(frame: pl.DataFrame) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[row["who"]].append(row["age"])
    return found


@pytest.mark.parametrize("method", ["sift", "mondrian", "kaca", "fcm", "pca", "swap"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_group_holds_among_people_with_as_many_rows(method: str, seed: int) -> None:
    frame = donations(150, seed)
    release = polyveil.anonymize(frame, policy(method, k=K, l=2, t=0.5), seed=seed)
    assert release.verification is not None
    assert release.verification.holds
    people = release.table.group_by("who", "age").agg(pl.len(), pl.col("blood").first())
    assert people["who"].is_unique().all()
    everybody = people["blood"].value_counts()
    shares = {name: count / people.height for name, count in everybody.iter_rows()}
    for group in people.partition_by("age", "len"):
        assert group.height >= K
        counts = group["blood"].value_counts()["count"]
        assert counts.max() <= group.height / 2  # type: ignore[operator]
        found = {name: count / group.height for name, count in group["blood"].value_counts().iter_rows()}
        apart = sum(max(found.get(name, 0.0) - share, 0.0) for name, share in shares.items())
        assert apart <= 0.5 + 1e-6


def test_keys_are_new_every_time_and_say_nothing_of_the_person_or_the_order() -> None:
    frame = donations(150, 3)
    one, two = (polyveil.anonymize(frame, policy(), seed=1).table for _ in range(2))
    assert not set(one["who"]) & set(two["who"])
    assert one["who"].str.contains("^[0-9a-f]{16}$").all()
    assert one["who"].n_unique() == 150


def test_rows_per_person_leaves_rows_out_by_chance_and_says_so() -> None:
    frame = donations(150, 4)
    release = polyveil.anonymize(frame, policy(k=K, rows_per_person={"at_most": 1}))
    assert release.table.height == 150
    assert release.manifest["people"]["rows_left_out"] == frame.height - 150
    assert release.class_of_row is not None
    assert len(release.class_of_row) == frame.height
    assert any(
        f"{frame.height - 150:,} of {frame.height:,} rows were left out by chance" in note for note in release.notes
    )
    again = polyveil.anonymize(frame, policy(k=K, rows_per_person={"at_most": 1}))
    assert again.class_of_row is not None
    assert not np.array_equal(release.class_of_row < 0, again.class_of_row < 0)


def test_a_rare_number_of_rows_names_the_limit_that_works() -> None:
    frame = donations(60, 5)
    frame = pl.concat([frame, *[frame.filter(pl.col("who") == "p7")] * 4])
    with pytest.raises(polyveil.Unsatisfiable, match=r"rows_per_person: \{at_most: 3\}"):
        polyveil.anonymize(frame, policy())
    polyveil.anonymize(frame, policy(k=K, rows_per_person={"at_most": 3}))


def test_the_verifier_counts_people_by_their_keys() -> None:
    release = polyveil.anonymize(donations(100, 6), policy(), seed=1)
    table = release.frames["table"]
    one, two = table["who"].unique().sort()[:2]
    joined = table.with_columns(pl.col("who").replace(one, two))  # two people become one, with more rows
    assert polyveil.verify(replace(release, frames={"table": joined})).outcome == "fails"
    named = table.with_columns(pl.col("who").replace(one, "Mr Smith"))
    assert polyveil.verify(replace(release, frames={"table": named})).outcome == "fails"
    manifest = copy.deepcopy(dict(release.manifest))
    manifest["people"]["class_size"]["min"] += 1
    assert polyveil.verify(replace(release, manifest=manifest)).outcome == "fails"


def test_keys_need_a_person() -> None:
    asked = policy()
    asked["columns"]["who"] = {"role": "identifier"}
    with pytest.raises(PolicyError, match="no column has the role person"):
        polyveil.anonymize(donations(40, 7), asked)


def bloods_left(table: pl.DataFrame, ages: list[int]) -> set[str]:
    """What the attacker thinks possible who knows all ages of a person, and that blood groups do not change."""
    left: set[str] = {"A", "B", "AB", "0"}
    for age in ages:
        left &= set(table.filter(pl.col("age").map_elements(lambda c, a=age: covers(c, [a]), pl.Boolean))["blood"])
    return left


def test_intersecting_over_a_persons_rows_gains_nothing() -> None:
    """Vulnerable: rows are protected, and the groups of a person have few values in common. Protected: people are."""
    frame = donations(60, 8)
    by_rows = policy(person="none", k=2, l=2)
    by_rows["columns"]["who"] = {"role": "identifier"}
    vulnerable = polyveil.anonymize(frame, by_rows, seed=1)
    protected = polyveil.anonymize(frame, policy(person="none", k=2, l=2), seed=1)
    several = {who: ages for who, ages in ages_of(frame).items() if len(ages) > 1}
    certain = [len(bloods_left(vulnerable.table, ages)) == 1 for ages in several.values()]
    assert sum(certain) > 0
    assert min(len(bloods_left(protected.table, ages)) for ages in several.values()) >= 2


def candidates(table: pl.DataFrame, ages: list[int]) -> int:
    """How many keys may be a person of whom all ages are known, and so how many rows there are."""
    found = 0
    for mine in table.partition_by("who"):
        if mine.height == len(ages):
            cells = sorted(map(ends, mine["age"]))
            found += all(low <= age <= high for (low, high), age in zip(cells, sorted(ages), strict=True))
    return found


def test_keys_and_numbers_of_rows_do_not_single_anybody_out() -> None:
    """Vulnerable: keys beside groups of rows. Protected: keys that polyveil gives out."""
    frame = donations(80, 9)
    by_rows = policy(person="none")
    by_rows["columns"]["who"] = {"role": "identifier"}
    release = polyveil.anonymize(frame, by_rows, seed=1)
    assert release.class_of_row is not None
    cell = dict(
        frame.select("age", pl.Series("class", release.class_of_row))
        .group_by("class")
        .agg(pl.format("[{}-{}]", pl.col("age").min(), pl.col("age").max()))
        .iter_rows()
    )
    vulnerable = frame.with_columns(age=pl.Series([cell[number] for number in release.class_of_row]))
    protected = polyveil.anonymize(frame, policy(), seed=1).table
    known = list(ages_of(frame).values())
    assert min(candidates(vulnerable, ages) for ages in known) == 1
    assert min(candidates(protected, ages) for ages in known) >= K
