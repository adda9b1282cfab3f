"""How well generalized, anatomized and sliced releases answer COUNT queries (Census-Income, d = 4, l = 3, k = 6).

    python benchmarks/sloms_queries.py [rows]

People in the labour force. Median relative error of 200 random queries over two quasi-identifiers and one, or two,
sensitive attributes; suppressed rows and values count as errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from census_tables import census, in_labour_force, policy_of, slices_of

from polyveil.measure.queries import query_error, random_queries
from polyveil.methods import make_method
from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.releases import form_of, resolve_form
from polyveil.releases.linked import rows_with_suppressed_values
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

RELEASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kaca, generalized": ({"name": "kaca"}, {"form": "generalized"}),
    "mbf, anatomized, exact": ({"name": "mbf"}, {"generalize": "none"}),
    "mbf, anatomized, kaca": ({"name": "mbf"}, {"generalize": "kaca"}),
    "sloms, Table VIII": ({"name": "sloms", "slices": slices_of(4), "priority": "mbf"}, {}),
    "sloms, auto": ({"name": "sloms", "priority": "mbf"}, {}),
    "sloms, one slice each": ({"name": "sloms", "slices": 4, "priority": "mbf"}, {}),
}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    frame = in_labour_force(census()).sample(rows, seed=1)
    frame = frame.select([*frame.columns[:5], *(name for part in slices_of(4) for name in part)])
    print(f"{rows} rows          suppressed   one attribute   two attributes")
    for name, (options, release) in RELEASES.items():
        policy = Policy.from_dict(policy_of(4, 3, 6, options, **release))
        method = make_method(policy.method)
        bound = bind(resolve_form(policy, method), read(frame))
        table = encode(bound)
        attributes = attributes_of(table)
        rng = np.random.default_rng(1)
        task = Task(table, models_for(policy, attributes), attributes, policy.privacy, rng)
        partition = form_of(bound.policy).arrange(bound, table, method.partition(task), rng)
        errors = [
            query_error(table, partition, random_queries(table, np.random.default_rng(3), 200, sensitive=count)).median
            for count in (1, 2)
        ]
        share = rows_with_suppressed_values(partition) / rows
        print(f"{name:25} {share:6.4f}   {errors[0]:12.4f}   {errors[1]:13.4f}", flush=True)


if __name__ == "__main__":
    main()
