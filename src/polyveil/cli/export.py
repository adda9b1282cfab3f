"""`polyveil export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors


def export(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME.")],
    to: Annotated[Path, typer.Option("--to", help="New file: .xlsx (Excel), .sav (SPSS) or .dta (Stata).")],
    table: Annotated[
        str | None, typer.Option(help="Table of an anatomized or sliced release for SPSS or Stata.")
    ] = None,
    labels_from: Annotated[
        Path | None,
        typer.Option(help="SPSS, Stata or SAS file, such as the original, whose labels and codes are used."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Copy a release into one file for Excel, SPSS or Stata.

    The release is verified first, and copied only if no check fails. The copy is not part of the release: nobody can
    verify it. Publish the release folder, or both.
    """
    with reported_errors(as_json=as_json):
        from polyveil.releases.export import export as run

        written = run(release, to, table=table, labels_from=labels_from, overwrite=overwrite)
        if as_json:
            print_json({"file": str(to), "tables": list(written)})
        else:
            typer.echo(f"{to}: {', '.join(written)}. A copy of a verified release; the copy itself cannot be verified.")
