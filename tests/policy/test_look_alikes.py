"""Names that look alike are refused where they are published; names that are easily mistaken are mentioned."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.policy.look_alikes import differ_by_case, is_unusual, look_alike, skeleton

ROWS = 12


def release_of(name: str, role: str = "insensitive", **release: Any) -> Any:
    frame = pl.DataFrame({"age": range(ROWS), "illness": ["flu", "cold"] * (ROWS // 2), name: ["=1+1", "-2"] * 6})
    columns = {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}, name: {"role": role}}
    return polyveil.anonymize(frame, {"columns": columns, "privacy": {"k": 3}, "release": release})


@pytest.mark.parametrize("name", ["\u0430ge", "age ", " age", "a\u200bge", "\uff41ge", "a\u00adge", "ag\u0435"])
def test_a_name_that_looks_like_another_is_refused(name: str) -> None:
    assert skeleton(name) == "age"
    assert is_unusual(name) or name.strip() == name
    with pytest.raises(PolicyError, match="looks like that of another column"):
        release_of(name)
    assert release_of(name, "drop").verification.holds


def test_the_same_letter_in_two_forms_looks_alike() -> None:
    assert look_alike(["caf\u00e9", "cafe\u0301", "cafe"]) == [("caf\u00e9", "cafe\u0301")]


def test_names_that_differ_by_capitals_are_mentioned() -> None:
    assert differ_by_case(["age", "Age", "town"]) == [("age", "Age")]
    found = release_of("Age")
    assert found.verification.holds
    assert any("differ only by capital letters" in note for note in found.notes)


def test_an_invisible_character_is_mentioned_and_marked() -> None:
    found = release_of("ward\u200b")
    assert any("a reader does not see" in note for note in found.notes)
    marks = {about["name"]: about["marks"] for about in polyveil.verify(found).columns}
    assert "its name has spaces or characters that a reader does not see" in marks["ward\u200b"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formulas_are_mentioned_once_where_a_csv_is_written(ending: str) -> None:
    notes = [note for note in release_of("ward", format=ending).notes if "formulas" in note]
    assert len(notes) == (ending == "csv")
    assert all(note.startswith("ward: ") and "import the column as text" in note for note in notes)
