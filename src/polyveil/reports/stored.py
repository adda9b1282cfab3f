"""The report of a release that is published already, rebuilt from its files or database tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyveil.errors import VerificationFailed
from polyveil.reports import build
from polyveil.reports.page import Section
from polyveil.table.databases import is_url
from polyveil.verification import verify
from polyveil.verification.database import read_stored
from polyveil.verification.files import read_manifest, read_tables


def report_of(place: Path | str, *, more: Sequence[Section] = ()) -> str:
    """The page for the release at `place`; a release that does not verify gets none."""
    found = verify(place)
    if not found.holds:
        seen = "\n".join(f"  - {finding.check}: {finding.message}" for finding in found.failures)
        raise VerificationFailed(
            f"the release does not pass verification, so there is no report. `polyveil verify` says:\n{seen}"
        )
    if isinstance(place, str) and is_url(place):
        manifest, tables, _ = read_stored(place)
    else:
        manifest = read_manifest(Path(place))
        tables, _ = read_tables(Path(place), manifest)
    return build(manifest, tables, more=more)
