"""fragment: the figures and theorems of bagai2023, their generalization, and what the method makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from polyveil.errors import PolicyError
from polyveil.methods import Task, make_method
from polyveil.methods._fragment.axes import Axis, axis_of
from polyveil.methods._fragment.fragmentation import (
    AxisSpec,
    axis_spec,
    delta,
    evaluate_splits,
    find_fragmentation,
    fragment_bounds,
)
from polyveil.methods._kernels.judge import closeness, compile_constraints
from polyveil.methods.fragment import exact_classes
from polyveil.models import KAnonymity, TCloseness, attributes_of
from polyveil.models.ground import GroundDistance, equal, hierarchical, ordered
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain, as_codes
from tables import ILLNESSES, random_table

WHOLE = np.array([[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]])
CLASS = np.array([[3, 3, 0], [1, 0, 4], [0, 4, 0], [1, 1, 3]])
"""Figure 1: the multiplicity matrix M and an equivalence class E."""

GROUNDS = {"ordered": ordered(6), "tree": hierarchical(ILLNESSES), "equal": equal(6)}


def axis(ground: GroundDistance, units: int, limit: float = 1.0) -> Axis:
    meet = np.zeros(units + 1, dtype=np.int64)
    return Axis(np.arange(units), units, ground.start, ground.stop, ground.weight, meet, limit)


def tuples_of(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    units = np.argwhere(matrix > 0)
    return units, matrix[tuple(units.T)]


def between(ground: GroundDistance, units: int) -> np.ndarray:
    """The ground distance as a plain matrix: the ranges that hold one value and not the other."""
    inside = (ground.start[:, None] <= np.arange(units)) & (np.arange(units) < ground.stop[:, None])
    return np.einsum("r,rij->ij", ground.weight, inside[:, :, None] != inside[:, None, :])


def moved(p: np.ndarray, q: np.ndarray, distance: np.ndarray) -> float:
    """The earth mover's distance as a linear program."""
    from scipy.optimize import linprog

    size = len(p)
    leave, arrive = np.kron(np.eye(size), np.ones((1, size))), np.kron(np.ones((1, size)), np.eye(size))
    sums = np.concatenate([p, q])
    return float(linprog(distance.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=sums).fun)


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ([0.2, 0.1, 0.7], [0.3, 0.0, 0.7], 0.05),
        ([0.3, 0.0, 0.7], [0.1, 0.0, 0.9], 0.2),
        ([0.2, 0.1, 0.7], [0.1, 0.0, 0.9], 0.15),
    ],
)
def test_the_papers_distances(p: list[float], q: list[float], expected: float) -> None:
    """Section 2.2: d(P,Q) = .05, d(Q,R) = .2, d(P,R) = .15."""
    assert moved(np.array(p), np.array(q), between(ordered(3), 3)) == pytest.approx(expected)


@pytest.mark.parametrize(("salaries", "expected"), [([3, 4, 5], 0.375), ([6, 8, 11], 1 / 6)])
def test_the_salaries_of_li_2007(salaries: list[int], expected: float) -> None:
    values = np.arange(3.0, 12.0)
    domain = OrderedDomain("numeric", values, tuple(f"{v:g}k" for v in values))
    table = CodedTable(
        9, (), (SensitiveColumn("salary", domain, as_codes(np.arange(9), 9), "ordered", np.ones(9, dtype=np.int64)),)
    )
    judge = compile_constraints([TCloseness(0.5, "salary")], attributes_of(table), table)
    counts, found = np.zeros(9, dtype=np.int64), np.empty(1)
    counts[np.array(salaries) - 3] = 1
    closeness(judge, counts, 3, found)
    assert found[0] == pytest.approx(expected)


def test_figure_1_and_the_conformance_of_figure_6() -> None:
    assert WHOLE.sum(axis=1).tolist() == [90, 30, 105, 75]
    assert WHOLE.sum(axis=0).tolist() == [75, 135, 90]
    assert CLASS.sum(axis=1).tolist() == [6, 5, 4, 5]
    assert CLASS.sum(axis=0).tolist() == [5, 8, 7]
    whole, part = WHOLE / WHOLE.sum(), CLASS / CLASS.sum()
    assert whole[0:3, 0:2].sum() == pytest.approx(part[0:3, 0:2].sum()) == pytest.approx(0.55)
    assert whole[2:4, 1:3].sum() == pytest.approx(0.45)
    assert part[2:4, 1:3].sum() == pytest.approx(0.4)


