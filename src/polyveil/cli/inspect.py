"""`polyveil inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.results import percent

if TYPE_CHECKING:
    from polyveil.table.profiling.column import ColumnProfile
    from polyveil.table.profiling.profile import Profile


def inspect(
    data: Annotated[
        str,
        typer.Argument(
            help="The table: CSV (also .gz, .zip), Excel, SPSS, Stata, SAS, Parquet, a folder of Parquet files, or a "
            "database."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a first policy to this new file.")] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="A cell text that means missing, such as '?'; repeatable.")
    ] = None,
    dictionary: Annotated[
        Path | None, typer.Option(help="A data dictionary: CSV with column names and their descriptions.")
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(help="Words of your own that say what columns are about: lines of `topic: word word`."),
    ] = None,
    every: Annotated[bool, typer.Option("--every", help="List every column of a wide table, not only groups.")] = False,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    query: Annotated[str | None, typer.Option(help="SELECT to read from a database instead of a table.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel workbook, or file in a ZIP archive.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Version or time of a Delta or Iceberg table.")] = None,
    tables: Annotated[
        str | None,
        typer.Option(help="Several tables of a folder or database, that of people first: person,visits. Needs --out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Show the columns of DATA: types, missing cells, suggested roles with reasons, and how many people are unique.

    With --out, writes these suggestions as a policy that you can edit and run. Check every role: only you know which
    columns others may know about a person.
    """
    with reported_errors(as_json=as_json):
        from polyveil.table.profiling.profile import profile

        if tables is not None:
            _linked(data, tables.split(","), out, missing or (), as_json=as_json)
            return
        reading = {"missing": missing or (), "table": table, "query": query, "sheet": sheet, "as_of": as_of}
        found = profile(data, dictionary=dictionary, words=words, **reading)
        if out is not None:
            _write(out, found.columns, found.name, found.height)
        if as_json:
            print_json({**found.to_dict(), "policy": str(out) if out else None})
        else:
            _show(found, out, every=every)


def _linked(data: str, names: Sequence[str], out: Path | None, missing: Sequence[str], *, as_json: bool) -> None:
    """Write a first policy for several tables."""
    from polyveil.advice.starter import linked_starter
    from polyveil.errors import InputError
    from polyveil.policy.schema import LinkedTable
    from polyveil.table.linked import read_linked
    from polyveil.table.profiling.profile import profile

    if out is None or len(names) < 2:
        raise InputError("--tables names two or more tables, and writes their first policy to --out FILE")
    read = read_linked(data, {name: LinkedTable() for name in names}, missing=missing)
    profiles = {name: profile(table).columns for name, table in read.items()}
    _save(out, linked_starter(profiles))
    if as_json:
        print_json({"tables": {name: table.height for name, table in read.items()}, "policy": str(out)})
    else:
        from polyveil.cli.show import console

        for name, table in read.items():
            console().print(f"{name}: {table.height:,} rows, {table.width} columns")
        console().print(f"A first policy is in [bold]{out}[/]. Check every role")


def _write(out: Path, profiles: Sequence[ColumnProfile], source: str, rows: int) -> None:
    from polyveil.advice.starter import starter_policy

    _save(out, starter_policy(profiles, source=source, rows=rows))


def _save(out: Path, policy: str) -> None:
    from polyveil.errors import InputError

    try:
        with out.open("x", encoding="utf-8") as stream:
            stream.write(policy)
    except FileExistsError:
        raise InputError(f"{out} exists already and may contain your edits. Choose a new file") from None
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}). Choose another place") from None


WIDE = 40
"""A table with more columns is shown in groups."""
_COLOUR = {
    "person": "cyan",
    "identifier": "red",
    "quasi": "yellow",
    "sensitive": "magenta",
    "insensitive": "dim",
    "weight": "blue",
    "drop": "red",
}


def _show(found: Profile, out: Path | None, *, every: bool) -> None:
    from polyveil.cli.show import console

    screen = console()
    screen.print(f"{found.height:,} rows, {len(found.columns)} columns\n")
    screen.print(_columns(found) if every or len(found.columns) <= WIDE else _groups(found))
    if found.quasi:
        share = found.singled_out / max(found.height, 1)
        who = "rows" if any(column.role == "person" for column in found.columns) else "people"
        named = ", ".join(found.quasi[:12]) + (f" and {len(found.quasi) - 12} more" if len(found.quasi) > 12 else "")
        screen.print(f"\n[bold]{found.singled_out:,}[/] {who} ({percent(share)}) have a unique combination of {named}")
    if found.decisions:
        screen.print("\n[bold]Please decide[/] (until then, nothing unsure is published as it is):")
        for decision in found.decisions:
            names = ", ".join(decision.columns[:6]) + (" ..." if len(decision.columns) > 6 else "")
            screen.print(f"  {decision.question}  [dim]{names if len(decision.columns) > 1 else decision.reason}[/]")
    if out is not None:
        screen.print(f"\nPolicy to edit: [bold]{out}[/]")
    else:
        screen.print("\nAdd --out policy.yaml to write these suggestions as a policy to edit")


def _columns(found: Profile) -> Any:
    from polyveil.cli.show import plain_table

    table = plain_table("column", "type", "missing", "distinct", "role", "reason")
    for column in found.columns:
        hints = "".join(f" {hint.marker!r} may mean missing ({hint.kind})." for hint in column.missing_hints)
        evidence = "".join(f" {each}" for each in column.evidence)
        role = f"[{_COLOUR[column.role]}]{column.role}[/]" + ("?" if column.asked else "")
        table.add_row(
            column.name,
            column.type,
            f"{column.missing:,}",
            f"{column.distinct:,}",
            role,
            column.reason + evidence + hints,
        )
    return table


def _groups(found: Profile) -> Any:
    """One line per role and reason."""
    from polyveil.cli.show import plain_table

    table = plain_table("columns", "role", "reason", "such as")
    groups: dict[tuple[str, str], list[str]] = {}
    for column in found.columns:
        role = f"[{_COLOUR[column.role]}]{column.role}[/]" + ("?" if column.asked else "")
        words = column.reason.split(".")[0].split(",")[0]
        groups.setdefault((role, words.split(" (")[0]), []).append(column.name)
    order = list(_COLOUR)
    for (role, reason), names in sorted(
        groups.items(), key=lambda item: (order.index(item[0][0].split("]")[1].split("[")[0]), -len(item[1]))
    ):
        table.add_row(str(len(names)), role, reason, ", ".join(names[:3]) + (" ..." if len(names) > 3 else ""))
    return table
