"""Ways to forge a release, each with the check that refuses it: one list for every place a release can be in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from polyveil.verification import Verification
from polyveil.verification.canonical import manifest_text
from verification.forgeries.forger import Forger, people

Forgery = Callable[[Forger], Verification]


def manifest_key(*path: Any, value: Any = "Alice, 34, Bern") -> Forgery:
    def forge(forger: Forger) -> Verification:
        part: Any = forger.manifest
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value
        return forger.restamp()

    return forge


def extra_file(name: str) -> Forgery:
    def forge(forger: Forger) -> Verification:
        forger.list_file(name, people().write_csv().encode())
        return forger.restamp()

    return forge


def text(change: Callable[[str], str]) -> Forgery:
    return lambda forger: forger.restamp(text=change(manifest_text(forger.manifest)))


def in_table(change: Callable[[pl.DataFrame], pl.DataFrame], column: str = "") -> Forgery:
    def forge(forger: Forger) -> Verification:
        forger.edit(forger.of.get(column, forger.first), change)
        return forger.forged()

    return forge


def linked_file(forger: Forger) -> Verification:
    file = forger.file(forger.first)
    aside = forger.folder.parent / "aside"
    file.rename(aside)
    file.symlink_to(aside)
    return forger.restamp()


def unlisted(name: str) -> Forgery:
    def forge(forger: Forger) -> Verification:
        (forger.folder / name).parent.mkdir(exist_ok=True)
        (forger.folder / name).write_text("Alice")
        return forger.restamp()

    return forge


def false_signature(forger: Forger) -> Verification:
    (forger.folder / "manifest.sig").write_text("Alice")
    return forger.restamp()


def swap_first(frame: pl.DataFrame, name: str, value: Any) -> pl.DataFrame:
    return frame.with_columns(pl.Series(name, [value, *frame[name][1:]], dtype=frame[name].dtype))


SORTED = {
    "by quasi-identifier": ("age", lambda f: f.sort("age")),
    "by sensitive value": ("salary", lambda f: f.sort("salary")),
    "by insensitive value": ("ward", lambda f: f.sort("ward", descending=True)),
    "in blocks": ("ward", lambda f: pl.concat([f.filter(pl.col("ward") == w) for w in "cabed"])),
}

EVERY: dict[str, tuple[Forgery, str]] = {
    "original listed": (extra_file("original.csv"), "extra file"),
    "second table listed": (extra_file("table_2.parquet"), "extra file"),
    "hidden file listed": (extra_file(".original"), "extra file"),
    "folder listed": (extra_file("more/part-00000.parquet"), "extra file"),
    "hidden file": (unlisted(".hidden"), "extra file"),
    "sub-folder": (unlisted("notes/readme.txt"), "extra file"),
    "symbolic link": (linked_file, "extra file"),
    "key at the top": (manifest_key("note"), "manifest"),
    "key in a claim": (manifest_key("claims", 0, "note"), "manifest"),
    "key in the method": (manifest_key("method", "note"), "manifest"),
    "key in what was found": (manifest_key("method", "found", "note"), "manifest"),
    "key in the losses": (manifest_key("loss", "note", value=0.5), "manifest"),
    "key in the sizes": (manifest_key("class_size", "note", value=1), "manifest"),
    "key in a quasi-identifier": (manifest_key("quasi", "age", "note"), "manifest"),
    "key in a sensitive column": (manifest_key("sensitive", "illness", "note"), "manifest"),
    "key in the summary": (manifest_key("privacy", "note", value=1), "figure"),
    "method of another name": (manifest_key("method", "name", value="alice"), "method"),
    "claim's text": (manifest_key("claims", 0, "statement"), "claim"),
    "claim's help": (manifest_key("claims", 0, "helps_against"), "claim"),
    "claim's limits": (manifest_key("claims", 0, "leaves_open"), "claim"),
    "claim twice": (lambda f: (f.manifest["claims"].append(f.manifest["claims"][0]), f.restamp())[1], "claim"),
    "identifiers as text": (manifest_key("policy", "identifiers"), "policy"),
    "repeated key": (
        text(lambda t: t.replace('{\n  "format"', '{\n  "polyveil": "Alice",\n  "format"', 1)),
        "manifest",
    ),
    "trailing blanks": (text(lambda t: t + "\n  \n"), "manifest"),
    "other indentation": (text(lambda t: json.dumps(json.loads(t))), "manifest"),
    "escapes": (text(lambda t: t.replace('"rows"', '"\\u0072ows"', 1)), "manifest"),
    "more digits": (text(lambda t: t.replace('"format_version": 1', '"format_version": 1.0')), "manifest"),
    "false signature": (false_signature, "signature"),
    "column beside": (in_table(lambda f: f.with_columns(pl.lit("x").alias("name"))), "columns"),
    "column missing": (in_table(lambda f: f.drop("town")), "columns"),
    "columns in another order": (in_table(lambda f: f.select(reversed(f.columns))), "columns"),
    "row removed": (in_table(lambda f: f[1:]), "rows"),
    "value of nobody": (in_table(lambda f: swap_first(f, "illness", "Alice"), "illness"), "values of illness"),
    **{f"sorted {how}": (in_table(change, column), "row order") for how, (column, change) in SORTED.items()},
}


def unused_value(name: str, value: str) -> Forgery:
    def forge(forger: Forger) -> Verification:
        forger.manifest["sensitive"][name]["values"].append(value)
        forger.manifest["sensitive"][name]["counts"].append(0)
        return forger.restamp()

    return forge


def values_backwards(forger: Forger) -> Verification:
    for part in ("values", "counts"):
        forger.manifest["sensitive"]["illness"][part].reverse()
    return forger.restamp()


def without(key: str, *others: tuple[str, Any]) -> Forgery:
    def forge(forger: Forger) -> Verification:
        del forger.manifest[key]
        forger.manifest |= dict(others)
        return forger.restamp()

    return forge


def former_words(forger: Forger) -> Verification:
    claim = next(claim for claim in forger.manifest["claims"] if claim["attribute"] == "illness")
    claim["statement"] = "no value of illness makes up more than 1/2 of any class"
    return forger.restamp()


def open_type(forger: Forger) -> Verification:
    del forger.manifest["policy"]["columns"]["salary"]["type"]
    del forger.manifest["policy"]["columns"]["salary"]["distance"]
    return forger.restamp()


def other_settings(forger: Forger) -> Verification:
    forger.manifest["policy"]["release"]["person"] = "pseudonym"
    return forger.restamp()


def renamed(name: str) -> Forgery:
    """A second column with a name that looks like the first's, declared as insensitive."""

    def forge(forger: Forger) -> Verification:
        columns = forger.manifest["policy"]["columns"]
        forger.manifest["policy"]["columns"] = {
            name if each == "ward" else each: about for each, about in columns.items()
        }
        forger.edit(forger.first, lambda f: f.rename({"ward": name}))
        return forger.forged()

    return forge


