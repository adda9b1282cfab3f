"""SPSS, Stata and SAS files: labels of columns and values, kinds of missing, and what is refused."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

import polyveil
from polyveil.errors import InputError

FILES = Path(__file__).parent / "files"
CELLS = pl.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "age": [30.0, 999.0, 41.0, None],
        "rating": [1.0, 5.0, 3.0, 2.0],
        "born": [dt.date(1980, 1, 2), None, dt.date(1999, 12, 31), dt.date(2001, 5, 6)],
        "town": ["Ulm", "", "Bonn", "Köln"],
    }
)
LABELS = {"sex": "Sex of the person", "age": "Age in years"}
VALUES = {
    "sex": {1: "Male", 2: "Female", 9: "Refused"},
    "age": {999: "Unknown"},
    "rating": {1: "not at all", 5: "fully"},
}


@pytest.mark.parametrize("name", ["survey.sav", "survey.zsav"])
def test_spss_labels_become_categories_and_kinds_of_missing_are_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    missing = {"sex": [9], "age": [{"lo": 900, "hi": 999}]}
    pyreadstat.write_sav(
        CELLS, path, column_labels=LABELS, variable_value_labels=VALUES, missing_ranges=missing, compress="z" in name
    )
    table = polyveil.read(path)
    assert table.frame.to_dict(as_series=False) == {
        "sex": ["Male", "Female", "Refused", None],
        "age": [30, None, 41, None],
        "rating": [1, 5, 3, 2],  # only its ends have labels, so it is a number
        "born": CELLS["born"].to_list(),
        "town": ["Ulm", None, "Bonn", "Köln"],
    }
    assert table.labels == LABELS
    assert table.codebook["sex"].missing == (9.0,)
    assert table.codebook["rating"].values == {1.0: "not at all", 5.0: "fully"}
    assert {column: kinds.to_list() for column, kinds in table.missing_kinds.items()} == {
        "age": [None, "999", None, None]
    }


def test_stata_letters_are_kinds_of_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"income": [1.5, "a", None, "b"], "sex": [1, 2, "a", 1], "n": [1, 2, 3, 4]},
        schema_overrides={"income": pl.Object, "sex": pl.Object},
        strict=False,
    )
    pyreadstat.write_dta(
        frame,
        tmp_path / "survey.dta",
        column_labels={"income": "Yearly income"},
        variable_value_labels={"income": {"a": "Refused", "b": "Not asked"}, "sex": {1: "m", 2: "f", "a": "Refused"}},
        missing_user_values={"income": ["a", "b"], "sex": ["a"]},
    )
    table = polyveil.read(tmp_path / "survey.dta")
    assert table.frame["income"].to_list() == [1.5, None, None, None]
    assert table.frame["sex"].to_list() == ["m", "f", "Refused", "m"]
    assert table.missing_kinds["income"].to_list() == [None, "a", None, "b"]
    assert table.codebook["income"].values == {"a": "Refused", "b": "Not asked"}
    assert table.labels == {"income": "Yearly income"}


def test_sas_transport(tmp_path: Path) -> None:
    pyreadstat.write_xport(CELLS, tmp_path / "survey.xpt", column_labels=LABELS, file_format_version=8)
    table = polyveil.read(tmp_path / "survey.xpt")
    assert table.frame["sex"].to_list() == [1, 2, 9, None]
    assert table.frame["born"].to_list() == CELLS["born"].to_list()
    assert table.labels == LABELS


def test_sas_with_and_without_its_catalog(tmp_path: Path) -> None:
    # Written with the writer inside pyreadstat, which Python has no door to: labels, kinds of missing, a date, UTF-8.
    shutil.copy(FILES / "survey.sas7bdat", tmp_path)
    table = polyveil.read(tmp_path / "survey.sas7bdat")
    assert table.frame.to_dict(as_series=False) == {
        "SEX": [1, 2, 1, 2],
        "AGE": [30, None, 41, 52],
        "INCOME": [1500.5, None, None, None],
        "TOWN": ["Ulm", None, "Bonn", "Köln"],
        "BORN": [dt.date(1980, 1, 2), None, dt.date(1999, 12, 31), dt.date(2001, 5, 6)],
    }
    assert table.labels == {
        "SEX": "Sex of the person",
        "AGE": "Age in years",
        "INCOME": "Yearly income",
        "BORN": "Date of birth",
    }
    assert {column: kinds.to_list() for column, kinds in table.missing_kinds.items()} == {
        "INCOME": [None, "A", None, "B"]
    }
    shutil.copy(FILES / "survey.sas7bcat", tmp_path)
    named = polyveil.read(tmp_path / "survey.sas7bdat")
    assert named.frame["SEX"].to_list() == ["Male", "Female", "Male", "Female"]
    assert named.codebook["SEX"].is_labelled
    assert named.codebook["INCOME"].values == {}  # the labels of .A and .B, which the reader gives as that of 0
    assert named.frame.drop("SEX").equals(table.frame.drop("SEX"))


def test_a_damaged_sas_catalog_is_said_in_one_line(tmp_path: Path) -> None:
    shutil.copy(FILES / "survey.sas7bdat", tmp_path)
    (tmp_path / "survey.sas7bcat").write_bytes(b"no catalog")
    with pytest.raises(InputError, match=r"survey\.sas7bcat cannot be read as a file of SAS"):
        polyveil.read(tmp_path / "survey.sas7bdat")


def test_two_codes_with_one_label_stay_codes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    pyreadstat.write_sav(frame, tmp_path / "s.sav", variable_value_labels={"a": {1: "yes", 2: "yes"}})
    assert polyveil.read(tmp_path / "s.sav").frame["a"].to_list() == [1, 2]


@pytest.mark.parametrize("name", ["a.sav", "a.zsav", "a.dta", "a.sas7bdat", "a.xpt"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,SECRET\n", b"$FL2" + bytes(400)])
def test_what_is_no_such_file_is_said_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        polyveil.read(tmp_path / name)
    assert "\n" not in str(error.value)
    assert "SECRET" not in str(error.value)
    assert "cannot be read as a file of" in str(error.value) or "is empty" in str(error.value)


def test_a_file_without_rows(tmp_path: Path) -> None:
    pyreadstat.write_sav(pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)}), tmp_path / "s.sav")
    with pytest.raises(InputError, match="has no rows"):
        polyveil.read(tmp_path / "s.sav")


def test_a_sheet_is_for_workbooks(tmp_path: Path) -> None:
    pyreadstat.write_sav(CELLS, tmp_path / "s.sav")
    with pytest.raises(InputError, match="--sheet is for Excel"):
        polyveil.read(tmp_path / "s.sav", sheet="A")
