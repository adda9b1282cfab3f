"""How much is searched: rounds by effort and by the clock, and when a search ends early."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from polyveil.methods._search.clock import Clock
from polyveil.methods._search.losses import greatest_loss, losses
from polyveil.methods._search.rounds import Round
from polyveil.methods._search.schedule import (
    COLD,
    FEW_REBUILT,
    HOT,
    MOST_REBUILT,
    ROUNDS,
    WARMEST,
    WHOLE,
    WORK_OF_REBUILD,
    State,
    heat_for,
    of_work,
    rebuilding_for,
    rounds,
    schedule_of,
    search,
    shortened,
    state_of,
    timed_rounds,
)
from search_recounts import space_of
from tables import random_table

seeds = st.integers(0, 10_000)


def test_a_fast_search_does_more_per_row_where_rows_are_few() -> None:
    moves = [sum(plan.moves_per_row for plan in schedule_of("fast", rows)) for rows in (10**3, 10**5, 10**6, 10**7)]
    assert moves == sorted(moves, reverse=True)
    assert moves[0] > moves[1] > moves[2] == moves[3]
    assert schedule_of("fast", 10**6)[-1].start == 0.0


def test_a_search_begins_hotter_with_time_for_more_moves() -> None:
    heats = [heat_for(moves) for moves in (0, 1, 5, 30, 100, 360, 4000)]
    assert heats == sorted(heats)
    assert heats[1] == 0.0
    assert heats[3] == pytest.approx(COLD)
    assert heats[5:] == pytest.approx([HOT, HOT])


def test_rounds_by_the_clock_cool_down_and_settle() -> None:
    clock = Clock(100.0)
    asked = timed_rounds(clock, lambda: State(1.0, FEW_REBUILT))
    plans = [next(asked)[1], next(asked)[1]]
    assert [plan.start for plan in plans] == [0.0, 0.0]
    warm = []
    for passed in (0.8, 20.0, 50.0, 79.0):
        clock.began = time.monotonic() - passed
        warm.append(next(asked)[1].start)
    assert warm == sorted(warm, reverse=True)
    assert warm[0] == pytest.approx(HOT, rel=0.1)
    assert warm[-1] < 0.05 * warm[0]
    clock.began = time.monotonic() - 85.0
    assert next(asked)[1].start == 0.0
    clock.began = time.monotonic() - 101.0
    assert list(asked) == []


def work(plan: Round) -> float:
    return plan.moves_per_row + WORK_OF_REBUILD * plan.rebuilds_per_class


def test_small_classes_are_rebuilt_more_often_for_the_same_work() -> None:
    found = []
    for size in (2, 12, 30, 200):
        labels = np.arange(1200, dtype=np.int32) // size
        without_loss = np.append(labels, np.full(5000, labels.max() + 1, dtype=np.int32))
        by_row = np.append(np.ones(1200), np.zeros(5000))
        found.append(rebuilding_for(by_row, without_loss))
        assert found[-1] == rebuilding_for(np.ones(1200), labels)  # classes without loss do not count
        assert work(of_work(30.0, found[-1])) == pytest.approx(30.0)
    assert found[0] == MOST_REBUILT > found[2] > FEW_REBUILT
    assert found == sorted(found, reverse=True)
    assert found[-1] == FEW_REBUILT
    assert rebuilding_for(np.zeros(10), np.zeros(10, dtype=np.int32)) == MOST_REBUILT  # nothing to rebuild


def test_more_seconds_begin_with_the_whole_searches_of_fewer() -> None:
    # Time passes with work alone: a hundredth of a second for one move per row.
    plans = {}
    for seconds in (20.0, 80.0):
        clock = Clock(seconds)
        asked, plans[seconds] = (
            timed_rounds(clock, lambda: State(1.0, FEW_REBUILT)),
            [next(timed_rounds(clock, lambda: State(1.0, FEW_REBUILT)))[1]],
        )
        next(asked)
        for _, plan in asked:
            plans[seconds].append(plan)
            clock.began -= 0.01 * work(plan)
    heated = {seconds: [plan for plan in some if plan.start > 0] for seconds, some in plans.items()}
    short, long = (
        [round(sum(work(plan) for plan in heated[seconds][i : i + ROUNDS])) for i in range(0, 3 * ROUNDS, ROUNDS)]
        for seconds in (20.0, 80.0)
    )
    assert (short[0], long[:3]) == (WHOLE, [WHOLE * twice for twice in (1, 2, 4)])
    assert heated[20.0][:ROUNDS] == heated[80.0][:ROUNDS]
    assert short[1] < 2 * WHOLE  # what is left is one search that follows the clock
    assert plans[20.0][-1].start == plans[80.0][-1].start == 0.0


def test_every_step_is_heated_and_rebuilds_as_fits_the_classes_found_by_then() -> None:
    states = iter([State(1.0, 0.1), State(0.5, 1.0)])
    fast, balanced = (schedule_of("fast", 10**4), schedule_of("balanced", 10**4))
    plans = [plan for _, plan in rounds("balanced", Clock(), lambda: next(states), 10**4, 1.0)]
    assert next(states, None) is None
    first, last = plans[: len(fast)], plans[len(fast) :]
    assert [plan.start for plan in first] == [plan.start for plan in fast]
    assert [plan.start for plan in last] == [plan.start / 2 for plan in balanced[len(fast) :]]
    assert first[0].rebuilds_per_class == pytest.approx(0.1 * first[0].moves_per_row)
    assert last[0].rebuilds_per_class == pytest.approx(last[0].moves_per_row)


def test_temperatures_are_shares_of_what_rows_with_loss_lose() -> None:
    by_row, labels = np.array([0.0, 0.0, 0.5, 1.5]), np.array([0, 0, 1, 1], dtype=np.int32)
    assert state_of(by_row, labels) == State(1.0, MOST_REBUILT)
    assert state_of(by_row, labels, heat=False).mean == 0.0
    assert state_of(9 * by_row, labels).mean == WARMEST


def test_more_effort_does_first_what_less_effort_does() -> None:
    for rows in (10**3, 10**5, 10**6):
        fast, balanced, thorough = (schedule_of(effort, rows) for effort in ("fast", "balanced", "thorough"))
        assert balanced[: len(fast)] == fast
        assert thorough[: len(balanced)] == balanced


def test_a_clock_stops_at_its_time() -> None:
    with Clock(1.0) as clock:
        assert not clock.is_over
        while not clock.is_over and clock.passed < 30.0:  # a busy machine may be late
            time.sleep(0.01)
        assert clock.is_over
        assert clock.passed >= 1.0
    with Clock() as clock:
        assert not clock.is_over


def test_few_rows_that_lose_something_get_no_more_attempts_each() -> None:
    whole = schedule_of("balanced", 30_000)
    assert shortened(whole, 0.2) == shortened(whole, 0.9) == whole
    some = shortened(whole, 0.05)
    assert [plan.moves_per_row for plan in some] == [plan.moves_per_row / 4 for plan in whole]
    assert [plan.rebuilds_per_class for plan in some] == [plan.rebuilds_per_class / 4 for plan in whole]
    assert [plan.passes for plan in some] == [plan.passes for plan in whole]


@pytest.mark.parametrize(("share", "changed"), [(0.5, True), (1.0, False)])
def test_a_search_by_effort_ends_where_nothing_is_left_to_gain(
    monkeypatch: pytest.MonkeyPatch, share: float, changed: bool
) -> None:
    space, rows = space_of(random_table(3, rows=200), 3, None)
    labels = np.arange(200, dtype=np.int32) // 10
    lost = float(losses(space, rows, labels).sum()) / 200 / greatest_loss(space)
    monkeypatch.setattr("polyveil.methods._search.schedule.NEGLIGIBLE", lost * share + 1e-12)
    told: list[float] = []
    found, _ = search(space, rows, labels, "fast", np.random.default_rng(1), lambda done, loss: told.append(done))
    assert (found.tolist() != labels.tolist()) == changed
    assert told[-1] == 1.0


def test_rounds_that_gain_nothing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    space, rows = space_of(random_table(3, rows=200), 3, None)
    labels = np.zeros(200, dtype=np.int32)
    loss = float(losses(space, rows, labels).sum())
    plans: list[Round] = []

    def gaining_nothing(*arguments: Any) -> tuple[Any, float]:
        plans.append(arguments[3])
        return arguments[2], loss

    monkeypatch.setattr("polyveil.methods._search.schedule.improve", gaining_nothing)
    for effort, rounds_done in (("fast", 3), ("balanced", 3 + 12 + 1)):
        plans.clear()
        search(space, rows, labels, effort, np.random.default_rng(1), lambda done, loss: None)
        assert len(plans) == rounds_done


def test_the_greatest_loss_is_that_of_all_values() -> None:
    table = random_table(5, rows=300)
    space, _ = space_of(table)
    assert greatest_loss(space) == pytest.approx(sum(column.weight for column in table.quasi))


def test_a_search_by_the_clock_ends_once_nothing_is_lost() -> None:
    table = random_table(3, rows=20).take(np.repeat(np.arange(20), 4))
    space, rows = space_of(table, 3, None)
    labels = np.repeat(np.arange(20, dtype=np.int32), 4)
    clock = Clock(600.0)
    _, loss = search(space, rows, labels, 600.0, np.random.default_rng(1), lambda done, loss: None, clock=clock)
    assert loss == 0.0
    assert clock.passed < 100.0
