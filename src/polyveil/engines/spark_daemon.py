"""Spark's daemon of Python workers, with the libraries that every worker needs: `spark.python.daemon.module`.

Workers are forked from the daemon. What it has imported is there at once, and in memory once for all workers. Polars is
left out: it starts threads when it is imported, which a fork does not take along.
"""

from __future__ import annotations

import numba
import pyarrow.compute
import pyarrow.parquet
import pydantic
from pyspark import worker
from pyspark.daemon import manager

IMPORTED = (numba, pyarrow, pydantic, worker)

if __name__ == "__main__":
    manager()
