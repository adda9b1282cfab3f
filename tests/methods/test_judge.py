"""The compiled judge says of every class what the models say."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_examples import attribute, one_of_each, tables
from polyveil.methods._kernels.judge import (
    JudgeSpec,
    class_distances,
    closeness,
    compile_constraints,
    compile_in_order,
    holds,
    holds_classes,
    holds_plainly,
    sensitive_matrix,
    violation,
    violation_classes,
)
from polyveil.methods._kernels.reachable import whole_holds, whole_violation
from polyveil.models import (
    Attribute,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    FrequencyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
    TCloseness,
    attributes_of,
    from_classes,
)
from polyveil.models.ground import divergence, hierarchical, ordered
from polyveil.policy.hierarchy import from_tree
from tables import random_table

Table = tuple[np.ndarray, np.ndarray, Attribute]
KINDS = [i for i, model in enumerate(one_of_each(0.5, 2)) if model.per_group]
"""Guarantees about all classes together have no constraint on one of them."""


def judge_of(model: Model, about: Attribute) -> JudgeSpec:
    return compile_in_order([model], {"x": about}, ["x"])


def both_ways(model: Model, table: Table) -> tuple[list[bool], list[bool]]:
    class_of_row, codes, about = table
    plain = holds_plainly([model], {"x": about}, class_of_row, {"x": codes})
    fast = holds_classes(judge_of(model, about), class_of_row, codes[:, None].astype(np.int32))
    return fast.tolist(), plain.tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(table=tables(), threshold=st.floats(0.0, 1.0), least=st.integers(1, 3))
def test_the_kernel_equals_the_model(kind: int, table: Table, threshold: float, least: int) -> None:
    fast, plain = both_ways(one_of_each(threshold, least)[kind], table)
    assert fast == plain


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(table=tables(), least=st.integers(1, 3), pick=st.integers(0, 9))
def test_the_kernel_equals_the_model_exactly_at_the_threshold(
    kind: int,
    table: Table,
    least: int,
    pick: int,
) -> None:
    """The threshold is what some class measures: that class holds, except where the comparison is strict."""
    class_of_row, codes, about = table
    model = one_of_each(0.5, least)[kind]
    values = model.measure_all(from_classes(class_of_row, {"x": codes}, {"x": about}))
    edge = float(values[pick % len(values)])
    if not np.isfinite(edge):
        return
    model.threshold = edge
    fast, plain = both_ways(model, table)
    assert fast == plain
    assert plain[pick % len(values)] == (model.direction != "below")


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), nulls=st.booleans(), t=st.floats(0.05, 0.6))
def test_several_attributes_and_models_at_once(seed: int, nulls: bool, t: float) -> None:
    table = random_table(seed, nulls=nulls, sensitive=3)
    attributes = attributes_of(table)
    models: list[Model] = [KAnonymity(2)]
    for name in attributes:
        models += [TCloseness(t, name), FrequencyDiversity(2, name), RecursiveDiversity(3.0, name, 2)]
    class_of_row = np.random.default_rng(seed).integers(-1, 6, table.rows)
    class_of_row = np.unique(np.append(class_of_row, -1), return_inverse=True)[1][:-1] - 1
    spec, places = compile_constraints(models, attributes, table), sensitive_matrix(table)
    codes = {column.name: column.codes for column in table.sensitive}
    plain = holds_plainly(models, attributes, class_of_row, codes)
    assert holds_classes(spec, class_of_row, places).tolist() == plain.tolist()
    worse = violation_classes(spec, class_of_row, places)
    for number, held in enumerate(plain):
        members = places[class_of_row == number]
        hist = np.bincount(members.ravel(), minlength=spec.width)
        assert holds(spec, hist, len(members)) == held
        assert violation(spec, hist, len(members)) == worse[number]
        assert (worse[number] == 0.0) == held


def test_closeness_writes_the_distances() -> None:
    line, tree = attribute([1] * 9, ordered(9), name="salary"), attribute([1, 1, 2], name="disease")
    models = [TCloseness(0.2, "salary"), TCloseness(0.2, "disease")]
    spec = compile_in_order(models, {"salary": line, "disease": tree}, ["disease", "salary"])
    hist = np.array([3, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    out = np.zeros(2)
    closeness(spec, hist, 3, out)
    assert out == pytest.approx([0.375, 0.75])


GROUNDS = {
    "ordered": ordered(4),
    "hierarchical": hierarchical(from_tree({"g": ["a", "b"], "h": ["c", "d"]})),
    **{kind: divergence(kind) for kind in ("hellinger", "kl", "js")},  # type: ignore[arg-type]
}


@pytest.mark.parametrize("distance", GROUNDS)
def test_violation_falls_as_a_class_comes_nearer_to_the_whole(distance: str) -> None:
    about = attribute([4, 3, 2, 1], GROUNDS[distance])
    spec = judge_of(TCloseness(0.01, "x"), about)
    start = np.array([0, 0, 0, 10])
    found = [violation(spec, start + step * about.whole, 10 + step * 10) for step in range(20)]
    assert all(later < earlier or later == 0.0 for earlier, later in pairwise(found))


def test_violation_falls_as_a_class_becomes_more_diverse() -> None:
    about = attribute([4, 3, 2, 1])
    for model in one_of_each(0.3, 3)[2:8]:
        spec = judge_of(model, about)
        uniform, mixed, pure = np.array([3, 3, 3, 3]), np.array([9, 1, 1, 1]), np.array([12, 0, 0, 0])
        found = [violation(spec, hist, 12) for hist in (uniform, mixed, pure)]
        assert found == sorted(found)
        assert found[-1] > 0


def test_a_class_too_small_is_the_better_the_larger_it_is() -> None:
    spec = judge_of(KAnonymity(4), attribute([4, 4]))
    assert [violation(spec, np.array([n, 0]), n) for n in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0.0]


def test_a_class_without_rows_never_holds() -> None:
    for models in ([], [KAnonymity(2)], [EnhancedBetaLikeness(1.0, "x")], [DeltaDisclosure(1.0, "x")]):
        spec = compile_in_order(models, {"x": attribute([2, 2])}, ["x"])
        assert not holds(spec, np.zeros(2, dtype=np.int64), 0)


@pytest.mark.parametrize("at_a_time", [1, 3, 500])
def test_distances_without_compiling_are_those_of_the_kernel(monkeypatch: pytest.MonkeyPatch, at_a_time: int) -> None:
    monkeypatch.setattr("polyveil.methods._kernels.judge.AT_A_TIME", at_a_time)
    table = random_table(3, rows=120)
    models = [TCloseness(0.3, column.name) for column in table.sensitive]
    spec, places = compile_constraints(models, attributes_of(table), table), sensitive_matrix(table)
    labels = np.random.default_rng(3).integers(0, 7, table.rows)
    found = class_distances(spec, labels, places)
    for c in range(7):
        hist = np.bincount(places[labels == c].ravel(), minlength=spec.width)
        wanted = np.empty(len(spec.close_limit))
        closeness(spec, hist, int((labels == c).sum()), wanted)
        np.testing.assert_allclose(found[c], wanted, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_whole_table_is_judged_the_same_without_compiling(seed: int) -> None:
    table = random_table(seed, rows=60)
    places = sensitive_matrix(table).astype(np.int64)
    about = attributes_of(table)
    name = table.sensitive[0].name
    elsewhere = {**about, name: dataclasses.replace(about[name], whole=about[name].whole[::-1].copy())}
    counts = np.random.default_rng(seed).integers(1, 4, table.rows)
    verdicts = set()
    for attributes in (about, elsewhere):
        for models in ([KAnonymity(5)], [KAnonymity(500)], [TCloseness(0.05, name)], [FrequencyDiversity(1.05, name)]):
            spec = compile_constraints(models, attributes, table)
            plain = whole_holds(spec, places, counts)
            assert plain == (whole_violation(spec, places, counts) == 0.0)
            verdicts.add(plain)
    assert verdicts == {True, False}
