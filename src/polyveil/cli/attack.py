"""`polyveil attack`."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyveil.cli.frame import Every, print_json, reported_errors
from polyveil.cli.progress import shown_progress
from polyveil.errors import listed

if TYPE_CHECKING:
    from polyveil.attacks import Attack, AttackReport

COLOUR = {"within bound": "green", "broken": "bold red", "no promise": "yellow", "not run": "dim"}
OUTCOME = {"holds": "green", "fails": "bold red", "not checked": "yellow"}


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
    population: Annotated[
        str | None, typer.Option(help="A table of the population, one row per person: the journalist's register.")
    ] = None,
    trials: Annotated[int, typer.Option(help="How many people are attacked.", min=10)] = 2000,
    seed: Annotated[int, typer.Option(help="Seed for the choice of the people who are attacked.")] = 0,
    every: Every = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Attack a release as simulated adversaries would, and compare their success with the guarantees.

    For each attack: how often it is right, how often the same guess is right from the whole table and from other
    people, a 95 % interval, the highest success that the guarantees allow, and how much was tried. This needs the
    original table, so only its steward can run it. Exit code 1: a guarantee is broken, none could be tested, or
    something was not tried.
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
                population=population,
                trials=trials,
                seed=seed,
                progress=progress,
            )
        if as_json:
            print_json({**report.to_dict(), "release": shown(release)})
        else:
            show_attacks(report, every=every)
    if not report.holds:
        raise typer.Exit(1)


MOST_ASSUMPTIONS = 5
"""A kind of attack with more assumptions has one for every pair of columns; the first stands for them."""


def show_attacks(report: AttackReport, *, every: bool = False) -> None:
    """The verdict in words, the most serious first; then one line per attack, and what each assumes."""
    from polyveil.cli.show import console, plain_table
    from polyveil.results import MANY

    out = console()
    for line in report.sentences():
        out.print(line, style=OUTCOME[report.outcome])
    for found in report.broken:
        out.print(f"[bold red]broken[/] {found.title}: {found.adversary}. Guarantee: {found.promise}")
    if report.unpromised:
        out.print(f"[yellow]outside the guarantees[/]: {listed([found.title for found in report.unpromised], most=6)}")
    for notice in report.notices:
        out.print(f"[yellow]notice[/] {notice}")
    partly = any(not found.complete for found in report.attacks if found.trials)
    table = plain_table(
        *("attack", "column", "right (95 % interval)", "from table", "from others", "allowed", "highest"),
        *(["tried"] if partly else []),
        "verdict",
    )
    shown = report.worst_of_kinds(inf if every else MANY)
    for found, number in shown:
        table.add_row(*_cells(found, number, partly=partly))
    out.print(table)
    if len(shown) < len(report.attacks):
        out.print(f"The most successful of each kind, of {len(report.attacks):,} attacks; --every lists all of them")
    out.print(
        "right: share of attacked people for whom the attack is right; from table: the same guess from the whole "
        "table; from others: from a model of other people of the same population; allowed: by the guarantees; highest: "
        "highest certainty for any one person" + ("" if partly else ". Everybody was attacked"),
        style="dim",
    )
    for name, assumed in _assumptions(report).items():
        told = assumed if len(assumed) <= MOST_ASSUMPTIONS else assumed[:1]
        for assumes in told:
            out.print(f"{name}: {assumes}", style="dim")
        if len(told) < len(assumed):
            out.print(f"{name}: and the same for {len(assumed) - 1} other columns or pairs of columns", style="dim")


def _assumptions(report: AttackReport) -> dict[str, list[str]]:
    """What each kind of attack assumes, every sentence once, with the kind of risk that it is."""
    found: dict[str, list[str]] = {}
    for attack in report.attacks:
        name = f"{attack.name} ({attack.criterion})"
        if attack.trials and attack.adversary not in found.setdefault(name, []):
            found[name].append(attack.adversary)
    return found


def _cells(found: Attack, number: int, *, partly: bool) -> list[str]:
    from polyveil.cli.show import worst_of
    from polyveil.results import counted

    column = worst_of(found.attribute, number)
    if found.verdict == "not run":
        column = column if number == 1 else f"{found.attribute} and {counted(number - 1, 'other')}"
        return [found.name, column, *["-"] * (5 + partly), f"[dim]not run[/]: {found.note}"]
    return [
        found.name,
        column,
        f"{found.success:.3f} ({found.low:.3f}–{found.high:.3f})",
        f"{found.baseline:.3f}",
        *(_or_dash(value) for value in (found.baseline_population, found.bound, found.worst)),
        *([found.extent()] if partly else []),
        f"[{COLOUR[found.verdict]}]{found.verdict}[/]",
    ]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
