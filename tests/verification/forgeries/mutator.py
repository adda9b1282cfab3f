"""One change of one thing of a release, everything restamped, and what `verify` and a reader make of it.

A change is fine only if one of these is so, and which one is counted:

- refused: `verify` does not say that the release holds.
- equal: a reader learns the same. Each table has the same columns, types and rows, as often, in any order; the manifest
  says the same, figures within a thousand-millionth; the folder has the same files.
- named: `verify` says "not checked" of a thing of which it did not say so before.
- true: another table or another guarantee of the same kind, all figures measured anew. The folder has the same files,
  tables, columns and types, the manifest the same keys, and differs only in `MEASURED`; a reader in plain Python who
  knows nothing of the library finds every guarantee kept in every group that the files let him form, and every
  quasi-identifier described as its cells show it.
- told: only what no file can confirm is another, and it is as short as before (`TOLD`, named in docs/limits.md).

Everything else was accepted and should not have been.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from brute_force_reader import LinkedReader, Reader
from polyveil.errors import InputError, PolicyError
from polyveil.verification import verify
from polyveil.verification.canonical import manifest_text
from verification.forgeries.forger import Forger
from verification.forgeries.linked_forger import forger_of

MEASURED = (
    "rows", "suppressed", "classes", "class_size", "loss", "quasi", "sensitive", "linked.slices",
    "linked.rows_with_suppressed_values", "people", "guarantees", "relational.tables",
)  # fmt: skip
"""Parts of a manifest that are measured from the tables, or say what is measured."""
GUARANTEES = ("t", "l", "alpha", "beta", "delta")
"""What a column can ask for; with `policy.privacy`, the claims and their summary these are a manifest's guarantees."""
TOLD = ("policy.identifiers", "method.found", "people", "people.rows_left_out")
"""Parts of a manifest that no file can confirm; `people` where there are no keys."""
WORDS = ["Alice", "", "*", "alice", "34", "a\u0301", "[1-5]", "{a, b}", "NA", "1e999", "flu ", "\u200bflu", "аge"]
VALUES: list[Any] = [None, *WORDS, -1, 0, 1, 2, 3, 0.5, 1e9, 2**60, True, False, [], {}, ["Alice"], {"Alice": 1}]


def facts(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says, without the stamps of its files; where they lie is compared with the files."""
    plain: dict[str, Any] = json.loads(json.dumps(manifest))
    for about in plain.get("files", {}).values():
        del about["sha256"], about["bytes"]
    columns = plain["policy"]["columns"].items()
    asked = {name: [about.pop(key, None) for key in GUARANTEES] for name, about in columns if isinstance(about, dict)}
    plain["guarantees"] = [asked, plain["policy"].pop("privacy"), plain.pop("claims"), plain.pop("privacy")]
    return plain


def learned(folder: Path) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """What a reader of a folder learns: the manifest, the tables with their types and rows, the files there are."""
    tables = {}
    for file in sorted(folder.iterdir()):
        if file.suffix == ".csv":
            frame = pl.read_csv(file, infer_schema=False)
        elif file.suffix == ".parquet":
            frame = pl.DataFrame(pq.read_table(file))
        else:
            continue
        tables[file.stem] = {"schema": list(frame.schema.items()), "rows": sorted(map(repr, frame.rows()))}
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return facts(manifest), tables, {file.name for file in folder.rglob("*")}


def differences(before: Any, after: Any, place: str = "") -> list[str]:
    """Where two manifests say something else."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        return [d for key in before for d in differences(before[key], after[key], f"{place}.{key}".lstrip("."))]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [d for i, pair in enumerate(zip(before, after, strict=True)) for d in differences(*pair, f"{place}.{i}")]
    if (
        isinstance(before, float)
        and isinstance(after, float)
        and math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-9)
    ):
        return []
    return [] if type(before) is type(after) and before == after else [place]


def keys(part: Any) -> Any:
    """The keys of a manifest at every depth, without the names of values and those of its guarantees."""
    if isinstance(part, dict):
        return {key: keys(item) for key, item in part.items() if key != "guarantees"}
    return None


