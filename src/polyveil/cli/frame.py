"""What all commands share: errors become one message and an exit code, results go to stdout, progress to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from polyveil.errors import PolyveilError, kind_and_place
from polyveil.stopping import Terminated

Every = Annotated[bool, typer.Option("--every", help="Of a wide table, list everything, not only the worst of a kind.")]


@contextmanager
def reported_errors(*, as_json: bool = False, stopped: str = "nothing was written") -> Iterator[None]:
    """Turn everything that can go wrong into a message without data, and the right exit code.

    `stopped` says what Ctrl-C leaves behind.
    """
    try:
        yield
    except PolyveilError as error:
        _report(error.to_dict(), as_json)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt as how:
        _report({"kind": "Stopped", "message": f"stopped; {stopped}"}, as_json)
        raise typer.Exit(143 if isinstance(how, Terminated) else 130) from None
    except MemoryError:
        message = "the machine does not have enough memory for this table. Nothing was written"
        _report({"kind": "MemoryError", "message": message}, as_json)
        raise typer.Exit(2) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        # The text of an unexpected error may contain data, so only its kind and place are shown.
        if os.environ.get("POLYVEIL_DEBUG"):
            raise
        message = (
            f"unexpected {kind_and_place(error)}. Nothing was written. Please report it with this line. "
            "POLYVEIL_DEBUG=1 shows the full trace, which may contain data"
        )
        _report({"kind": type(error).__name__, "message": message}, as_json)
        raise typer.Exit(2) from None


def _report(error: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"error": error})
    else:
        sys.stderr.write(f"polyveil: {error['message']}\n")


def print_json(data: Any) -> None:
    """One JSON object on stdout, and nothing else."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
