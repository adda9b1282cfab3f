"""Looser demands never lose more: what a slightly stricter one finds is looked at as well."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import pytest

from polyveil.measure import measure_loss
from polyveil.methods import Task
from polyveil.methods._kernels.judge import compile_constraints, holds_classes, sensitive_matrix
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.losses import losses
from polyveil.methods._search.rounds import CORES, SHARED_ROWS
from polyveil.methods._search.schedule import Tell
from polyveil.methods._search.stricter import (
    AGREEING,
    CLOSENESS,
    FEW_SHARE,
    MOST_OF_FEW,
    SIZES,
    Beginning,
    Together,
    as_close_as_it_is,
    begin,
    best_search,
    nearly_free,
    not_behind,
    on_idle_cores,
    searched,
    settled,
    stricter,
)
from polyveil.methods.sift import Sift, SiftOptions
from polyveil.models import KAnonymity, Model, TCloseness, attributes_of
from polyveil.models.base import TOLERANCE
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable
from tables import random_table


def models(table: CodedTable, k: int, t: float) -> tuple[Model, ...]:
    return (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))


def with_one_looser(table: CodedTable, t: float) -> tuple[Model, ...]:
    """All columns as close as 0.3 but the first."""
    first, *others = (column.name for column in table.sensitive)
    return KAnonymity(5), TCloseness(t, first), *(TCloseness(0.3, other) for other in others)


def loss(table: CodedTable, k: int, t: float, seed: int) -> float:
    task = Task(table, models(table, k, t), attributes_of(table), Privacy(k=k), np.random.default_rng(seed))
    found = Sift(SiftOptions(effort="fast")).partition(task)
    return measure_loss(table, found.class_of_row).information_loss


@pytest.mark.parametrize("seed", range(5))
def test_loss_does_not_rise_where_a_demand_hardly_binds(seed: int) -> None:
    # Thresholds near each other, and so loose that they bind in few classes: what is left of chance would show here.
    table = random_table(seed, rows=160)
    losses = [loss(table, 5, t, seed) for t in (0.4, 0.5, 0.6, 0.8, 1.0)]
    assert all(looser <= 1.01 * stricter for stricter, looser in pairwise(losses)), losses


def test_a_step_is_one_rung_closer_or_one_larger() -> None:
    table = random_table(1, rows=40)
    judge = compile_constraints(models(table, 5, 0.3), attributes_of(table), table)
    closer, larger = stricter(judge)
    assert closer.close_limit == pytest.approx(np.full(len(judge.close_limit), 0.2 + TOLERANCE))
    assert (closer.min_size, larger.min_size) == (5, 10)
    assert (larger.close_limit == judge.close_limit).all()
    last = judge._replace(close_limit=np.full_like(judge.close_limit, CLOSENESS[0]), min_size=SIZES[-1])
    assert stricter(last) == []


def test_where_thresholds_differ_the_looser_ones_step_alone_as_well() -> None:
    table = random_table(1, rows=40)
    judge = compile_constraints(models(table, 5, 0.3), attributes_of(table), table)
    assert len(judge.close_limit) == 2
    judge.close_limit[0] = 1.0 + TOLERANCE
    steps = [((step.close_limit - TOLERANCE).round(6).tolist(), step.min_size) for step in stricter(judge)]
    assert steps == [([0.3, 0.3], 5), ([0.8, 0.3], 5), ([0.8, 0.2], 5), ([1.0, 0.3], 10)]
    # A rung below the closest threshold is no step: it would be the closest then.
    judge.close_limit[:] = (0.25, 0.22)
    assert [step.close_limit.tolist() for step in stricter(judge)[:2]] == [[0.22, 0.22], [0.22, 0.22]]


def test_thresholds_that_do_not_bind_end_in_the_same_search() -> None:
    table = random_table(2, rows=300)
    places = sensitive_matrix(table)
    starts = []
    for t in (0.85, 0.95, 1.0):
        judge = compile_constraints(with_one_looser(table, t), attributes_of(table), table)
        starts.append(as_close_as_it_is(table, begin(table, judge, secret=3), 3))
    for start in starts:
        assert start.judge.close_limit.tolist() == starts[0].judge.close_limit.tolist()
        assert start.labels.tolist() == starts[0].labels.tolist()
        assert 0.3 <= start.judge.close_limit.min() < start.judge.close_limit.max() < 0.85
        assert holds_classes(start.judge, start.labels.astype(np.int64), places).all()


def test_equal_thresholds_are_searched_as_asked() -> None:
    table = random_table(2, rows=300)
    judge = compile_constraints(models(table, 5, 1.0), attributes_of(table), table)
    first = begin(table, judge, secret=3)
    assert as_close_as_it_is(table, first, 3) is first


def test_classes_of_a_stricter_demand_use_what_the_one_asked_for_allows() -> None:
    table = random_table(4, rows=400)
    asked, strict = (compile_constraints(models(table, 5, t), attributes_of(table), table) for t in (0.6, 0.2))
    first, other = (begin(table, judge, secret=3) for judge in (asked, strict))
    labels = settled(first, other.labels, other.loss)
    assert holds_classes(asked, labels.astype(np.int64), sensitive_matrix(table)).all()
    assert losses(first.space, first.rows, labels).sum() < other.loss


def test_only_steps_that_begin_with_hardly_more_loss_are_searched() -> None:
    table = random_table(2, rows=200)
    judge = compile_constraints(models(table, 5, 0.9), attributes_of(table), table)
    first = begin(table, judge, secret=7)
    found = list(nearly_free(table, first, secret=7))
    assert all(other.judge.min_size >= 5 and (other.judge.close_limit <= judge.close_limit).all() for other in found)
    # The same demand asked for directly begins the same way, so its search ends the same way.
    for other in found:
        again = begin(table, other.judge, secret=7)
        assert again.labels.tolist() == other.labels.tolist()


def test_a_stricter_demand_that_plain_cuts_show_to_cost_more_is_begun_no_further() -> None:
    table = random_table(4, rows=400)
    judge = compile_constraints(models(table, 5, 0.3), attributes_of(table), table)
    whole = begin(table, judge, secret=3)
    short = begin(table, judge, secret=3, most_by_cuts=0.99 * whole.by_cuts)
    assert short.loss == pytest.approx(short.by_cuts) == pytest.approx(whole.by_cuts)
    assert whole.loss < whole.by_cuts
    assert begin(table, judge, secret=3, most_by_cuts=whole.by_cuts).labels.tolist() == whole.labels.tolist()


def test_searches_side_by_side_tell_one_story() -> None:
    # Their mean share of the work and the least loss of any; neither turns back when another search begins.
    told: list[tuple[float, float]] = []
    together = Together(lambda done, loss: told.append((done, loss)), expected=2)
    one = together.one()
    one(0.5, 2.0)
    other = together.one()
    other(0.0, 3.0)
    other(0.8, 1.5)
    one(1.0, 1.8)
    other(1.0, 1.6)
    assert told == [(0.25, 2.0), (0.25, 2.0), (pytest.approx(0.65), 1.5), (pytest.approx(0.9), 1.5), (1.0, 1.5)]


def test_a_stricter_demand_that_has_fallen_behind_is_not_searched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both begin with a short search; what it leaves of the stricter one is given up, and the story still ends at one.
    table = random_table(3, rows=2000)
    judge = compile_constraints(models(table, 5, 0.6), attributes_of(table), table)
    first = begin(table, judge, secret=4)
    assert first.affected > FEW_SHARE * table.rows
    stricter_one = replace(first, loss=1.05 * first.loss, rng=np.random.default_rng(0))
    assert not_behind([first, stricter_one]) == [first]
    assert not_behind([stricter_one, first]) == [stricter_one, first]
    others = [replace(first, loss=share * first.loss) for share in (1.2, 0.9, 1.1, 1.0)]
    assert not_behind([first, *others], left=3) == [first, others[1], others[3]]
    asked: list[tuple[Beginning, Any, Any]] = []

    def noted(start: Beginning, effort: Any, clock: Clock, tell: Tell, step: Any = None) -> Beginning:
        asked.append((start, effort, step))
        tell(1.0, start.loss / table.rows)
        return start

    monkeypatch.setattr("polyveil.methods._search.stricter.nearly_free", lambda *_: iter([stricter_one]))
    monkeypatch.setattr("polyveil.methods._search.stricter.searched", noted)
    told: list[float] = []
    best_search(table, first, "balanced", 4, Clock(), lambda done, loss: told.append(done))
    short, whole = asked[:2], asked[2:]
    assert {(id(one), effort, step) for one, effort, step in short} == {
        (id(one), "balanced", "short") for one in (first, stricter_one)
    }
    assert whole == [(first, "balanced", "whole")]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("ends", "steps"),
    [
        ([3.0] * AGREEING + [4.0] * 3, ["short"]),
        ([3.0] * (AGREEING - 1) + [4.0] * 4, ["short", "whole", "short", "whole", "twice"]),
        ([4.0] * AGREEING + [3.0] * (AGREEING - 1), ["short", "whole", "short", "whole", "twice"]),
    ],
)
def test_searches_of_few_rows_that_agree_are_all(
    monkeypatch: pytest.MonkeyPatch, ends: list[float], steps: list[str]
) -> None:
    # Only searches for the very demand count: those for closer ones may go the same way because none of them binds.
    table = random_table(3, rows=40)
    judge = compile_constraints(models(table, 4, 0.6), attributes_of(table), table)
    first = begin(table, judge, secret=4)
    closer = [replace(first, judge=judge._replace(min_size=9), loss=3.0) for _ in range(AGREEING)]
    asked: list[tuple[Any, int]] = []

    def noted(start: Beginning, effort: Any, clock: Clock, tell: Tell, step: Any = None) -> Beginning:
        tell(1.0, start.loss)
        asked.append((step, start.judge.min_size))
        return start if start.loss in (3.0, 4.0) else replace(start, loss=ends[0])

    monkeypatch.setattr("polyveil.methods._search.stricter.nearly_free", lambda *_: iter(closer))
    others = [replace(first, loss=loss) for loss in ends[1:]]
    monkeypatch.setattr("polyveil.methods._search.stricter.begun_otherwise", lambda *_: iter(others))
    monkeypatch.setattr("polyveil.methods._search.stricter.searched", noted)
    told: list[float] = []
    best_search(table, first, "balanced", 4, Clock(), lambda done, loss: told.append(done))
    assert [step for step, _ in groupby(asked, key=itemgetter(0))] == steps
    assert {size for _, size in asked} == ({4} if len(steps) == 1 else {4, 9})
    assert told == sorted(told)
    if len(steps) > 1:
        assert told[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_searches_side_by_side_find_what_each_finds_alone(seed: int) -> None:
    # Enough rows to be divided, which lowers the limits of closeness for a while: no other search may see that.
    table = random_table(seed, rows=2000)
    judge = compile_constraints(models(table, 5, 0.3), attributes_of(table), table)
    asked = judge.close_limit.copy()

    def silent(done: float, loss: float) -> None:
        """Nobody listens."""

    first = begin(table, judge, secret=4)
    alone = [searched(start, "fast", Clock(), silent) for start in (first, *nearly_free(table, first, secret=4))]
    best = min(alone, key=lambda found: found.loss).labels
    for _ in range(2):
        assert best_search(table, begin(table, judge, secret=4), "fast", 4, Clock(), silent).tolist() == best.tolist()
    assert not np.shares_memory(first.space.limits, judge.close_limit)
    assert (judge.close_limit == asked).all()


def test_by_the_clock_a_table_of_one_part_is_searched_once_on_each_core() -> None:
    tables = [random_table(3, rows=rows) for rows in (300, SHARED_ROWS)]
    judges = [compile_constraints(models(table, 5, 0.6), attributes_of(table), table) for table in tables]
    small, large = (begin(table, judge, secret=4) for table, judge in zip(tables, judges, strict=True))
    others = list(on_idle_cores(small, secret=4))
    assert (len(others), list(on_idle_cores(large, secret=4))) == (CORES - 1, [])
    draws = {one.rng.bit_generator.state["state"]["state"] for one in (small, *others)}
    assert len(draws) == CORES, "no two of them draw the same"
    told: list[float] = []
    with Clock(0.5) as clock:
        labels = best_search(tables[0], small, 0.5, 4, clock, lambda done, loss: told.append(loss))
    assert losses(small.space, small.rows, labels).sum() == pytest.approx(min(told) * 300)
    assert holds_classes(judges[0], labels.astype(np.int64), sensitive_matrix(tables[0])).all()


def test_a_cancel_stops_all_searches() -> None:
    table = random_table(3, rows=300)
    calls: list[float] = []

    def tell(done: float, loss: float) -> None:
        calls.append(done)
        if len(calls) >= 3:
            raise KeyboardInterrupt

    judge = compile_constraints(models(table, 5, 0.6), attributes_of(table), table)
    first = begin(table, judge, secret=4)
    with pytest.raises(KeyboardInterrupt):
        best_search(table, first, "thorough", 4, Clock(), tell)
    assert len(calls) <= 3 + 1 + MOST_OF_FEW, "each of the searches told at most once more"
