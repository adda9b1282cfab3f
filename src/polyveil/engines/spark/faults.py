"""When Spark itself fails: one line that says what, and never a cell, instead of Java's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.errors import InputError

_ON_WORKER = re.compile(r"WorkerFault: (an unexpected \w+ at [\w.]+:\d+)")
_MISSING = re.compile(r"No module named '(\w+)")


@contextmanager
def as_input_errors() -> Iterator[None]:
    """Raise InputError for what Spark reports; nothing was published then."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise InputError(_reason(error.getCondition() or type(error).__name__, str(error))) from None


def _reason(condition: str, text: str) -> str:
    missing, fault = _MISSING.search(text), _ON_WORKER.search(text)
    if missing:
        return (
            f"Spark's workers have no Python module {missing[1]}. Install polyveil[spark] where they run, and let "
            "spark.pyspark.python name that Python; nothing was published"
        )
    what = fault[1] if fault else condition
    return f"Spark stopped ({what}); nothing was published. Spark's own log says more, and may hold data"
