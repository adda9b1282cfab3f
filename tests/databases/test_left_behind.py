"""What somebody finds who looks beside the rows of a release: older rows, files that no table names, notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog

import polyveil
from databases.test_damage_in_places import iceberg
from polyveil.table.databases.sqlite_pages import beside_rows
from polyveil.verification import verify
from verification.forgeries.forger import people, policy, refused_for

__all__ = ["iceberg"]
ALICE = "Alice has flu"
ASKED = policy("generalized", "parquet")


def release(ward: str = "a") -> polyveil.Release:
    """A release with a text in every row by which it is found again."""
    return polyveil.anonymize(people().with_columns(pl.lit(ward).alias("ward")), ASKED, seed=1)


def found_in(folder: Path, text: str) -> list[str]:
    """The files below that have a text as it is; pages of Parquet files are read by rows."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    rows = {file: pq.read_table(file).to_pydict() for file in files if file.suffix == ".parquet"}
    return [file.name for file in files if text.encode() in file.read_bytes() or text in str(rows.get(file))]


@pytest.mark.parametrize("kind", ["folder", "delta", "iceberg", "sqlite"])
def test_of_a_release_that_was_replaced_nothing_is_left(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """No older version can be asked for, and no file beside has its rows."""
    where = {"folder": f"{tmp_path}/release", "delta": f"delta://{tmp_path}/release"}
    where["sqlite"] = f"sqlite://{tmp_path}/file.db?schema=release_2026"
    out = request.getfixturevalue("iceberg") if kind == "iceberg" else where[kind]
    release("first ward").save(out)
    assert found_in(tmp_path, "first ward")
    release("second ward").save(out, overwrite=True)
    assert found_in(tmp_path, "second ward")
    assert not found_in(tmp_path, "first ward")
    assert verify(out).holds


def test_space_of_older_rows_in_a_duckdb_file_is_named(tmp_path: Path) -> None:
    """DuckDB does not overwrite what was dropped, so the page says to publish to a new file."""
    out, file = f"duckdb://{tmp_path}/file.duckdb?schema=release_2026", tmp_path / "file.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE raw AS SELECT 'Alice ' || i AS name FROM range(100000) t(i)")
    release().save(out)
    with duckdb.connect(str(file)) as connection:
        connection.execute("DROP TABLE raw")
    assert b"Alice" in file.read_bytes()
    (named,) = [one for one in verify(out).findings if one.check == "file of the database"]
    assert (named.outcome, "space of deleted rows" in named.message) == ("not checked", True)


def add_a_note(catalog: Any, table: Any) -> None:
    rows = table.scan().to_arrow()
    catalog.drop_table(table.name())
    again = catalog.create_table(table.name(), schema=rows.schema, location=f"{table.location()}_again")
    again.append(rows, snapshot_properties={"note": ALICE})


def add_a_hidden_column(catalog: Any, table: Any) -> None:
    """A column of the file that the table does not name: its readers do not see it, and the file's do."""
    (task,) = table.scan().plan_files()
    file = Path(task.file.file_path.removeprefix("file://"))
    rows = pq.read_table(file)
    field = pa.field("name", pa.string(), metadata={"PARQUET:field_id": "99"})
    pq.write_table(rows.append_column(field, pa.array([ALICE] * len(rows))), file)


def leave_a_file(catalog: Any, table: Any) -> None:
    """As a writer does that is killed before the table names the file."""
    rows = pa.table({"name": [ALICE]})
    pq.write_table(rows, Path(table.location().removeprefix("file://")) / "data" / "00000-0-left-over.parquet")


def leave_statistics(catalog: Any, table: Any) -> None:
    from pyiceberg.table.statistics import StatisticsFile

    shot = table.current_snapshot().snapshot_id
    about = StatisticsFile(snapshot_id=shot, statistics_path=ALICE, file_size_in_bytes=1, file_footer_size_in_bytes=1,
                           blob_metadata=[])  # fmt: skip
    with table.update_statistics() as change:
        change.set_statistics(about)


def state_of(table: Any) -> Path:
    return Path(table.metadata_location.removeprefix("file://"))


def edit_state(table: Any, change: Callable[[dict[str, Any]], object]) -> None:
    state = json.loads(state_of(table).read_text())
    change(state)
    state_of(table).write_text(json.dumps(state))


