"""The rows most like a row, and a few rows grown into classes, against what one would write without a compiler."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._search.classes import classes_of
from polyveil.methods._search.moves import make_orders, row_near
from polyveil.methods._search.nearest import LISTED, WINDOW, are_alike, nearest_rows, pair_loss
from polyveil.methods._search.regrow import grow_least, regrow
from polyveil.methods._search.rounds import no_flag, set_seed
from polyveil.methods._search.space import Rows, Space, numbers
from search_recounts import space_of
from tables import random_table

seeds = st.integers(0, 10_000)


def plain_loss(space: Space, rows: Rows, members: list[int]) -> float:
    """What a row costs in a class of these, from the class that a recount makes of them."""
    labels = np.full(len(rows.tuple_of), -1, dtype=np.int32)
    labels[members] = 0
    return float(classes_of(space, rows, labels, 1).loss[0])


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_rows_listed_are_those_of_least_loss_and_none_twice(seed: int) -> None:
    table = random_table(seed, rows=2 * WINDOW)  # every row is around every other
    space, rows = space_of(table, 2, None)
    set_seed(seed)
    orders = make_orders(space, rows, 2, 0.7, True, no_flag())
    for r in range(table.rows):
        listed = [int(other) for other in orders.near[r] if other >= 0]
        found = [plain_loss(space, rows, [r, other]) for other in listed]
        distinct: dict[bytes, float] = {}
        for other in range(table.rows):
            if abs(int(orders.place[0, r]) - int(orders.place[0, other])) <= WINDOW or (
                abs(int(orders.place[1, r]) - int(orders.place[1, other])) <= WINDOW
            ):
                distinct[rows.codes[other].tobytes()] = plain_loss(space, rows, [r, other])
        wanted = sorted(loss for loss in distinct.values() if loss > 0.0)[:LISTED]
        assert found == pytest.approx(wanted)
        assert len({rows.codes[other].tobytes() for other in listed}) == len(listed)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_two_rows_cost_what_their_class_does_or_at_least_the_limit(seed: int) -> None:
    table = random_table(seed, rows=30)
    space, rows = space_of(table, 2, None)
    for r in range(table.rows):
        for other in range(table.rows):
            loss = plain_loss(space, rows, [r, other])
            assert pair_loss(space, rows, r, other, np.inf) == pytest.approx(loss)
            assert (pair_loss(space, rows, r, other, 0.7) >= 0.7) == (loss >= 0.7 - 1e-12)
            assert are_alike(rows, r, other) == (rows.codes[r] == rows.codes[other]).all()


def test_without_a_list_rows_come_from_the_orders_alone() -> None:
    table = random_table(1, rows=60)
    space, rows = space_of(table, 2, None)
    set_seed(1)
    orders = make_orders(space, rows, 2, 0.7, False, no_flag())
    assert orders.near.shape == (0, LISTED)
    found = {row_near(orders, 7, 3.0) for _ in range(200)}
    assert len(found) > 5
    assert all(-1 <= r < table.rows for r in found)


def test_a_list_that_is_stopped_has_no_rows() -> None:
    table = random_table(1, rows=60)
    space, rows = space_of(table, 2, None)
    order = np.stack([numbers(table.rows)])
    stopped = np.ones(1, dtype=np.uint8)
    assert (nearest_rows(space, rows, order, order, True, stopped) == -1).all()


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(2, 5))
def test_a_class_takes_the_row_that_costs_least_with_it(seed: int, k: int) -> None:
    table = random_table(seed, rows=25)
    space, rows = space_of(table, k, None)
    box, words = np.empty((1, 2 * len(space.shape)), dtype=np.int32), np.empty((1, space.words), dtype=np.uint64)
    free, left, first = numbers(table.rows), table.rows, seed % table.rows
    taken, others = [first], [r for r in range(table.rows) if r != first]
    costs = []
    while len(taken) < k:
        costs.append(min(plain_loss(space, rows, [*taken, r]) for r in others))
        chosen = [r for r in others if plain_loss(space, rows, [*taken, r]) <= costs[-1] + 1e-12]
        if len(chosen) > 1:
            return  # which of them is taken is left open
        taken.append(chosen[0])
        others.remove(chosen[0])
    assert grow_least(space, rows, free, left, first, box, words) == table.rows - k
    assert sorted(free[table.rows - k :]) == sorted(taken)
    assert sorted(free) == list(range(table.rows))


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(2, 5), st.integers(1, 25))
def test_regrown_classes_have_the_least_size(seed: int, k: int, count: int) -> None:
    table = random_table(seed, rows=count)
    space, rows = space_of(table, k, None)
    labels = np.zeros(count, dtype=np.int32)
    found = regrow(space, rows, labels)
    assert found == count // k
    assert (np.bincount(labels[labels >= 0], minlength=found) == k).all()
    assert (labels < 0).sum() == count % k
