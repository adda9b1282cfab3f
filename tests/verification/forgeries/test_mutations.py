"""Any one thing of a release changed and everything restamped: nothing that changes what a reader learns is accepted.

`POLYVEIL_MUTATIONS=10000 pytest ...` makes as many; 300 run by default.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from polyveil.errors import InputError, PolicyError
from polyveil.verification import load_release
from polyveil.verification.canonical import manifest_text
from verification.forgeries.forger import FORMS, Forger, publish

MUTATIONS = int(os.environ.get("POLYVEIL_MUTATIONS", "300"))
VALUES = [None, "Alice", "", "*", -1, 0, 1, 2, 0.5, 1e9, True, [], {}, ["Alice"], {"Alice": 1}]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    places = {}
    for form in FORMS:
        for file_format in ("csv", "parquet"):
            places[form, file_format] = tmp_path_factory.mktemp("genuine") / "release"
            publish(form, file_format, places[form, file_format])
    return places


def change_key(forger: Forger, data: st.DataObject) -> None:
    part: Any = forger.manifest
    key: Any = data.draw(st.sampled_from(sorted(set(part) - {"files"})))
    path = [key]
    while isinstance(part[key], dict | list) and part[key] and data.draw(st.integers(0, 4)):
        part = part[key]
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
        path.append(key)
    how = data.draw(st.sampled_from(["replace", "replace", "remove", "add", "repeat"]))
    if how == "remove":
        del part[key]
    elif how == "add" and isinstance(part, dict):
        part[data.draw(st.sampled_from(["Alice", "note"]))] = data.draw(st.sampled_from(VALUES))
    elif how == "repeat" and isinstance(part, list):
        part.append(part[key])
    else:
        part[key] = data.draw(st.sampled_from(VALUES))


def change_table(forger: Forger, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(sorted(forger.tables)))
    frame = forger.tables[table]
    row = data.draw(st.integers(0, frame.height - 1))
    name = data.draw(st.sampled_from(frame.columns))
    how = data.draw(st.sampled_from(["cell", "cell", "swap", "row", "again", "sort", "column", "type", "rename"]))
    cells = frame[name].to_list()
    if how == "cell":
        cells[row] = data.draw(st.sampled_from([*set(frame[name].to_list()), None]))
    elif how == "swap":
        other = data.draw(st.integers(0, frame.height - 1))
        cells[row], cells[other] = cells[other], cells[row]
    changed = frame.with_columns(pl.Series(name, cells, dtype=frame[name].dtype))
    if how == "row":
        changed = frame.filter(pl.int_range(pl.len()) != row)
    elif how == "again":
        changed = pl.concat([frame, frame[row]])
    elif how == "sort":
        changed = frame.sort(name, descending=data.draw(st.booleans()))
    elif how == "column":
        changed = frame.with_columns(pl.col(name).alias("more"))
    elif how == "type":
        changed = frame.with_columns(pl.col(name).cast(pl.String).cast(pl.Categorical))
    elif how == "rename":
        changed = frame.rename({name: name.upper()})
    forger.tables[table] = changed


def change_bytes(forger: Forger, data: st.DataObject) -> None:
    file = forger.file(data.draw(st.sampled_from(sorted(forger.tables))))
    content = bytearray(file.read_bytes())
    first = data.draw(st.sampled_from([0, max(len(content) - 1500, 0)]))
    place = data.draw(st.integers(first, len(content) - 1))
    how = data.draw(st.sampled_from(["flip", "flip", "insert", "remove", "append"]))
    if how == "flip":
        content[place] ^= data.draw(st.integers(1, 255))
    elif how == "remove":
        del content[place]
    else:
        content.insert(place if how == "insert" else len(content), data.draw(st.integers(0, 255)))
    file.write_bytes(bytes(content))


def learned(forger: Forger) -> tuple[Any, ...]:
    """What a reader of the folder learns, beside what is told and cannot be confirmed: all but the order of rows."""
    manifest, tables, _ = load_release(forger.folder)
    plain = json.loads(json.dumps(manifest))
    plain.pop("files")
    plain.pop("polyveil")
    plain["policy"].pop("identifiers", None)
    plain["method"].pop("found")
    plain["method"].pop("parameters")
    for frame in tables.values():
        assert all(not isinstance(kind, pl.Categorical | pl.Enum) for kind in frame.dtypes)
    rows = {name: sorted(map(repr, frame.rows())) for name, frame in tables.items()}
    return json.dumps(plain), {name: frame.columns for name, frame in tables.items()}, rows


@seed(int(os.environ.get("POLYVEIL_SEED", "2026")))
@settings(
    max_examples=MUTATIONS, deadline=None, suppress_health_check=list(HealthCheck), database=None
)  # fmt: skip
@given(
    form=st.sampled_from(sorted(FORMS)),
    file_format=st.sampled_from(["csv", "parquet"]),
    thing=st.sampled_from(["key", "table", "table", "bytes", "text", "file"]),
    data=st.data(),
)
def test_no_change_is_accepted_that_tells_a_reader_more(
    genuine: dict[tuple[str, str], Path], form: str, file_format: str, thing: str, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        forger = Forger(genuine[form, file_format], Path(folder) / "release")
        before = learned(forger)
        text = None
        try:
            if thing == "key":
                change_key(forger, data)
            elif thing == "table":
                change_table(forger, data)
                forger.recompute()
                forger.write_tables()
            elif thing == "bytes":
                change_bytes(forger, data)
            elif thing == "file":
                forger.list_file(data.draw(st.sampled_from(["a.csv", "table.txt", ".x", "b/c.parquet"])), b"Alice")
            else:
                text = manifest_text(forger.manifest)
                place = data.draw(st.integers(0, len(text)))
                text = text[:place] + data.draw(st.sampled_from([" ", "\n", "0", "a", "\t", '"'])) + text[place:]
            found = forger.restamp(text=text)
        except (InputError, PolicyError):
            return  # refused as damaged
        if not found.holds:
            return
        assert thing != "file"
        after = learned(forger)
        assert thing != "bytes" or before != after, "bytes that no row shows were changed and accepted"
        if before != after:
            assert_only_what_no_file_can_confirm(before, after)


def assert_only_what_no_file_can_confirm(before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
    """Another true-looking release: the same keys, columns, sizes; other values of rows that keep every guarantee."""
    assert before[1] == after[1]
    assert not added(json.loads(before[0]), json.loads(after[0]))
    assert {name: len(rows) for name, rows in before[2].items()} == {name: len(rows) for name, rows in after[2].items()}


def added(before: Any, after: Any) -> list[str]:
    """Keys and items that only the second has; an optional key may be missing, as in a release of version 0.1."""
    if isinstance(after, dict):
        known = before if isinstance(before, dict) else {}
        found = [key for key in after if key not in known]
        return found + [key for name in after if name in known for key in added(known[name], after[name])]
    if isinstance(after, list):
        longer = not isinstance(before, list) or len(after) > len(before)
        return ["item"] if longer else [key for pair in zip(before, after, strict=False) for key in added(*pair)]
    return []
