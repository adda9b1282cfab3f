"""Estimators and pooling against answers that were worked by hand or by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from polyveil.analyses.estimators import Estimates, kaplan_meier, linear, logistic, quantile, shares
from polyveil.analyses.marginals import k_marginal
from polyveil.analyses.pooling import interval, overlap, pool


def test_least_squares_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = 2 + 0.5 * x + rng.normal(size=40)
    found = linear(np.stack([np.ones(40), x], axis=1), y)
    told = stats.linregress(x, y)
    assert found is not None
    assert found.values == pytest.approx([told.intercept, told.slope])
    assert np.sqrt(found.variances) == pytest.approx([told.intercept_stderr, told.stderr])
    assert found.freedom == 38
    shown = interval(found)
    assert shown.high[1] - shown.values[1] == pytest.approx(stats.t.ppf(0.975, 38) * told.stderr)


def test_columns_that_follow_from_others_have_no_answer() -> None:
    x = np.arange(10.0)
    design = np.stack([np.ones(10), x, 2 * x], axis=1)
    assert linear(design, x) is None
    assert logistic(design, (x > 4).astype(float)) is None


def test_logistic_regression_on_one_flag_is_the_log_odds_ratio() -> None:
    """Of 30 exposed 20 are ill, of 40 others 10: log(20/10 / (10/30)), variance 1/20 + 1/10 + 1/10 + 1/30."""
    flag = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 10, 10, 30])
    ill = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 10, 10, 30])
    found = logistic(np.stack([np.ones(70), flag], axis=1), ill)
    assert found is not None
    assert found.values == pytest.approx([np.log(10 / 30), np.log(6.0)])
    assert found.variances == pytest.approx([1 / 10 + 1 / 30, 1 / 20 + 1 / 10 + 1 / 10 + 1 / 30])


def test_a_column_that_tells_the_outcome_has_no_logistic_answer() -> None:
    x = np.repeat([0.0, 1.0], 20)
    assert logistic(np.stack([np.ones(40), x], axis=1), x) is None


def test_kaplan_meier_of_the_textbook() -> None:
    """Freireich et al. 1963, 21 patients under 6-MP: the survival curve that textbooks print."""
    died = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    left = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    curve = kaplan_meier(np.array([*died, *left], float), np.array([1.0] * len(died) + [0.0] * len(left)))
    at = np.array([5, 6, 7, 10, 13, 16, 22, 23, 40], float)
    assert curve.at(at) == pytest.approx([1, 0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448, 0.448], abs=5e-4)
    found = curve.estimates(np.array([6.0, 23.0]))
    # Greenwood: S^2 times the sum; on the scale of log(-log S) the standard error is divided by S |log S|.
    errors = np.array([0.0764, 0.1346])
    survive = curve.at(np.array([6.0, 23.0]))
    assert np.sqrt(found.variances) == pytest.approx(errors / (survive * -np.log(survive)), rel=2e-3)
    assert np.isnan(curve.estimates(np.array([1.0])).values).all()


def test_kaplan_meier_is_that_of_scipy() -> None:
    rng = np.random.default_rng(4)
    time, event = np.ceil(rng.exponential(10, 60)), rng.random(60) < 0.6
    sample = stats.CensoredData(uncensored=time[event], right=time[~event])
    told = stats.ecdf(sample).sf
    assert kaplan_meier(time, event.astype(float)).at(told.quantiles) == pytest.approx(told.probabilities)


def test_rubins_rules_by_hand() -> None:
    """Three draws 1, 2, 3 with variance 0.5: mean 2, between 1, total 0.5 + 4/3, a share 8/11 of it between."""
    draws = [Estimates(np.array([value]), np.array([0.5])) for value in (1.0, 2.0, 3.0)]
    found = pool(draws)
    freedom = 2 / (8 / 11) ** 2
    assert found.values == pytest.approx([2.0])
    assert found.high - found.values == pytest.approx([quantile(freedom) * np.sqrt(0.5 + 4 / 3)])
    same = pool([Estimates(np.array([1.0]), np.array([0.25]), 10.0)] * 3)
    assert same.high == pytest.approx([1 + stats.t.ppf(0.975, 10) * 0.5])


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        ((0.0, 2.0), (0.0, 2.0), 1.0),
        ((0.0, 2.0), (1.0, 5.0), (1 / 2 + 1 / 4) / 2),
        ((0.0, 1.0), (2.0, 3.0), 0.0),
        ((0.0, 4.0), (1.0, 2.0), (1 / 4 + 1) / 2),
        ((1.0, 1.0), (1.0, 1.0), 1.0),
    ],
)
def test_overlap_by_hand(first: tuple[float, float], second: tuple[float, float], common: float) -> None:
    assert overlap(first, second) == pytest.approx(common)


def test_shares_and_the_k_marginal_score_by_hand() -> None:
    found = shares(np.array([0, 0, 0, 1]), 3)
    assert found.values == pytest.approx([0.75, 0.25, 0])
    assert found.variances == pytest.approx([0.75 * 0.25 / 4, 0.75 * 0.25 / 4, 0])
    rng = np.random.default_rng(0)
    one = {"a": np.array([0, 0, 1, 1]), "b": np.array([0, 1, 0, 1])}
    other = {"a": np.array([0, 0, 1, 1]), "b": np.array([0, 0, 0, 1])}
    assert k_marginal(one, one, 2, rng) == 1000
    # cells 00, 01, 10, 11: 1/4 each against 1/2, 0, 1/4, 1/4; the differences add up to 1/2.
    assert k_marginal(one, other, 2, rng) == pytest.approx((2 - 0.5) / 2 * 1000)


def test_whole_weights_give_the_estimates_of_repeated_rows() -> None:
    """A weight of 3 is three people alike: the same estimates as a table in which they are written three times."""
    rng = np.random.default_rng(4)
    weight = rng.integers(1, 5, 80)
    again = np.repeat(np.arange(80), weight)
    design = np.column_stack([np.ones(80), rng.normal(size=80)])
    outcome, yes = design[:, 1] + rng.normal(size=80), (rng.random(80) < 0.4).astype(float)
    cell, time = rng.integers(0, 3, 80), rng.exponential(size=80)
    counted = weight.astype(float)
    for weighted, repeated in (
        (linear(design, outcome, counted), linear(design[again], outcome[again])),
        (logistic(design, yes, counted), logistic(design[again], yes[again])),
        (shares(cell, 3, counted), shares(cell[again], 3)),
    ):
        assert weighted is not None
        assert repeated is not None
        assert weighted.values == pytest.approx(repeated.values)
    times = np.quantile(time, [0.2, 0.5, 0.8])
    assert kaplan_meier(time, yes, counted).at(times) == pytest.approx(kaplan_meier(time[again], yes[again]).at(times))


def test_weighted_variances_are_those_of_samples() -> None:
    """The estimates of many samples, drawn with unequal chances, vary as the variances say."""
    rng = np.random.default_rng(6)
    chance = rng.uniform(0.02, 0.2, 4000)
    side = rng.normal(size=4000)
    outcome = 1 + 2 * side + rng.normal(size=4000) * (0.5 + 5 * chance)
    yes = (rng.random(4000) < 1 / (1 + np.exp(-side))).astype(float)
    cell = (chance > 0.1).astype(np.int64)
    found: dict[str, list[tuple[float, float]]] = {"linear": [], "logistic": [], "share": []}
    for _ in range(300):
        rows = np.flatnonzero(rng.random(4000) < chance)
        weight, design = 1 / chance[rows], np.column_stack([np.ones(len(rows)), side[rows]])
        for name, each in (
            ("linear", linear(design, outcome[rows], weight)),
            ("logistic", logistic(design, yes[rows], weight)),
            ("share", shares(cell[rows], 2, weight)),
        ):
            assert each is not None
            found[name].append((float(each.values[1]), float(each.variances[1])))
    for pairs in found.values():
        values, variances = np.array(pairs).T
        assert variances.mean() == pytest.approx(values.var(), rel=0.25)
    everybody = linear(np.column_stack([np.ones(4000), side]), outcome)
    assert everybody is not None
    assert np.mean([value for value, _ in found["linear"]]) == pytest.approx(everybody.values[1], abs=0.02)