LOOK_ALIKES: dict[str, tuple[Forgery, str]] = {
    "name with a Cyrillic letter": (renamed("\u0430ge"), "columns"),
    "name with a space at its end": (renamed("age "), "columns"),
    "name with an invisible character": (renamed("ag\u200be"), "columns"),
    "name in full-width letters": (renamed("\uff41ge"), "columns"),
}

TOLD: dict[str, tuple[Forgery, str]] = {
    "more digits of the lowest value": (
        manifest_key("quasi", "age", "low", value="20.0000000000000000000001234567890"), "domain of age"),
    "lowest value with zeros": (manifest_key("quasi", "age", "low", value="0020"), "domain of age"),
    "lowest value of a text": (manifest_key("quasi", "town", "low"), "domain of town"),
    "more values than rows": (manifest_key("quasi", "town", "values", value=65656667), "domain of town"),
    "value that no row has": (unused_value("illness", "Alice"), "domain of illness"),
    "number that no row has": (unused_value("salary", "40.50000000000000000000001"), "domain of salary"),
    "values in another order": (values_backwards, "domain of illness"),
    "option in words": (manifest_key("method", "parameters", "note"), "method"),
    "option with parts": (manifest_key("method", "parameters", "note", value={"Alice": [1]}), "method"),
    "option too long": (manifest_key("method", "parameters", "note", value=list(range(999))), "method"),
    "option too large": (manifest_key("method", "parameters", "note", value=10**30), "method"),
    "option of another method": (manifest_key("method", "parameters", "restarts", value=34), "method"),
    "found by another method": (manifest_key("method", "found", "fragments", value=3), "method"),
    "found a message": (manifest_key("method", "found", "bounds", value={"illness": 0.1234567890123}), "method"),
    "more blocks than rows": (manifest_key("method", "found", "blocks", value=65656667), "method"),
    "refined without being asked": (manifest_key("method", "found", "refined", value="thorough"), "method"),
    "made by an unknown version": (without("counts_of", ("polyveil", "7.7")), "version"),
    "earlier version, today's words": (without("counts_of", ("polyveil", "0.2.0")), "version"),
    "former words in a release of today": (former_words, "claim"),
    "type left open": (open_type, "policy"),
    "levels of values that nobody has": (
        manifest_key("policy", "columns", "illness", "levels", value={"2": ["Alice"]}), "domain of illness"),
    "lowest value of somebody left out": (manifest_key("quasi", "age", "low", value="3"), "domain of age"),
    "highest value of somebody left out": (manifest_key("quasi", "age", "high", value="99"), "domain of age"),
    "missing cell of somebody left out": (manifest_key("quasi", "age", "missing", value=True), "domain of age"),
    "one town more than there are": (manifest_key("quasi", "town", "values", value=5), "domain of town"),
    "settings of another form": (other_settings, "policy"),
    "identifiers without number": (manifest_key("policy", "identifiers", value=10**30), "policy"),
    "loss beyond numbers": (manifest_key("loss", "entropy", value=10**400), "loss"),
    "figure beyond numbers": (manifest_key("privacy", "k", value=10**400), "figure"),
}  # fmt: skip

