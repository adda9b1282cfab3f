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
    overwrite: Annotated[bool, typer.Option(help="Replace an older file of that name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make the page that tells a reader what a release promises, what it cost and what it does not cover.

    `polyveil anonymize` puts the same page into the release; this makes it again, for any release, from its files
    alone. The page is one file, loads nothing, and holds nothing that the release does not.
    """
    with reported_errors(as_json=as_json):
        from polyveil.report.stored import report_of
        from polyveil.report.writing import check_page_target, write_page

        check_page_target(out, overwrite=overwrite)
        write_page(out, report_of(release))
        print_json({"report": str(out)}) if as_json else typer.echo(out)
