"""`polyveil report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors


def report(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME, as in --out.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write, .html or .pdf.")] = Path("report.html"),
    original: Annotated[
        str | None,
        typer.Option(help="The table the release was made from. Adds attacks; for the steward only."),
    ] = None,
    row_map: Annotated[
        Path | None,
        typer.Option(help="With --original: the row_map.parquet of the release. Adds how useful the release is."),
    ] = None,
    language: Annotated[str, typer.Option(help="The language of the page: en (English) or de (German).")] = "en",
    overwrite: Annotated[bool, typer.Option(help="Replace an older file of that name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Write a page that explains what a release guarantees, how much detail it lost and what it does not cover.

    `polyveil anonymize` adds the same page to the release folder; this command makes it again from the files of any
    release. The page is one file, loads nothing from elsewhere, and contains nothing that the release does not contain.
    With --original it also shows how far simulated attacks get, and must not be published. A .pdf file is printed by
    Chromium, Chrome or Edge, if one of them is on this machine.
    """
    with reported_errors(as_json=as_json):
        from polyveil.reports.stored import report as run

        run(release, out=out, original=original, row_map=row_map, overwrite=overwrite, language=language)
        print_json({"report": str(out)}) if as_json else typer.echo(out)
