"""Fig. 2 of han2013: suppression ratio of SLOMS against plain MSB on Census-Income, d = 3..6, l = 3..9.

    python benchmarks/sloms_census.py [rows] [--labour-force]

10,000 random rows by default. Half of all people are "not in universe" for occupation and industry: that one value
must be spread over all groups, so at most l / (l - 1) times the others can be published. `--labour-force` runs those
who have an occupation; seven of ten of them have a private employer, which limits `class_of_worker` in the same way.
The last column is the least that `class_of_worker` alone makes any method suppress. A ratio of 1 also stands where an
attribute has fewer than l values.
"""

from __future__ import annotations

import sys

import numpy as np
from census_tables import census, in_labour_force, policy_of, slices_of

from polyveil.errors import Unsatisfiable
from polyveil.methods import make_method
from polyveil.methods.base import Task
from polyveil.methods.bucket_demand import reachable_rows
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.release.linked import rows_with_suppressed_values
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

PRIORITIES = ("mbf", "msdcf", "mmdcf")


def suppressed(frame: object, policy: Policy) -> float:
    """The share of rows with any suppressed value; 1 where no row can be published."""
    table = encode(bind(policy, read(frame)))
    attributes = attributes_of(table)
    task = Task(table, models_for(policy, attributes), attributes, policy.privacy, np.random.default_rng(1))
    try:
        return rows_with_suppressed_values(make_method(policy.method).partition(task)) / table.rows
    except Unsatisfiable:
        return 1.0


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    frame = in_labour_force(census()) if "--labour-force" in sys.argv else census()
    frame = frame.sample(min(numbers[0] if numbers else 10_000, frame.height), seed=1)
    print(f"{frame.height} rows; suppression ratio, plain MSB / SLOMS with the same priority")
    print("d  l  " + "  ".join(f"{name:>15}" for name in PRIORITIES) + "   best plain / best SLOMS   no method below")
    employer = frame.get_column("class_of_worker").value_counts().get_column("count").to_numpy()
    worse = 0
    for d in (3, 4, 5, 6):
        columns = [*frame.columns[:5], *(name for part in slices_of(d) for name in part)]
        part = frame.select(columns)
        for l in range(3, 10):  # noqa: E741
            plain, sliced = [], []
            for name in PRIORITIES:
                plain.append(suppressed(part, Policy.from_dict(policy_of(d, l, None, {"name": name}))))
                method = {"name": "sloms", "slices": slices_of(d), "priority": name}
                sliced.append(suppressed(part, Policy.from_dict(policy_of(d, l, 6, method))))
            worse += sum(b > a for a, b in zip(plain, sliced, strict=True))
            cells = "  ".join(f"{a:7.4f}/{b:7.4f}" for a, b in zip(plain, sliced, strict=True))
            bound = 1 - reachable_rows(employer, np.full(len(employer), float(l))) / frame.height
            print(f"{d}  {l}  {cells}   {min(plain):.4f} / {min(sliced):.4f}            {bound:.4f}", flush=True)
    print(f"cells where SLOMS suppresses more than plain MSB with the same priority: {worse} of 84")


if __name__ == "__main__":
    main()
