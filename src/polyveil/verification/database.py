"""A release in a database, read for verification: its manifest, its tables, and that nothing stands beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from polyveil.errors import DamagedRelease, InputError, UnreadableTable, listed
from polyveil.table.databases import Session, opened, place_of, read_wanted
from polyveil.table.databases.names import MANIFEST
from polyveil.table.databases.place import Place
from polyveil.verification.canonical import check_types
from polyveil.verification.files import check_manifest, check_text, tables_of_form
from polyveil.verification.findings import Finding, fails, holds, unchecked
from polyveil.verification.fingerprint import fingerprint, tree_fingerprint_of
from polyveil.verification.orders import column_findings
from polyveil.verification.steady import TRIES, changed

DOCUMENT = "document"


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """A release as an open session sees it: what is committed, or what is about to be."""

    session: Session
    schema: str

    @property
    def title(self) -> str:
        """For messages."""
        return str(self.session.place)


Content = tuple[dict[str, Any], dict[str, pl.DataFrame], list[Finding]]


def read_stored(release: StoredRelease | str) -> Content:
    """Manifest, tables and findings about them, of an open release or of the one a URL names."""
    if isinstance(release, StoredRelease):
        return _read(release)
    place = place_of(release)
    if place.schema is None:
        raise InputError(f"{place} names a database, not a release. Add the schema of the release: ?schema=NAME")
    failed: Content | None = None
    for _ in range(TRIES):
        content = _read_in(place, place.schema)
        if not _any_fails(content[2]) or (failed is not None and failed[0] == content[0]):
            return content
        failed = content  # perhaps a manifest of the older release, and tables of the one that replaces it
    raise changed(place)


def _read_in(place: Place, schema: str) -> Content:
    for again in (True, False):
        try:
            with opened(place) as session:
                return _read(StoredRelease(session, schema))
        except (UnreadableTable, DamagedRelease) as error:  # before any table could be looked at
            if not again:  # a manifest that was replaced just then is whole the second time
                raise DamagedRelease(str(error)) from None
    raise AssertionError


def _any_fails(findings: list[Finding]) -> bool:
    return any(finding.outcome == "fails" for finding in findings)


def _read(release: StoredRelease) -> Content:
    manifest = stored_manifest(release)
    findings = check_beside(release, manifest)
    tables, found = _tables(release, manifest)
    findings += found
    count = len(manifest["tables"])
    if not _any_fails(findings):
        findings.append(holds("tables", f"every table is there and unchanged ({count})"))
    return manifest, tables, findings


def check_beside(release: StoredRelease, manifest: Mapping[str, Any]) -> list[Finding]:
    """What can be told without reading the released tables: the manifest's own table, and all that is beside them."""
    return _check_document(release, manifest) + _extra(release, manifest)


def stored_manifest(release: StoredRelease) -> dict[str, Any]:
    """The manifest as data; InputError if the schema holds no release at all."""
    manifest = check_manifest(stored_document(release), release.title)
    for about in manifest["tables"].values():
        if not isinstance(about, Mapping) or not {"rows", "columns", "sha256"} <= set(about):
            raise _damaged(release)
    return manifest


def stored_document(release: StoredRelease) -> dict[str, Any]:
    """The manifest as far as it says which tables belong to the release."""
    session, schema = release.session, release.schema
    present = session.relations(schema)
    if session.marker in present:
        raise _being_written(release)
    if MANIFEST not in present:
        raise InputError(
            f"{release.title} has no table {MANIFEST} in the schema {schema!r}, so it is not a release. "
            "Check the schema; use `polyveil check` for a plain table"
        )
    try:
        frame = read_wanted(session, session.stored(schema, MANIFEST))
        document = json.loads(str(frame.get_column(DOCUMENT).item()))
    except (UnreadableTable, pl.exceptions.PolarsError, ValueError, RecursionError):
        raise _damaged(release) from None
    if not isinstance(document, dict) or not isinstance(document.get("tables"), Mapping):
        raise _damaged(release)
    return document


