"""What each tie policy of MSB does to suppression and loss (Adult, d = 3, levels of xiao2020).

    python benchmarks/buckets_ties.py [rows]

`range` is the information loss (0 to 1 per row and quasi-identifier) when the quasi-identifiers of each group are
generalized to what the group has in common; `query` the median relative error of 200 COUNT queries over two
quasi-identifiers and one sensitive attribute, on the anatomized release and with `generalize: range`.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from buckets_scale import adult

from polyveil.measure import measure_loss
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.measure.queries import query_error, random_queries
from polyveil.methods._buckets.demand import demand_of
from polyveil.methods._buckets.engine import TIES, BucketOptions, bucketize
from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.models.linked import from_groups
from polyveil.partition import Partition, Slice, partition_of
from polyveil.policy import Policy
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

QUASI = ("age", "sex", "race", "native-country", "hours-per-week")
UNSAFE = ["Divorced", "Married-AF-spouse", "Married-spouse-absent", "Separated", "Widowed"]
SENSITIVE = {
    "occupation": {"levels": {0: ["Other-service"], 2: ["Armed-Forces"]}},
    "education": {},
    "marital-status": {"levels": {2: UNSAFE}},
}


def task_of(rows: int, *, levels: bool) -> Task:
    """The first rows of Adult with l = 1, 2, 3 by level, or l = 3 for all."""
    frame = adult().head(rows).select(*QUASI, *SENSITIVE)
    present = {name: set(frame[name].unique()) for name in SENSITIVE}
    columns = {name: {"role": "quasi"} for name in QUASI}
    for name, about in SENSITIVE.items():
        known = {level: [v for v in values if v in present[name]] for level, values in about.get("levels", {}).items()}
        columns[name] = {"role": "sensitive"} | ({"levels": {k: v for k, v in known.items() if v}} if levels else {})
    privacy = {"l": {0: 1, 1: 2, 2: 3} if levels else 3, "suppression_limit": 1.0}
    policy = Policy.from_dict({"version": 1, "columns": columns, "privacy": privacy})
    table = encode(bind(policy, read(frame)))
    attributes = attributes_of(table)
    return Task(table, models_for(policy, attributes), attributes, policy.privacy, np.random.default_rng(1))


def row(task: Task, options: BucketOptions) -> str:
    table = task.table
    found = bucketize(table, table.sensitive, demand_of(task), "mmdcf", options, np.random.default_rng(1))
    names = tuple(column.name for column in table.sensitive)
    groups = partition_of(found.of_row).class_of_row
    exact = Partition(np.where(groups >= 0, np.arange(table.rows), -1), (Slice(names, groups),))
    exact = Partition(partition_of(exact.class_of_row).class_of_row, exact.slices)
    ranged = Partition(groups, exact.slices)
    codes = {column.name: column.codes for column in table.sensitive}
    statistics = from_groups(None, [(names, groups)], codes, task.attributes)
    queries = random_queries(table, np.random.default_rng(5), 200)
    return (
        f"{found.suppressed / table.rows:9.4f}  {additional_information_loss(statistics, task.models, [names]):10.4f}  "
        f"{measure_loss(table, groups).normalized_loss:7.4f}  {query_error(table, exact, queries).median:8.4f}  "
        f"{query_error(table, ranged, queries).median:8.4f}"
    )


def main() -> None:
    pl.Config.set_tbl_rows(50)
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for levels in (True, False):
        task = task_of(rows, levels=levels)
        print(f"{rows} rows, mmdcf{'-mslf, l = 1, 2, 3' if levels else ', l = 3'}")
        print(f"{'':34}suppress  additional    range  query      query, range")
        for residual in ("first", "least-loss"):
            for ties in TIES:
                options = BucketOptions(ties=ties, residual=residual)  # type: ignore[arg-type]
                print(f"{ties:17} {residual:11}     {row(task, options)}", flush=True)
        options = BucketOptions(restarts=10)
        print(f"{'random':17} {'least-loss':11} x10 {row(task, options)}", flush=True)


if __name__ == "__main__":
    main()
