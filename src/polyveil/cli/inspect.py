"""`polyveil inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyveil.cli.frame import print_json, reported_errors

if TYPE_CHECKING:
    from polyveil.table.profiling.profile import ColumnProfile


def inspect(
    data: Annotated[
        str, typer.Argument(help="The table: CSV (also .gz), Parquet, a folder of Parquet files, or a database.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a first policy to this new file.")] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="A cell text that means missing, such as '?'; repeatable.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    query: Annotated[str | None, typer.Option(help="SELECT to read from a database instead of a table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Show the columns of DATA: types, missing cells, suggested roles with reasons, and how many people are unique.

    With --out, writes these suggestions as a policy that you can edit and run. Check every role: only you know which
    columns others may know about a person.
    """
    with reported_errors(as_json=as_json):
        from polyveil.table import read
        from polyveil.table.profiling.profile import profile, singled_out

        read_table = read(data, missing=missing or (), table=table, query=query)
        profiles = profile(read_table)
        quasi = [column.name for column in profiles if column.role == "quasi"]
        alone = singled_out(read_table, quasi) if quasi else 0
        if out is not None:
            _write(out, profiles, read_table.name)
        about = {"rows": read_table.height, "quasi": quasi, "singled_out": alone}
        if as_json:
            columns = [{key: _plain(value) for key, value in asdict(column).items()} for column in profiles]
            print_json({**about, "columns": columns, "policy": str(out) if out else None})
        else:
            _show(profiles, about, out)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, list, tuple, dict)) else str(value)


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


def _show(profiles: Sequence[ColumnProfile], about: dict[str, Any], out: Path | None) -> None:
    from polyveil.cli.show import console, plain_table

    screen = console()
    table = plain_table("column", "type", "missing", "distinct", "role", "reason")
    colour = {"identifier": "red", "quasi": "yellow", "sensitive": "magenta", "insensitive": "dim"}
    for column in profiles:
        hints = "".join(f"; {hint.marker!r} may mean missing" for hint in column.missing_hints)
        role = f"[{colour[column.role]}]{column.role}[/]"
        table.add_row(
            column.name, column.type, f"{column.missing:,}", f"{column.distinct:,}", role, column.reason + hints
        )
    screen.print(f"{about['rows']:,} rows, {len(profiles)} columns\n")
    screen.print(table)
    if about["quasi"]:
        share = about["singled_out"] / max(about["rows"], 1)
        screen.print(
            f"\n[bold]{about['singled_out']:,}[/] people ({share:.1%}) have a unique combination of "
            f"{', '.join(about['quasi'])}"
        )
    if out is not None:
        screen.print(f"\nPolicy to edit: [bold]{out}[/]")
    else:
        screen.print("\nAdd --out policy.yaml to write these suggestions as a policy to edit")
