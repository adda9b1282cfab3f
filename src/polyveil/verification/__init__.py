"""Verification: re-checks a release from its files alone, and believes nothing else.

It shares the policy, the models' plain judgement and file reading with the rest of polyveil; neither the methods that
made the classes nor the code that wrote them. Classes are what a reader sees: rows with equal quasi-identifier cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.policy import from_public
from polyveil.table.databases import is_url
from polyveil.verification.database import StoredRelease, read_stored
from polyveil.verification.files import check_files, check_form, read_manifest, read_tables
from polyveil.verification.findings import Finding, Verification
from polyveil.verification.forms import FORMS


def verify(place: Path | str | StoredRelease) -> Verification:
    """Check a release on disk or, given a URL, in a database: its files or tables, then all its manifest claims."""
    if isinstance(place, StoredRelease) or is_url(place):
        manifest, tables, findings = read_stored(place)
        content = verify_tables(manifest, tables)
        return Verification((*findings, *content.findings), content.verdicts)
    folder = Path(place)
    manifest = read_manifest(folder)
    findings = check_files(folder, manifest)
    tables, unreadable = read_tables(folder, manifest)
    content = verify_tables(manifest, tables)
    return Verification((*findings, *unreadable, *content.findings), content.verdicts)


def verify_tables(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Verification:
    """Check tables against the manifest that describes them."""
    policy = from_public(manifest["policy"])
    strange = check_form(manifest, policy)
    if strange:
        return Verification(tuple(strange))
    return FORMS[manifest["form"]](manifest, policy, tables)


__all__ = ["Finding", "StoredRelease", "Verification", "verify", "verify_tables"]
