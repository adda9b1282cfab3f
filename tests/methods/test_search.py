"""The steps of the search against plain recounts: costs of boxes, the judge, classes under change, extraction."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.measure import measure_loss
from polyveil.methods._kernels.boxes import SET
from polyveil.methods._kernels.judge import closeness, compile_constraints, holds
from polyveil.methods._search.absorb import absorb_all, best_class, can_enter, cost_of_entering, merge_rest
from polyveil.methods._search.arrange import CUT, DIVIDE, GROW, SIFT
from polyveil.methods._search.classes import CLASS, USED, Classes, box_without, classes_of, total_loss
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.coarse import coarsen
from polyveil.methods._search.cut import parts_hold
from polyveil.methods._search.divide import blend, divide_rows
from polyveil.methods._search.extract import pressure, sift_rows, take_out
from polyveil.methods._search.grow import cheapest
from polyveil.methods._search.moves import anneal, best_moves, make_orders, make_scratch
from polyveil.methods._search.rebuild import rebuild
from polyveil.methods._search.rounds import Round, cut_into_parts, improve, no_flag, set_seed
from polyveil.methods._search.schedule import COLD, HOT, heat_for, schedule_of, timed_rounds
from polyveil.methods._search.space import KIND, Rows, Space, cell_loss, costliest_first, make_space
from polyveil.methods._search.start import begin_by, best_start, regions_of
from polyveil.methods._search.tally import (
    count_ranges,
    count_row,
    count_values,
    keeps,
    keeps_changed,
    keeps_exchanged,
    workload,
)
from polyveil.methods._search.tree import grow_tree
from polyveil.models import AlphaAnonymity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.table.coded import CodedTable, SensitiveColumn
from tables import ordered, random_table

seeds = st.integers(0, 10_000)


def space_of(table: CodedTable, k: int = 3, t: float | None = 0.4) -> tuple[Space, Rows]:
    models: list[Model] = [KAnonymity(k)]
    if t is not None:
        models += [TCloseness(t, column.name) for column in table.sensitive]
    return make_space(table, compile_constraints(models, attributes_of(table), table))


def recounted(table: CodedTable, space: Space, rows: Rows, classes: Classes) -> None:
    """All statistics of the classes are what counting anew gives, and every class holds."""
    labels = classes.member[:, CLASS]
    fresh = classes_of(space, rows, labels.copy(), len(classes.size))
    for c in range(classes.spare[USED]):
        assert classes.size[c] == fresh.size[c]
        if classes.size[c] > 0:
            assert classes.loss[c] == pytest.approx(fresh.loss[c], abs=1e-12)
            assert (classes.hist[c] == fresh.hist[c]).all()
            assert classes.work[c] == pytest.approx(fresh.work[c], abs=1e-12)
            assert keeps(space, classes.hist, c, classes.size[c])
    _, numbered = np.unique(labels, return_inverse=True)
    assert total_loss(classes) / table.rows == pytest.approx(measure_loss(table, numbered).information_loss)


def built(table: CodedTable, k: int = 3, t: float | None = 0.4) -> tuple[Space, Rows, Classes]:
    space, rows = space_of(table, k, t)
    order, labels = np.arange(table.rows, dtype=np.int32), np.empty(table.rows, dtype=np.int32)
    found = sift_rows(space, rows, order, k, 0.0, labels, no_flag())
    classes = classes_of(space, rows, labels, 2 * found + 20)
    if absorb_all(space, rows, classes, order, no_flag()) > 0:
        assert merge_rest(space, rows, classes, no_flag())
    return space, rows, classes


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


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_a_range_costs_what_its_domain_says(seed: int) -> None:
    table = random_table(seed, rows=5)
    space, _ = space_of(table, t=None)
    for a, column in enumerate(costliest_first(table).quasi):
        if space.shape[a, KIND] == SET:
            continue
        for low in range(column.domain.size):
            for high in range(low, column.domain.size):
                assert cell_loss(space, a, low, high) == pytest.approx(float(column.domain.loss(low, high)))


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.05, 0.6))
def test_the_search_judges_as_the_judge_does(seed: int, t: float) -> None:
    table = random_table(seed)
    name = table.sensitive[0].name
    models = [KAnonymity(3), AlphaAnonymity(0.5, name), *(TCloseness(t, c.name) for c in table.sensitive)]
    judge = compile_constraints(models, attributes_of(table), table)
    space, rows = make_space(table, judge)
    rng = np.random.default_rng(seed)
    for n in (1, 3, 10, 30):
        members = rng.choice(table.rows, n, replace=False)
        hist = counted(space, rows.tuple_of[members])
        assert keeps(space, hist, 0, n) == holds(judge, hist[0, : space.width].astype(np.int64), n)


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(0.05, 0.6), st.booleans())
def test_an_exchange_is_judged_as_the_class_after_it(seed: int, t: float, capped: bool) -> None:
    table = random_table(seed)
    models: list[Model] = [KAnonymity(3), *(TCloseness(t, c.name) for c in table.sensitive)]
    models += [AlphaAnonymity(0.5, table.sensitive[0].name)] if capped else []
    space, rows = make_space(table, compile_constraints(models, attributes_of(table), table))
    rng = np.random.default_rng(seed)
    for n in (3, 10, 30):
        inside, outside = np.split(rng.permutation(table.rows), [n])
        hist, work = counted(space, rows.tuple_of[inside]), np.zeros((1, len(space.limits)))
        workload(space, hist, 0, n, work)
        for gone, come in zip(inside, outside, strict=False):
            after = counted(space, rows.tuple_of[np.append(inside[inside != gone], come)])
            found = keeps_exchanged(space, hist, 0, n, work, rows.tuple_of[gone], rows.tuple_of[come])
            assert found == keeps(space, after, 0, n)


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(0.05, 0.6), st.booleans())
def test_a_row_more_or_less_is_judged_as_the_class_after_it(seed: int, t: float, capped: bool) -> None:
    table = random_table(seed)
    models: list[Model] = [KAnonymity(3), *(TCloseness(t, c.name) for c in table.sensitive)]
    models += [AlphaAnonymity(0.5, table.sensitive[0].name)] if capped else []
    space, rows = make_space(table, compile_constraints(models, attributes_of(table), table))
    assert len(space.steps) > 0
    rng = np.random.default_rng(seed)
    for n in (3, 10, 30):
        inside, outside = np.split(rng.permutation(table.rows), [n])
        hist, work = counted(space, rows.tuple_of[inside]), np.zeros((1, len(space.limits)))
        workload(space, hist, 0, n, work)
        for r in inside:
            after = counted(space, rows.tuple_of[inside[inside != r]])
            assert keeps_changed(space, hist, 0, n, work, rows.tuple_of[r], -1) == keeps(space, after, 0, n - 1)
        for r in outside:
            after = counted(space, rows.tuple_of[np.append(inside, r)])
            assert keeps_changed(space, hist, 0, n, work, rows.tuple_of[r], 1) == keeps(space, after, 0, n + 1)


def counted(space: Space, tuples: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """One histogram of some sensitive tuples, by plain counting: values, then ranges of values."""
    hist = np.zeros((1, space.length), dtype=np.int32)
    for s in tuples:
        hist[0, space.places[s]] += 1
    for r, (start, stop, _) in enumerate(space.ranges):
        hist[0, space.width + r] = hist[0, start:stop].sum()
    return hist


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_counting_a_row_counts_its_values_and_the_ranges_around_them(seed: int) -> None:
    space, rows = space_of(random_table(seed, rows=30))
    hist = np.zeros((1, space.length), dtype=np.int32)
    for s in rows.tuple_of:
        count_row(space, hist, 0, s, 1)
    assert (hist == counted(space, rows.tuple_of)).all()
    hist[:, : space.width] = 0
    for s in rows.tuple_of:
        count_values(space, hist, 0, s, 1)
    count_ranges(space, hist, 0)
    assert (hist == counted(space, rows.tuple_of)).all()


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
        if keeps(space, hist, 0, n):
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
        assert keeps(space, counted(space, rows.tuple_of[pool[kept == 1]]), 0, size)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_a_box_without_a_row_is_the_box_of_the_others(seed: int) -> None:
    table = random_table(seed, rows=40)
    space, rows = space_of(table, 1, None)
    labels = np.random.default_rng(seed).integers(0, 6, table.rows).astype(np.int32)
    classes = classes_of(space, rows, labels, 6)
    scratch = make_scratch(space)
    for r in range(table.rows):
        others = labels.copy()
        others[r] = -1
        expected = classes_of(space, rows, others, 6).loss[labels[r]]
        if (labels == labels[r]).sum() > 1:
            found = box_without(space, rows, classes, r, scratch.box, scratch.words, 0)
            assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(seeds, st.sampled_from([None, 0.5, 0.3]), st.sampled_from([0.0, 0.5]))
def test_every_change_keeps_statistics_models_and_rows(seed: int, t: float | None, temperature: float) -> None:
    table = random_table(seed, rows=150)
    space, rows, classes = built(table, 3, t)
    recounted(table, space, rows, classes)
    set_seed(seed)
    orders = make_orders(space, rows, 2, 0.7, no_flag())
    before = total_loss(classes)
    fell = anneal(space, rows, classes, orders, 2000, temperature, temperature, 20.0, no_flag())
    recounted(table, space, rows, classes)
    fell += rebuild(space, rows, classes, orders, 60, temperature, 20.0, 60, 3, np.array([3, 5]), no_flag())
    recounted(table, space, rows, classes)
    fell += best_moves(space, rows, classes, no_flag())
    recounted(table, space, rows, classes)
    assert before - total_loss(classes) == pytest.approx(fell, abs=1e-6)
    if temperature == 0.0:
        assert fell >= 0


@settings(max_examples=20, deadline=None)
@given(seeds, st.floats(0.2, 0.5))
def test_a_cut_is_blended_with_equal_shares_until_both_sides_hold(seed: int, t: float) -> None:
    table = random_table(seed, rows=120)
    space, rows = space_of(table, 3, t)
    tuples, counts = np.unique(rows.tuple_of, return_counts=True)
    begin = np.append(0, np.cumsum(counts))
    cut_left = np.random.default_rng(seed).integers(0, counts + 1)
    left = cut_left.copy()
    if blend(space, tuples, begin, cut_left, left):
        assert ((left >= 0) & (left <= counts)).all()
        sides = [counted(space, np.repeat(tuples, part)) for part in (left, counts - left)]
        assert keeps(space, sides[0], 0, left.sum())
        assert keeps(space, sides[1], 0, (counts - left).sum())


def test_tightened_limits_are_restored() -> None:
    space, rows = space_of(random_table(3, rows=400), 3, 0.4)
    before = space.limits.copy()
    divide_rows(space, rows, np.arange(400, dtype=np.int32), 2, 0.5, 0.25, np.empty(400, dtype=np.int32), no_flag())
    assert (space.limits == before).all()


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_division_keeps_every_row_and_every_model(seed: int) -> None:
    table = random_table(seed, rows=80)
    space, rows = space_of(table, 3, 0.4)
    members, labels = np.arange(table.rows, dtype=np.int32), np.empty(table.rows, dtype=np.int32)
    set_seed(seed)
    found = divide_rows(space, rows, members, 4, 0.5, 0.5, labels, no_flag())
    assert sorted(members) == list(range(table.rows))
    by_row = np.empty(table.rows, dtype=np.int32)
    by_row[members] = labels
    recounted(table, space, rows, classes_of(space, rows, by_row, found))


def test_parts_keep_classes_whole_and_rounds_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyveil.methods._search.rounds.PART_ROWS", 100)
    monkeypatch.setattr("polyveil.methods._search.rounds.SHARED_ROWS", 400)
    table = random_table(1, rows=400)
    space, rows, classes = built(table)
    _, labels = np.unique(classes.member[:, CLASS], return_inverse=True)
    labels = labels.astype(np.int32)
    for scattered in (False, True):
        parts = cut_into_parts(space, rows, labels, np.random.default_rng(0), scattered)
        assert len(parts) > 1
        assert sorted(np.concatenate(parts)) == list(range(table.rows))
        assert all(set(labels[one]).isdisjoint(labels[two]) for one in parts for two in parts if one is not two)
    plan = Round(moves_per_row=5, rebuilds_per_class=1, passes=1)
    once = improve(space, rows, labels, plan, np.array([3]), np.random.default_rng(5))
    again = improve(space, rows, labels, plan, np.array([3]), np.random.default_rng(5))
    assert (once[0] == again[0]).all()
    assert once[1] <= total_loss(classes) + 1e-9
    recounted(table, space, rows, classes_of(space, rows, once[0], int(once[0].max()) + 1))


def test_parts_of_large_classes_have_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyveil.methods._search.rounds.PART_ROWS", 10)
    monkeypatch.setattr("polyveil.methods._search.rounds.PART_CLASSES", 5)
    monkeypatch.setattr("polyveil.methods._search.rounds.SHARED_ROWS", 400)
    space, rows = space_of(random_table(1, rows=400), 2, None)
    for classes, expected in ((200, 40), (20, 4), (4, 2)):
        labels = (np.arange(400) % classes).astype(np.int32)
        assert len(cut_into_parts(space, rows, labels, np.random.default_rng(0))) == expected


def test_a_fast_search_does_more_per_row_where_rows_are_few() -> None:
    moves = [sum(plan.moves_per_row for plan in schedule_of("fast", rows)) for rows in (10**3, 10**5, 10**6, 10**7)]
    assert moves == sorted(moves, reverse=True)
    assert moves[0] > moves[1] > moves[2] == moves[3]
    assert schedule_of("fast", 10**6)[-1].start == 0.0


@settings(max_examples=15, deadline=None)
@given(seeds, st.floats(0.1, 0.5), st.booleans())
def test_what_is_close_on_bins_is_close_on_values(seed: int, t: float, nulls: bool) -> None:
    rng = np.random.default_rng(seed)
    domain = ordered(3000, rng, null=nulls)
    column = SensitiveColumn(
        "amount", domain, rng.integers(0, domain.size, 4000), "ordered", np.ones(domain.size, dtype=np.int64)
    )
    table = CodedTable(4000, random_table(seed, rows=4000).quasi, (column,))
    judge = compile_constraints([KAnonymity(2), TCloseness(t, "amount")], attributes_of(table), table)
    coarse, bin_of = coarsen(judge)
    assert coarse.width < judge.width // 2
    for n in (2, 5, 20, 100):
        codes = rng.choice(column.codes, n)
        fine, binned = np.bincount(codes, minlength=judge.width), np.bincount(bin_of[codes], minlength=coarse.width)
        distance, lower = np.zeros(1), np.zeros(1)
        closeness(judge, fine, n, distance)
        closeness(coarse, binned, n, lower)
        assert distance[0] - judge.close_limit[0] <= lower[0] - coarse.close_limit[0] + 1e-9
    assert coarse.close_limit[0] >= 0.95 * judge.close_limit[0]


@pytest.mark.parametrize("way", [SIFT, DIVIDE, GROW, CUT])
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


@pytest.mark.parametrize("way", [DIVIDE, CUT])
def test_a_beginning_without_time_is_one_class(way: int) -> None:
    space, rows = space_of(random_table(2, rows=150), 3, 0.5)
    labels, loss = begin_by(space, rows, (way, space.least), 1, np.ones(1, dtype=np.uint8))
    assert set(labels) == {0}
    assert loss < np.inf


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
    expected = all(keeps(space, counted(space, rows.tuple_of[part]), 0, len(part)) for part in parts)
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
    assert all(keeps(space, counted(space, rows.tuple_of[region]), 0, len(region)) for region in regions)
    labels = best_start(space, rows, np.random.default_rng(1))
    classes = classes_of(space, rows, labels, int(labels.max()) + 1)
    recounted(table, space, rows, classes)
    assert total_loss(classes) <= begin_by(space, rows, (CUT, 3), 1, no_flag())[1] + 1e-9


def test_a_search_begins_hotter_with_time_for_more_moves() -> None:
    heats = [heat_for(moves) for moves in (0, 1, 5, 30, 100, 360, 4000)]
    assert heats == sorted(heats)
    assert heats[1] == 0.0
    assert heats[3] == pytest.approx(COLD)
    assert heats[5:] == pytest.approx([HOT, HOT])


def test_rounds_by_the_clock_cool_down_and_settle() -> None:
    clock = Clock(100.0)
    asked = timed_rounds(clock, 1.0)
    plans = [next(asked)[1], next(asked)[1]]
    assert [plan.start for plan in plans] == [0.0, 0.0]
    warm = []
    for passed in (0.5, 20.0, 50.0, 79.0):
        clock.began = time.monotonic() - passed
        warm.append(next(asked)[1].start)
    assert warm == sorted(warm, reverse=True)
    assert warm[0] == pytest.approx(HOT, rel=0.1)
    assert warm[-1] < 0.05 * warm[0]
    clock.began = time.monotonic() - 85.0
    assert next(asked)[1].start == 0.0
    clock.began = time.monotonic() - 101.0
    assert list(asked) == []


def test_more_effort_does_first_what_less_effort_does() -> None:
    for rows in (10**3, 10**5, 10**6):
        fast, balanced, thorough = (schedule_of(effort, rows) for effort in ("fast", "balanced", "thorough"))
        assert balanced[: len(fast)] == fast
        assert thorough[: len(balanced)] == balanced


def test_a_clock_stops_at_its_time() -> None:
    with Clock(0.05) as clock:
        assert not clock.is_over
        time.sleep(0.3)
        assert clock.is_over
    with Clock() as clock:
        assert not clock.is_over
