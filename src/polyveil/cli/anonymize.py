"""`polyveil anonymize`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from polyveil.cli.engine import Engine, engine_of, place_in_catalog, source_of
from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress


def anonymize(
    data: Annotated[
        str,
        typer.Argument(
            help="The table: CSV (also .gz, .zip), Excel, SPSS, Stata, SAS, Parquet, a folder of Parquet files, a "
            "database (postgresql://host/db, sqlite://file, duckdb://file), a lake (delta:///folder/table, "
            "iceberg://catalog.namespace.table), or a table that Spark knows (spark://catalog.schema.table)."
        ),
    ],
    policy: Annotated[Path, typer.Option("--policy", "-p", help="The policy file (YAML).")],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="New release folder, a database with ?schema=NAME, a lake (delta:///folder/name, "
            "iceberg://catalog.namespace), or a schema (spark://catalog.schema).",
        ),
    ],
    table: Annotated[str | None, typer.Option(help="Table to read from a database: name or schema.name.")] = None,
    query: Annotated[str | None, typer.Option(help="SELECT to read from a database instead of a table.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel workbook, or file in a ZIP archive.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Version or time of a Delta or Iceberg table.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older release of that name, in one step.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Makes the method's choices repeatable. The row order stays random.")
    ] = None,
    report: Annotated[bool, typer.Option(help="Add report.html, a page for readers, to the release folder.")] = True,
    bound: Annotated[
        bool | None,
        typer.Option(
            help="Also compute how much detail every release must lose. By default, if it hardly adds to the time."
        ),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="Field delimiter of a CSV; detected by default.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Text encoding of a CSV; detected by default.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal mark of a CSV; detected by default.")] = None,
    engine: Annotated[Engine, typer.Option(help="Where to run: this machine, or Spark.")] = Engine.LOCAL,
    master: Annotated[
        str | None,
        typer.Option(
            help="Spark's master or Connect URL (local[4], sc://host); by default the one of the environment."
        ),
    ] = None,
    block_rows: Annotated[int | None, typer.Option(min=1000, help="Rows that a Spark worker groups at a time.")] = None,
    sign: Annotated[Path | None, typer.Option(help="Private key of `polyveil keys` to sign the release with.")] = None,
    private: Annotated[
        Path | None, typer.Option(help="Your own folder for what must never be published: the group of each row.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Find a release of DATA that meets the policy and loses little detail, verify its files, and publish it.

    The release is written to a temporary folder, re-checked from the written files, and only then moved to OUT: the
    folder OUT is a complete, verified release or does not exist. If the policy cannot be met, the message names the
    requirement that prevents it (exit code 1).
    """
    with reported_errors(as_json=as_json):
        from polyveil.errors import InputError
        from polyveil.pipeline import anonymize as run
        from polyveil.table.databases import shown

        options = {"table": table, "query": query, "sheet": sheet, "as_of": as_of}
        options |= {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
        engine, out = engine_of(engine, data), place_in_catalog(data, out)
        if private is not None and Path(out).resolve() in (private.resolve(), *private.resolve().parents):
            raise InputError("--private lies inside the release folder, which is public. Choose another folder")
        source, reading = source_of(engine, master, data, {**options, "private": private}, block_rows)
        with shown_progress(quiet=quiet or as_json) as progress:
            release = run(
                source,
                policy,
                out=out,
                overwrite=overwrite,
                sign=sign,
                seed=seed,
                report=report,
                bound=bound,
                progress=progress,
                reading=reading,
            )
        if private is not None:
            release.save_private(private)
        if as_json:
            print_json({**release.to_dict(), "release": shown(out)})
        else:
            from polyveil.cli.show import show_release

            show_release(release.manifest, release.seconds, shown(out), release.notes, release.bound)
            if engine is Engine.LOCAL and release.manifest["loss"]["normalized_loss"] >= MUCH:
                _warn(data, policy, {key: value for key, value in options.items() if value is not None})


MUCH = 0.2
"""From this share of detail lost on, it is worth to look for avoidable reasons."""


def _warn(data: str, policy: Path, reading: Mapping[str, Any]) -> None:
    """Say what else the policy could ask for, with what that would save."""
    from polyveil.advice.cautions import cautions
    from polyveil.cli.show import console
    from polyveil.policy import load_policy
    from polyveil.table.source import read

    for caution in cautions(read(data, **reading), load_policy(policy)):
        console().print(f"[yellow]Avoidable loss:[/] {caution}")
