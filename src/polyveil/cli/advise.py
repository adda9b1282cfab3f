"""`polyveil advise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress

if TYPE_CHECKING:
    from polyveil.advice.advice import Advice


def advise(
    data: Annotated[str, typer.Argument(help="The table: a file, a folder of Parquet files, or a database.")],
    policy: Annotated[Path, typer.Option("--policy", "-p", help="A policy file that says what each column is.")],
    classes: Annotated[
        list[str] | None,
        typer.Option(
            help="How the values of a sensitive column are grouped: name=values, name=5 (intervals) or name=level:1."
        ),
    ] = None,
    density: Annotated[Literal["kernel", "discrete"], typer.Option(help="How densities are estimated.")] = "kernel",
    coding: Annotated[
        Literal["order", "frequency"], typer.Option(help="How these groups of values are numbered.")
    ] = "order",
    bandwidth: Annotated[float, typer.Option(help="Bandwidth of the kernel, in standard deviations.", min=0.01)] = 0.5,
    mismatch: Annotated[
        float,
        typer.Option(
            help="Leave out combinations of columns whose numbers of groups differ by more than this factor.", min=1
        ),
    ] = 2.0,
    draws: Annotated[int, typer.Option(help="Bootstrap draws for the interval of t; 0 for none.", min=0)] = 200,
    methods: Annotated[
        str, typer.Option(help="Methods that are run at each t to measure the detail lost.")
    ] = "mondrian,pca",
    width: Annotated[int, typer.Option(help="Search combinations of up to this many columns.", min=1, max=6)] = 3,
    limit: Annotated[float, typer.Option(help="Seconds each run may take.", min=0.1)] = 15.0,
    jobs: Annotated[int, typer.Option(help="Runs at the same time.", min=1)] = 2,
    html: Annotated[Path | None, typer.Option(help="Write a page with the plots to this file.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older page.")] = False,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Help to choose t and k: what the sensitive columns suggest, what each t and k costs, who can be singled out.

    The suggested t comes from the overlap of the sensitive columns' densities (roy2014), with an interval. The table
    itself gives more evidence: the detail lost at each t and k, the t from which stricter settings cost much more (the
    knee), the smallest group that t allows, and the combinations of columns that identify people.
    """
    with reported_errors(as_json=as_json):
        from polyveil.advice.advice import advise as run
        from polyveil.reports.writing import check_page_target, write_page

        if html is not None:
            check_page_target(html, overwrite=overwrite)
        with shown_progress(quiet=quiet or as_json) as progress:
            advice = run(
                data,
                policy,
                classes=_pairs(classes or []),
                estimator=density,
                coding=coding,
                bandwidth=bandwidth,
                ratio=mismatch,
                draws=draws,
                methods=[name.strip() for name in methods.split(",") if name.strip()],
                width=width,
                limit=limit,
                jobs=jobs,
                progress=progress,
                reading={"table": table} if table else {},
            )
        if html is not None:
            from polyveil.advice.advice_page import advice_page

            write_page(html, advice_page(advice))
        if as_json:
            print_json(advice.to_dict())
        else:
            _show(advice)
            if html is not None:
                typer.echo(f"\nPage with plots: {html}")


def _pairs(texts: list[str]) -> dict[str, str]:
    from polyveil.errors import InputError

    if any("=" not in text for text in texts):
        raise InputError("--classes takes name=values, name=5 or name=level:1. Give it once for each column")
    return {name.strip(): how.strip() for name, _, how in (text.rpartition("=") for text in texts)}


def _show(advice: Advice) -> None:
    from polyveil.advice.advice import NO_OVERLAP
    from polyveil.cli.show import console, figure, plain_table
    from polyveil.reports.markup import percent

    out = console()
    found = advice.overlap
    if found is None:
        out.print(f"{NO_OVERLAP}\n")
    else:
        between = f"  (95 % of draws: {found.interval[0]:.3f} to {found.interval[1]:.3f})" if found.interval else ""
        out.print(f"[bold]t = {found.t:.3f}[/]{between}  (1 - smallest overlap of the sensitive columns)")
        table = plain_table("columns", "groups of values", "overlap", "1 - overlap", "")
        for each in found.overlaps:
            note = "[yellow]left out: numbers of groups differ too much[/]" if each.mismatched else ""
            sizes = " · ".join(map(str, each.classes))
            table.add_row(each.title, sizes, f"{each.share:.3f}", f"{1 - each.share:.3f}", note)
        out.print(table)
        ts = [t for _, t in advice.sensitivity]
        out.print(f"Other codings and densities give t from {min(ts):.2f} to {max(ts):.2f}\n", style="dim")
    if advice.sampled:
        out.print(f"The runs below use {advice.sampled:,} of {advice.rows:,} rows, chosen at random", style="dim")
    _show_costs(advice)
    shown = advice.uniqueness.telling(3)
    table = plain_table("columns that identify people", "unique rows", "share")
    for combination in shown:
        table.add_row(" + ".join(combination.columns), figure(combination.unique_rows), percent(combination.share))
    out.print(table if shown else f"No combination of up to {advice.uniqueness.width} columns makes a row unique")
    if not advice.uniqueness.complete:
        out.print("Not all combinations were tried. A longer --limit tries more", style="dim")


def _show_costs(advice: Advice) -> None:
    from polyveil.advice.evidence import BEARABLE
    from polyveil.cli.show import console, figure, plain_table
    from polyveil.reports.markup import percent

    out = console()
    least = {each.t: each for each in advice.least}
    ts = sorted({outcome.case.t for curve in advice.curves for outcome in curve.outcomes if outcome.case.t is not None})
    if ts:
        table = plain_table(
            "t", "smallest possible group", *(f"detail lost with {curve.method}" for curve in advice.curves)
        )
        for t in ts:
            size = least[t].size
            losses = [next(o for o in curve.outcomes if o.case.t == t) for curve in advice.curves]
            texts = [percent(o.normalized_loss) if o.done else o.status for o in losses]
            table.add_row(f"{t:g}", "-" if size is None else figure(size), *texts)
        out.print(table)
        for curve in advice.curves:
            out.print(f"Knee of {curve.method}: " + (f"t = {curve.knee:g}" if curve.knee is not None else "none"))
        out.print()
    table = plain_table("k", "rows in groups smaller than k now", "detail lost with k alone")
    for fact in advice.ks:
        table.add_row(str(fact.k), figure(fact.rows_below), "-" if fact.loss is None else percent(fact.loss))
    out.print(table)
    best = f"k = {advice.supported_k}" if advice.supported_k else "none of these"
    out.print(f"Largest k that loses at most {percent(BEARABLE)} of the detail: {best}\n")
