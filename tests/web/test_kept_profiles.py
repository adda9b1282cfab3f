"""Profiles outlive a restart, and nothing else: not a changed file, another sheet, damage, or the table itself."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")

from polyveil.table.profiling.profile import column_profiles
from polyveil.table.source import Table, read
from polyveil.web import kept_profiles
from polyveil.web.kept_profiles import FILE, Profiles, profiles_of
from polyveil.web.settings import Settings
from polyveil.web.store import Store
from polyveil.web.tables import Library

PEOPLE = b"age,born,town,wage\n30,1994-01-05,Cork,12.5\n31,1993-02-06,Derry,-9\n44,1980-03-07,,n/a\n"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The tables that were looked at."""
    seen: list[Table] = []

    def look(table: Table) -> Profiles:
        seen.append(table)
        return column_profiles(table)

    monkeypatch.setattr(kept_profiles, "column_profiles", look)
    return seen


def test_a_restart_takes_the_profile_that_is_there(tmp_path: Path, looks: list[Table]) -> None:
    store = Store(Settings(folder=tmp_path))
    table = store.add_upload("people.csv", io.BytesIO(PEOPLE)).id
    first = Library(store).open(table).profiles
    folder = store.table_folder(table)
    assert (folder / FILE).is_file()
    assert folder.stat().st_mode & 0o077 == 0
    assert Library(store).open(table).profiles == first
    assert len(looks) == 1
    (folder / FILE).write_text('{"made_of": 3}', encoding="utf-8")
    assert Library(store).open(table).profiles == first
    assert len(looks) == 2
    stored = store.table(table)
    stored.path.write_bytes(PEOPLE + b"50,1970-01-01,Cork,3\n")
    again = Library(store).open(table).profiles
    assert len(looks) == 3
    assert again != first
    store.delete_table(table)
    assert not folder.exists()


def test_a_profile_comes_back_as_it_was(tmp_path: Path, looks: list[Table]) -> None:
    table = read(pl.read_csv(PEOPLE, try_parse_dates=True))
    first = profiles_of(table, tmp_path, "one")
    assert profiles_of(table, tmp_path, "one") == first
    assert len(looks) == 1
    born = next(each for each in first if each.name == "born")
    assert born.low == dt.date(1980, 3, 7)
    profiles_of(table, tmp_path, "another")
    profiles_of(table, tmp_path / "deleted", "one")
    assert len(looks) == 3
