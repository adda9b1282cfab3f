"""Copies of releases for Excel, SPSS and Stata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError, VerificationFailed
from polyveil.releases.export import export


def people(path: Path) -> Path:
    rows = 40
    frame = pl.DataFrame(
        {
            "age": [20 + i for i in range(rows)],
            "sex": [float([1, 2, 9][i % 3]) for i in range(rows)],
            "income": [1000.5 * (1 + i % 4) for i in range(rows)],
            "ward": [f"W{i % 2}" for i in range(rows)],
        }
    )
    pyreadstat.write_sav(
        frame,
        path,
        column_labels={"sex": "Sex of the person", "income": "Monthly income"},
        variable_value_labels={"sex": {1: "Male", 2: "Female", 3: "Nobody has this", 9: "Refused"}},
        missing_ranges={"sex": [9]},
    )
    return path


def policy(**more: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "sex": {"role": "sensitive"},
            "income": {"role": "sensitive", "type": "numeric"},
            "ward": {"role": "insensitive"},
        },
        "privacy": {"k": 2},
        "method": {"name": "mondrian"},
        **more,
    }


@pytest.fixture(params=["csv", "parquet"])
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    asked = policy(release={"format": request.param})
    polyveil.anonymize(people(tmp_path / "people.sav"), asked, out=tmp_path / "release", seed=1)
    return tmp_path / "release"


def sorted_rows(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(frame.select("age", "sex", "income", "ward").rows(), key=str)


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".dta"])
def test_a_copy_has_the_rows_of_the_release(tmp_path: Path, release: Path, ending: str) -> None:
    copy = tmp_path / f"copy{ending}"
    export(release, copy)
    frame = polyveil.verification.load_release(release)[1]["table"]
    frame = frame.with_columns(pl.col("income").cast(pl.Float64))
    assert sorted_rows(polyveil.read(copy).frame) == sorted_rows(frame)


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_codes_and_kinds_of_missing_come_from_the_original(tmp_path: Path, release: Path, ending: str) -> None:
    copy = tmp_path / f"copy{ending}"
    export(release, copy, labels_from=tmp_path / "people.sav")
    table = polyveil.read(copy)
    assert table.labels == {"sex": "Sex of the person", "income": "Monthly income"}
    sex = table.codebook["sex"]
    assert set(sex.values.values()) == {"Male", "Female", "Refused"}, "no label of a value that the release lacks"
    assert [sex.values[code] for code in sex.missing] == ["Refused"]
    if ending == ".sav":
        assert sex.values == {1.0: "Male", 2.0: "Female", 9.0: "Refused"}
    assert set(table.frame["sex"].to_list()) == {"Male", "Female", "Refused"}


def test_a_release_that_fails_is_not_copied(tmp_path: Path, release: Path) -> None:
    file = release / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps({**manifest, "classes": 1}, indent=2, ensure_ascii=False) + "\n")
    with pytest.raises(VerificationFailed):
        export(release, tmp_path / "copy.xlsx")
    assert not (tmp_path / "copy.xlsx").exists()


def test_linked_tables_are_sheets_and_one_is_chosen_for_spss(tmp_path: Path) -> None:
    asked = policy(release={"form": "anatomized"}, privacy={"l": 2}, method={"name": "mbf"})
    polyveil.anonymize(people(tmp_path / "people.sav"), asked, out=tmp_path / "release", seed=1)
    assert export(tmp_path / "release", tmp_path / "copy.xlsx") == ("quasi", "sensitive_1")
    assert polyveil.read(tmp_path / "copy.xlsx", sheet="sensitive_1").height == 40
    with pytest.raises(InputError, match="Choose one with --table"):
        export(tmp_path / "release", tmp_path / "copy.sav")
    assert export(tmp_path / "release", tmp_path / "copy.sav", table="quasi") == ("quasi",)


def test_the_command(tmp_path: Path, release: Path) -> None:
    run = CliRunner().invoke(app, ["export", str(release), "--to", str(tmp_path / "copy.xlsx"), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["tables"] == ["table"]
    again = CliRunner().invoke(app, ["export", str(release), "--to", str(tmp_path / "copy.xlsx")])
    assert again.exit_code == 2
    wrong = CliRunner().invoke(app, ["export", str(release), "--to", str(tmp_path / "copy.pdf")])
    assert wrong.exit_code == 2


@pytest.mark.parametrize(
    ("name", "file"), [("t.csv", "table.csv"), ("t.parquet", "table.parquet"), ("t.sav", "table.csv")]
)
def test_the_format_of_a_release_follows_its_table(tmp_path: Path, name: str, file: str) -> None:
    table = polyveil.read(people(tmp_path / "people.sav"))
    path = tmp_path / name
    if name == "t.sav":
        people(path)
    else:
        (table.frame.write_csv if name == "t.csv" else table.frame.write_parquet)(path)
    polyveil.anonymize(path, policy(), out=tmp_path / "release", seed=1)
    assert (tmp_path / "release" / file).is_file()
    assert polyveil.verify(tmp_path / "release").holds
    asked = policy(release={"format": "parquet"})
    release = polyveil.anonymize(path, asked, out=tmp_path / "asked", seed=1)
    assert (tmp_path / "asked" / "table.parquet").is_file()
    assert "format" not in release.manifest["policy"]["release"]