def _check_document(release: StoredRelease, manifest: Mapping[str, Any]) -> list[Finding]:
    """The table of the manifest holds its text and nothing else, and it lists the tables of its form."""
    frame = read_wanted(release.session, release.session.stored(release.schema, MANIFEST))
    text = str(frame.get_column(DOCUMENT).item())
    findings = check_text(text.removesuffix("\n") + "\n", manifest)  # version 0.1 wrote no line end
    if frame.columns != [DOCUMENT]:
        findings.append(fails("columns", f"the table {MANIFEST} has columns beside {DOCUMENT}"))
    listed, of_form = set(manifest["tables"]), set(tables_of_form(manifest))
    if "files" in manifest or (of_form and listed != of_form):
        message = f"the manifest lists other tables than a {manifest['form']} release has"
        findings.append(fails("extra table" if listed - of_form else "missing table", message))
    return findings


def _being_written(release: StoredRelease) -> InputError:
    return InputError(
        f"{release.title} is just being written, or writing it was cut off, so it is not a release. Wait, or publish "
        "it again with --overwrite"
    )


def _damaged(release: StoredRelease) -> DamagedRelease:
    return DamagedRelease(
        f"the manifest of {release.title} cannot be read. The release is damaged; get it again from its source"
    )


def _extra(release: StoredRelease, manifest: Mapping[str, Any]) -> list[Finding]:
    present = set(release.session.relations(release.schema)) - {MANIFEST}
    if release.session.marker in present:
        raise _being_written(release)
    missing = [
        fails("missing table", f"{name} is listed in the manifest but is not there")
        for name in sorted(set(manifest["tables"]) - present)
    ]
    strange = release.session.beside_tables(release.schema)
    more = [fails("extra objects", f"the schema has more than plain tables: {', '.join(strange)}")] if strange else []
    if strange is None:
        more = [unchecked("extra objects", "this database cannot list what its schemas contain besides tables")]
    also = release.session.beside_schema(release.schema)
    if also:
        in_file = release.session.place.file is not None
        whole, get = ("file of the database", "gets the file gets") if in_file else ("schema", "reads it may read")
        more.append(unchecked(whole, f"the {whole} also has {listed(also)}. Whoever {get} these"))
    return (
        missing
        + more
        + [
            fails("extra table", f"{name} is not listed in the manifest; a release holds nothing unaccounted for")
            for name in sorted(present - set(manifest["tables"]))
        ]
    )


def _tables(release: StoredRelease, manifest: Mapping[str, Any]) -> tuple[dict[str, pl.DataFrame], list[Finding]]:
    session, schema = release.session, release.schema
    present = session.relations(schema)
    tables: dict[str, pl.DataFrame] = {}
    findings: list[Finding] = []
    for name, about in manifest["tables"].items():
        if name not in present:
            continue
        try:
            frame = read_wanted(session, session.stored(schema, name))
        except UnreadableTable as error:
            findings.append(unreadable(name, error))
            break  # a server ends the transaction in which a table could not be read
        checksum = tree_fingerprint_of if session.by_leaves else fingerprint
        findings += compare_table(
            name, about, {"rows": frame.height, "columns": frame.columns, "sha256": checksum(frame)}
        )
        findings += check_types(name, frame)
        if session.keeps_order:
            findings += column_findings(name, frame)
        tables[name] = frame
    return tables, findings


def unreadable(name: str, error: UnreadableTable) -> Finding:
    """A table that is there, and damaged or none that a release has."""
    return fails("unreadable table", f"{name} cannot be read as a released table: {error.why}")


def compare_table(name: str, about: Mapping[str, Any], found: Mapping[str, Any]) -> list[Finding]:
    """A table that was found, with what the manifest says of it."""
    findings = []
    if found["rows"] != about["rows"]:
        findings.append(fails("rows", f"{name} has {found['rows']} rows, the manifest says {about['rows']}"))
    if found["columns"] != about["columns"]:
        findings.append(fails("columns", f"{name} does not have the columns the manifest lists"))
    elif found["sha256"] != about["sha256"]:
        findings.append(fails("changed table", f"{name} is not the table that was released: its sha256 differs"))
    return findings
