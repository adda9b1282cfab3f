"""The beginnings of a search against plain recounts: trees, extraction, cuts, growth and regions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._search.absorb import best_class, can_enter, cost_of_entering
from polyveil.methods._search.arrange import CUT, DIVIDE, GROW, MEDIANS, SIFT
from polyveil.methods._search.classes import classes_of, total_loss
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.cut import parts_hold
from polyveil.methods._search.divide import sort_numbers, total
from polyveil.methods._search.extract import pressure, sift_rows, take_out
from polyveil.methods._search.grow import cheapest
from polyveil.methods._search.rounds import no_flag
from polyveil.methods._search.space import Rows, Space
from polyveil.methods._search.start import begin_by, best_start, plain_cuts, regions_of
from polyveil.methods._search.tally import (
    class_holds,
)
from polyveil.methods._search.tree import grow_tree
from polyveil.methods.base import Task
from polyveil.methods.mondrian import Mondrian, MondrianOptions
from polyveil.models import KAnonymity, TCloseness, attributes_of
from polyveil.policy.schema import Privacy
from search_recounts import counted, recounted, space_of
from tables import random_table

seeds = st.integers(0, 10_000)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_a_row_left_over_enters_the_class_it_enlarges_least(seed: int) -> None:
    table = random_table(seed, rows=120)
    space, rows = space_of(table)
    order, labels = np.arange(table.rows, dtype=np.int32), np.empty(table.rows, dtype=np.int32)
    found = sift_rows(space, rows, order, 3, 0.0, labels, no_flag())
    classes = classes_of(space, rows, labels, found + 1)
    seen = np.full(len(classes.size), -1, dtype=np.int32)
    for turn, place in enumerate(np.flatnonzero(labels[order] < 0)):
        r = int(order[place])
        open_to_it = [c for c in range(found) if can_enter(space, rows, classes, c, r)]
        costs = [cost_of_entering(space, rows, classes, c, r) for c in open_to_it]
        chosen = best_class(space, rows, classes, order, int(place), seen, turn)
        assert (chosen < 0) == (not open_to_it)
        if open_to_it:
            assert chosen in open_to_it
            assert cost_of_entering(space, rows, classes, chosen, r) == pytest.approx(min(costs))


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([0.0, 0.7]))
def test_the_tree_ends_in_rows_that_look_alike(seed: int, jitter: float) -> None:
    table = random_table(seed)
    space, rows = space_of(table)
    order = np.arange(table.rows, dtype=np.int32)
    tree = grow_tree(space, rows.codes, order, jitter, no_flag())
    assert sorted(order) == list(range(table.rows))
    for node in range(len(tree.begin)):
        children = np.flatnonzero(tree.parent == node)
        inside = rows.codes[order[tree.begin[node] : tree.end[node]]]
        assert (tree.is_leaf[node] == 1) == (len(np.unique(inside, axis=0)) == 1) == (len(children) == 0)
        if len(children):
            assert tree.begin[children[0]] == tree.begin[node]
            assert tree.end[children[-1]] == tree.end[node]
            assert (tree.begin[children[1:]] == tree.end[children[:-1]]).all()


def plain_take_out(space: Space, rows: Rows, pool: list[int], floor: int) -> int:
    """The size of the largest class found by taking away, again and again, the tuple that presses hardest."""
    left = Counter(int(rows.tuple_of[r]) for r in pool)
    first_seen = list(left)
    while (n := sum(left.values())) >= floor:
        hist = counted(space, np.array(list(left.elements()), dtype=np.int32))
        if class_holds(space, hist, 0, n):
            return n
        push = np.empty(space.width)
        pressure(space, hist, 0, n, push)
        scores = [push[space.places[s]].sum() if left[s] else -np.inf for s in first_seen]
        left[first_seen[int(np.argmax(scores))]] -= 1
    return 0


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.1, 0.6), st.integers(2, 12))
def test_extraction_takes_away_what_presses_hardest(seed: int, t: float, floor: int) -> None:
    table = random_table(seed, rows=50)
    space, rows = space_of(table, 2, t)
    pool = np.random.default_rng(seed).choice(table.rows, 30, replace=False).astype(np.int32)
    kept = np.empty(len(pool), dtype=np.int32)
    spare = np.zeros(space.places.shape[0], dtype=np.int32)
    size = take_out(space, rows.tuple_of, pool, floor, spare, kept, no_flag())
    assert size == plain_take_out(space, rows, list(pool), floor)
    assert not spare.any()
    if size:
        assert kept.sum() == size
        assert class_holds(space, counted(space, rows.tuple_of[pool[kept == 1]]), 0, size)


@pytest.mark.parametrize("way", [SIFT, DIVIDE, GROW, CUT, MEDIANS])
@settings(max_examples=8, deadline=None)
@given(seeds, st.sampled_from([None, 0.5, 0.3]))
def test_every_beginning_puts_every_row_into_a_class_that_holds(way: int, seed: int, t: float | None) -> None:
    table = random_table(seed, rows=150)
    space, rows = space_of(table, 3, t)
    labels, loss = begin_by(space, rows, (way, space.least), seed, no_flag())
    classes = classes_of(space, rows, labels, int(labels.max()) + 1)
    assert labels.min() >= 0
    recounted(table, space, rows, classes)
    assert loss == pytest.approx(total_loss(classes))


@pytest.mark.parametrize("way", [DIVIDE, CUT, MEDIANS])
def test_a_beginning_without_time_is_one_class(way: int) -> None:
    space, rows = space_of(random_table(2, rows=150), 3, 0.5)
    labels, loss = begin_by(space, rows, (way, space.least), 1, np.ones(1, dtype=np.uint8))
    assert set(labels) == {0}
    assert loss < np.inf


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([None, 0.6, 0.3]), st.integers(20, 200))
def test_cuts_at_medians_are_those_of_mondrian_so_that_sift_never_loses_more(
    seed: int, t: float | None, number: int
) -> None:
    table = random_table(seed, rows=number)
    space, rows = space_of(table, 3, t)
    labels, loss = begin_by(space, rows, (MEDIANS, space.least), seed, no_flag())
    models = (KAnonymity(3), *(TCloseness(t, column.name) for column in table.sensitive if t is not None))
    task = Task(table, models, attributes_of(table), Privacy(k=3, t=t), np.random.default_rng(seed))
    expected = Mondrian(MondrianOptions()).partition(task).class_of_row
    assert len(set(zip(labels.tolist(), expected.tolist(), strict=True))) == len(set(labels)) == len(set(expected))
    assert plain_cuts(space, rows, Clock())[1] <= loss


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([None, 0.6]))
def test_parts_hold_if_each_of_them_does(seed: int, t: float | None) -> None:
    table = random_table(seed, rows=60)
    space, rows = space_of(table, 3, t)
    rng = np.random.default_rng(seed)
    members = rng.permutation(table.rows).astype(np.int32)
    bounds = np.array([0, *np.sort(rng.integers(1, table.rows, 2)), table.rows])
    hist = np.zeros((1, space.length), dtype=np.int32)
    parts = [members[bounds[p] : bounds[p + 1]] for p in range(3)]
    expected = all(class_holds(space, counted(space, rows.tuple_of[part]), 0, len(part)) for part in parts)
    for _ in range(2):  # whatever the room for a histogram holds
        assert parts_hold(space, rows, members, bounds, 3, hist) == expected


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([None, 0.3]))
def test_a_class_grows_by_the_free_row_that_enlarges_it_least(seed: int, t: float | None) -> None:
    table = random_table(seed, rows=60)
    space, rows = space_of(table, 3, t)
    rng = np.random.default_rng(seed)
    labels = np.full(table.rows, -1, dtype=np.int32)
    labels[rng.choice(table.rows, 4, replace=False)] = 0
    classes = classes_of(space, rows, labels, 2)
    pool = rng.permutation(np.flatnonzero(labels < 0))[:40].astype(np.int32)
    push = np.zeros(max(space.width, 1))
    free = pool.tolist()
    if space.width > 0:  # of its size already: only rows that lower the pressure
        mean = pressure(space, classes.hist, 0, 4, push)
        free = [r for r in free if push[space.places[rows.tuple_of[r]]].sum() < mean - 1e-12]
    costs = [cost_of_entering(space, rows, classes, 0, r) for r in free]
    chosen = cheapest(space, rows, classes, 0, space.least, pool, len(pool), push)
    if not free:
        assert chosen == -1
    else:
        assert cost_of_entering(space, rows, classes, 0, int(pool[chosen])) == pytest.approx(min(costs))


@pytest.mark.parametrize("t", [None, 0.5])
def test_a_large_table_is_begun_in_regions_that_hold(monkeypatch: pytest.MonkeyPatch, t: float | None) -> None:
    monkeypatch.setattr("polyveil.methods._search.start.REGION", 60)
    monkeypatch.setattr("polyveil.methods._search.start.SMALL", 100)
    table = random_table(3, rows=400)
    space, rows = space_of(table, 3, t)
    regions = regions_of(space, rows, 1, no_flag())
    assert sorted(np.concatenate(regions)) == list(range(table.rows))
    assert t is not None or len(regions) > 1
    assert all(class_holds(space, counted(space, rows.tuple_of[region]), 0, len(region)) for region in regions)
    labels = best_start(space, rows, np.random.default_rng(1), Clock(), plain_cuts(space, rows, Clock()))
    classes = classes_of(space, rows, labels, int(labels.max()) + 1)
    recounted(table, space, rows, classes)
    assert total_loss(classes) <= begin_by(space, rows, (CUT, 3), 1, no_flag())[1] + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**62), 2**62), max_size=200))
def test_numbers_are_sorted(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.int64)
    sort_numbers(values)
    assert values.tolist() == sorted(numbers)


@given(st.lists(st.integers(-(2**40), 2**40), max_size=50))
@settings(max_examples=20, deadline=None)
def test_numbers_are_added_up(numbers: list[int]) -> None:
    assert total(np.array(numbers, dtype=np.int64)) == sum(numbers)
