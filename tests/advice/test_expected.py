"""The loss that is expected of the whole table, from samples of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.advice import evidence, expected
from polyveil.advice.evidence import _spread, curve_over_k
from polyveil.advice.expected import LARGE, SMALL, expected_loss, extended, sample, warm_up
from polyveil.advice.workers import Workers
from polyveil.policy import Policy
from polyveil.table.source import Table, read


def people(rows: int) -> Table:
    rng = np.random.default_rng(1)
    frame = {"age": rng.integers(18, 90, rows), "zip": rng.integers(0, 400, rows), "pay": rng.integers(0, 50, rows)}
    return read(pl.DataFrame(frame))


def policy(**method: Any) -> Policy:
    columns = {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "pay": {"role": "sensitive", "type": "numeric"}}
    return Policy.from_dict({"columns": columns, "privacy": {"k": 5}, "method": method or {"name": "sift"}})


def test_the_line_through_both_samples_goes_on() -> None:
    assert extended(0.4, 0.2, LARGE) == pytest.approx(0.2)
    assert extended(0.4, 0.2, LARGE * LARGE // SMALL) == pytest.approx(
        0.1, rel=1e-3
    )  # as much again, for as many times the rows
    assert extended(0.4, 0.2, LARGE * LARGE // SMALL, bend=0.5) == pytest.approx(0.2 / 2**0.5, rel=1e-3)
    assert extended(0.2, 0.3, 10 * LARGE) == 0.3  # a larger sample that loses more says nothing about still more rows
    assert extended(0.1, 0.0, 10 * LARGE) == 0.0


def test_a_release_loses_what_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "LARGE", 1500)
    table, asked = people(6000), policy(name="mondrian")
    found = expected_loss(table, asked)
    lost = polyveil.anonymize(table, asked).manifest["loss"]["normalized_loss"]
    assert found.rows == 1500
    assert found.on_sample is not None
    assert found.on_sample > 1.3 * lost  # the sample alone would frighten
    assert found.loss == pytest.approx(lost, rel=0.2)


def test_a_small_table_is_searched_itself_and_nothing_is_extended() -> None:
    found = expected_loss(people(200), policy(name="mondrian"))
    assert (found.rows, found.loss) == (200, found.on_sample)


def test_what_cannot_be_released_has_no_expected_loss() -> None:
    unreachable = policy(name="mondrian").model_copy(update={"privacy": policy().privacy.model_copy(update={"k": 300})})
    assert expected_loss(people(200), unreachable).loss is None


def test_samples_keep_the_rows_of_a_person_together() -> None:
    rows = pl.DataFrame({"who": [i // 3 for i in range(900)], "age": [i % 70 for i in range(900)]})
    columns = {"who": {"role": "person"}, "age": {"role": "quasi"}}
    few = sample(read(rows), Policy.from_dict({"columns": columns, "privacy": {"k": 2}}), 100)
    assert few.height == 99
    assert set(few.frame["who"].value_counts()["count"]) == {3}


def test_a_busy_machine_gets_longer_seconds_within_limits() -> None:
    assert 1.0 <= warm_up(people(100), policy(name="mondrian")) <= expected.SLOWEST


def test_a_curve_ends_in_time_with_points_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _spread(list("abcdefgh"))[:3] == ["a", "h", "e"]  # type: ignore[comparison-overlap, arg-type]
    assert sorted(_spread(list("abcdefgh"))) == list("abcdefgh")  # type: ignore[arg-type, type-var]
    monkeypatch.setattr(evidence, "CURVE_SECONDS", 0.0)
    monkeypatch.setattr(evidence, "QUICK_SECONDS", 0.05)
    with Workers(people(100), 1) as workers:
        curve = curve_over_k(workers, policy(), "sift", limit=10.0)
    states = {outcome.case.k: outcome.status for outcome in curve.outcomes}
    assert states == {2: "done", 3: "out of time", 5: "out of time", 10: "done", 20: "done"}
