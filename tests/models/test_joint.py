"""Joint closeness: never below the true distance, exact where it says so, and the same for kernels and the verifier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_examples import attribute, grounds
from polyveil.methods._kernels import joint_flow
from polyveil.methods._kernels.judge import compile_in_order, holds_classes, violation_classes
from polyveil.models import (
    Attribute,
    ClassStatistics,
    JointAttribute,
    JointCloseness,
    TCloseness,
    from_classes,
    joint_attribute,
    joint_name,
)
from polyveil.models import joint as joint_module
from polyveil.models.ground import equal, hierarchical, ordered
from polyveil.models.space import value_space
from polyveil.models.transport import best_cost, tree_costs
from polyveil.policy.hierarchy import from_tree
from polyveil.table.coded import distinct

NAME = joint_name(("a", "b"))


def together(codes: list[np.ndarray], singles: list[Attribute]) -> tuple[np.ndarray, JointAttribute]:
    tuples = distinct(codes, [about.size for about in singles], len(codes[0]))
    return tuples.of_row, joint_attribute(singles, tuples.codes, tuples.counts)


def statistics(class_of_row: np.ndarray, of_row: np.ndarray, about: JointAttribute) -> ClassStatistics:
    return from_classes(class_of_row, {about.name: of_row}, {about.name: about})


def worst(codes: list[np.ndarray], singles: list[Attribute], class_of_row: list[int]) -> list[float]:
    of_row, about = together(codes, singles)
    return JointCloseness(1.0, about.name).measure_all(statistics(np.array(class_of_row), of_row, about)).tolist()


@st.composite
def joint_tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, JointAttribute, list[np.ndarray], list[Attribute]]:
    rows = draw(st.integers(2, 30))
    singles, codes = [], []
    for name in ("a", "b", "c")[: draw(st.integers(2, 3))]:
        size = draw(st.integers(2, 5))
        column = np.array(draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows)), dtype=np.int64)
        codes.append(column)
        about = attribute(np.bincount(column, minlength=size).tolist(), draw(grounds(size)), name=name)
        singles.append(about)
    owner = np.array(draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
    class_of_row = np.unique(owner, return_inverse=True)[1].astype(np.int64)
    of_row, joint = together(codes, singles)
    return class_of_row, of_row, joint, codes, singles


@settings(max_examples=60)
@given(size=st.integers(1, 7), data=st.data())
def test_coordinates_give_the_ground_distance(size: int, data: st.DataObject) -> None:
    ground = data.draw(grounds(size))
    space = value_space(ground, size)
    inside = (np.arange(size)[:, None] >= ground.start) & (np.arange(size)[:, None] < ground.stop)
    apart = np.abs(inside[:, None, :] ^ inside[None, :, :]) @ ground.weight
    if not ground.is_emd:
        apart = 1.0 - np.eye(size)
    codes = np.arange(size)
    np.testing.assert_allclose(space.between(codes[:, None], codes[None, :]), apart, atol=1e-12)


def test_two_columns_can_be_close_one_by_one_and_far_together() -> None:
    """Half the table has (0, 0) and half (1, 1); a class with (0, 1) and (1, 0) looks the same column by column."""
    a, b = np.array([0, 0, 1, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 0, 1, 1, 0])
    class_of_row = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    singles = [attribute([4, 4], equal(2), name="a"), attribute([4, 4], equal(2), name="b")]
    apart = from_classes(class_of_row, {"a": a, "b": b}, {about.name: about for about in singles})
    assert [TCloseness(1, name).judge(apart).value for name in ("a", "b")] == [0.0, 0.0]
    # the class of two has only (0, 1) and (1, 0), which are a quarter of the table: 3/4 must move, each by 1
    assert worst([a, b], singles, class_of_row.tolist())[1] == pytest.approx(0.75)


def test_a_distance_worked_by_hand() -> None:
    """Salary 0..4 in steps of 1/4 and a category: the class's one row (0, x) faces five rows (0, x) to (4, x)."""
    salary, kind = np.array([0, 1, 2, 3, 4]), np.zeros(5, dtype=np.int64)
    singles = [attribute([1] * 5, ordered(5), name="a"), attribute([5, 0], equal(2), name="b")]
    found = worst([salary, kind], singles, [0, 1, 1, 1, 1])
    assert found[0] == pytest.approx((0 + 1 + 2 + 3 + 4) / 4 / 5)