class Mutator:
    """Changes one release again and again, each time from its genuine state."""

    def __init__(
        self, genuine: Path, place: Path, signer: Path | None = None, population: pl.DataFrame | None = None
    ) -> None:
        self.genuine, self.place, self.signer, self.population = genuine, place, signer, population
        self.before = learned(genuine)
        self.forger = forger_of(genuine, place)
        found = verify(genuine, signer=signer, population=population)
        assert found.holds, found.failures
        self.open = {finding.check for finding in found.findings if finding.outcome == "not checked"}

    def mutate(self, seed: int) -> tuple[str, str]:
        """What was changed, and how it ended."""
        rng = random.Random(seed)
        self.forger.again(self.genuine)
        forger = self.forger
        kind = rng.choice(list(KINDS))
        try:
            what, text = KINDS[kind](forger, rng)
            forger.stamp(text=text)
        except Exception as error:
            return f"{kind}: {type(error).__name__}", "not made"
        try:
            found = verify(self.place, signer=self.signer, population=self.population)
        except (InputError, PolicyError):
            return f"{kind}: {what}", "refused"
        if not found.holds:
            return f"{kind}: {what}", "refused"
        named = {finding.check for finding in found.findings if finding.outcome == "not checked"} - self.open
        return f"{kind}: {what}", self.judge(bool(named))

    def judge(self, named: bool) -> str:
        """Why an accepted change is fine, if it is."""
        manifest, tables, files = learned(self.place)
        former, once, there = self.before
        differ = differences(former, manifest)
        schemas = {name: table["schema"] for name, table in tables.items()}
        if files != there or schemas != {name: table["schema"] for name, table in once.items()}:
            return "accepted"
        if not differ and tables == once:
            return "equal"
        if named:
            return "named"
        keyed = "person" in {about["role"] for about in manifest["policy"]["columns"].values()}
        told = [place for place in TOLD if place != "people" or not keyed]
        if not keyed:
            told += [f"relational.tables.{name}.people" for name in manifest.get("relational", {}).get("tables", ())]
        if tables == once and all(_within(place, told) for place in differ):
            return "told" if len(json.dumps(manifest)) <= len(json.dumps(former)) + 20 else "accepted"
        same_keys = keys(manifest) == keys(former)
        measured = all(_within(place, MEASURED) or re.fullmatch(r"files\..*\.rows", place) for place in differ)
        if same_keys and measured:
            people = None if self.population is None else self.population.to_dicts()
            reader = (LinkedReader if "relational" in manifest else Reader)(self.place, people)
            described = "domains" in self.open or not reader.misdescribed()
            return "true" if described and not reader.beyond() else "accepted"
        return "accepted"


def _within(place: str, parts: Any) -> bool:
    return any(place == part or place.startswith(f"{part}.") for part in parts)


Change = Callable[[Forger, random.Random], tuple[str, str | None]]
"""Changes an opened release; says what, and gives the manifest's text where that is what was changed."""


def _variant(value: Any, rng: random.Random) -> Any:
    """A neighbour of a value, or anything else."""
    if rng.random() < 0.5:
        return rng.choice(VALUES)
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 10, 1000])
    if isinstance(value, float):
        return rng.choice([value * 1.001, value + 1e-7, -value, value * 2, round(value), value + 1e-12])
    if isinstance(value, str):
        return rng.choice([value + " ", value.upper(), value[::-1], value + "\u200b", value[:-1], value + value])
    if isinstance(value, list):
        return rng.choice([value[::-1], value + value[:1], value[1:], [value]])
    if isinstance(value, dict):
        return dict(reversed(value.items())) if rng.random() < 0.5 else dict(list(value.items())[1:])
    return value


