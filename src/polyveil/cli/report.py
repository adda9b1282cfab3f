"""`polyveil report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors


def report(
    release: Annotated[
        str, typer.Argument(help="The folder of a release, or its database with ?schema=NAME, as in --out.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("report.html"),
    original: Annotated[
        str | None,
        typer.Option(help="The table the release was made from: adds attacks, for the steward's own copy."),
    ] = None,
    row_map: Annotated[
        Path | None, typer.Option(help="With --original: the release's row_map.parquet, adds what it is good for.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older file of that name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make the page that tells a reader what a release promises, what it cost and what it does not cover.

    `polyveil anonymize` puts the same page into the release; this makes it again, for any release, from its files
    alone. The page is one file, loads nothing, and holds nothing that the release does not - unless the original table
    is given: then it also shows what simulated adversaries reach, and is not for publication.
    """
    with reported_errors(as_json=as_json):
        from polyveil.errors import InputError
        from polyveil.reports.steward import steward_sections
        from polyveil.reports.stored import report_of
        from polyveil.reports.writing import check_page_target, write_page

        check_page_target(out, overwrite=overwrite)
        if row_map is not None and original is None:
            raise InputError("--row-map needs the table as well. Give --original")
        more = steward_sections(release, original, row_map=row_map) if original else []
        write_page(out, report_of(release, more=more))
        print_json({"report": str(out)}) if as_json else typer.echo(out)