def test_the_greatest_of_the_attributes_counts() -> None:
    """(0, x) to (1, y) costs the category's 1, not the mean of 1 and the salary's 1/4."""
    salary, kind = np.array([0, 1, 2, 3, 4]), np.array([0, 1, 1, 1, 1])
    singles = [attribute([1] * 5, ordered(5), name="a"), attribute([1, 4], equal(2), name="b")]
    assert worst([salary, kind], singles, [0, 1, 1, 1, 1])[0] == pytest.approx(4 / 5)


def test_the_whole_table_as_one_class_is_at_distance_0() -> None:
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 9, 200), rng.integers(0, 6, 200)]
    tree = hierarchical(from_tree({"g": ["a", "b", "c"], "h": ["d", "e"], "i": None}))
    singles = [
        attribute(np.bincount(codes[0], minlength=9).tolist(), ordered(9), name="a"),
        attribute(np.bincount(codes[1], minlength=6).tolist(), tree, name="b"),
    ]
    assert worst(codes, singles, [0] * 200) == [0.0]


@settings(max_examples=60)
@given(table=joint_tables())
def test_joint_closeness_includes_the_closeness_of_every_column(table: tuple) -> None:  # type: ignore[type-arg]
    class_of_row, of_row, joint, codes, singles = table
    found = JointCloseness(1.0, joint.name).measure_all(statistics(class_of_row, of_row, joint))
    for column, about in zip(codes, singles, strict=True):
        if about.ground.is_emd:
            alone = TCloseness(1.0, "x").measure_all(from_classes(class_of_row, {"x": column}, {"x": about}))
            assert (found >= alone - 1e-9).all()


@settings(max_examples=40)
@given(table=joint_tables())
def test_the_tree_plan_lies_between_the_best_plan_and_total_variation(table: tuple) -> None:  # type: ignore[type-arg]
    class_of_row, of_row, joint, _, _ = table
    block = statistics(class_of_row, of_row, joint).block(joint.name)
    for some, counts in joint_module._cell_counts(block, joint):
        sizes = block.sizes[some]
        surplus = counts * joint.total - sizes[:, None] * joint.cell_whole
        scale = sizes * float(joint.total)
        plan = tree_costs(surplus, joint.clusters, joint.cells) / scale
        best = [best_cost(row, joint.cells, total) for row, total in zip(surplus, scale, strict=True)]
        varied = np.maximum(surplus, 0).sum(axis=1) / scale
        assert (plan >= np.array(best) - 2e-7).all()
        assert (plan <= varied + 1e-12).all()


@settings(max_examples=40)
@given(table=joint_tables(), data=st.data())
def test_merging_two_classes_is_never_farther_than_the_worse_of_them(table: tuple, data: st.DataObject) -> None:  # type: ignore[type-arg]
    class_of_row, of_row, joint, _, _ = table
    if class_of_row.max() < 1:
        return
    model = JointCloseness(1.0, joint.name)
    before = model.measure_all(statistics(class_of_row, of_row, joint))
    after = model.measure_all(statistics(np.maximum(class_of_row - 1, 0), of_row, joint))
    assert after.max() <= before.max() + 2e-7


@settings(max_examples=60)
@given(table=joint_tables(), t=st.floats(0.0, 0.9))
def test_the_kernel_costs_the_same_plan_and_never_passes_what_the_model_fails(table: tuple, t: float) -> None:  # type: ignore[type-arg]
    class_of_row, of_row, joint, _, _ = table
    model = JointCloseness(t, joint.name)
    spec = compile_in_order([model], {joint.name: joint}, [joint.name])
    places = of_row[:, None].astype(np.int32)
    block = statistics(class_of_row, of_row, joint).block(joint.name)
    plan = np.concatenate(
        [
            tree_costs(counts * joint.total - block.sizes[some, None] * joint.cell_whole, joint.clusters, joint.cells)
            / (block.sizes[some] * float(joint.total))
            for some, counts in joint_module._cell_counts(block, joint)
        ]
    )
    limit = t + 1e-9
    np.testing.assert_allclose(violation_classes(spec, class_of_row, places), np.maximum(plan - limit, 0.0), atol=2e-9)
    kernel = holds_classes(spec, class_of_row, places)
    assert (kernel == (plan <= limit)).all() or np.isclose(plan, limit, atol=1e-12).any()
    assert (model.passes(model.measure(block)) | ~kernel).all()


