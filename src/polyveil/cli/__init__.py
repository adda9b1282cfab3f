"""The command line: thin. Parse, call the library, print, exit code.

Exit codes: 0 done, the guarantee holds; 1 it does not hold or cannot be reached; 2 wrong use or bad input.
"""

from __future__ import annotations

import signal

import typer

from polyveil.cli.advise import advise
from polyveil.cli.analyze import analyze
from polyveil.cli.anonymize import anonymize
from polyveil.cli.attack import attack
from polyveil.cli.bound import bound
from polyveil.cli.catalogue import methods, models
from polyveil.cli.check import check
from polyveil.cli.compare import compare
from polyveil.cli.demo import demo
from polyveil.cli.export import export
from polyveil.cli.inspect import inspect
from polyveil.cli.keys import keys
from polyveil.cli.report import report
from polyveil.cli.schema import schema
from polyveil.cli.serve import serve
from polyveil.cli.verify import verify
from polyveil.cli.warmup import warmup
from polyveil.stopping import Terminated

HELP = """Publish tables with several sensitive columns safely.

Start with `polyveil demo`, which shows every step on built-in data, or with your own table:

    polyveil inspect patients.csv --out policy.yaml   # look at the columns, write a policy to edit

    polyveil anonymize patients.csv --policy policy.yaml --out release

    polyveil verify release                           # independently re-check the release

Exit codes: 0 done, all guarantees hold; 1 a guarantee does not hold or cannot be reached; 2 wrong use or bad input.
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    inspect,
    check,
    advise,
    anonymize,
    verify,
    attack,
    analyze,
    bound,
    compare,
    report,
    export,
    keys,
    methods,
    models,
    schema,
    serve,
    warmup,
):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from polyveil.version import __version__

        typer.echo(f"polyveil {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Entry point of the `polyveil` command."""
    signal.signal(signal.SIGTERM, _end)
    app()


def _end(*_: object) -> None:
    """What stands in temporary folders is removed first: a copy of the table, a release that nobody has verified."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the second time at once
    raise Terminated