GENERALIZED: dict[str, tuple[Forgery, str]] = {
    "counts of a linked table": (manifest_key("policy", "release", "counts", value=True), "policy"),
    "range in other digits": (
        in_table(lambda f: f.with_columns(pl.col("age").str.replace(r"\[(\d+)-", "[0${1}-"))), "text of age"),
    "range in words": (in_table(lambda f: f.with_columns(pl.col("age").str.replace("-", " to "))), "text of age"),
    "one person's own age": (in_table(lambda f: swap_first(f, "age", "34")), "k-anonymity"),
    "values sorted into classes": (
        in_table(lambda f: f.sort("age", "town").with_columns(f["illness"].sort()).sample(fraction=1, shuffle=True)),
        "frequency-l-diversity of illness"),
}  # fmt: skip

LINKED: dict[str, tuple[Forgery, str]] = {
    "group of another name": (manifest_key("linked", "slices", 0, "group", value="alice"), "slices"),
    "table of another name": (manifest_key("linked", "slices", 0, "table", value="alice"), "slices"),
    "key in the layout": (manifest_key("linked", "note"), "manifest"),
    "value in the wrong table": (
        in_table(lambda f: f.with_columns(pl.lit("flu").alias("illness"))), "columns"),
    "row number in the sensitive table": (
        in_table(lambda f: f.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)), "illness"), "columns"),
}  # fmt: skip