def test_more_tuples_than_cells_stay_an_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 40, 600), rng.integers(0, 30, 600)]
    singles = [
        attribute(np.bincount(codes[0], minlength=40).tolist(), ordered(40), name="a"),
        attribute(np.bincount(codes[1], minlength=30).tolist(), ordered(30), name="b"),
    ]
    class_of_row = rng.integers(0, 12, 600)
    exact = np.array(worst(codes, singles, class_of_row.tolist()))
    of_row, fine = together(codes, singles)
    monkeypatch.setattr(joint_module, "MOST_CELLS", 64)
    of_row, coarse = together(codes, singles)
    model = JointCloseness(1.0, coarse.name)
    found = model.measure_all(statistics(class_of_row, of_row, coarse))
    assert coarse.clusters.cells <= 64 < fine.size
    assert (found >= exact.min()).all()
    assert found.max() >= exact.max()
    # each row, here and in the table, is blurred by at most its cell's radius
    assert found.max() <= exact.max() + 4 * coarse.clusters.radius.max() + 0.1
    spec = compile_in_order([JointCloseness(0.0, coarse.name)], {coarse.name: coarse}, [coarse.name])
    kernel = violation_classes(spec, class_of_row, of_row[:, None].astype(np.int32))
    assert (kernel >= found - 2e-9).all()


def test_the_worst_class_is_exact_and_asked_twice_answers_the_same() -> None:
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 8, 300), rng.integers(0, 5, 300)]
    singles = [
        attribute(np.bincount(codes[0], minlength=8).tolist(), ordered(8), name="a"),
        attribute(np.bincount(codes[1], minlength=5).tolist(), ordered(5), name="b"),
    ]
    of_row, about = together(codes, singles)
    stats = statistics(rng.integers(0, 30, 300), of_row, about)
    model = JointCloseness(0.2, about.name)
    found = model.measure_all(stats)
    top = int(np.argmax(found))
    block = stats.block(about.name)
    counts = np.concatenate([counts for _, counts in joint_module._cell_counts(block, about)])
    best = [
        best_cost(counts[c] * about.total - size * about.cell_whole, about.cells, float(size * about.total))
        for c, size in enumerate(block.sizes)
    ]
    assert found[top] == pytest.approx(max(best), abs=1e-6)
    assert (found >= np.array(best) - 1e-6).all()
    np.testing.assert_array_equal(model.measure_all(stats), found)


def test_the_kernel_costs_the_same_with_and_without_a_table_of_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    tree = hierarchical(from_tree({"g": ["a", {"h": ["b", "c"]}], "i": ["d", "e"], "j": None}))
    codes = [rng.integers(0, 6, 400), rng.integers(0, 9, 400), rng.integers(0, 6, 400)]
    singles = [
        attribute(np.bincount(codes[0], minlength=6).tolist(), tree, name="a"),
        attribute(np.bincount(codes[1], minlength=9).tolist(), ordered(8, has_null=True), name="b"),
        attribute(np.bincount(codes[2], minlength=6).tolist(), equal(6), name="c"),
    ]
    of_row, about = together(codes, singles)
    class_of_row, places = rng.integers(0, 40, 400), of_row[:, None].astype(np.int32)
    tabled = violation_classes(
        compile_in_order([JointCloseness(0.0, about.name)], {about.name: about}, [about.name]), class_of_row, places
    )
    monkeypatch.setattr(joint_flow, "MOST_TABLED", 0)
    counted = violation_classes(
        compile_in_order([JointCloseness(0.0, about.name)], {about.name: about}, [about.name]), class_of_row, places
    )
    np.testing.assert_allclose(tabled, counted, atol=1e-12)
    assert tabled.min() > 0.1
