"""`polyveil analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors


def analyze(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME.")],
    original: Annotated[str, typer.Option(help="The table the release was made from.")],
    analyses: Annotated[Path, typer.Option(help="A YAML file with a list of analyses.")],
    draws: Annotated[int, typer.Option(help="How often values are drawn from the cells of the release.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run analyses on the original and on a release, and show how well the results agree.

    The file has one entry per analysis: {linear: cost, on: [age, sex]}, {logistic: died, value: yes, on: [age]},
    {table: [sex, illness]}, {survival: months, event: died, value: yes, by: arm}. The result contains figures of the
    original and is for the steward only.
    """
    with reported_errors(as_json=as_json):
        from polyveil.analyses import analyze as run

        found = run(release, original, analyses, draws=draws, seed=seed)
        if as_json:
            print_json(found.to_dict())
            return
        from rich.console import Console
        from rich.table import Table

        screen = Console()
        for each in found.analyses:
            shown = Table("figure", "original", "release", "overlap", "same conclusion", title=each.title)
            for figure in each.estimates:
                pairs = (
                    (figure.original, figure.low, figure.high),
                    (figure.released, figure.released_low, figure.released_high),
                )
                cells = [f"{value:.4g} ({low:.4g} to {high:.4g})" for value, low, high in pairs]
                shown.add_row(figure.term, *cells, f"{figure.overlap:.2f}", "yes" if figure.same_conclusion else "no")
            screen.print(shown if each.estimates else f"{each.title}: {each.note}")
        screen.print(found.answer())
