"""Lakes are read by their logs: what was deleted from a table never comes back."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.memory import InMemoryCatalog
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError

PEOPLE = pl.DataFrame({"age": [31, 42, 53, 64], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def delta(folder: Path) -> Path:
    """Three versions: all people, without those of 31, and without those of 42 either."""
    PEOPLE.write_delta(folder, delta_write_options={"partition_by": ["town"]})
    DeltaTable(folder).delete("age = 31")
    DeltaTable(folder).delete("age = 42")
    return folder


def iceberg(folder: Path) -> Path:
    """The same people and deletions; `town` is called `city` in the end."""
    catalog = InMemoryCatalog("here", warehouse=folder.as_uri())
    catalog.create_namespace("clinic")
    table = catalog.create_table("clinic.people", schema=PEOPLE.to_arrow().schema)
    table.append(PEOPLE.to_arrow())
    table.delete("age = 31")
    table.delete("age = 42")
    with table.update_schema() as change:
        change.rename_column("town", "city")
    catalog.close()
    return folder / "clinic" / "people"


def deletion_vector(rows: list[int]) -> dict[str, Any]:
    """Rows of a file that are deleted, as the format stores a few of them: a bitmap inside the log."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    content = struct.pack("<iqi", 1681511377, 1, 0) + bitmap
    padded = content + b"\0" * (-len(content) % 4)
    text = ""
    for start in range(0, len(padded), 4):
        number = int.from_bytes(padded[start : start + 4], "big")
        text += "".join(Z85[number // 85**power % 85] for power in range(4, -1, -1))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(content), "cardinality": len(rows)}


def delta_with_features(folder: Path, *, renamed: bool) -> Path:
    """A table as newer writers leave it: rows 0 and 2 deleted by a vector, columns under other names in the file."""
    (folder / "_delta_log").mkdir(parents=True)
    stored = {"age": "col-1", "town": "col-2"} if renamed else {"age": "age", "town": "town"}
    file = folder / "part-0.parquet"
    PEOPLE.rename(stored).write_parquet(file)
    fields = []
    for number, (name, kind) in enumerate([("age", "long"), ("town", "string")], start=1):
        mapping = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": stored[name]}
        fields.append({"name": name, "type": kind, "nullable": True, "metadata": mapping if renamed else {}})
    features = ["deletionVectors", *(["columnMapping"] if renamed else [])]
    settings = {"delta.enableDeletionVectors": "true"}
    if renamed:
        settings |= {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    versions = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    about = {"id": "x", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [], "createdTime": 1}
    schema = json.dumps({"type": "struct", "fields": fields})
    part = {"path": file.name, "partitionValues": {}, "size": file.stat().st_size, "modificationTime": 1}
    part |= {"dataChange": True, "stats": json.dumps({"numRecords": 4}), "deletionVector": deletion_vector([0, 2])}
    log = [
        {"protocol": versions},
        {"metaData": {**about, "schemaString": schema, "configuration": settings}},
        {"add": part},
    ]
    (folder / "_delta_log" / f"{0:020}.json").write_text("\n".join(json.dumps(action) for action in log))
    return folder


def ages(path: Path, **reading: Any) -> list[int]:
    return sorted(polyveil.read(path, **reading).frame["age"])


@pytest.mark.parametrize("make", [delta, iceberg])
def test_deleted_rows_do_not_come_back(tmp_path: Path, make: Any) -> None:
    lake = make(tmp_path / "lake")
    assert ages(lake) == [53, 64]
    left_behind = {age for file in lake.rglob("*.parquet") for age in pl.read_parquet(file)["age"]}
    assert left_behind == {31, 42, 53, 64}, "the files still hold the deleted rows, or this test shows nothing"


@pytest.mark.parametrize("renamed", [False, True])
def test_deletion_vectors_and_renamed_columns_are_honoured(tmp_path: Path, renamed: bool) -> None:
    table = polyveil.read(delta_with_features(tmp_path / "lake", renamed=renamed))
    assert table.frame.sort("age").to_dict(as_series=False) == {"age": [42, 64], "town": ["Bonn", "Bonn"]}


def test_a_renamed_column_has_its_new_name(tmp_path: Path) -> None:
    assert polyveil.read(iceberg(tmp_path / "lake")).columns == ("age", "city")


def test_a_version_or_a_time_can_be_asked_for(tmp_path: Path) -> None:
    lake = delta(tmp_path / "lake")
    assert [len(ages(lake, as_of=version)) for version in (0, 1, "2")] == [4, 3, 2]
    assert ages(lake, as_of=datetime.now(UTC).isoformat()) == [53, 64]
    with pytest.raises(InputError, match="version or time exists"):
        polyveil.read(lake, as_of=17)
    with pytest.raises(InputError, match="must be a version or a time"):
        polyveil.read(lake, as_of="yesterday")


def test_a_snapshot_can_be_asked_for(tmp_path: Path) -> None:
    lake = iceberg(tmp_path / "lake")
    newest = max((lake / "metadata").glob("*.metadata.json"))
    snapshots = [one["snapshot-id"] for one in json.loads(newest.read_text())["snapshots"]]
    assert [len(ages(lake, as_of=one)) for one in snapshots] == [4, 3, 2]
    assert ages(newest) == ages(lake, as_of=datetime.now(UTC).isoformat()) == [53, 64]
    for unknown in (5, "1999-12-31"):
        with pytest.raises(InputError, match="has no snapshot"):
            polyveil.read(lake, as_of=unknown)


@pytest.mark.parametrize("make", [delta, iceberg])
def test_a_part_of_a_lake_is_refused(tmp_path: Path, make: Any) -> None:
    part = next(make(tmp_path / "lake").rglob("*.parquet"))
    for path in (part, part.parent):
        with pytest.raises(InputError, match="whose log says which of its rows were deleted"):
            polyveil.read(path)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "hudi" / ".hoodie").mkdir(parents=True)
    with pytest.raises(InputError, match="is a Hudi table"):
        polyveil.read(tmp_path / "hudi")
    lake = delta(tmp_path / "lake")
    next((lake / "_delta_log").glob("*0.json")).write_text("{")
    with pytest.raises(InputError, match="is a Delta table that cannot be read"):
        polyveil.read(lake)
    forked = iceberg(tmp_path / "forked")
    newest = max((forked / "metadata").glob("*.metadata.json"))
    newest.with_name(newest.name.split("-")[0] + "-other.metadata.json").write_text(newest.read_text())
    with pytest.raises(InputError, match="only its catalog knows which one is current"):
        polyveil.read(forked)
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    with pytest.raises(InputError, match="--as-of is for Delta and Iceberg"):
        polyveil.read(tmp_path / "people.parquet", as_of=1)


@pytest.mark.parametrize(("make", "package"), [(delta, "deltalake"), (iceberg, "pyiceberg")])
def test_a_missing_reader_is_named(tmp_path: Path, make: Any, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = make(tmp_path / "lake")
    monkeypatch.setitem(__import__("sys").modules, package if package == "deltalake" else "pyiceberg.table", None)
    with pytest.raises(InputError, match=rf"needs {package}, which is not installed.*polyveil\[lakes\]"):
        polyveil.read(lake)


def test_the_commands_read_a_lake(tmp_path: Path) -> None:
    lake, policy = delta(tmp_path / "lake"), tmp_path / "policy.yaml"
    policy.write_text("columns: {age: {role: quasi}, town: {role: sensitive, t: 1}}\nprivacy: {k: 2}\n")
    out = tmp_path / "release"
    done = CliRunner().invoke(app, ["anonymize", str(lake), "--policy", str(policy), "--out", str(out), "--as-of", "0"])
    assert done.exit_code == 0, done.output
    assert polyveil.verify(out).outcome == "holds"
    assert pl.read_parquet(out / "table.parquet").height == 4
    assert CliRunner().invoke(app, ["inspect", str(lake)]).exit_code == 0
