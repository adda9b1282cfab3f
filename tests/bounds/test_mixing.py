"""The bound by closeness: below the best release whatever the prices, and as great as a hand finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from exact_tables import least_loss, small_task
from polyveil.bounds.mixed import mixing_bound
from polyveil.bounds.mixing import Ascent, charges, floor_levels, market_of, share_out
from polyveil.bounds.required import required_of
from polyveil.bounds.transport import reach_of, together, values_of
from polyveil.models.constraints import Closeness
from polyveil.table.coded import QuasiColumn
from tables import ordered

ROWS, SECONDS = 8, 1.0


@pytest.mark.parametrize("seed", range(1, 140, 7))
def test_whoever_is_close_to_the_rows_released_is_nearly_as_close_to_all(seed: int) -> None:
    """Without the rows left out the rest looks different, by no more than their share."""
    rng, rows = np.random.default_rng(seed), 30
    task = small_task(seed, rows)
    left_out = int(rng.integers(1, 10))
    released = rng.permutation(rows)[left_out:]
    some = rng.choice(released, 5, replace=False)
    close = required_of(task.models, task.attributes, in_people=False).closeness
    lax = required_of(task.models, task.attributes, in_people=False, left_out=left_out / rows).closeness
    assert close
    for asked, looser in zip(close, lax, strict=True):
        assert looser.limit == pytest.approx(asked.limit + left_out / rows)
        codes = next(column.codes for column in task.table.sensitive if column.name == asked.attribute)
        assert (
            distance(asked, codes[some], codes)
            <= distance(asked, codes[some], codes[released]) + left_out / rows + 1e-9
        )


def distance(asked: Closeness, some: np.ndarray, all_rows: np.ndarray) -> float:
    """The earth mover's distance as a weighted sum over ranges of values."""
    one, two = (np.append(0, np.cumsum(np.bincount(c, minlength=len(asked.whole)))) / len(c) for c in (some, all_rows))
    return float(asked.weight @ np.abs((one[asked.stop] - one[asked.start]) - (two[asked.stop] - two[asked.start])))


@pytest.mark.parametrize("seed", range(1, 140, 7))
def test_what_closeness_costs_is_not_above_the_best_release_whatever_the_prices(seed: int) -> None:
    task = small_task(seed, ROWS)
    close = required_of(task.models, task.attributes, in_people=False).closeness
    assert close
    values = values_of({column.name: column.codes for column in task.table.sensitive}, close)
    may, nothing = task.suppressible > 0, np.zeros(ROWS)
    least = least_loss(task) * ROWS + 1e-9
    found = mixing_bound(task.table, close, nothing, SECONDS, may_leave_out=may)
    assert found is None or max(found.alone, found.with_floors) <= least
    rng = np.random.default_rng(seed)
    reaches = [reach_of(column) for column in task.table.quasi]
    for one, two in combinations(reaches, 2):
        both = together(one, two)
        assert both is not None
        market = market_of(both, values, nothing, 1, may_leave_out=may)
        charged, _ = charges(rng.normal(0.0, 0.3, (len(both.cost), len(values.weight))), values)
        cheapest = np.empty(market.counts.shape)
        share_out(*vars(market).values(), charged, 0.0, cheapest, np.empty((0, 0)))
        assert (market.counts * np.where(market.counts > 0, cheapest, 0.0)).sum() <= least


@pytest.mark.parametrize("seed", range(8))
def test_rows_choose_the_cheapest_box_around_them(seed: int) -> None:
    task = small_task(7 * seed + 1, 30)
    rng = np.random.default_rng(seed)
    codes = {column.name: column.codes for column in task.table.sensitive}
    values = values_of(codes, required_of(task.models, task.attributes, in_people=False).closeness)
    reach, floor = reach_of(task.table.quasi[0]), rng.choice([0.0, 0.2, 0.6], 30)
    market = market_of(reach, values, floor, 4, may_leave_out=bool(seed % 2))
    charged, blur = rng.normal(0.0, 0.2, (len(reach.cost), values.count)), 0.1
    least, chosen = np.empty(market.counts.shape), np.empty(charged.shape)
    share_out(*vars(market).values(), charged, blur, least, chosen)
    wanted = np.zeros(charged.shape)
    for c, v in zip(*np.nonzero(market.counts), strict=True):
        around = [b for b in range(len(reach.cost)) if c in market.cell[market.begin[b] : market.begin[b + 1]]]
        dear = np.array([max(market.cost[b], market.floor[c]) + charged[b, v] for b in around])
        cheapest = min([*dear, market.left_out])
        assert least[c, v] == pytest.approx(cheapest)
        much = np.where((dear - cheapest) / blur < 7.0, np.exp(-(dear - cheapest) / blur), 0.0)
        share = much / (much.sum() + np.exp((cheapest - market.left_out) / blur))
        wanted[around, v] += market.counts[c, v] * share
    assert chosen == pytest.approx(wanted)


def test_a_value_that_only_one_side_has_mixes_both_sides() -> None:
    # Half of the rows have the least code and the first illness, the others the greatest code and the second.
    ages = ordered(4, np.random.default_rng(0), null=False)
    column = QuasiColumn("age", ages, np.repeat([0, 3], ROWS // 2))
    one = np.array([0]), np.array([1]), np.array([1.0]), np.array([ROWS // 2, ROWS // 2])
    values = values_of({"illness": np.repeat([0, 1], ROWS // 2)}, [Closeness("illness", *one, limit=0.0)])
    reach = reach_of(column)
    ascent = Ascent(reach, values, market_of(reach, values, np.zeros(ROWS), 1, may_leave_out=False))
    ascent.climb(SECONDS)
    assert 0.95 * ROWS < ascent.best <= ROWS + 1e-9


def test_one_more_column_keeps_the_bound_of_the_prices() -> None:
    task = small_task(8, 30)
    close = required_of(task.models, task.attributes, in_people=False).closeness
    values = values_of({column.name: column.codes for column in task.table.sensitive}, close)
    reaches = [reach_of(column) for column in task.table.quasi]
    ascent = Ascent(reaches[0], values, market_of(reaches[0], values, np.zeros(30), 1, may_leave_out=False))
    ascent.climb(SECONDS)
    more = ascent.with_column(reaches[1], 30, may_leave_out=False)
    assert more is not None
    assert more.value(np.zeros(30), may_leave_out=False) >= ascent.best - 1e-9


def test_floors_are_taken_down_never_up() -> None:
    floor = np.random.default_rng(0).exponential(0.2, 500) * (np.arange(500) % 3 > 0)
    edges = floor_levels(floor, 8)
    taken = edges[np.searchsorted(edges, floor, side="right") - 1]
    assert np.all(taken <= floor)
    assert taken.sum() > 0.6 * floor.sum()
    assert floor_levels(np.zeros(3), 8).tolist() == [0.0]
