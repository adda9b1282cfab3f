"""Publishing: into a folder, an object store or a database, whichever `out` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.releases.bundle import check_target, write_bundle
from polyveil.reports import NAME as REPORT
from polyveil.reports import build
from polyveil.table.databases.place import is_url
from polyveil.table.stores import is_store


def check_place(out: Path | str, *, overwrite: bool = False) -> None:
    """Refuse early what would fail late."""
    if is_store(out):
        from polyveil.releases.store import check_store

        check_store(out, overwrite=overwrite)
    elif is_url(out):
        from polyveil.releases.database import check_release_target

        check_release_target(out, overwrite=overwrite)
    else:
        check_target(Path(out), overwrite=overwrite)


def publish(
    out: Path | str,
    tables: Mapping[str, pl.DataFrame],
    manifest: Mapping[str, Any],
    *,
    file_format: str,
    overwrite: bool = False,
    report: bool = True,
    accept: Callable[[Any], object],
) -> None:
    """Write everything, let `accept` judge what was written, and only then let it appear under its name.

    A folder, here or in an object store, gets a report beside the tables; a database holds tables alone.
    """
    if is_url(out):
        from polyveil.releases.database import write_release

        write_release(out, tables, manifest, overwrite=overwrite, accept=accept)
        return
    extra = {REPORT: build(manifest, tables)} if report else {}

    def write(folder: Path) -> None:
        write_bundle(folder, tables, manifest, file_format=file_format, overwrite=overwrite, extra=extra, accept=accept)

    if is_store(out):
        from polyveil.releases.store import write_to_store

        write_to_store(out, write, overwrite=overwrite)
    else:
        write(Path(out))
