"""Fig. 2 of han2013: suppression ratio of SLOMS against plain MSB on Census-Income, d = 3..6, l = 3..9.

    python benchmarks/sloms_census.py [rows] [--labour-force]

10,000 random rows by default. Half of all people are "not in universe" for occupation and industry: that one value
must be spread over all groups, so at most l / (l - 1) times the others can be published. `--labour-force` runs those
who have an occupation; seven of ten of them have a private employer, which limits `class_of_worker` in the same way.
The last column is the least that the slices make any method suppress (`bucket_choice`); where SLOMS and plain MSB are
equal there, no method does better. A ratio of 1 also stands where an attribute has fewer than l values.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from census_tables import census, in_labour_force, policy_of, slices_of

from polyveil.errors import Unsatisfiable
from polyveil.methods import make_method
from polyveil.methods._buckets.choice import groupable_bound
from polyveil.methods._buckets.demand import demand_of
from polyveil.methods._buckets.engine import BucketOptions, Engine
from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.releases.linked import rows_with_suppressed_values
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

PRIORITIES = ("mbf", "msdcf", "mmdcf")


def task_of(frame: pl.DataFrame, policy: Policy) -> Task:
    table = encode(bind(policy, read(frame)))
    attributes = attributes_of(table)
    return Task(table, models_for(policy, attributes), attributes, policy.privacy, np.random.default_rng(1))


def suppressed(frame: pl.DataFrame, policy: Policy) -> int:
    """Rows with any suppressed value; all of them where no row can be published."""
    task = task_of(frame, policy)
    try:
        return rows_with_suppressed_values(make_method(policy.method).partition(task))
    except Unsatisfiable:
        return frame.height


def least_suppressed(frame: pl.DataFrame, d: int, l: int) -> int:  # noqa: E741
    """What the tightest slice makes any method suppress."""
    task = task_of(frame, Policy.from_dict(policy_of(d, l, None, {"name": "mbf"})))
    demand, found = demand_of(task), []
    for names in slices_of(d):
        columns = tuple(column for column in task.table.sensitive if column.name in names)
        engine = Engine(task.table, columns, demand.only(names), "mbf", BucketOptions())
        found.append(groupable_bound(engine.values, engine.size, engine.need))
    return frame.height - min(found)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    frame = in_labour_force(census()) if "--labour-force" in sys.argv else census()
    frame = frame.sample(min(numbers[0] if numbers else 10_000, frame.height), seed=1)
    rows = frame.height
    print(f"{rows} rows; suppression ratio, plain MSB / SLOMS with the same priority; then by default")
    print("d  l  " + "  ".join(f"{name:>15}" for name in PRIORITIES) + "   best plain / SLOMS        no method below")
    worse, less, at_bound, beaten = 0, 0, 0, 0
    for d in (3, 4, 5, 6):
        part = frame.select([*frame.columns[:5], *(name for names in slices_of(d) for name in names)])
        for l in range(3, 10):  # noqa: E741
            least = least_suppressed(part, d, l)
            pairs = []
            for name in PRIORITIES:
                method = {"name": "sloms", "slices": slices_of(d), "priority": name}
                plain = suppressed(part, Policy.from_dict(policy_of(d, l, None, {"name": name})))
                pairs.append((plain, suppressed(part, Policy.from_dict(policy_of(d, l, 6, method)))))
            worse += sum(b > a for a, b in pairs)
            less += sum(b < a for a, b in pairs)
            at_bound += sum(b == a == least for a, b in pairs)
            method = {"name": "sloms", "slices": slices_of(d)}
            own = suppressed(part, Policy.from_dict(policy_of(d, l, 6, method)))
            lowest = min(plain for plain, _ in pairs)
            beaten += own > lowest or (own == lowest and own > least)
            cells = "  ".join(f"{a / rows:7.4f}/{b / rows:7.4f}" for a, b in pairs)
            best = f"{lowest / rows:.4f} / {own / rows:.4f}"
            print(f"{d}  {l}  {cells}   {best}            {least / rows:.4f}", flush=True)
    print(
        f"of 84 cells, SLOMS suppresses less than plain MSB in {less}, as much in {84 - less - worse} (in {at_bound} of"
    )
    print(f"these no method could do better), more in {worse}")
    print(f"of 28 cells, SLOMS as it is by default fails to beat the best of the three, without need, in {beaten}")


if __name__ == "__main__":
    main()
