"""`polyveil verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.engine import Engine, session_of
from polyveil.cli.frame import Every, print_json, reported_errors


def verify(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME, as in --out.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="What you meant to publish: roles and guarantees to compare.")
    ] = None,
    signer: Annotated[
        Path | None, typer.Option(help="Public key (.pub): fail unless the release is signed with its private key.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="The table the release was made from: check how many people each group has.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="The column of --source that says whom a row is about; by default by its name.")
    ] = None,
    row_map: Annotated[
        Path | None, typer.Option(help="The private row_map.parquet: count the people of --source exactly.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="The table of the population, one row per person, if a risk was limited by it.")
    ] = None,
    engine: Annotated[Engine, typer.Option(help="Where to measure: this machine, or Spark.")] = Engine.LOCAL,
    master: Annotated[
        str | None, typer.Option(help="Spark's master or Connect URL; by default the one of the environment.")
    ] = None,
    every: Every = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Independently re-check a release from its files.

    Compares the files with their checksums, every guarantee with the groups that a reader sees, and every figure of
    the manifest with the tables. Exit code 0: everything holds; 1: something does not, or the release is
    damaged; 2: this is not a release, or it may not be read.
    """
    with reported_errors(as_json=as_json):
        from polyveil.errors import InputError
        from polyveil.reports.stored import with_report
        from polyveil.table.databases import shown
        from polyveil.verification import verify as run

        if source is None and (person is not None or row_map is not None):
            raise InputError("--person and --row-map go with --source, the table the release was made from")
        spark = session_of(engine, master)
        if spark is not None and (source is not None or population is not None):
            raise InputError("--source and --population are read on this machine. Leave --engine spark out")
        if spark is None:
            verification = run(
                release,
                policy=policy,
                signer=signer,
                source=source,
                person=person,
                row_map=row_map,
                population=population,
            )
        else:
            from polyveil.engines.spark import verify as on_spark

            if policy is not None:
                raise InputError("--policy is not compared on Spark. Leave --engine out")
            verification = on_spark(release, spark, signer=signer)
        verification = with_report(verification, release)
        if as_json:
            print_json({**verification.to_dict(), "release": shown(release)})
        else:
            from polyveil.cli.show import show_verification

            show_verification(verification, every=every)
    if not verification.holds:
        raise typer.Exit(1)
