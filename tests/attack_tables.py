"""Tables made to be vulnerable to one attack each, and releases of them with classes chosen by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from polyveil.engines.local import released
from polyveil.measure import measure_loss
from polyveil.methods import make_method
from polyveil.models import attributes_of, models_for
from polyveil.partition import Partition
from polyveil.policy import load_policy
from polyveil.releases import Release
from polyveil.releases.forms import form_of, resolve_form
from polyveil.releases.manifest import build_manifest
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

BRANCHES = {
    "Lung": ["flu", "asthma", "cold"],
    "Stomach": ["ulcer", "gastritis", "cancer"],
    "Mind": ["fear", "grief", "rage"],
}
ILLNESSES = [name for names in BRANCHES.values() for name in names]
FAITHS = ["apollo", "bacchus", "ceres", "diana"]


def policy_of(**privacy: Any) -> dict[str, Any]:
    """Age and place identify; illness has a hierarchy, faith has none."""
    return {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "place": {"role": "quasi", "type": "numeric"},
            "illness": {"role": "sensitive", "hierarchy": {"tree": BRANCHES}},
            "faith": {"role": "sensitive", "type": "categorical"},
        },
        "privacy": privacy or {"k": 2},
        # Its classes do not overlap: a person is in one class, whose shares bound how often a guess is right.
        "method": {"name": "mondrian"},
    }


def people(rows: int = 600, seed: int = 0, **columns: Any) -> pl.DataFrame:
    """Unique people whose sensitive values have nothing to do with age, place or each other."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.permutation(rows),
            "place": rng.permutation(rows),
            "illness": rng.choice(ILLNESSES, rows),
            "faith": rng.choice(FAITHS, rows),
        }
    )
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


def release_of(frame: pl.DataFrame, policy: Mapping[str, Any], class_of_row: Any) -> Release:
    """A generalized release with the classes given, whether or not they keep what the policy asks for."""
    asked = load_policy(policy)
    method = make_method(asked.method)
    bound = bind(resolve_form(asked, method), read(frame))
    table = encode(bound)
    partition = Partition(np.asarray(class_of_row, dtype=np.int64))
    statistics = form_of(bound.policy).statistics(bound.policy, *released(table, partition))
    models = models_for(bound.policy, attributes_of(table))
    loss = measure_loss(table, partition.class_of_row)
    manifest = build_manifest(bound, table, method, partition, statistics, models, loss)
    return Release(form_of(bound.policy).tables(bound, table, partition), manifest)


def by_age(frame: pl.DataFrame, size: int) -> np.ndarray:
    """Classes of people next to each other in age."""
    return (frame["age"].rank("ordinal").to_numpy().astype(np.int64) - 1) // size