def copied(forger: Forger, code: Callable[[str, int], str] = lambda illness, row: illness) -> Verification:
    """Each person's illness beside the quasi-identifiers, as a harmless column of another name."""
    columns = forger.manifest["policy"]["columns"]
    columns["code"] = dict(columns["ward"])
    about = next(part for part in forger.manifest["linked"]["slices"] if "illness" in part["attributes"])
    values: dict[str, list[str]] = {}
    for group, illness in forger.tables[about["table"]].select(about["group"], "illness").iter_rows():
        values.setdefault(group, []).append(illness)

    def with_copy(frame: pl.DataFrame) -> pl.DataFrame:
        cells = [code(values[group].pop(), row) for row, group in enumerate(frame[about["group"]])]
        return frame.clone().insert_column(frame.columns.index("ward") + 1, pl.Series("code", cells))

    forger.edit(forger.first, with_copy)
    return forger.forged()


def numbered_by_hundreds(forger: Forger) -> Verification:
    """Groups with other numbers, which could be anything."""
    about = forger.manifest["linked"]["slices"][0]
    for table in (forger.first, about["table"]):
        forger.edit(table, lambda f: f.with_columns((pl.col(about["group"]) + "00").alias(about["group"])))
    return forger.forged()


def in_one_order(forger: Forger) -> Verification:
    """A person at the same place in two tables, as if they were shuffled together."""
    about = forger.manifest["linked"]["slices"][0]
    rows = forger.tables[about["table"]].with_row_index("row").sample(fraction=1.0, shuffle=True, seed=1)
    places = {group: found["row"].to_list() for (group,), found in rows.group_by(about["group"])}
    order = [places[group].pop() for group in forger.tables[forger.first][about["group"]]]
    forger.edit(about["table"], lambda f: f[order])
    return forger.forged()


LINKED |= {
    "copy of a sensitive column": (copied, "copy of illness"),
    "whether somebody has the flu": (
        lambda f: copied(f, lambda illness, _: str(illness == "flu")), "copy of illness"),
    "illness in more detail": (
        lambda f: copied(f, lambda illness, row: f"{illness} {row % 3}"), "copy of illness"),
    "one order in two tables": (in_one_order, "row order"),
    "groups numbered by hundreds": (numbered_by_hundreds, "groups of sensitive_1"),
}  # fmt: skip


def rewritten(change: Callable[[bytes], bytes]) -> Forgery:
    def forge(forger: Forger) -> Verification:
        file = forger.file(forger.first)
        file.write_bytes(change(file.read_bytes()))
        return forger.restamp()

    return forge


CSV: dict[str, tuple[Forgery, str]] = {
    "byte order mark": (rewritten(lambda b: b"\xef\xbb\xbf" + b), "encoding"),
    "line ends": (rewritten(lambda b: b.replace(b"\n", b"\r\n")), "encoding"),
    "quotes": (rewritten(lambda b: b.replace(b"age", b'"age"', 1)), "encoding"),
    "no last line end": (rewritten(lambda b: b[:-1]), "encoding"),
    "archive after the last row": (rewritten(lambda b: b + b"PK\x05\x06" + bytes(18)), "rows"),
    "empty text for a missing cell": (in_table(lambda f: swap_first(f, "illness", ""), "illness"), "values of illness"),
    "blank line": (rewritten(lambda b: b + b"\n"), "rows"),
    "number with zeros": (
        in_table(lambda f: f.with_columns(pl.col("salary") + "0"), "salary"), "text of salary"),
    "number with a sign": (
        in_table(lambda f: f.with_columns((pl.lit("+") + pl.col("salary")).alias("salary")), "salary"),
        "text of salary"),
}  # fmt: skip


def parquet(change: Callable[[Any, Path], None]) -> Forgery:
    def forge(forger: Forger) -> Verification:
        file = forger.file(forger.first)
        change(pq.read_table(file), file)
        return forger.restamp()

    return forge


def write_plain(table: Any, file: Path, **options: Any) -> None:
    pq.write_table(table, file, **{"compression": "zstd", "write_statistics": False, "store_schema": False, **options})


def with_dictionary(table: Any, file: Path) -> None:
    import pyarrow as pa

    place = table.column_names.index("ward")
    values = pa.DictionaryArray.from_arrays(
        pa.array([sorted(set(table["ward"].to_pylist())).index(v) for v in table["ward"].to_pylist()], pa.int32()),
        pa.array([*sorted(set(table["ward"].to_pylist())), "Alice"]),
    )
    write_plain(table.set_column(place, "ward", values), file)