@pytest.mark.parametrize("bound", ["paper", "tight"])
def test_figure_1_with_thresholds_of_figure_8_is_acceptable_after_one_split(bound: str) -> None:
    units, counts = tuples_of(WHOLE)
    top = find_fragmentation(units, counts, [axis(ordered(4), 4), axis(ordered(3), 3)], bound, most=1)
    # Rows: not left-heavy, so the first value is farthest, (.1*1 + .35*2 + .25*3)/3; columns (.45*1 + .3*2)/2.
    assert top.bounds == pytest.approx([1.55 / 3, 0.525])
    found = find_fragmentation(units, counts, [axis(ordered(4), 4, 0.5), axis(ordered(3), 3, 0.6)], bound)
    assert found.boxes == 2
    assert found.bounds[0] <= 0.5
    assert found.bounds[1] <= 0.6


@pytest.mark.parametrize("kind", sorted(GROUNDS))
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_theorem_10_and_its_generalization(kind: str, seed: int) -> None:
    """Delta(P) is the distance to the farthest vertex, and no Q on the simplex is farther (linear programming)."""
    rng = np.random.default_rng(seed)
    ground, distance = GROUNDS[kind], between(GROUNDS[kind], 6)
    p = rng.dirichlet(np.ones(6))
    spec = axis_spec([axis(ground, 6)], "tight")
    bound = delta(spec, 0, p, 0, 5)
    vertices = [moved(p, np.eye(6)[v], distance) for v in range(6)]
    assert bound == pytest.approx(max(vertices), abs=1e-8)
    if kind == "ordered":
        left_heavy = p @ np.arange(1, 7) < 3.5
        assert bound == pytest.approx(vertices[5 if left_heavy else 0], abs=1e-8)
    for _ in range(5):
        assert moved(p, rng.dirichlet(np.full(6, 0.4)), distance) <= bound + 1e-8


def test_the_papers_bound_is_scaled_to_the_fragments_own_length() -> None:
    mass = np.array([0.0, 0.3, 0.1, 0.0, 0.0, 0.0])
    tight, paper = (axis_spec([axis(ordered(6), 6)], bound) for bound in ("tight", "paper"))
    assert delta(tight, 0, mass, 1, 2) == pytest.approx(0.3 / 5)
    assert delta(paper, 0, mass, 1, 2) == pytest.approx(0.3)


def plain_bounds(units: np.ndarray, counts: np.ndarray, grounds: list[GroundDistance], sizes: list[int]) -> np.ndarray:
    """Delta of a fragment straight from its definition, over the values that occur in it."""
    found = []
    for a, (ground, size) in enumerate(zip(grounds, sizes, strict=True)):
        mass = np.bincount(units[:, a], weights=counts, minlength=size)
        found.append(max((between(ground, size) @ mass)[mass > 0], default=0.0))
    return np.array(found)


def spec_of(grounds: list[GroundDistance], sizes: list[int]) -> AxisSpec:
    return axis_spec([axis(ground, size) for ground, size in zip(grounds, sizes, strict=True)], "tight")


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_splits_are_evaluated_as_by_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grounds, sizes = [ordered(5), hierarchical(ILLNESSES)], [5, 6]
    units, counts = tuples_of(rng.integers(0, 3, (5, 6)) + np.eye(5, 6, dtype=int))
    spec, box = spec_of(grounds, sizes), np.array([[0, 4], [0, 5]])
    mass, part = counts.astype(float), np.arange(len(units))
    before = plain_bounds(units, counts, grounds, sizes)
    assert fragment_bounds(spec, units, mass, part, box) == pytest.approx(before)
    axes, cuts, changes = evaluate_splits(spec, units, mass, part, box)
    assert len(axes)
    for a, cut, change in zip(axes, cuts, changes, strict=True):
        left = units[:, a] < cut
        one = plain_bounds(units[left], counts[left], grounds, sizes)
        other = plain_bounds(units[~left], counts[~left], grounds, sizes)
        assert change == pytest.approx(one + other - before)


