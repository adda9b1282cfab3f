"""Functions that run on Spark's workers, guarded: an error's text may hold data and would end up in Spark's logs."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


class WorkerFault(RuntimeError):
    """Something unexpected on a worker; says what kind and where, never what it was working on."""


def without_data(work: Callable[..., Result], *arguments: Any) -> Result:
    """Call `work`; what it raises is raised again with its kind and place alone."""
    try:
        return work(*arguments)
    except Exception as error:
        raise _fault(error) from None


def items_without_data(items: Iterable[Result]) -> Iterator[Result]:
    """The same for a function that yields."""
    iterator = iter(items)
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        except Exception as error:
            raise _fault(error) from None
        yield item


def _fault(error: Exception) -> WorkerFault:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return WorkerFault(f"an unexpected {type(error).__name__} at {Path(last.filename).name}:{last.lineno}")
