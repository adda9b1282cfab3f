"""A database from outside the package is one file: the page that shows one is installed, read, written and verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from outside_package import install, run_beside
from polyveil.errors import InputError
from polyveil.plugins import PluginError
from polyveil.table.databases import DATABASES, place_of

USE = """
import zipfile, polars as pl, polyveil
from pathlib import Path
from polyveil.verification import verify
from polyveil.errors import InputError

people = pl.DataFrame({"age": [n % 20 for n in range(60)], "ill": ["flu", "gout", "ulcer"] * 20})
with zipfile.ZipFile("clinic", "w") as shelf:
    people.write_parquet("people"), shelf.write("people")
Path("people").unlink()
assert polyveil.read("shelf://clinic", table="people").height == 60
columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
table = polyveil.read("shelf://clinic", table="people")
polyveil.anonymize(table, policy, out="shelf://clinic?schema=release")
assert verify("shelf://clinic?schema=release").holds
from shelf_database import ShelfSession
from polyveil.table.databases import place_of
session = ShelfSession(place_of("shelf://clinic"), writable=True)
name = session.stored("release", "table")
session.create(name, session._frame(name.name).with_columns(ill=pl.lit("flu")))
session.commit()
assert not verify("shelf://clinic?schema=release").holds
try:
    polyveil.read("shelf://clinic", table="nobody")
except InputError as error:
    print(error)
"""


def test_a_database_from_outside_is_one_file(tmp_path: Path) -> None:
    install(tmp_path, "add-a-database.md")
    done = run_beside(tmp_path, USE)
    assert done.returncode == 0, done.stderr
    assert "It has: people" in done.stdout
    assert sorted(file.suffix for file in tmp_path.iterdir() if file.is_file()) == ["", ".py"]


def test_an_unknown_scheme_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="postgresql://, sqlite://, duckdb://, spark://, delta:// or iceberg://"):
        place_of("shelf://clinic")


def test_what_is_not_a_database_is_not_added() -> None:
    with pytest.raises(PluginError, match=r"it is not a polyveil\.table\.databases\.Database"):
        DATABASES.add("wish", object())  # type: ignore[arg-type]