def in_other_version(change: Callable[[bytes], bytes] = lambda b: b, **options: Any) -> Forgery:
    """A file that says another version of the Parquet library wrote it, so that its bytes cannot be compared."""

    def forge(forger: Forger) -> Verification:
        file = forger.file(forger.first)
        own = str(pq.ParquetFile(file).metadata.created_by).encode()
        if options:
            write_plain(pq.read_table(file), file, **options)
        content = file.read_bytes().replace(own, own[:-1] + (b"0" if own[-1:] != b"0" else b"1"))
        file.write_bytes(change(content))
        return forger.restamp()

    return forge


def gap_before_footer(content: bytes) -> bytes:
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length :]
    return content[: -8 - length] + b"Alice, 34, Bern" + footer


def dictionary_of_others(forger: Forger) -> Verification:
    file = forger.file(forger.first)
    with_dictionary(pq.read_table(file), file)
    own = str(pq.ParquetFile(file).metadata.created_by).encode()
    file.write_bytes(file.read_bytes().replace(own, own[:-1] + (b"0" if own[-1:] != b"0" else b"1")))
    return forger.restamp()


PARQUET: dict[str, tuple[Forgery, str]] = {
    "text before the footer": (rewritten(gap_before_footer), "encoding"),
    "text before the footer, another version": (in_other_version(gap_before_footer), "encoding"),
    "statistics, another version": (in_other_version(write_statistics=True), "metadata"),
    "unused category, another version": (dictionary_of_others, "encoding"),
    "numbers as text": (
        in_table(lambda f: f.with_columns(pl.col("salary").cast(pl.String)), "salary"), "text of salary"),
    "schema metadata": (
        parquet(lambda t, f: write_plain(t.replace_schema_metadata({"note": "Alice"}), f, store_schema=True)),
        "metadata"),
    "field metadata": (
        parquet(lambda t, f: write_plain(t.cast(with_field_note(t.schema)), f, store_schema=True)), "metadata"),
    "statistics": (parquet(lambda t, f: write_plain(t, f, write_statistics=True)), "metadata"),
    "other compression": (parquet(lambda t, f: write_plain(t, f, compression="snappy")), "encoding"),
    "other row groups": (parquet(lambda t, f: write_plain(t, f, row_group_size=50)), "encoding"),
    "unused category": (parquet(with_dictionary), "encoding"),
    "written by polars with an enum": (
        parquet(lambda t, f: as_enum(t).write_parquet(f)), "types"),
    "zero with a sign": (
        in_table(lambda f: f.with_columns(pl.lit(-0.0).alias("ward"))), "types"),
    "narrow integers": (
        in_table(lambda f: f.with_columns(pl.lit(1, dtype=pl.Int8).alias("ward"))), "types"),
}  # fmt: skip


def with_field_note(schema: Any) -> Any:
    return schema.set(0, schema.field(0).with_metadata({"note": "Alice"}))


def as_enum(table: Any) -> pl.DataFrame:
    frame = pl.DataFrame(table)
    return frame.with_columns(pl.col("ward").cast(pl.Enum([*frame["ward"].unique().sort(), "Alice"])))


FILES_ONLY = {
    "hidden file", "sub-folder", "symbolic link", "false signature",
    "one order in two tables", *(f"sorted {how}" for how in SORTED),  # a database keeps no order of rows
}  # fmt: skip


def kinds(form: str, file_format: str | None) -> dict[str, tuple[Forgery, str]]:
    """All forgeries of a release of this form in files, or in a database (None)."""
    own = {"csv": CSV, "parquet": PARQUET, None: {}}[file_format]
    found = {**EVERY, **TOLD, **LOOK_ALIKES, **(GENERALIZED if form == "generalized" else LINKED), **own}
    return {name: found[name] for name in found if file_format is not None or name not in FILES_ONLY}
