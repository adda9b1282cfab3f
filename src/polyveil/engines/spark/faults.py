"""When Spark itself fails: one line that says what, and never a cell, instead of Java's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.errors import InputError

_ON_WORKER = re.compile(r"WorkerFault: (an unexpected \w+ at [\w.]+:\d+)")
_NO_CLASS = re.compile(r"ClassNotFoundException: (?:Class )?([\w.$]+)")
_NO_SCHEME = re.compile(r"No FileSystem for scheme \"?(\w+)")
PACKAGES = {
    "delta": "io.delta:delta-spark",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime",
    "s3": "org.apache.hadoop:hadoop-aws",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
}
"""What Spark needs for lakes and object stores, by a word in the name of the class or scheme that it lacks."""
_MISSING = re.compile(r"No module named '(\w+)")


@contextmanager
def as_input_errors() -> Iterator[None]:
    """Raise InputError for what Spark reports; nothing was published then."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise InputError(_reason(error.getCondition() or type(error).__name__, str(error))) from None
    except Py4JJavaError as error:  # what Java raises before Spark can give it a name
        raise InputError(_reason("an error in Java", str(error))) from None


def _reason(condition: str, text: str) -> str:
    missing, fault = _MISSING.search(text), _ON_WORKER.search(text)
    absent = _NO_CLASS.search(text) or _NO_SCHEME.search(text)
    if absent:
        package = next((package for kind, package in PACKAGES.items() if kind in absent[1].lower()), "that brings it")
        return (
            f"Spark has no code for {absent[1]}. Start it with the package {package}, in the version that goes with "
            "it; nothing was published"
        )
    if missing:
        return (
            f"Spark's workers have no Python module {missing[1]}. Install polyveil[spark] where they run, and let "
            "spark.pyspark.python name that Python; nothing was published"
        )
    what = fault[1] if fault else condition
    return f"Spark stopped ({what}); nothing was published. Spark's own log says more, and may hold data"
