"""Results as people read them: plain tables on stdout, coloured only on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyveil.reports.markup import percent

if TYPE_CHECKING:
    from rich.console import Console

    from polyveil.bounds import LossBound
    from polyveil.verification import Verification

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
    for claim in claims:
        table.add_row(
            claim["model"],
            claim["attribute"] or "",
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


def show_verification(verification: Verification) -> None:
    """Every check with its outcome, then the verdict."""
    out = console()
    if verification.columns:
        table = plain_table("column", "role", "guarantees", "take care")
        for about in verification.columns:
            marks = "; ".join(about["marks"])
            table.add_row(
                about["name"], about["role"], "; ".join(about["guarantees"]), f"[red]{marks}[/]" if marks else ""
            )
        out.print(table)
    for finding in verification.findings:
        out.print(f"{MARK[finding.outcome]} [bold]{finding.check}[/]  {finding.message}")
    out.print(VERDICT[verification.outcome])


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
