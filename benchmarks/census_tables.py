"""Census-Income (KDD) as han2013 uses it: five quasi-identifiers, six sensitive attributes, slices of Table VIII."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

QUASI = ("age", "sex", "race", "marital_stat", "full_or_part_time_employment_stat")
SENSITIVE = (
    "detailed_occupation_recode",
    "detailed_industry_recode",
    "class_of_worker",
    "education",
    "major_occupation_code",
    "major_industry_code",
)
"""Table VII's numbers 6 to 11, by their names; the numbers of values printed for the last two are each other's."""
# Five levels, as in Table VII: years, steps of 5, 10 and 20 years, all.
AGES = [list(range(0, 101, width)) for width in (5, 10, 20)]
# Table VIII; for d = 5 the table forgets attribute 8, which the text has in the first slice.
SLICES = {3: (2, 1), 4: (2, 2), 5: (3, 2), 6: (3, 3)}


def census() -> pl.DataFrame:
    """All 299,285 rows, the columns of han2013."""
    folder = Path(os.environ.get("POLYVEIL_DATA", Path(__file__).parents[2] / "shared" / "data"))
    return pl.read_parquet(folder / "census_income_kdd.parquet").select(*QUASI, *SENSITIVE)


def in_labour_force(frame: pl.DataFrame) -> pl.DataFrame:
    """Without the people (half of them) whose occupation and industry are "not in universe"."""
    return frame.filter(pl.col("major_occupation_code") != "Not in universe")


def slices_of(attributes: int) -> list[list[str]]:
    first = SLICES[attributes][0]
    names = list(SENSITIVE[:attributes])
    return [names[:first], names[first:]]


def policy_of(attributes: int, l: int, k: int | None, method: dict[str, Any], **release: Any) -> dict[str, Any]:  # noqa: E741
    """A policy over the first `attributes` sensitive columns; rows may be suppressed without limit."""
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "type": "numeric", "hierarchy": {"intervals": AGES}},
        **{name: {"role": "quasi"} for name in QUASI[1:]},
        **{name: {"role": "sensitive", "type": "categorical"} for name in SENSITIVE[:attributes]},
    }
    privacy: dict[str, Any] = {"l": l, "suppression_limit": 1.0}
    if k is not None:
        privacy["k"] = k
    return {"version": 1, "columns": columns, "privacy": privacy, "method": method, "release": release}