@pytest.mark.parametrize("bound", ["paper", "tight"])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), t=st.floats(0.02, 0.5))
def test_theorem_20_classes_that_conform_stay_within_the_bounds(bound: str, seed: int, t: float) -> None:
    rng = np.random.default_rng(seed)
    grounds, sizes = [ordered(5), hierarchical(ILLNESSES)], [5, 6]
    classes = int(rng.integers(2, 5))
    whole = rng.integers(0, 3, (5, 6)) * classes + np.eye(5, 6, dtype=int) * classes
    units, counts = tuples_of(whole)
    axes = [axis(ground, size, t) for ground, size in zip(grounds, sizes, strict=True)]
    found = find_fragmentation(units, counts, axes, bound)
    assert (found.bounds <= t + 1e-9).all()
    rows = np.repeat(np.arange(len(units)), counts)
    fragment = found.of_tuple[rows]
    chosen = np.concatenate(
        [
            rng.choice(rows[fragment == f], np.count_nonzero(fragment == f) // classes, replace=False)
            for f in range(found.fragments)
        ]
    )
    assert not np.any(np.bincount(fragment) % classes)
    for a, (ground, size) in enumerate(zip(grounds, sizes, strict=True)):
        p = np.bincount(units[rows, a], minlength=size) / len(rows)
        q = np.bincount(units[chosen, a], minlength=size) / len(chosen)
        inside = np.array([abs((p - q)[i:j].sum()) for i, j in zip(ground.start, ground.stop, strict=True)])
        assert float(inside @ ground.weight) <= found.bounds[a] + 1e-9


def test_a_tree_is_cut_between_the_children_of_the_common_ancestor() -> None:
    table = random_table(0, 50, nulls=False)
    illness = axis_of(table.sensitive[0], 0.1, 64, "frequency", None)
    spec = axis_spec([illness], "tight")
    units = np.arange(6)[:, None]
    _, cuts, _ = evaluate_splits(spec, units, np.ones(6), np.arange(6), np.array([[0, 5]]))
    assert cuts.tolist() == [3, 5]  # Lung 0-2 | Stomach 3-4 | Other 5


def number_column(values: np.ndarray, counts: np.ndarray, *, null: bool = False) -> SensitiveColumn:
    domain = OrderedDomain("numeric", values, tuple(str(v) for v in values), has_null=null)
    codes = np.repeat(np.arange(len(values)), counts)
    if null:
        codes = np.append(codes, len(values))
    return SensitiveColumn("s", domain, as_codes(codes, domain.size), "ordered", np.ones(domain.size, dtype=np.int64))


def test_continuous_values_are_binned_three_ways() -> None:
    column = number_column(np.array([0.0, 1.0, 2.0, 3.0, 100.0]), np.array([10, 10, 10, 10, 40]))
    assert axis_of(column, 0.1, 2, "width", None).unit_of_code.tolist() == [0, 0, 0, 0, 1]
    assert axis_of(column, 0.1, 2, "frequency", None).unit_of_code.tolist() == [0, 0, 0, 0, 1]
    assert axis_of(column, 0.1, 4, "frequency", None).unit_of_code.tolist() == [0, 0, 1, 1, 2]
    assert axis_of(column, 0.1, 64, "width", [1.5, 50.0]).unit_of_code.tolist() == [0, 0, 1, 1, 2]
    assert axis_of(column, 0.1, 64, "width", None).unit_of_code.tolist() == [0, 1, 2, 3, 4]


def test_bins_stand_at_the_middle_rank_of_their_values() -> None:
    column = number_column(np.arange(5.0), np.ones(5, dtype=int), null=True)
    binned = axis_of(column, 0.1, 64, "width", [1.5])
    distance = between(GroundDistance("ordered", binned.start, binned.stop, binned.weight), 3)
    # Ranks 0, 1 | 2, 3, 4 of 0..4: middles at 1/8 and 3/4; "missing" hangs half a line's length from 1/2.
    assert distance[0, 1] == pytest.approx(0.75 - 0.125)
    assert distance[2].tolist() == pytest.approx([0.5 + 0.375, 0.5 + 0.25, 0.0])


def test_edges_of_a_column_that_is_not_an_ordered_sensitive_one_are_refused() -> None:
    table = random_table(0, 60)
    models = (KAnonymity(2), TCloseness(0.3, "salary"))
    task = Task(table, models, attributes_of(table), Privacy(k=2), np.random.default_rng(0))
    with pytest.raises(PolicyError, match=r"method\.edges\.illness"):
        make_method(MethodChoice(name="fragment", edges={"illness": [1.0]})).partition(task)
    made = make_method(MethodChoice(name="fragment", edges={"salary": [5.0, 20.0]})).partition(task)
    assert made.suppressed == 0


def test_exact_rounding_makes_gcd_classes_that_keep_k() -> None:
    assert exact_classes(np.array([12, 18, 30]), 2) == 6
    assert exact_classes(np.array([12, 18, 30]), 15) == 3
    assert exact_classes(np.array([7, 18]), 2) == 1


def test_exact_rounding_conforms_to_every_fragment() -> None:
    table = random_table(5, 40, nulls=False)
    table = table.take(np.tile(np.arange(40), 6))  # every tuple six times or a multiple
    models = (KAnonymity(2), *(TCloseness(0.2, column.name) for column in table.sensitive))
    task = Task(table, models, attributes_of(table), Privacy(k=2), np.random.default_rng(0))
    method = make_method(MethodChoice(name="fragment", rounding="exact"))
    labels = method.partition(task).class_of_row
    assert labels.max() + 1 >= 6
    fragment = method.fragmentation(table, task).of_tuple[table.sensitive_tuples.of_row]
    shares = np.stack(
        [np.bincount(fragment[labels == c], minlength=fragment.max() + 1) for c in range(labels.max() + 1)]
    )
    assert (shares == shares[0]).all()


def test_a_bound_over_bins_adds_what_values_move_inside_a_bin() -> None:
    """Forty values in two bins: the bound between the bins alone says nothing about classes of the lowest of a bin."""
    values = np.arange(40.0)
    domain = OrderedDomain("numeric", values, tuple(map(str, values)))
    column = SensitiveColumn("s", domain, np.arange(40), "ordered", np.ones(40, dtype=np.int64))
    table = CodedTable(40, (), (column,))
    axis = axis_of(column, 0.6, 2, "width", None)
    found = find_fragmentation(axis.unit_of_code[table.sensitive_tuples.codes], np.ones(40, dtype=np.int64), [axis])
    worst = 0.0
    for rows in ([0, 20], [19, 39], [0, 39]):  # the same share of both bins as the table
        inside = np.zeros(40)
        inside[rows] = 0.5
        worst = max(worst, float(np.abs(np.cumsum(inside - 1 / 40)).sum() / 39))
    assert found.bounds[0] >= worst
    assert axis.inside > 0.2
    assert axis_of(column, 0.6, 64, "width", None).inside == 0.0


def frame_of(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame({"age": rng.integers(20, 60, rows), "pay": rng.integers(0, 100, rows)})


@pytest.mark.parametrize(
    ("options", "told"),
    [({"rounding": "exact"}, {"strata", "fragments", "bounds"}), ({}, {"strata", "fragments"})],
)
def test_bounds_are_published_only_where_classes_keep_them(options: dict[str, Any], told: set[str]) -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "pay": {"role": "sensitive", "type": "numeric", "t": 0.4}}
    policy = {"columns": columns, "privacy": {"k": 2}, "method": {"name": "fragment", "bins": 8, **options}}
    release = polyveil.anonymize(frame_of(60), policy, seed=1)
    assert set(release.manifest["method"]["found"]) == told
    if "bounds" in told:
        assert release.manifest["method"]["found"]["bounds"]["pay"] >= release.privacy["t"]["pay"]


def test_stopping_at_the_most_fragments_is_said_and_empty_boxes_do_not_count() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "pay": {"role": "sensitive", "type": "numeric", "t": 0.3}}
    method = {"name": "fragment", "most_fragments": 2, "slack": 0.01}
    policy = {"columns": columns, "privacy": {"k": 2}, "method": method}
    told = polyveil.anonymize(frame_of(60), policy, seed=1).manifest["method"]["found"]
    assert told["fragments"] == 2
    assert told["stopped_at_limit"] is True


def test_the_bound_of_the_paper_ends_with_ten_columns_of_many_values() -> None:
    rng = np.random.default_rng(1)
    units, axes = rng.integers(0, 64, (100, 10)), [axis(ordered(64), 64, 0.01) for _ in range(10)]
    found = find_fragmentation(units, np.ones(100, dtype=np.int64), axes, "paper")
    assert not found.complete
    assert found.boxes - found.fragments <= 4096 // 16


def test_strata_with_exact_rounding_are_refused() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric"}, "pay": {"role": "sensitive", "type": "numeric", "t": 0.4}}
    method = {"name": "fragment", "rounding": "exact", "strata": 7}
    with pytest.raises(PolicyError, match=r"method.strata.*rounding: exact leaves no choice"):
        polyveil.anonymize(frame_of(60), {"columns": columns, "privacy": {"k": 2}, "method": method}, seed=1)
