"""What charts draw, in words."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")

from polyveil.web.pages import charts
from polyveil.web.pages.chart_words import MOST, in_words


def test_bars_of_two_tables_are_read_label_by_label() -> None:
    options = charts.before_after({"labels": ["flu", "gout"], "before": [0.75, 0.25], "after": [0.5, 0.5]})
    assert in_words(options) == "flu: 75.0 % before, 50.0 % after; gout: 25.0 % before, 50.0 % after."


def test_of_many_bars_the_greatest_are_read_in_their_order() -> None:
    bins = [(str(i), 0.001 * i) for i in range(MOST + 5)]
    said = in_words(charts.shares(bins, "rows in the group"))
    assert said.startswith("5: 0.5 %; 6: 0.6 %; ")
    assert said.endswith("34: 3.4 %; 5 more with at most 0.4 % each.")


def test_groups_are_summed_up_with_their_limit() -> None:
    about = {"limit": 0.4, "worst": 0.3, "classes": [(0.1, 5), (0.2, 8), (0.3, 1200)]}
    assert in_words(charts.distances(about)) == (
        "3 groups of 5 to 1,200 rows. Distances from 0.100 to 0.300; half of them are at most 0.200. The limit is 0.4."
    )


def test_a_curve_is_read_at_a_few_times() -> None:
    times = [float(i) for i in range(101)]
    said = in_words(charts.survival(("", times, [1 - i / 200 for i in range(101)], [1 - i / 100 for i in range(101)])))
    assert said.startswith("time 0: 100.0 % original, 100.0 % release; time 11: 94.5 % original, 89.0 % release; ")
    assert said.endswith("time 100: 50.0 % original, 0.0 % release.")


def test_runs_are_read_with_their_protection_and_loss() -> None:
    options = charts.frontier([], "k", "")
    options["series"][0]["data"] = [[5.0, 12.5]]
    options["series"][1]["data"] = [{"name": "first", "value": [5.0, 12.5]}, {"name": "second", "value": [4.0, 20.0]}]
    assert in_words(options) == (
        "first: k, smallest group 5, 12.5 % of the detail lost, on the dashed line; "
        "second: k, smallest group 4, 20.0 % of the detail lost."
    )
