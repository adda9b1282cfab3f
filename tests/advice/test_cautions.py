"""Policies that lose much for an avoidable reason get a warning with the figure of the alternative; sound ones none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyveil.advice.cautions import cautions
from polyveil.demo import EXAMPLES, write_example
from polyveil.policy import from_dict, from_file
from polyveil.table.source import read

ROWS = 400
RNG = np.random.default_rng(5)
AGE = RNG.integers(18, 80, ROWS)
FRAME = pl.DataFrame(
    {
        "age": AGE,
        "town": RNG.choice(["Ulm", "Kiel", "Bonn", "Trier", "Jena", "Gera", "Hof", "Celle"], ROWS),
        "job": RNG.choice([f"job {i}" for i in range(14)], ROWS),
        "street": RNG.choice([f"street {i}" for i in range(9)], ROWS),
        "zip": [f"{x:05d}" for x in RNG.integers(10_000, 99_999, ROWS)],
        "born": [str(np.datetime64("2000-01-01") - int(x) * 365 - int(x) % 7) for x in AGE],
        "code": [f"K{i:05d}" for i in range(ROWS)],
        "hours": np.where(RNG.random(ROWS) < 0.05, 999_999, RNG.integers(0, 60, ROWS)),
        "sex": (sexes := RNG.choice(["f", "m"], ROWS)),
        "gender": np.where(sexes == "f", "woman", "man"),
        "pay": (pay := RNG.integers(10, 300, ROWS) * 100),
        "fine": np.where(RNG.random(ROWS) < 0.05, 9_999_999, pay // 10),
        "ill": RNG.choice(["flu", "cold", "ulcer", "gout"], ROWS),
        "since": [str(np.datetime64("2015-01-01") + int(x)) for x in RNG.integers(0, 2000, ROWS)],
    }
)
TOWNS = sorted(FRAME["town"].unique().to_list())
Q_AGE: dict[str, Any] = {"role": "quasi", "type": "numeric"}
Q_TOWN: dict[str, Any] = {"role": "quasi", "type": "categorical", "recode": "set"}
PAY: dict[str, Any] = {"role": "sensitive", "type": "numeric"}
ILL: dict[str, Any] = {"role": "sensitive"}
PLAIN: dict[str, Any] = {"role": "quasi", "type": "categorical"}
BARE: dict[str, Any] = {"role": "quasi"}
OTHERS: dict[str, Any] = {"age": Q_AGE, "job": Q_TOWN, "street": Q_TOWN, "ill": ILL}


def warned(columns: dict[str, Any], privacy: dict[str, Any] | None = None, **more: Any) -> list[str]:
    """Places that get a warning; each has figures, and the change loses less."""
    policy = from_dict({"columns": columns, "privacy": privacy or {"k": 3, "t": 0.25}, "other_columns": "drop", **more})
    found = cautions(read(FRAME), policy)
    assert all(each.lost_then < each.lost_now for each in found)
    assert all("%" in str(each) for each in found)
    return [each.place for each in found]


TRAPS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any], str]] = {
    # what is written -> columns, privacy, more, the place that gets the warning
    "the trap: a suggested interval hierarchy on a column made sensitive": (
        {"age": Q_AGE, "town": Q_TOWN, "pay": {**PAY, "hierarchy": {"intervals": {"width": 1000, "levels": 3}}}},
        None, {}, "columns.pay",
    ),
    "hierarchical distance asked for by name": (
        {"age": Q_AGE, "town": Q_TOWN,
         "pay": {**PAY, "hierarchy": {"intervals": {"width": 500, "levels": 3}}, "distance": "hierarchical"}},
        None, {}, "columns.pay",
    ),
    "equal distance on a number": (
        {"age": Q_AGE, "town": Q_TOWN, "pay": {"role": "sensitive", "type": "categorical", "distance": "equal"}},
        None, {}, "columns.pay",
    ),
    "a number declared as categories": (
        {"age": Q_AGE, "town": Q_TOWN, "pay": {"role": "sensitive", "type": "categorical"}}, None, {}, "columns.pay",
    ),
    "a mask on a sensitive number": (
        {"age": Q_AGE, "town": Q_TOWN, "pay": {"role": "sensitive", "hierarchy": {"mask": 5}}}, None, {}, "columns.pay",
    ),
    "date parts on a sensitive date": (
        {"age": Q_AGE, "town": Q_TOWN,
         "since": {"role": "sensitive", "type": "date", "hierarchy": {"date": ["month", "year"]}}},
        None, {}, "columns.since",
    ),
    "no recode: set": (
        {**OTHERS, "town": PLAIN, "job": PLAIN, "street": PLAIN}, None, {},
        "columns.job, street, town",
    ),
    "no type and no recode: set": (
        {**OTHERS, "town": BARE, "job": BARE, "street": BARE}, None, {},
        "columns.job, street, town",
    ),
    "a hierarchy without groups": (
        {**OTHERS, "town": {"role": "quasi", "hierarchy": TOWNS}}, None, {}, "columns.town",
    ),
    "given intervals on a quasi-identifier": (
        {"age": {**Q_AGE, "hierarchy": {"intervals": {"width": 20, "levels": 2}}}, "town": Q_TOWN, "ill": ILL},
        None, {}, "columns.age",
    ),
    "date parts on a quasi-identifier": (
        {"born": {"role": "quasi", "type": "date", "hierarchy": {"date": ["month", "year"]}}, "ill": ILL},
        None, {}, "columns.born",
    ),
    "numbers as categories": (
        {"age": {"role": "quasi", "type": "categorical"}, "town": Q_TOWN, "ill": ILL}, None, {}, "columns.age",
    ),
    "a mask that hides too little": (
        {"age": Q_AGE, "zip": {"role": "quasi", "type": "categorical", "hierarchy": {"mask": 1}}, "ill": ILL},
        None, {}, "columns.zip",
    ),
    "a quasi-identifier unique per person": (
        {"age": Q_AGE, "town": Q_TOWN, "code": {"role": "quasi", "type": "categorical"}, "ill": ILL},
        None, {}, "columns.code",
    ),
    "codes for missing in a quasi-identifier": (
        {"hours": {"role": "quasi", "type": "numeric"}, "town": Q_TOWN, "ill": ILL}, None, {}, "columns.hours",
    ),
    "t that only one group reaches": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": ILL}, {"k": 3, "t": 0.01}, {}, "privacy.t",
    ),
    "t of one column that only one group reaches": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": {**ILL, "t": 0.01}}, {"k": 3}, {}, "columns.ill.t",
    ),
    "k larger than any reader needs": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": ILL}, {"k": 100}, {}, "privacy.k",
    ),
    "beta that is hard to reach": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": ILL}, {"k": 3, "beta": 0.05}, {}, "privacy.beta",
    ),
    "delta that is hard to reach": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": ILL}, {"k": 3, "delta": 0.05}, {}, "privacy.delta",
    ),
    "a method that loses more": (
        {"age": Q_AGE, "town": Q_TOWN, "ill": ILL}, None, {"method": {"name": "mondrian"}}, "method",
    ),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_an_avoidable_loss_is_told_with_its_figure(trap: str) -> None:
    columns, privacy, more, place = TRAPS[trap]
    assert place in warned(columns, privacy, **more)


def test_a_sound_policy_gets_no_warning() -> None:
    assert warned({"age": Q_AGE, "town": Q_TOWN, "pay": PAY, "ill": ILL}) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_demo_policies_get_no_warning(example: str, tmp_path: Path) -> None:
    write_example(example, tmp_path, rows=600, seed=1)
    (data,) = [path for path in tmp_path.glob("*.csv") if path.stem == example]
    assert [str(each) for each in cautions(read(data), from_file(tmp_path / "policy.yaml"))] == []
