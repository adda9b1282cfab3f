"""`polyveil attack`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress

if TYPE_CHECKING:
    from polyveil.attacks import Attack, AttackReport

COLOUR = {"within bound": "green", "broken": "bold red", "no promise": "yellow", "not run": "dim"}


def attack(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME.")],
    original: Annotated[str, typer.Option("--original", help="The table the release was made from.")],
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", help="Check against the guarantees of this policy instead of those of the release."
        ),
    ] = None,
    second: Annotated[
        str | None, typer.Option(help="Another release of the same table; both are attacked together.")
    ] = None,
    heldout: Annotated[
        str | None, typer.Option(help="People who are not in the release, for the learned attack's baseline.")
    ] = None,
    trials: Annotated[int, typer.Option(help="How many people are attacked.", min=10)] = 2000,
    seed: Annotated[int, typer.Option(help="Seed for the choice of the people who are attacked.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Attack a release as simulated adversaries would, and compare their success with the guarantees.

    For each attack: its success, its success without the release, a 95 % interval, and the highest success that the
    guarantees allow. This needs the original table, so only its steward can run it. Exit code 1: a guarantee is broken,
    or no attack could test one.
    """
    with reported_errors(as_json=as_json):
        from polyveil.attacks import attack as run
        from polyveil.table.databases import shown

        with shown_progress(quiet=quiet or as_json) as progress:
            report = run(
                release,
                original,
                policy=policy,
                second=second,
                heldout=heldout,
                trials=trials,
                seed=seed,
                progress=progress,
            )
        if as_json:
            print_json({**report.to_dict(), "release": shown(release)})
        else:
            show_attacks(report)
    if not report.holds:
        raise typer.Exit(1)


def show_attacks(report: AttackReport) -> None:
    """One line per attack, then the verdict in words."""
    from polyveil.cli.show import console, plain_table

    out = console()
    table = plain_table("attack", "column", "success", "without", "95 % interval", "allowed", "highest", "verdict")
    for found in report.attacks:
        table.add_row(*_cells(found))
    out.print(table)
    out.print(
        "success: share of attacked people for whom the attack is right; without: the same without the release; "
        "allowed: by the guarantees; highest: highest certainty for any one person",
        style="dim",
    )
    for found in report.broken:
        out.print(f"[bold red]broken[/] {_title(found)}: {found.adversary}. Guarantee: {found.promise}")
    unpromised = [_title(found) for found in report.unpromised]
    if unpromised:
        outside = "1 attack is" if len(unpromised) == 1 else f"{len(unpromised)} attacks are"
        out.print(
            f"[yellow]{outside} outside the guarantees[/], and this release makes "
            f"{'it' if len(unpromised) == 1 else 'them'} easier: {_listed(unpromised)}"
        )
    verdict = {
        "holds": "[green]No guarantee was broken.[/]",
        "fails": "[red]A guarantee of this release is broken.[/]",
        "not checked": "[yellow]No attack could be compared with a guarantee, so none was tested.[/]",
    }
    out.print(verdict[report.outcome])


def _cells(found: Attack) -> list[str]:
    if found.verdict == "not run":
        return [found.name, found.attribute or "", *["-"] * 5, f"[dim]not run[/]: {found.note}"]
    interval = f"{found.low:.3f} - {found.high:.3f}"
    return [
        found.name,
        found.attribute or "",
        f"{found.success:.3f}",
        f"{found.baseline:.3f}",
        interval,
        "-" if found.bound is None else f"{found.bound:.3f}",
        "-" if found.worst is None else f"{found.worst:.3f}",
        f"[{COLOUR[found.verdict]}]{found.verdict}[/]",
    ]


def _title(found: Attack) -> str:
    return f"{found.name} of {found.attribute}" if found.attribute else found.name


def _listed(items: Sequence[str], most: int = 6) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")
