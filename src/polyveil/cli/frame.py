"""What all commands share: errors become one message and an exit code, results go to stdout, progress to stderr."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from polyveil.errors import PolicyError, PolyveilError, Unsatisfiable


@contextmanager
def reported_errors(*, as_json: bool = False, stopped: str = "nothing was written") -> Iterator[None]:
    """Turn everything that can go wrong into a message without data, and the right exit code.

    `stopped` says what Ctrl-C leaves behind.
    """
    try:
        yield
    except PolyveilError as error:
        _report(str(error), as_json, _details(error))
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _report(f"stopped; {stopped}", as_json, {})
        raise typer.Exit(130) from None
    except MemoryError:
        _report("the machine has not enough memory for this table. Nothing was written", as_json, {})
        raise typer.Exit(2) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        # The text of an unforeseen error may hold data, so only its kind and place are shown.
        if os.environ.get("POLYVEIL_DEBUG"):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119
        _report(
            f"an unforeseen {type(error).__name__} at {place}; nothing was written. Please report it with this line; "
            "POLYVEIL_DEBUG=1 shows the full trace, which may hold data",
            as_json,
            {},
        )
        raise typer.Exit(2) from None


def _report(message: str, as_json: bool, details: dict[str, Any]) -> None:
    if as_json:
        print_json({"error": {"message": message, **details}})
    else:
        sys.stderr.write(f"polyveil: {message}\n")


def _details(error: PolyveilError) -> dict[str, Any]:
    if isinstance(error, PolicyError):
        return {"faults": [{"place": f.place, "rule": f.rule, "remedy": f.remedy} for f in error.faults]}
    if isinstance(error, Unsatisfiable):
        return {"constraint": error.constraint, "nearest": error.nearest}
    return {}


def print_json(data: Any) -> None:
    """One JSON object on stdout, and nothing else."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
