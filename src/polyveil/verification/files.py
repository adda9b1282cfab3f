"""The files of a bundle: present, unchanged, nothing beside them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polyveil.errors import DamagedRelease, InputError
from polyveil.frames import is_pattern, is_scalar
from polyveil.policy import Policy, from_public
from polyveil.verification.attributes import check_declarations
from polyveil.verification.canonical import check_bytes, check_types, manifest_text
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.shape import check_shape
from polyveil.verification.text import YEARS
from polyveil.verification.versions import is_former

MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
REPORT = "report.html"
FORMAT = "polyveil-release"
READABLE = {".parquet", ".csv"}
ENDING_OF_PARTS = ".parquet"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest as data; raises InputError if the folder is not a release at all."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Name the folder that holds a release and its {MANIFEST}")
    file = folder / MANIFEST
    if not file.is_file():
        raise InputError(f"{folder} has no {MANIFEST}, so it is not a release. Use `polyveil check` for a plain table")
    try:
        manifest = json.loads(manifest_bytes(folder).decode(), parse_constant=_refused)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise DamagedRelease(
            f"{file} cannot be read as JSON. The release is damaged; get it again from its source"
        ) from None
    return check_manifest(manifest, str(file))


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def manifest_bytes(folder: Path) -> bytes:
    """The manifest as it is stored, which is what a signature is over."""
    try:
        return (folder / MANIFEST).read_bytes()
    except OSError:
        raise InputError(f"{folder / MANIFEST} cannot be read. Check its permissions") from None


def check_manifest(manifest: Any, title: str) -> dict[str, Any]:
    """The manifest, if it is one and of a version this program knows."""
    version = manifest.get("format_version") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or version != 1 or version is True or manifest.get("format") != FORMAT:
        raise InputError(f"{title} is not a manifest this version understands. Update polyveil, or check its source")
    check_shape(manifest, title)
    columns = manifest["policy"].get("columns")
    if isinstance(columns, Mapping) and any(map(is_pattern, columns)):
        raise DamagedRelease(f"{title} has a column whose name stands for other columns as well, so none can be judged")
    return manifest


def check_text(text: str, manifest: Mapping[str, Any]) -> list[Finding]:
    """The manifest says everything once and in one way, so its text carries nothing beside what it says."""
    with suppress(ValueError):  # 1e999 is infinite, which no manifest holds
        if text == manifest_text(manifest):
            return []
    return [fails("manifest", "the manifest's text is not written as releases are, or repeats a key")]


def check_form(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """The tables are of the form that was asked for, and the manifest describes the columns as the policy does."""
    findings = check_declarations(manifest, policy)
    if policy.release.form != manifest["form"]:
        findings.append(fails("form", "the manifest's form is not the one its policy asks for"))
    asked = policy.release
    keyed = (asked.person == "pseudonym") == (policy.person is not None)
    if not keyed or (manifest.get("linked") is None and (asked.counts or asked.generalize is not None)):
        findings.append(fails("policy", "the public policy has settings that its form does not take"))
    return findings


def check_folder(folder: Path, manifest: Mapping[str, Any]) -> list[Finding]:
    """Everything about a release folder that can be told without looking into its tables."""
    findings = check_text(manifest_bytes(folder).decode(), manifest)
    findings += check_listed(manifest, from_public(manifest["policy"]))
    return findings + check_files(folder, manifest)


def check_files(folder: Path, manifest: Mapping[str, Any]) -> list[Finding]:
    """Missing, extra, swapped and changed files, each with its own finding."""
    listed: Mapping[str, Any] = manifest.get("files", {})
    links = sorted(entry.name for entry in folder.rglob("*") if not _is_plain(entry))
    if links:
        return [fails("extra file", f"{name} is a link or a device, which no release holds") for name in links]
    present = _entries(folder) - {MANIFEST, SIGNATURE}
    findings = [
        fails("missing file", f"{name} is listed in the manifest but is not there")
        for name in sorted(set(listed) - present)
    ]
    findings += [
        fails("extra file", f"{name} is not listed in the manifest; a release holds nothing unaccounted for")
        for name in sorted(present - set(listed))
    ]
    owner = {about["sha256"]: name for name, about in listed.items()}
    for name in sorted(set(listed) & present):
        digest = _digest(folder / name)
        if digest == listed[name]["sha256"]:
            if listed[name].get("bytes") != (folder / name).stat().st_size:
                findings.append(fails("figure", f"{name} does not have the number of bytes the manifest says"))
            continue
        if owner.get(digest, name) != name:
            findings.append(fails("swapped file", f"{name} has the content of {owner[digest]}"))
        else:
            findings.append(fails("changed file", f"{name} is not the file that was released: its sha256 differs"))
    return findings or [holds("files", f"all {len(listed)} files are present and unchanged")]


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except PermissionError:
        raise InputError(f"{file} may not be read. Grant this user reading it") from None


def check_listed(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """The manifest lists exactly the files that a release of its form has, in order."""
    listed, of_form = list(manifest.get("files", {})), _files_of_form(manifest, policy.release.file_format)
    findings = [
        fails("extra file", f"{name} is listed in the manifest, but is no file of a {manifest['form']} release")
        for name in sorted(set(listed) - of_form)
    ]
    findings += [
        fails("missing file", f"the manifest does not list {name}, which is part of a {manifest['form']} release")
        for name in sorted(of_form - set(listed) - {REPORT})
    ]
    if listed != sorted(listed):
        findings.append(fails("manifest", "the manifest does not list its files in order"))
    return findings


def _is_plain(entry: Path) -> bool:
    return not entry.is_symlink() and (entry.is_file() or entry.is_dir())


def _files_of_form(manifest: Mapping[str, Any], ending: str) -> set[str]:
    """The names a release of this form can list: its tables in its format, and the report.

    Spark writes a table as a folder of parts, which are numbered without a gap.
    """
    allowed = {REPORT}
    for table in tables_of_form(manifest):
        parts = sum(name.startswith(f"{table}/") for name in manifest.get("files", {}))
        numbered = {f"{table}/part-{number:05d}.parquet" for number in range(parts)}
        allowed |= numbered if parts and ending == "parquet" else {f"{table}.{ending}"}
    return allowed


def tables_of_form(manifest: Mapping[str, Any]) -> list[str]:
    """The names of the tables a release of this form has; the check of an added form judges which it may have."""
    if manifest["form"] == "generalized":
        return ["table"]
    if manifest.get("relational") is not None:
        return list(manifest["relational"]["tables"])
    if manifest.get("linked") is not None:
        return ["quasi", *(f"sensitive_{i}" for i in range(1, len(manifest["linked"]["slices"]) + 1))]
    return sorted({PurePosixPath(name).parts[0].split(".")[0] for name in manifest.get("files", {}) if name != REPORT})


def _entries(folder: Path) -> set[str]:
    """All files, in subfolders as well, and subfolders without files."""
    inside = [entry for entry in folder.rglob("*") if not entry.is_dir() or not any(entry.iterdir())]
    return {entry.relative_to(folder).as_posix() for entry in inside}


def read_tables(folder: Path, manifest: Mapping[str, Any]) -> tuple[dict[str, pl.DataFrame], list[Finding]]:
    """The tables by name (file name without its ending); what cannot be read is a finding.

    A table may be a folder of parts, as Spark writes it: they are its rows, one part after the other.
    """
    parts: dict[str, list[pl.DataFrame]] = {}
    findings: list[Finding] = []
    for name, about in manifest.get("files", {}).items():
        if Path(name).suffix in READABLE and (folder / name).is_file():
            frame, found = read_file(folder, name, about, former=is_former(manifest))
            findings += found
            if frame is not None:
                parts.setdefault(table_of(name), []).append(frame)
    tables = {}
    for table, frames in parts.items():
        if any(frame.schema != frames[0].schema for frame in frames):
            findings.append(fails("columns", f"the parts of {table} do not have the same columns"))
        else:
            tables[table] = pl.concat(frames)
    return tables, findings


def table_of(name: str) -> str:
    """The table that a file holds, or is a part of."""
    return name.split("/")[0] if "/" in name else Path(name).stem


def read_file(
    folder: Path, name: str, about: Mapping[str, Any], *, former: bool
) -> tuple[pl.DataFrame | None, list[Finding]]:
    """The rows of one file and what is wrong with it; None if it has no rows that can be judged."""
    file = folder / name
    try:
        frame = _read_table(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, OSError, ValueError):
        return None, [fails("unreadable file", f"{name} cannot be read as {file.suffix[1:]}")]
    if _has_impossible_days(frame):
        return None, [fails("unreadable file", f"{name} has days that no calendar has")]
    if not all(is_scalar(kind) for kind in frame.dtypes):
        return None, [fails("columns", f"{name} has columns of a type no release has")]
    findings = _shape_findings(name, frame, about) or check_types(name, frame)
    return frame, findings or check_bytes(name, file, frame, former=former)


def _has_impossible_days(frame: pl.DataFrame) -> bool:
    """Whether a date is outside the years 1 to 9999, which polars cannot write as text."""
    days = [cells.to_physical().drop_nulls() for cells in frame.select(pl.col(pl.Date)).get_columns()]
    return not all(bool(each.is_between(*YEARS).all()) for each in days)


def _read_table(file: Path) -> pl.DataFrame:
    if file.suffix == ".csv":
        return pl.read_csv(file, infer_schema=False)
    # A damaged file can abort polars' Parquet reader and the process with it; pyarrow's raises.
    with pq.ParquetFile(file) as reader:
        table = reader.read()
    table.validate(full=True)
    # Columns and names alone: what else a file says of them is not validated, and polars believes it.
    return pl.DataFrame(pa.Table.from_arrays(table.columns, names=table.column_names))


def _shape_findings(name: str, frame: pl.DataFrame, about: Mapping[str, Any]) -> list[Finding]:
    findings = []
    if frame.height != about.get("rows"):
        findings.append(fails("rows", f"{name} has {frame.height} rows, the manifest says {about.get('rows')}"))
    if frame.columns != about.get("columns"):
        findings.append(fails("columns", f"{name} does not have the columns the manifest lists"))
    return findings
