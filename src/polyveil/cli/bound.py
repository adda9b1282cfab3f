"""`polyveil bound`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress


def bound(
    data: Annotated[str, typer.Argument(help="The table: a file, a folder of Parquet files, or a database.")],
    policy: Annotated[Path, typer.Option("--policy", "-p", help="The policy file (YAML).")],
    seconds: Annotated[float, typer.Option(help="How long to look for a greater bound.", min=0.0)] = 20.0,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Compute how much detail every release of DATA with these guarantees must lose, by whatever method.

    Compare it with the detail that a release has lost: if the two are close, a longer search cannot gain much.
    """
    with reported_errors(as_json=as_json):
        from polyveil.bounds import bound as run

        with shown_progress(quiet=quiet or as_json) as progress:
            found = run(data, policy, seconds=seconds, progress=progress, reading={"table": table} if table else {})
        if as_json:
            print_json(found.to_dict())
        else:
            typer.echo(found.answer())
