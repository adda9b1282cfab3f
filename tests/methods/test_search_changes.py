"""The search against plain recounts: rows that move, classes that are divided, and the parts of a round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._search.anneal import anneal
from polyveil.methods._search.classes import CLASS, box_without, classes_of, total_loss
from polyveil.methods._search.divide import blend, divide_rows
from polyveil.methods._search.moves import best_moves, make_orders, make_scratch
from polyveil.methods._search.rebuild import rebuild
from polyveil.methods._search.rounds import Round, cut_into_parts, improve, no_flag, set_seed
from polyveil.methods._search.space import KIND, SET, Rows, Space, cell_loss
from polyveil.methods._search.squeeze import MOST_LEAVING, narrowed, rows_leaving, squeeze
from polyveil.methods._search.tally import class_holds
from search_recounts import built, counted, recounted, space_of
from tables import random_table

seeds = st.integers(0, 10_000)


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
    orders = make_orders(space, rows, 2, 0.7, seed % 2 == 0, no_flag())
    before = total_loss(classes)
    fell = anneal(space, rows, classes, orders, 2000, temperature, temperature, 20.0, no_flag())
    recounted(table, space, rows, classes)
    fell += rebuild(space, rows, classes, orders, 60, temperature, 20.0, 60, 3, no_flag())
    recounted(table, space, rows, classes)
    fell += best_moves(space, rows, classes, no_flag())
    recounted(table, space, rows, classes)
    assert before - total_loss(classes) == pytest.approx(fell, abs=1e-6)
    if temperature == 0.0:
        assert fell >= 0


def cheaper_by_hand(space: Space, rows: Rows, members: list[int], a: int, upper: bool) -> list[int]:
    """The rows that must leave so that attribute a costs less, most extreme values first; none if too many."""
    codes = rows.codes[members, a]

    def cost(kept: np.ndarray) -> float:
        if space.shape[a, KIND] == SET:
            return float(len(np.unique(kept)))
        return float(cell_loss(space, a, int(kept.min()), int(kept.max())))

    values, counts = np.unique(codes, return_counts=True)
    if space.shape[a, KIND] == SET:
        ways = [[values[np.argmin(counts)]]]
    else:
        line = values[::-1] if upper else values
        ways = [list(line[:i]) for i in range(1, len(line))]
    for gone in ways:
        leaving = [r for r, code in zip(members, codes, strict=True) if code in gone]
        if len(leaving) > MOST_LEAVING or len(leaving) == len(members):
            return []
        if cost(codes[~np.isin(codes, gone)]) < cost(codes) - 1e-12:
            return leaving
    return []


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_rows_at_an_edge_are_those_whose_leaving_makes_a_class_cheaper(seed: int) -> None:
    table = random_table(seed, rows=90)
    space, rows = space_of(table, 1, None)
    labels = np.random.default_rng(seed).integers(0, 4, table.rows).astype(np.int32)
    classes = classes_of(space, rows, labels, 4)
    for c in range(4):
        members = np.flatnonzero(labels == c).tolist()
        for a in range(len(space.shape)):
            for upper in (False, True):
                low, high, value, number = narrowed(space, rows, classes, c, a, upper)
                expected = cheaper_by_hand(space, rows, members, a, upper)
                found = rows_leaving(rows, classes, c, a, low, high, value, number) if number else []
                assert number == len(expected)
                assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("t", [None, 0.5, 0.3])
def test_an_edge_is_emptied_whole_or_everything_is_as_before(t: float | None) -> None:
    emptied = 0
    for seed in range(8):
        table = random_table(seed, rows=150)
        space, rows, classes = built(table, 3, t)
        set_seed(seed)
        orders, scratch = make_orders(space, rows, 2, 0.7, seed % 2 == 0, no_flag()), make_scratch(space)
        for pivot in range(table.rows):
            before, lost = classes.member[:, CLASS].copy(), total_loss(classes)
            fell = squeeze(space, rows, classes, orders, scratch, pivot, -1e-9)
            assert fell > 0.0 or (fell == 0.0 and (classes.member[:, CLASS] == before).all())
            assert lost - total_loss(classes) == pytest.approx(fell, abs=1e-9)
            assert (np.bincount(classes.member[:, CLASS]) == np.bincount(before)).all()
            emptied += fell > 0.0
        recounted(table, space, rows, classes)
    assert emptied > 0


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
        assert class_holds(space, sides[0], 0, left.sum())
        assert class_holds(space, sides[1], 0, (counts - left).sum())


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
    once = improve(space, rows, labels, plan, np.random.default_rng(5))
    again = improve(space, rows, labels, plan, np.random.default_rng(5))
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
