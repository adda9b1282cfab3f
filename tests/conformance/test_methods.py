"""Every registered method that can publish generalized tables keeps the same promises, whatever it does inside, on this
machine and in Spark's blocks.

A method that is added to the registry is covered here without further ado. Spark runs every method as it is by default,
searches with the least effort; what a method's options change is a matter of the method, not of the engine. `auto`
runs other methods and lets `sift` search with the least effort too: that is tried as it is by default.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from conformance.engines import Engine, Local
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.methods import METHODS, method_class
from polyveil.models import (
    AlphaAnonymity,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Model,
    TCloseness,
    attributes_of,
    codes_of,
    from_classes,
)
from polyveil.partition import Partition
from polyveil.policy.schema import MethodChoice
from polyveil.table.coded import CodedTable
from tables import random_table

GENERALIZING = [name for name in METHODS if "generalized" in method_class(name).forms]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "fcm": [{}, {"strata": "k", "merge": "nearest", "seed_order": "random", "polish": 0}],
    "pca": [{}, {"strata": "k", "merge": "nearest", "seed_order": "random"}],
    "swap": [{}, {"strata": "k", "candidates": 0}],
    "fragment": [{}, {"rounding": "exact"}, {"bound": "paper", "slack": 1.0}, {"bins": 3, "binning": "width"}],
    "mondrian": [{}, {"cut": "relaxed"}],
    "auto": [{"effort": "fast"}],
}
MAY_REFUSE = ("mbf", "msdcf", "mmdcf")
"""Bucket methods promise diversity only and may find no grouping; every other method can fall back on one class."""
CASES = [("local", name, options) for name in GENERALIZING for options in VARIANTS.get(name, [{}])]
CASES += [("spark", name, {"effort": "fast"} if name in ("sift", "auto") else {}) for name in GENERALIZING]
Case = tuple[str, str, dict[str, Any]]


def methods(cases: list[Case]) -> pytest.MarkDecorator:
    names = [f"{engine}-{name}-{'-'.join(options) or 'default'}" for engine, name, options in cases]
    return pytest.mark.parametrize(("engine", "name", "options"), cases, indirect=["engine"], ids=names)


every_method = methods(CASES)


def demands(table: CodedTable, which: int, k: int, t: float) -> tuple[Model, ...]:
    """A few combinations of models that a table of sixty rows or more can satisfy as a whole."""
    names = [column.name for column in table.sensitive]
    sets: list[list[Model]] = [
        [KAnonymity(k), *(TCloseness(t, name) for name in names)],
        [KAnonymity(k), TCloseness(t / 2, names[0]), DistinctDiversity(2, names[1])],
        [*(FrequencyDiversity(1.2, name) for name in names), KAnonymity(k)],
        [KAnonymity(k), AlphaAnonymity(0.9, names[0])],
    ]
    return tuple(sets[which])


def run(
    engine: Engine,
    table: CodedTable,
    models: tuple[Model, ...],
    name: str,
    options: dict[str, Any],
    seed: int,
    *,
    anew: bool = False,
) -> Partition | None:
    """The partition; None where a method that may refuse did so."""
    limit = 0.5 if name.startswith(MAY_REFUSE) else 0.0
    try:
        return engine.partition(table, models, MethodChoice(name=name, **options), limit, seed, anew=anew)
    except (PolicyError, Unsatisfiable):
        if name.startswith(MAY_REFUSE):
            return None
        raise


def broken_by(table: CodedTable, models: tuple[Model, ...], labels: np.ndarray) -> list[str]:
    """The models' own judgement, counted anew: what the verifier would say."""
    statistics = from_classes(labels, codes_of(table), attributes_of(table))
    return [str(model) for model in models if not model.judge(statistics).holds]


def holds_as_a_whole(table: CodedTable, models: tuple[Model, ...]) -> bool:
    return not broken_by(table, models, np.zeros(table.rows, dtype=np.int64))


EXAMPLE = {"seed": 77, "rows": 90, "k": 3, "t": 0.5}


@every_method
def test_every_model_holds_in_every_class_and_no_row_is_lost(
    engine: Engine, name: str, options: dict[str, Any]
) -> None:
    def claim(seed: int, rows: int, k: int, t: float, which: int) -> None:
        table = random_table(seed, rows)
        models = demands(table, which, k, t)
        if not holds_as_a_whole(table, models):
            return  # the pipeline refuses these before any method runs
        partition = run(engine, table, models, name, options, seed)
        if partition is None:
            return
        labels = partition.class_of_row
        assert len(labels) == rows
        assert partition.suppressed <= (rows // 2 if name.startswith(MAY_REFUSE) else 0)
        assert sorted(set(labels[labels >= 0])) == list(range(partition.classes))
        assert broken_by(table, models, labels) == []

    engine.for_all(
        claim,
        {**EXAMPLE, "which": 3 if name.startswith(MAY_REFUSE) else 0},
        seed=st.integers(0, 5000),
        rows=st.integers(20, 90),
        k=st.integers(2, 6),
        t=st.floats(0.1, 0.9),
        which=st.integers(0, 3),
    )


@methods([case for case in CASES if case[0] == "local" or case[1] in ("sift", "fcm", "mbf")])
def test_a_seed_reproduces_the_partition(engine: Engine, name: str, options: dict[str, Any]) -> None:
    # On Spark rows arrive in another order each time, so this is also the promise that their order does not matter.
    # Three methods stand for all: that a block follows from its rows is shown for every method without starting Spark.
    table = random_table(77, 90)
    models = demands(table, 3 if name.startswith(MAY_REFUSE) else 0, 3, 0.5)
    first, again = (run(engine, table, models, name, options, seed=77, anew=anew) for anew in (False, True))
    assert first is not None
    assert again is not None
    assert np.array_equal(first.class_of_row, again.class_of_row)


@pytest.mark.parametrize(("name", "options"), [case[1:] for case in CASES if case[0] == "local"])
def test_row_order_does_not_matter_to_the_guarantee(name: str, options: dict[str, Any]) -> None:
    table = random_table(31, 60)
    models = demands(table, 0, 3, 0.6)
    for seed in range(3):
        shuffled = table.take(np.random.default_rng(seed).permutation(table.rows))
        partition = run(Local(), shuffled, models, name, options, seed)
        assert partition is None or broken_by(shuffled, models, partition.class_of_row) == []


@every_method
def test_equal_rows_make_no_trouble_and_k_as_large_as_the_table_gives_one_class(
    engine: Engine, name: str, options: dict[str, Any]
) -> None:
    half_equal = random_table(2, 13).take(np.append(np.zeros(12, dtype=np.int64), np.arange(1, 13)))
    partition = run(engine, half_equal, (KAnonymity(24),), name, options, 0)
    assert partition is not None
    assert (partition.classes, partition.suppressed) == (1, 0)


@pytest.mark.parametrize("name", ["mbf", "mmdcf-mslf"])
def test_a_bucket_method_says_that_it_does_not_keep_t(engine: Engine, name: str) -> None:
    table = random_table(77, 90)
    with pytest.raises(PolicyError, match="buckets spread sensitive values") as error:
        engine.partition(table, demands(table, 0, 3, 0.5), MethodChoice(name=name), 0.5, 0)
    assert {fault.place for fault in error.value.faults} == {"columns.illness.t", "columns.salary.t"}
