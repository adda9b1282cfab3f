"""Results as people read them: plain tables on stdout, coloured only on a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from polyveil.reports.markup import percent
from polyveil.results import MANY, counted, worst_of_each

if TYPE_CHECKING:
    from rich.console import Console

    from polyveil.bounds import LossBound
    from polyveil.verification import Finding, Verification

MARK = {"holds": "[green]✓[/]", "fails": "[red]✗[/]", "not checked": "[yellow]?[/]"}
VERDICT = {
    "holds": "[green]All checks passed.[/]",
    "fails": "[red]The release FAILS its checks.[/]",
    "not checked": "[yellow]Nothing failed, but not every guarantee could be checked: see the lines with a ?.[/]",
}


def console() -> Console:
    """Stdout, not cut at 80 columns when it is not a terminal."""
    from rich.console import Console

    out = Console(highlight=False, soft_wrap=False)
    if not out.is_terminal:
        out.width = 120
    return out


def show_release(
    manifest: Mapping[str, Any],
    seconds: Mapping[str, float],
    place: str | None,
    notes: Sequence[str] = (),
    bound: LossBound | None = None,
) -> None:
    """What was required, what was reached, how much detail was lost, and where the release is."""
    out = console()
    size = manifest["class_size"]
    people = manifest.get("people")
    who = f" about [bold]{people['count']:,}[/] people" if people else ""
    out.print(
        f"[bold]{manifest['rows']:,}[/] rows{who} in [bold]{manifest['classes']:,}[/] groups of rows that look alike, "
        f"{size['min']:,} to {size['max']:,} rows each (mean {size['mean']:.1f}); "
        f"{manifest['suppressed']:,} rows left out"
    )
    if "relational" in manifest:
        rows = [
            f"{name} {about['rows'] - about['suppressed']:,}"
            for name, about in manifest["relational"]["tables"].items()
        ]
        out.print(f"Rows of the tables, a row for everybody in each: {', '.join(rows)}")
    if people:
        least, most = people["class_size"]["min"], people["class_size"]["max"]
        out.print(f"{least:,} to {most:,} people in each group (mean {people['class_size']['mean']:.1f})")
    from polyveil.reports.facts import claims_in_people  # slow to load

    out.print(_claims_table(claims_in_people(manifest)))
    out.print(_loss_table(manifest["loss"]))
    if bound is not None:
        lost, least = percent(manifest["loss"]["normalized_loss"]), percent(bound.normalized_loss)
        out.print(f"Loses {lost} of the detail; no release with these guarantees can lose less than {least}")
    out.print(f"Method {manifest['method']['name']}, {seconds.get('total', 0.0):.1f} s")
    for note in notes:
        out.print(f"[yellow]Note:[/] {note}")
    if place:
        out.print(f"Published and verified: [bold]{place}[/]")


def _claims_table(claims: Sequence[Mapping[str, Any]]) -> Any:
    table = plain_table("guarantee", "column", "required", "reached", "helps against")
    shown = worst_of_each(
        claims,
        lambda claim: (claim["model"], claim["threshold"], claim["helps_against"]),
        lambda claim: abs(claim["threshold"] - claim["measured"]),
    )
    for claim, number in shown:
        table.add_row(
            claim["model"],
            worst_of(claim["attribute"], number),
            figure(claim["threshold"]),
            figure(claim["measured"]),
            claim["helps_against"],
        )
    return table


def _loss_table(loss: Mapping[str, Any]) -> Any:
    table = plain_table("detail lost", "", "0 %: as in the input; 100 %: nothing left")
    for name, value in {"all quasi-identifiers": loss["normalized_loss"], **loss["by_attribute"]}.items():
        table.add_row(name, percent(value), "█" * round(20 * value) or "▏")
    return table


def show_verification(verification: Verification, *, every: bool = False) -> None:
    """Every check with its outcome, then the verdict."""
    out, most = console(), inf if every else MANY
    if verification.columns:
        table = plain_table("column", "role", "guarantees", "take care")
        for about, number in worst_of_each(verification.columns, _alike, lambda _: 0, most=most):
            name = about["name"] if number == 1 else f"{about['name']} and {counted(number - 1, 'other')}"
            guarantees = _of_each(about) if number > 1 else about["guarantees"]
            marks = "; ".join(about["marks"])
            table.add_row(name, about["role"], "; ".join(guarantees), f"[red]{marks}[/]" if marks else "")
        out.print(table)
    for finding, number in worst_of_each(verification.findings, _kind_of_check, lambda _: 0, most=most):
        if number == 1:
            out.print(f"{MARK[finding.outcome]} [bold]{finding.check}[/]  {finding.message}")
        else:
            kind = finding.check.partition(" of ")[0]
            out.print(f"{MARK[finding.outcome]} [bold]{kind}[/]  {number} checks passed; --every lists them")
    out.print(VERDICT[verification.outcome])


def _of_each(about: Mapping[str, Any]) -> tuple[str, ...]:
    """The guarantees of a column in words that fit others with the same ones."""
    return tuple(re.sub(rf" of {re.escape(about['name'])}(?!\w)", " of each", text) for text in about["guarantees"])


def _alike(about: Mapping[str, Any]) -> Any:
    """Columns with the same role and guarantees; one to take care of stands alone."""
    return about["name"] if about["marks"] else (about["role"], _of_each(about))


def _kind_of_check(finding: Finding) -> Any:
    """Checks of several columns that passed; any other stands alone."""
    kind, of, _ = finding.check.partition(" of ")
    return kind if of and finding.outcome == "holds" else (finding.check, finding.message)


def worst_of(name: str | None, number: int) -> str:
    """The name of a column that may stand for others."""
    return (name or "") if number == 1 else f"{name} (worst of {number:,})"


def plain_table(*headers: str) -> Any:
    """A table without lines, that copies well into a mail."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, header_style="dim")
    return table


def figure(value: float | None) -> str:
    """Four significant digits; whole numbers whole."""
    if value is None:
        return "-"
    if value in (float("inf"), float("-inf")):
        return "∞"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"
