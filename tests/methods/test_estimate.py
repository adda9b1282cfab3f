"""How long a search says it will take, and how it says it."""

from __future__ import annotations

import math

import pytest

from polyveil.methods._search.clock import Clock
from polyveil.methods._search.estimate import BEGINNING, in_words, rounds_work, seconds_for, time_left


def clock_at(passed: float, seconds: float = math.inf) -> Clock:
    clock = Clock(seconds)
    clock.began -= passed
    return clock


def test_seconds_are_left_by_the_clock_whatever_is_done() -> None:
    for done in (0.0, 0.5):
        assert time_left(20.0, 1000, 5, 2, done, 1.0, clock_at(5.0, 20.0)) == pytest.approx(15.0, abs=0.5)
    assert time_left(20.0, 1000, 5, 2, 1.0, 1.0, clock_at(30.0, 20.0)) == 0.0


def test_a_guess_comes_first_and_the_rounds_done_replace_it() -> None:
    guess, work = seconds_for("balanced", 30_000, 5), rounds_work("balanced", 30_000)
    rounds, usual = guess * work / (BEGINNING + work), guess * BEGINNING / (BEGINNING + work)
    assert time_left("balanced", 30_000, 5, 2, 0.0, usual, clock_at(usual)) == pytest.approx(rounds, rel=0.01)
    # A beginning that took four times as long shows a slow machine, or a table that is dear to judge.
    assert time_left("balanced", 30_000, 5, 2, 0.0, 4 * usual, clock_at(4 * usual)) == pytest.approx(
        4 * rounds, rel=0.01
    )
    assert time_left("balanced", 30_000, 5, 2, 0.25, 40.0, clock_at(50.0)) == pytest.approx(30.0, rel=0.01)
    assert time_left("balanced", 30_000, 5, 2, 1.0, 40.0, clock_at(50.0)) == 0.0


def test_more_effort_rows_and_columns_take_longer() -> None:
    assert seconds_for("fast", 30_000, 5) < seconds_for("balanced", 30_000, 5) < seconds_for("thorough", 30_000, 5)
    assert seconds_for("fast", 30_000, 5) < seconds_for("fast", 1_000_000, 5)
    assert seconds_for("fast", 30_000, 5) < seconds_for("fast", 30_000, 24)
    assert seconds_for("fast", 30_000, 5) < seconds_for("fast", 30_000, 5, 20)
    assert seconds_for(12, 10**6, 5) == 12


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0, "1 s"), (0.4, "1 s"), (41.2, "42 s"), (89, "89 s"), (95, "2 min"), (7200, "2 h")]
)
def test_times_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
