"""`polyveil compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress

if TYPE_CHECKING:
    from polyveil.advice.compare import Comparison


def compare(
    data: Annotated[str, typer.Argument(help="The table: a file, a folder of Parquet files, or a database.")],
    policy: Annotated[Path, typer.Option("--policy", "-p", help="The policy file (YAML).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results and the page comparison.html.")],
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; all of them by default.")] = "all",
    k: Annotated[str, typer.Option(help="One or more k, separated by commas; the policy's own by default.")] = "",
    t: Annotated[
        str, typer.Option(help="One or more t for every sensitive column alike; the policy's own by default.")
    ] = "",
    limit: Annotated[float, typer.Option(help="Seconds each run may take.", min=0.1)] = 60.0,
    jobs: Annotated[int, typer.Option(help="Runs at the same time.", min=1)] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier comparison in OUT.")] = False,
    seed: Annotated[int, typer.Option(help="Makes the methods' choices repeatable.")] = 1,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run several methods and settings on one table, and compare the detail they lose and the protection they give.

    Every combination of methods, k and t runs in a process of its own with a time limit. Finished runs are kept in OUT,
    so a comparison that was stopped can be continued with --resume. Nothing is published.

        polyveil compare patients.csv --policy policy.yaml --methods mondrian,fcm --k 5,10 --t 0.1,0.2 --out compared
    """
    kept = f"finished runs are kept in {out}. Run the same command with --resume to continue"
    with reported_errors(as_json=as_json, stopped=kept):
        from polyveil.advice.compare import compare as run

        with shown_progress(quiet=quiet or as_json) as progress:
            comparison = run(
                data,
                policy,
                methods="all" if methods == "all" else _texts(methods),
                k=[int(x) for x in _numbers(k, "--k", least=2, whole=True)],
                t=_numbers(t, "--t", least=0),
                limit=limit,
                jobs=jobs,
                out=out,
                resume=resume,
                seed=seed,
                progress=progress,
                reading={"table": table} if table else {},
            )
        if as_json:
            print_json({**comparison.to_dict(), "page": str(out / "comparison.html")})
        else:
            _show(comparison, out)


def _texts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str, option: str, *, least: float, whole: bool = False) -> list[float]:
    from polyveil.errors import InputError

    try:
        found = [float(part) for part in _texts(text)]
    except ValueError:
        raise InputError(f"{option} takes numbers separated by commas") from None
    if any(value < least or (whole and not value.is_integer()) or (not whole and value > 1) for value in found):
        kind = f"whole numbers from {least:g}" if whole else f"numbers from {least:g} to 1"
        raise InputError(f"{option} takes {kind}, separated by commas")
    return found


def _show(comparison: Comparison, out: Path) -> None:
    from polyveil.cli.show import console, figure, plain_table
    from polyveil.reports.markup import percent

    best = comparison.best
    table = plain_table("run", "form", "detail lost", "k", "distance", "groups", "rows left out", "seconds", "")
    for each in comparison.outcomes:
        if each.done:
            far = "" if each.distance is None else f"{each.distance:.4f}"
            mark = "[green]best trade-off[/]" if each.case in best else ""
            figures = [percent(each.normalized_loss), figure(each.privacy["k"]), far, figure(each.classes)]
            table.add_row(each.case.title, each.form, *figures, figure(each.suppressed), f"{each.seconds:.1f}", mark)
        else:
            table.add_row(
                each.case.title, each.form, "", "", "", "", "", f"{each.seconds:.1f}", f"[yellow]{each.status}[/]"
            )
    shown = console()
    shown.print(table)
    if comparison.reused:
        shown.print(f"{comparison.reused} of these come from an earlier run")
    shown.print(f"Plot and figures: [bold]{out / 'comparison.html'}[/]")