def add_a_key(catalog: Any, table: Any) -> None:
    edit_state(table, lambda state: state["schemas"][0].update({"for": ALICE}))


def add_an_older_partition(catalog: Any, table: Any) -> None:
    field = {"source-id": 1, "field-id": 1000, "transform": "identity", "name": ALICE}
    edit_state(table, lambda state: state["partition-specs"].append({"spec-id": 7, "fields": [field]}))


def add_an_older_state(catalog: Any, table: Any) -> None:
    older = state_of(table).with_name("00000-older.metadata.json")
    older.write_text(ALICE)
    edit_state(table, lambda state: state["metadata-log"].append({"metadata-file": older.as_uri(), "timestamp-ms": 1}))


def add_bytes_to_a_file(catalog: Any, table: Any) -> None:
    (task,) = table.scan().plan_files()
    file = Path(task.file.file_path.removeprefix("file://"))
    pq.write_table(pq.read_table(file), file, store_schema=False)
    content = file.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    file.write_bytes(content[:footer] + ALICE.encode() + content[footer:])


BESIDE: list[Callable[[Any, Any], None]] = [
    add_a_note,
    add_a_hidden_column,
    leave_a_file,
    leave_statistics,
    add_a_key,
    add_an_older_partition,
    add_an_older_state,
    add_bytes_to_a_file,
]


@pytest.mark.parametrize("forge", BESIDE)
def test_what_stands_beside_the_rows_of_an_iceberg_release_is_refused(
    forge: Callable[[Any, Any], None], iceberg: str, tmp_path: Path
) -> None:
    release().save(iceberg)
    catalog = load_catalog("clinic")
    forge(catalog, catalog.load_table("release_2026.table"))
    catalog.close()
    assert "extra objects" in refused_for(verify(iceberg))
    assert found_in(tmp_path, ALICE)
    if forge in (leave_a_file, add_a_hidden_column):  # what the folder of the table has goes with it
        release().save(iceberg, overwrite=True)
        assert verify(iceberg).holds
        assert not found_in(tmp_path, ALICE)


def test_properties_of_an_iceberg_release_are_named(iceberg: str) -> None:
    """A catalog may set some by itself, so they are no forgery; and whoever reads the tables may read them."""
    release().save(iceberg)
    assert "schema" not in {one.check for one in verify(iceberg).findings}
    catalog = load_catalog("clinic")
    with catalog.load_table("release_2026.table").transaction() as change:
        change.set_properties(note=ALICE)
    catalog.close()
    (named,) = [one for one in verify(iceberg).findings if one.check == "schema"]
    assert (named.outcome, "1 properties" in named.message) == ("not checked", True)


def test_files_of_a_table_that_the_catalog_forgot_are_no_part_of_a_new_release(iceberg: str, tmp_path: Path) -> None:
    """Tables were dropped without their files, or a writer was killed before its table was in the catalog."""
    release("first ward").save(iceberg)
    catalog = load_catalog("clinic")
    for name in catalog.list_tables("release_2026"):
        catalog.drop_table(name)
    release("second ward").save(iceberg)
    assert verify(iceberg).holds
    assert found_in(tmp_path, "first ward"), "what may be another table's is left alone"
    home = Path(catalog.load_table("release_2026.table").location().removeprefix("file://"))
    catalog.close()
    assert not found_in(home, "first ward")


def test_a_link_in_the_place_of_a_delta_table_is_refused(tmp_path: Path) -> None:
    release().save(f"delta://{tmp_path}/release")
    (tmp_path / "release" / "table").rename(tmp_path / "elsewhere")
    (tmp_path / "release" / "table").symlink_to(tmp_path / "elsewhere")
    assert "extra objects" in refused_for(verify(f"delta://{tmp_path}/release"))


def test_pages_of_sqlite_that_lead_round_in_a_circle_are_named(tmp_path: Path) -> None:
    size = 512
    file = bytearray(2 * size)
    file[16:18], file[28:32] = size.to_bytes(2, "big"), (2).to_bytes(4, "big")
    file[100] = 13  # a leaf without rows
    assert list(beside_rows(written(tmp_path / "plain.db", file), [1])) == []
    file[size] = 5  # an inner page whose only child is itself
    file[size + 8 : size + 12] = (2).to_bytes(4, "big")
    assert list(beside_rows(written(tmp_path / "circle.db", file), [1, 2])) == ["bytes that are no part of a row"]


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
