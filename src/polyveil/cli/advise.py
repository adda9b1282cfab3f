"""`polyveil advise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
        str | None, typer.Option(help="Methods that are run at each t to measure the detail lost; the policy's own.")
    ] = None,
    who: Annotated[
        Literal["public", "researchers", "colleagues"] | None, typer.Option(help="Who gets the release.")
    ] = None,
    harm: Annotated[
        Literal["small", "serious", "grave"] | None, typer.Option(help="How much a correct guess harms a person.")
    ] = None,
    detail: Annotated[
        Literal["little", "some", "much"] | None, typer.Option(help="How much detail the release needs.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask these three questions.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the recommended policy to this new file.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Show how t was found, and who is singled out.")] = False,
    width: Annotated[int, typer.Option(help="Search combinations of up to this many columns.", min=1, max=6)] = 3,
    limit: Annotated[float, typer.Option(help="Seconds each run may take.", min=0.1)] = 15.0,
    jobs: Annotated[int, typer.Option(help="Runs at the same time.", min=1)] = 2,
    html: Annotated[Path | None, typer.Option(help="Write a page with the plots to this file.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older page.")] = False,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Recommend a k and a t with the reason, and show what each choice costs with the method that will run.

    Three questions (--who, --harm, --detail, or --ask) decide k and t. Without them, t comes from the overlap of the
    sensitive columns' densities (roy2014), or from the t below which the cost rises fast (the knee). --details shows
    the overlap, other ways to compute it, the smallest group each t allows, and columns that identify people.
    """
    with reported_errors(as_json=as_json):
        from polyveil.advice.advice import advise as run
        from polyveil.reports.writing import check_page_target, write_page

        if html is not None:
            check_page_target(html, overwrite=overwrite)
        if out is not None and out.exists():
            from polyveil.errors import InputError

            raise InputError(f"{out} exists already and may contain your edits. Choose a new file")
        if ask and not as_json:
            who, harm, detail = _asked()
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
                methods=None if methods is None else [name.strip() for name in methods.split(",") if name.strip()],
                who=who,
                harm=harm,
                detail=detail,
                width=width,
                limit=limit,
                jobs=jobs,
                progress=progress,
                reading={"table": table} if table else {},
            )
        if html is not None:
            from polyveil.advice.advice_page import advice_page

            write_page(html, advice_page(advice))
        if out is not None:
            from polyveil.policy import Policy
            from polyveil.policy.include import moved_to

            moved = moved_to(advice.recommended.policy, policy.parent, out.parent)
            out.write_text(Policy.from_dict(moved, folder=out.parent).to_yaml(), encoding="utf-8")
        if as_json:
            print_json(advice.to_dict())
        else:
            _show(advice, details=details)
            if out is not None:
                typer.echo(f"\nRecommended policy: {out}")
            if html is not None:
                typer.echo(f"\nPage with plots: {html}")


def _pairs(texts: list[str]) -> dict[str, str]:
    from polyveil.errors import InputError

    if any("=" not in text for text in texts):
        raise InputError("--classes takes name=values, name=5 or name=level:1. Give it once for each column")
    return {name.strip(): how.strip() for name, _, how in (text.rpartition("=") for text in texts)}


def _asked() -> Any:
    """The three questions, one after the other."""
    from click import Choice

    return (
        typer.prompt(
            "Who gets the release?", type=Choice(["public", "researchers", "colleagues"]), default="researchers"
        ),
        typer.prompt(
            "How much does a correct guess harm a person?",
            type=Choice(["small", "serious", "grave"]),
            default="serious",
        ),
        typer.prompt("How much detail does the release need?", type=Choice(["little", "some", "much"]), default="some"),
    )


def _show(advice: Advice, *, details: bool) -> None:
    from polyveil.cli.show import console
    from polyveil.reports.markup import percent

    out = console()
    found = advice.recommended
    asked = f"k = {found.k}" + (f", t = {found.t:g}" if found.t is not None else "")
    out.print(f"[bold]Recommended: {asked}[/] with the method {found.method}")
    out.print(f"Why: {found.reason}")
    if found.t_range is not None:
        low, high = found.t_range
        out.print(
            f"How sure: ways to compute the overlap of the sensitive columns give t from {low:.2f} to {high:.2f}."
        )
    if found.detail_lost is not None:
        how = f"expected from samples of up to {found.rows:,} rows" if advice.sampled else "measured in a short search"
        out.print(f"Cost: about {percent(found.detail_lost)} of the detail of all {advice.rows:,} rows, {how}.")
    out.print("More: --details shows how t was found; --who, --harm and --detail let your answers decide.\n")
    for caution in advice.warnings:
        out.print(f"[yellow]Avoidable loss:[/] {caution}\n")
    _show_costs(advice)
    if details:
        _show_details(advice)


def _show_details(advice: Advice) -> None:
    from polyveil.cli.show import console, figure, plain_table
    from polyveil.reports.markup import percent

    out = console()
    if advice.overlap is None:
        out.print(f"{advice.overlap_note}\n")
    else:
        found = advice.overlap
        between = f"  (95 % of draws: {found.interval[0]:.3f} to {found.interval[1]:.3f})" if found.interval else ""
        out.print(f"[bold]t = {found.t:.3f}[/]{between}  (1 - smallest overlap of the sensitive columns)")
        table = plain_table("columns", "groups of values", "overlap", "1 - overlap", "")
        for each in found.overlaps:
            note = "[yellow]left out: numbers of groups differ too much[/]" if each.mismatched else ""
            sizes = " · ".join(map(str, each.classes))
            table.add_row(each.title, sizes, f"{each.share:.3f}", f"{1 - each.share:.3f}", note)
        out.print(table)
        for words, t in advice.sensitivity:
            out.print(f"  {words}: t = {t:.2f}", style="dim")
        out.print()
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
    few = f"{advice.compared:,} of {advice.rows:,} rows" if advice.compared < advice.rows else "all rows"
    out.print(f"What each choice costs, in percent of the detail lost ({few}, short searches):", style="dim")
    if advice.compared < advice.rows:
        out.print("All rows together lose less than these. Compare the lines with each other.", style="dim")
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
