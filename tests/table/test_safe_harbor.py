"""Safe Harbor: each of the eighteen kinds is found where it is, and only there; what no program can tell is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.table.profiling.safe_harbor import SMALL_ZIP_AREAS, SafeHarbor, check_safe_harbor

ROWS = 60
HARMLESS = {"illness": ["flu", "cold", "gout"] * 20, "state": ["OH", "TX", "NY"] * 20, "year": [2020, 2021, 2022] * 20}
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "surname": ("A", [f"Person{i}" for i in range(ROWS)]),
    "city": ("B", [f"Town {i % 30}" for i in range(ROWS)]),
    "zip": ("B", [f"{44100 + i}" for i in range(ROWS)]),
    "zip_masked": ("B", [f"{4410 + i}*" for i in range(ROWS)]),
    "latitude": ("B", [41.0 + i / 97 for i in range(ROWS)]),
    "admission_date": ("C", [f"2026-03-{1 + i % 28:02d}" for i in range(ROWS)]),
    "discharge_month": ("C", [f"2026-{1 + i % 12:02d}" for i in range(ROWS)]),
    "age": ("C", [40 + i for i in range(ROWS)]),
    "birth_year": ("C", [1900 + i for i in range(ROWS)]),
    "contact": ("D", [f"216-555-{1000 + i}" for i in range(ROWS)]),
    "fax": ("E", [f"216555{1000 + i}" for i in range(ROWS)]),
    "mail": ("F", [f"p{i}@example.org" for i in range(ROWS)]),
    "tax_key": ("G", [f"{100 + i}-45-{1000 + i}" for i in range(ROWS)]),
    "mrn": ("H", [100_000 + 7 * i for i in range(ROWS)]),
    "patient_id": ("H", [100_000 + 7 * i for i in range(ROWS)]),
    "member_id": ("I", [f"M{i:05d}" for i in range(ROWS)]),
    "account_number": ("J", [f"{7_000_000 + i}" for i in range(ROWS)]),
    "license_number": ("K", [f"L{i:06d}" for i in range(ROWS)]),
    "vin": ("L", [f"1HGCM{i:06d}" for i in range(ROWS)]),
    "imei": ("M", [f"35{i:013d}" for i in range(ROWS)]),
    "homepage": ("N", [f"https://example.org/{i}" for i in range(ROWS)]),
    "last_seen_from": ("O", [f"10.0.0.{i}" for i in range(ROWS)]),
    "fingerprint": ("P", [f"{i * 7919:08x}" for i in range(ROWS)]),
    "photo": ("Q", [f"{i}.jpg" for i in range(ROWS)]),
    "key": ("R", [f"{i * 104_729:032x}" for i in range(ROWS)]),
}


def answers(found: SafeHarbor) -> dict[str, str]:
    return {each.letter: each.answer for each in found.kinds}


def test_a_table_without_identifiers_leaves_only_what_people_must_judge() -> None:
    found = check_safe_harbor(pl.DataFrame(HARMLESS))
    assert found.found == ()
    assert found.outcome == "not checked"  # never "holds"
    assert [letter for letter, answer in answers(found).items() if answer == "cannot be told"] == ["R", "–"]
    assert len(found.kinds) == 19  # eighteen kinds, and actual knowledge


@pytest.mark.parametrize("name", COLUMNS)
def test_each_kind_is_found_and_nothing_else_is(name: str) -> None:
    letter, cells = COLUMNS[name]
    found = check_safe_harbor(pl.DataFrame({**HARMLESS, name: cells}))
    assert {each.letter: each.columns for each in found.found} == {letter: (name,)}
    assert found.outcome == "fails"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("zip", ["44***", "45***", "9****"] * 20),
        ("age", ["[20-39]", "[40-89]", "90+"] * 20),
        ("admission_year", ["2020", "2021", "2026"] * 20),
        ("admitted", ["[2020-01-01/2021-12-31]", "[2022-01-01/2022-12-31]", "*"] * 20),
        ("phone_service", ["yes", "no", "yes"] * 20),
        ("email_optin", ["yes", "no", "no"] * 20),
        ("country", ["US", "CA", "MX"] * 20),
        ("glucose", [80.5 + i / 7 for i in range(ROWS)]),
    ],
)
def test_what_the_rule_allows_is_not_found(name: str, cells: list[Any]) -> None:
    assert check_safe_harbor(pl.DataFrame({**HARMLESS, name: cells})).found == ()


def test_three_figures_of_a_zip_code_depend_on_how_many_people_live_there() -> None:
    large = check_safe_harbor(pl.DataFrame({**HARMLESS, "zip": ["441**", "452**", "100**"] * 20}))
    assert answers(large)["B"] == "cannot be told"
    assert "20,000 people by the newest census" in next(each.reason for each in large.kinds if each.letter == "B")
    for area in SMALL_ZIP_AREAS:
        small = check_safe_harbor(pl.DataFrame({**HARMLESS, "zip": ["441**", f"{area}**", "100**"] * 20}))
        assert answers(small)["B"] == "found", area


def test_cells_that_reach_beyond_89_are_found_in_a_release_too() -> None:
    assert (
        answers(check_safe_harbor(pl.DataFrame({**HARMLESS, "age": ["[20-39]", "[85-94]", "50"] * 20})))["C"] == "found"
    )


def test_free_text_may_hide_every_kind() -> None:
    notes = [f"A longer remark about what happened on the visit number {i}, with details" for i in range(ROWS)]
    found = check_safe_harbor(pl.DataFrame({**HARMLESS, "remarks": notes}))
    assert set(answers(found).values()) == {"cannot be told"}
    assert all("remarks" in each.columns for each in found.kinds if each.letter not in ("R", "–"))


def test_the_command_says_it_in_words_and_as_data(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    pl.DataFrame({**HARMLESS, "mail": COLUMNS["mail"][1]}).write_csv(path)
    run = CliRunner()
    shown = run.invoke(app, ["check", str(path), "--safe-harbor"])
    assert shown.exit_code == 1
    assert "No: 1 kind of identifiers of Safe Harbor found." in shown.output
    assert "p17@example.org" not in shown.output
    data = json.loads(run.invoke(app, ["check", str(path), "--safe-harbor", "--json"]).stdout)
    assert data["outcome"] == "fails"
    assert [each["letter"] for each in data["kinds"] if each["answer"] == "found"] == ["F"]
    refused = run.invoke(app, ["check", str(path), "--safe-harbor", "--quasi", "state"])
    assert refused.exit_code == 2
    assert "looks at the whole table as it is" in refused.output


def test_a_release_of_ours_can_be_looked_at(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": [30 + i % 40 for i in range(ROWS)], **HARMLESS})
    policy = {
        "columns": {name: {"role": "sensitive" if name == "illness" else "quasi"} for name in people.columns},
        "privacy": {"k": 5},
        "method": {"name": "mondrian"},
        "release": {"format": "csv"},
    }
    polyveil.anonymize(people, policy, out=tmp_path / "release")
    assert check_safe_harbor(tmp_path / "release" / "table.csv").found == ()
