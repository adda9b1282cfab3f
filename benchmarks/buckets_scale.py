"""MSB from thirty thousand to a million rows: processor time per row, as a ratio (d = 3, Adult).

    python benchmarks/buckets_scale.py [mbf msdcf mmdcf]

Larger tables are drawn from the 30,162 complete training rows with replacement.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.methods._buckets.demand import Demand
from polyveil.methods._buckets.engine import PRIORITIES, BucketOptions, bucketize
from polyveil.policy.hierarchy import flat
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import TreeDomain

SENSITIVE = ("occupation", "education", "marital-status")


def adult() -> pl.DataFrame:
    """The complete training rows, in file order."""
    folder = Path(os.environ.get("POLYVEIL_DATA", Path(__file__).parents[2] / "shared" / "data"))
    frame = pl.read_csv(folder / "adult.csv.gz").filter(pl.col("split") == "train")
    return frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))


def coded(frame: pl.DataFrame, sensitive: tuple[str, ...], quasi: tuple[str, ...]) -> CodedTable:
    """All columns as flat categories, security level 1."""

    def column(name: str) -> tuple[TreeDomain, np.ndarray]:
        texts = frame[name].cast(pl.String)
        values = sorted(texts.unique().to_list())
        return TreeDomain(flat(values)), texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)

    secret = []
    for name in sensitive:
        domain, codes = column(name)
        secret.append(SensitiveColumn(name, domain, codes, "equal", np.ones(domain.size, dtype=np.int64)))
    return CodedTable(frame.height, tuple(QuasiColumn(name, *column(name)) for name in quasi), tuple(secret))


def per_row(table: CodedTable, priority: str, l: int) -> float:  # noqa: E741
    """Microseconds of processor time per row."""
    demand = Demand({c.name: np.full(c.domain.size, float(l)) for c in table.sensitive}, 1)
    start = time.process_time()
    bucketize(table, table.sensitive, demand, priority, BucketOptions(), np.random.default_rng(1))  # type: ignore[arg-type]
    return (time.process_time() - start) / table.rows * 1e6


def main() -> None:
    base = adult()
    sizes = (base.height, 200_000, 1_000_000)
    tables = [
        coded(base if rows == base.height else base.sample(rows, with_replacement=True, seed=1), SENSITIVE, ("sex",))
        for rows in sizes
    ]
    per_row(coded(base.head(500), SENSITIVE, ("sex",)), "mbf", 3)  # compile
    print(f"microseconds per row at {sizes}; last column: the largest against the smallest")
    for priority in [word for word in sys.argv[1:] if word in PRIORITIES] or PRIORITIES:
        for l in (2, 3):  # noqa: E741
            times = [min(per_row(table, priority, l) for _ in range(2)) for table in tables]
            print(
                f"{priority:6} l={l}  " + "  ".join(f"{t:6.2f}" for t in times) + f"   x{times[-1] / times[0]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
