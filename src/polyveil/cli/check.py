"""`polyveil check`."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyveil.cli.frame import Every, print_json, reported_errors

if TYPE_CHECKING:
    from polyveil.checkup import Checkup


def check(
    data: Annotated[
        str, typer.Argument(help="Any table in a file or a database: raw data, or a release by any other tool.")
    ],
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="A policy file (YAML).")] = None,
    quasi: Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas, instead of a policy.")] = "",
    sensitive: Annotated[str, typer.Option(help="Sensitive columns, separated by commas.")] = "",
    person: Annotated[
        str | None, typer.Option(help="The column that says whom a row is about: count people as well as rows.")
    ] = None,
    k: Annotated[int | None, typer.Option(help="Require k-anonymity.", min=2)] = None,
    l: Annotated[int | None, typer.Option(help="Require l-diversity of every sensitive column.", min=1)] = None,  # noqa: E741
    t: Annotated[
        float | None, typer.Option(help="Require t-closeness of every sensitive column.", min=0, max=1)
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="A cell text that means missing, such as '?'; repeatable.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    query: Annotated[str | None, typer.Option(help="SELECT to read from a database instead of a table.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel workbook, or file in a ZIP archive.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Version or time of a Delta or Iceberg table.")] = None,
    show_classes: Annotated[
        int, typer.Option(help="List the row numbers of this many of the smallest groups.", min=0)
    ] = 0,
    safe_harbor: Annotated[
        bool, typer.Option("--safe-harbor", help="Look for the 18 kinds of identifiers of HIPAA's Safe Harbor instead.")
    ] = False,
    every: Every = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure whether a table is already anonymous.

    Measures DATA as it is with every privacy model, and says in how many groups and rows a requirement is not met. A
    group is all rows with equal cells in the quasi-identifiers; a missing cell counts as a value.
    Exit code 0: all requirements are met (or none were given); 1: one is not met.
    With --safe-harbor, every kind of identifier is found, not found, or cannot be told by a program; 1 if one is found.

        polyveil check patients.csv --quasi age,sex,zip --sensitive disease,salary --k 5 --t 0.2
    """
    with reported_errors(as_json=as_json):
        from polyveil.checkup import check as run
        from polyveil.errors import InputError
        from polyveil.table.databases import is_url, shown

        if policy is not None and (quasi or sensitive or k or l or t is not None):
            raise InputError(
                "--policy already contains the columns and thresholds. Leave out --quasi, --sensitive, --k, --l and --t"
            )
        asked = {name: value for name, value in (("k", k), ("l", l), ("t", t)) if value is not None}
        if safe_harbor and (policy or quasi or sensitive or person or k or l or t is not None or show_classes):
            raise InputError("--safe-harbor looks at the whole table as it is. Leave out the policy and requirements")
        options = {"missing": missing, "table": table, "query": query, "sheet": sheet, "as_of": as_of}
        reading = {name: value for name, value in options.items() if value}
        if safe_harbor:
            _look_for_identifiers(data, reading, as_json=as_json)
            return
        names = {"quasi": _names(quasi), "sensitive": _names(sensitive)}
        checkup = run(data, policy, **names, privacy=asked, person=person, reading=reading)
        if as_json:
            print_json({**checkup.to_dict(), "data": shown(data) if is_url(data) else Path(data).name})
        else:
            _show(checkup, show_classes, every=every)
    if checkup.outcome == "fails":
        raise typer.Exit(1)


def _look_for_identifiers(data: str, reading: dict[str, Any], *, as_json: bool) -> None:
    from polyveil.table.profiling.safe_harbor import check_safe_harbor

    found = check_safe_harbor(data, reading=reading)
    if as_json:
        print_json(found.to_dict())
    else:
        from polyveil.cli.show import console, plain_table

        out = console()
        out.print(f"[bold]{found.answer()}[/]\n")
        table: Any = plain_table("", "kind of identifier", "answer", "columns", "why")
        colours = {"found": "red", "not found": "green", "cannot be told": "yellow"}
        for each in found.kinds:
            colour = colours[each.answer]
            table.add_row(each.letter, each.kind, f"[{colour}]{each.answer}[/]", ", ".join(each.columns), each.reason)
        out.print(table)
    if found.found:
        raise typer.Exit(1)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _show(checkup: Checkup, show_classes: int, *, every: bool) -> None:
    from polyveil.cli.show import console, figure, plain_table, worst_of
    from polyveil.results import MANY, worst_of_each

    out = console()
    out.print(f"[bold]{checkup.answer()}[/]\n")
    who = "" if checkup.people is None else f" about {checkup.people:,} people"
    out.print(
        f"{checkup.rows:,} rows{who} in {checkup.classes:,} groups of rows that look alike; "
        f"{checkup.unique_rows:,} rows are unique"
    )
    table: Any = plain_table("", "model", "column", "worst group", "required", "groups / rows that fail")
    measured, most = checkup.measurements, inf if every else MANY
    if len(measured) > most:  # what is not required of a column is left out
        measured = tuple(each for each in measured if each.threshold is not None or each.attribute is None)
    for each, number in worst_of_each(
        measured, lambda each: (each.model, each.threshold, each.holds), lambda each: -each.failing_rows, most=most
    ):
        mark = {True: "[green]✓[/]", False: "[red]✗[/]", None: ""}[each.holds]
        failing = f"{each.failing_classes:,} / {each.failing_rows:,}" if each.holds is False else ""
        value = f"{'c' if each.model.startswith('recursive') else each.parameter} = {figure(each.value)}"
        table.add_row(
            mark,
            each.model,
            worst_of(each.attribute, number),
            value,
            figure(each.threshold) if each.threshold else "",
            failing,
        )
    out.print(table)
    if len(measured) < len(checkup.measurements):
        left = len(checkup.measurements) - len(measured)
        out.print(f"{left:,} measures that nothing was required of are not shown; --every lists them", style="dim")
    for notice in checkup.notices:
        out.print(f"[yellow]notice[/] {notice}")
    if show_classes:
        _show_failing(checkup, show_classes)


def _show_failing(checkup: Checkup, most: int) -> None:
    """Row numbers, not cells: the steward can look them up, a shared screen or log shows nobody."""
    import numpy as np

    from polyveil.cli.show import console

    out = console()
    smallest = np.argsort(checkup.statistics.sizes, kind="stable")[:most]
    out.print("\nSmallest groups, by data row number:")
    for number in smallest:
        rows = np.flatnonzero(checkup.class_of_row == number)[:10] + 1
        out.print(f"  {checkup.statistics.sizes[number]} rows: {', '.join(str(row) for row in rows)}")