def change_key(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    part: Any = forger.manifest
    key: Any = rng.choice([key for key in part if key != "files"] + ["files"] * (rng.random() < 0.2))
    path = [key]
    while isinstance(part[key], dict | list) and part[key] and rng.random() < 0.85:
        part = part[key]
        key = rng.choice(list(part)) if isinstance(part, dict) else rng.randrange(len(part))
        path.append(key)
    how = rng.choice(["replace", "replace", "replace", "remove", "add", "repeat", "rename"])
    if how == "remove":
        del part[key]
    elif how == "add" and isinstance(part, dict):
        part[rng.choice([*WORDS, "note", "weight", "missing", "t", "bounds", "seed", "restarts"])] = rng.choice(VALUES)
    elif how == "rename" and isinstance(part, dict):
        items = [(rng.choice(WORDS) if name == key else name, value) for name, value in part.items()]
        part.clear()
        part.update(items)
    elif how == "repeat" and isinstance(part, list):
        part.append(part[key])
    else:
        part[key] = _variant(part[key], rng)
    if rng.random() < 0.3:
        with suppress(Exception):
            forger.recompute()
    return f"{how} {path}", None


def change_policy(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    """Another policy in the public words of one, with every claim made for it."""
    policy = forger.manifest["policy"]
    part = rng.choice([policy["privacy"], policy["release"], policy["method"], *policy["columns"].values()])
    key = rng.choice([*part, "k", "l", "t", "alpha", "weight", "missing", "date_format", "levels", "counts", "numbers"])
    part[key] = _variant(part.get(key), rng) if rng.random() < 0.7 else rng.choice([2, 3, 0.3, 0.999999, ["Alice"]])
    with suppress(Exception):  # a policy that is none is refused as it stands
        forger.restate()
        forger.recompute()
    return f"policy {key}", None


def change_cells(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    table = rng.choice(sorted(forger.tables))
    frame = forger.tables[table]
    row, other, name = rng.randrange(frame.height), rng.randrange(frame.height), rng.choice(frame.columns)
    how = rng.choice(["cell", "cell", "word", "variant", "swap", "row", "again", "moved"])
    cells = frame[name].to_list()
    changed = frame
    if how == "row":
        changed = frame.filter(pl.int_range(pl.len()) != row)
    elif how == "again":
        changed = pl.concat([frame, frame[row]])
    else:
        known = sorted(set(cells), key=repr)
        cells[row] = {
            "cell": lambda: rng.choice([*known, None]),
            "word": lambda: rng.choice(WORDS),
            "variant": lambda: _variant(cells[row], rng),
            "swap": lambda: cells[other],
            "moved": lambda: cells[other],
        }[how]()
        if how == "swap":
            cells[other] = frame[name][row]
        changed = frame.with_columns(_column(name, cells, frame[name].dtype))
    forger.tables[table] = changed
    with suppress(Exception):
        forger.recount()
        forger.recompute()
    forger.write_tables()
    return f"{how} of {name} in {table}", None


def _column(name: str, cells: list[Any], dtype: Any) -> pl.Series:
    try:
        return pl.Series(name, cells, dtype=dtype)
    except (TypeError, pl.exceptions.PolarsError, OverflowError):
        return pl.Series(name, [None if cell is None else str(cell) for cell in cells])


def change_order(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    table = rng.choice(sorted(forger.tables))
    frame = forger.tables[table]
    name = rng.choice(frame.columns)
    how = rng.choice(["sort", "fall", "block", "columns", "shuffle", "reverse"])
    if how in ("sort", "fall"):
        frame = frame.sort(name, descending=how == "fall")
    elif how == "block":
        frame = pl.concat(frame.partition_by(name, maintain_order=True))
    elif how == "columns":
        frame = frame.select(rng.sample(frame.columns, frame.width))
    elif how == "shuffle":
        frame = frame.sample(fraction=1.0, shuffle=True, seed=rng.randrange(10**6))
    else:
        frame = frame.reverse()
    forger.tables[table] = frame
    forger.write_tables()
    return f"{how} {table} by {name}", None


def change_columns(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    table = rng.choice(sorted(forger.tables))
    frame = forger.tables[table]
    name = rng.choice(frame.columns)
    how = rng.choice(["more", "fewer", "rename", "type", "swap"])
    if how == "more":
        frame = frame.with_columns(pl.col(name).alias(rng.choice(["more", name + " ", name.upper(), "count", "group"])))
    elif how == "fewer":
        frame = frame.drop(name)
    elif how == "rename":
        frame = frame.rename({name: rng.choice([name.upper(), name + "\u200b", name + " ", "x"])})
    elif how == "swap":
        other = rng.choice(frame.columns)
        frame = frame.with_columns(frame[name].alias(other), frame[other].alias(name))
    else:
        kinds = [pl.Categorical(), pl.String(), pl.Binary(), pl.Float32(), pl.Int32(), pl.Datetime("ns")]
        frame = frame.with_columns(pl.col(name).cast(pl.String).cast(rng.choice(kinds), strict=False))
    forger.tables[table] = frame
    with suppress(Exception):  # what cannot be measured again keeps its figures
        forger.recompute()
    forger.write_tables()
    return f"{how} {name} in {table}", None


def change_bytes(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    file = rng.choice([entry for entry in sorted(forger.folder.iterdir()) if entry.name != "manifest.json"])
    content = bytearray(file.read_bytes())
    place = rng.randrange(max(len(content) - 1500, 0) if rng.random() < 0.5 else 0, len(content))
    how = rng.choice(["flip", "flip", "insert", "remove", "append", "double", "before", "zip"])
    if how == "flip":
        content[place] ^= rng.randrange(1, 256)
    elif how == "remove":
        del content[place]
    elif how == "double":
        content[place:place] = content[place : place + 40]
    elif how == "before":
        content[:0] = b"Alice"
    elif how == "zip":
        content += b"PK\x05\x06" + bytes(18)
    else:
        content.insert(place if how == "insert" else len(content), rng.randrange(256))
    file.write_bytes(bytes(content))
    return f"{how} at {place} of {file.name}", None


def change_text(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    text = manifest_text(forger.manifest)
    place = rng.randrange(len(text))
    how = rng.choice(["insert", "remove", "replace", "newline", "again"])
    if how == "insert":
        text = text[:place] + rng.choice(' \n0a\t"1.{},') + text[place:]
    elif how == "remove":
        text = text[:place] + text[place + 1 :]
    elif how == "replace":
        text = text[:place] + rng.choice("0123456789abcE. ") + text[place + 1 :]
    elif how == "newline":
        text += rng.choice(["\n", " ", "\ufeff", "Alice"])
    else:
        text = text.replace('"form":', '"form": "sliced", "form":', 1)
    return f"{how} at {place}", text


def change_files(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    how = rng.choice(["listed", "beside", "gone", "renamed", "folder", "link", "swapped"])
    name = rng.choice(
        ["a.csv", "table.txt", ".x", "b/c.parquet", "table.csv", "table.parquet", "report.html", "manifest.sig"]
    )
    file = forger.file(rng.choice(sorted(forger.tables)))
    if how == "listed":
        forger.list_file(name, b"Alice")
    elif how == "beside":
        (forger.folder / name).parent.mkdir(exist_ok=True)
        (forger.folder / name).write_bytes(b"Alice")
    elif how == "gone":
        file.unlink()
        del forger.manifest["files"][file.name]
    elif how == "renamed":
        other = rng.choice(["Table", "table ", "quasi2"]) + forger.ending
        forger.manifest["files"] = {other if n == file.name else n: v for n, v in forger.manifest["files"].items()}
        file.rename(forger.folder / other)
    elif how == "folder":
        (forger.folder / "empty").mkdir()
    elif how == "link":
        (forger.folder / "link").symlink_to("manifest.json")
    else:
        names = [forger.file(table) for table in sorted(forger.tables)]
        first, last = names[0].read_bytes(), names[-1].read_bytes()
        names[0].write_bytes(last)
        names[-1].write_bytes(first)
    return f"{how} {name}", None


_WRITING: list[dict[str, Any]] = [
    {"row_group_size": 50}, {"compression": "snappy"}, {"compression": "none"}, {"write_statistics": True},
    {"use_dictionary": False}, {"data_page_version": "2.0"}, {"version": "1.0"}, {"data_page_size": 64},
    {"write_page_index": True, "write_statistics": True}, {"store_schema": True}, {"write_page_checksum": True},
    {"compression_level": 9}, {"use_byte_stream_split": False, "column_encoding": None},
]  # fmt: skip


def change_writing(forger: Forger, rng: random.Random) -> tuple[str, str | None]:
    """The same rows, written in another way."""
    file = forger.file(rng.choice(sorted(forger.tables)))
    if forger.ending == ".csv":
        options = rng.choice(
            [{"quote_style": "always"}, {"separator": ";"}, {"line_terminator": "\r\n"}, {"include_bom": True}]
        )
        pl.read_csv(file, infer_schema=False).write_csv(file, **options)
        return f"{options}", None
    table = pq.read_table(file)
    how = rng.choice(["options", "options", "note", "field", "required", "index", "polars"])
    options = rng.choice(_WRITING) if how == "options" else {}
    if how == "note":
        table = table.replace_schema_metadata({"note": "Alice"})
    elif how == "field":
        table = table.cast(table.schema.set(0, table.schema.field(0).with_metadata({"note": "Alice"})))
    elif how == "required" and not table.column(0).null_count:
        table = table.cast(table.schema.set(0, table.schema.field(0).with_nullable(False)))
    if how == "polars":
        pl.DataFrame(table).write_parquet(file)
    else:
        settings = {
            "compression": "zstd",
            "write_statistics": False,
            "store_schema": how in ("note", "field"),
            **options,
        }
        pq.write_table(table, file, **settings)
    return f"{how} {options}", None


KINDS: dict[str, Change] = {
    "key": change_key,
    "policy": change_policy,
    "cells": change_cells,
    "order": change_order,
    "columns": change_columns,
    "bytes": change_bytes,
    "text": change_text,
    "files": change_files,
    "writing": change_writing,
}
