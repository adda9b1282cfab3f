"""t-closeness: answers worked out by hand, and the earth mover's distance against three other ways to compute it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from model_examples import attribute, classes, measured, trees
from polyveil.models import TCloseness
from polyveil.models.ground import GroundDistance, divergence, equal, hierarchical, ordered
from polyveil.policy.hierarchy import Hierarchy, from_tree


def distance(p: list[int], q: list[int], ground: GroundDistance) -> float:
    """How far a class with counts p is from a table with counts q."""
    return measured(TCloseness(0.5, "x"), [p], attribute(q, ground))[0]


def test_salaries_of_li_2007() -> None:
    """Nine salaries 3k..11k, one each: {3k,4k,5k} is 0.375 away, {6k,8k,11k} 0.167."""
    whole, line = [1] * 9, ordered(9)
    assert distance([1, 1, 1, 0, 0, 0, 0, 0, 0], whole, line) == pytest.approx(0.375, abs=1e-15)
    assert distance([0, 0, 0, 1, 0, 1, 0, 0, 1], whole, line) == pytest.approx(1 / 6, abs=1e-15)


def test_worked_numbers_of_bagai_2023() -> None:
    p, q, r = [2, 1, 7], [3, 0, 7], [1, 0, 9]
    assert distance(p, q, ordered(3)) == pytest.approx(0.05, abs=1e-15)
    assert distance(q, r, ordered(3)) == pytest.approx(0.2, abs=1e-15)
    assert distance(p, r, ordered(3)) == pytest.approx(0.15, abs=1e-15)


def test_equal_distance_is_total_variation() -> None:
    assert distance([1, 0, 0], [1, 1, 2], equal(3)) == 0.75
    flat = from_tree(["a", "b", "c"])
    assert distance([1, 0, 0], [1, 1, 2], hierarchical(flat)) == 0.75


def test_moving_inside_a_group_is_cheaper_than_across() -> None:
    """Height 2: inside a group the distance is 1/2, across 1."""
    tree = hierarchical(from_tree({"left": ["a", "b"], "right": ["c", "d"]}))
    assert distance([1, 0, 0, 0], [0, 1, 0, 0], tree) == 0.5
    assert distance([1, 0, 0, 0], [0, 0, 1, 0], tree) == 1.0


def test_a_missing_ordered_value_is_1_from_the_ends_and_a_half_from_the_middle() -> None:
    odd, even = ordered(3, has_null=True), ordered(2, has_null=True)
    assert distance([0, 0, 0, 1], [1, 0, 0, 0], odd) == 1.0
    assert distance([0, 0, 0, 1], [0, 1, 0, 0], odd) == 0.5
    assert distance([0, 0, 0, 1], [0, 0, 1, 0], odd) == 1.0
    assert distance([0, 0, 1], [1, 0, 0], even) == 1.0
    assert distance([0, 1], [1, 0], ordered(1, has_null=True)) == 1.0


def test_ranks_count_only_values_that_the_table_has() -> None:
    """Declared a < b < c < d, but nobody has b: a, c, d are ranks 0, 1, 2."""
    whole = [1, 0, 1, 2]
    line = ordered(4, present=np.array(whole) > 0)
    assert distance([1, 0, 0, 0], whole, line) == distance([1, 0, 0], [1, 1, 2], ordered(3))
    gone = ordered(4, has_null=True, present=np.array([False, True, True, True]))
    assert distance([0, 1, 0, 0, 1], [0, 1, 1, 1, 1], gone) == distance(
        [1, 0, 0, 1], [1] * 4, ordered(3, has_null=True)
    )


@pytest.mark.parametrize(
    "ground",
    [ordered(1), equal(1), hierarchical(from_tree(["a"])), divergence("hellinger"), divergence("kl"), divergence("js")],
    ids=lambda ground: ground.distance,
)
def test_a_single_value_is_trivially_close(ground: GroundDistance) -> None:
    assert distance([3], [10], ground) == 0.0


def test_divergences_by_hand() -> None:
    """P = (1, 0), Q = (1/2, 1/2)."""
    assert distance([1, 0], [1, 1], divergence("hellinger")) == pytest.approx(np.sqrt(1 - np.sqrt(0.5)), abs=1e-15)
    assert distance([1, 0], [1, 1], divergence("kl")) == 1.0
    # Middle (3/4, 1/4): half of log2(4/3), half of 1/2 log2(2/3) + 1/2 log2(2).
    by_hand = 0.5 * np.log2(4 / 3) + 0.25 * np.log2(2 / 3) + 0.25
    assert distance([1, 0], [1, 1], divergence("js")) == pytest.approx(by_hand, abs=1e-15)
    assert distance([3, 1], [3, 1], divergence("js")) == 0.0


@pytest.mark.parametrize("ground", [divergence("hellinger"), divergence("kl"), divergence("js"), equal(5), ordered(5)])
def test_a_class_like_the_whole_table_is_exactly_0_away(ground: GroundDistance) -> None:
    """So that t = 0 can be kept; 1 - sum sqrt(P * Q) would leave a rounding error of 1e-8."""
    whole = [10, 20, 30, 70, 300]
    assert distance([1, 2, 3, 7, 30], whole, ground) == 0.0


def test_a_value_the_reference_lacks() -> None:
    """Only possible against a reference other than the input; the farthest each distance knows."""
    assert distance([0, 1], [1, 0], divergence("kl")) == float("inf")
    assert distance([0, 1], [1, 0], divergence("js")) == 1.0
    assert distance([0, 1], [1, 0], divergence("hellinger")) == 1.0
    assert distance([0, 1], [1, 0], equal(2)) == 1.0


def test_one_t_per_attribute_and_the_worst_class_is_named() -> None:
    about = attribute([1] * 9, ordered(9))
    statistics = classes([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]], about)
    verdict = TCloseness(0.2, "x").judge(statistics)
    assert (verdict.outcome, verdict.worst_class, verdict.failing_classes) == ("fails", 0, 1)
    assert verdict.value == pytest.approx(0.375)
    assert TCloseness(0.375, "x").judge(statistics).holds, "a class exactly at the threshold holds"


def recursive_cost(tree: Hierarchy, p: list[Fraction], q: list[Fraction]) -> Fraction:
    """wang2018, 2.1: cost(n) = h(n)/h(H) * min(posExtra, negExtra), the extras over the children of n."""
    children: dict[int, list[int]] = {}
    for node in range(1, len(tree.parent)):
        children.setdefault(int(tree.parent[node]), []).append(node)

    def extra(node: int) -> Fraction:
        if node not in children:
            return p[tree.start[node]] - q[tree.start[node]]
        return sum((extra(child) for child in children[node]), Fraction())

    total = Fraction()
    for node, below in children.items():
        positive = sum((max(extra(child), Fraction()) for child in below), Fraction())
        negative = sum((max(-extra(child), Fraction()) for child in below), Fraction())
        total += Fraction(int(tree.height[node]), max(tree.depth, 1)) * min(positive, negative)
    return total


def shares(counts: list[int]) -> list[Fraction]:
    return [Fraction(count, sum(counts)) for count in counts]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_range_form_is_the_recursive_cost_of_wang_2018(data: st.DataObject) -> None:
    tree = data.draw(trees())
    counts = st.lists(st.integers(0, 9), min_size=tree.leaf_count, max_size=tree.leaf_count).filter(any)
    p, q = data.draw(counts), data.draw(counts)
    expected = recursive_cost(tree, shares(p), shares(q))
    assert distance(p, q, hierarchical(tree)) == pytest.approx(float(expected), abs=1e-14)


def cheapest_transport(p: list[int], q: list[int], cost: np.ndarray) -> float:
    """The definition itself: the least work that turns P into Q, as a linear program."""
    size = len(p)
    leaving = np.kron(np.eye(size), np.ones(size))
    arriving = np.kron(np.ones(size), np.eye(size))
    supply = np.concatenate([np.array(p) / sum(p), np.array(q) / sum(q)])
    return float(linprog(cost.ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=supply).fun)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_tree_distance_is_the_cheapest_transport(data: st.DataObject) -> None:
    tree = data.draw(trees(2, 6))
    counts = st.lists(st.integers(0, 9), min_size=tree.leaf_count, max_size=tree.leaf_count).filter(any)
    p, q = data.draw(counts), data.draw(counts)
    codes = np.arange(tree.leaf_count)
    low, high = np.minimum.outer(codes, codes), np.maximum.outer(codes, codes)
    cost = tree.height[tree.common_ancestor(low.ravel(), high.ravel())].reshape(low.shape) / tree.depth
    np.fill_diagonal(cost, 0.0)
    assert distance(p, q, hierarchical(tree)) == pytest.approx(cheapest_transport(p, q, cost), abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_ordered_distance_with_missing_is_the_cheapest_transport(data: st.DataObject) -> None:
    values = data.draw(st.integers(2, 6))
    counts = st.lists(st.integers(0, 9), min_size=values + 1, max_size=values + 1).filter(any)
    p, q = data.draw(counts), data.draw(counts)
    place = np.arange(values) / (values - 1)
    cost = np.zeros((values + 1, values + 1))
    cost[:values, :values] = np.abs(place[:, None] - place)
    cost[values, :values] = cost[:values, values] = 0.5 + np.abs(place - 0.5)
    assert distance(p, q, ordered(values, has_null=True)) == pytest.approx(cheapest_transport(p, q, cost), abs=1e-8)


def test_hierarchical_distance_is_exact_at_ten_million_rows() -> None:
    """Products of counts reach 1e14 here: far beyond 32 bits, and beyond what a sum of rounded shares keeps."""
    tree = from_tree({"a": {"b": ["1", "2", "3"], "c": ["4"]}, "d": ["5", "6"], "7": None})
    rng = np.random.default_rng(7)
    whole = rng.multinomial(10_000_000, rng.dirichlet(np.ones(7)))
    some = [rng.binomial(whole, 0.3), rng.binomial(whole, 0.999), [0, 0, 0, 0, 0, 0, 1], whole]
    found = measured(TCloseness(0.2, "x"), [list(c) for c in some], attribute(whole.tolist(), hierarchical(tree)))
    for counts, value in zip(some, found, strict=True):
        exact = recursive_cost(tree, shares([int(c) for c in counts]), shares([int(c) for c in whole]))
        assert abs(Fraction(value) - exact) <= Fraction(1, 10**15)
    assert found[-1] == 0.0


def test_one_row_in_ten_million_decides() -> None:
    """Half the table has a, half b: a class of 5,000,000 with 3,500,000 a is 0.2 away; one row more is too far."""
    about = attribute([5_000_000, 5_000_000], hierarchical(from_tree(["a", "b"])))
    model = TCloseness(0.2, "x")
    assert model.judge(classes([[3_500_000, 1_500_000]], about)).holds
    assert not model.judge(classes([[3_500_001, 1_499_999]], about)).holds
