"""`polyveil inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors

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
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    query: Annotated[str | None, typer.Option(help="SELECT to read from a database instead of a table.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel workbook, or file in a ZIP archive.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Show the columns of DATA: types, missing cells, suggested roles with reasons, and how many people are unique.

    With --out, writes these suggestions as a policy that you can edit and run. Check every role: only you know which
    columns others may know about a person.
    """
    with reported_errors(as_json=as_json):
        from polyveil.table.profiling.profile import profile

        found = profile(data, missing=missing or (), table=table, query=query, sheet=sheet)
        if out is not None:
            _write(out, found.columns, found.name)
        if as_json:
            print_json({**found.to_dict(), "policy": str(out) if out else None})
        else:
            _show(found, out)


def _write(out: Path, profiles: Sequence[ColumnProfile], source: str) -> None:
    from polyveil.advice.starter import starter_policy
    from polyveil.errors import InputError

    try:
        with out.open("x", encoding="utf-8") as stream:
            stream.write(starter_policy(profiles, source=source))
    except FileExistsError:
        raise InputError(f"{out} exists already and may contain your edits. Choose a new file") from None
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}). Choose another place") from None


def _show(found: Profile, out: Path | None) -> None:
    from polyveil.cli.show import console, plain_table

    screen = console()
    table = plain_table("column", "type", "missing", "distinct", "role", "reason")
    colour = {"person": "cyan", "identifier": "red", "quasi": "yellow", "sensitive": "magenta", "insensitive": "dim"}
    for column in found.columns:
        hints = "".join(f"; {hint.marker!r} may mean missing" for hint in column.missing_hints)
        role = f"[{colour[column.role]}]{column.role}[/]"
        table.add_row(
            column.name, column.type, f"{column.missing:,}", f"{column.distinct:,}", role, column.reason + hints
        )
    screen.print(f"{found.height:,} rows, {len(found.columns)} columns\n")
    screen.print(table)
    if found.quasi:
        share = found.singled_out / max(found.height, 1)
        who = "rows" if any(column.role == "person" for column in found.columns) else "people"
        screen.print(
            f"\n[bold]{found.singled_out:,}[/] {who} ({share:.1%}) have a unique combination of "
            f"{', '.join(found.quasi)}"
        )
    if out is not None:
        screen.print(f"\nPolicy to edit: [bold]{out}[/]")
    else:
        screen.print("\nAdd --out policy.yaml to write these suggestions as a policy to edit")
