"""SLOMS: phi^2 by hand, slices found and given, all nine rows of han2013 published, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from paper_tables import HAN, HAN_COLUMNS, HAN_SLICES, policy_of, task_of
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.methods._buckets.contingency import (
    attribute_distances,
    clusters_of,
    contingency,
    discretized,
    medoids,
    natural_slices,
    silhouette,
)


class TestContingency:
    def test_a_table_worked_by_hand(self) -> None:
        """f = [[.3, .1], [.1, .5]], margins .4 and .6: every f_ij is .14 off, over .16, .24, .24 and .36."""
        a = np.repeat([0, 0, 1, 1], [3, 1, 1, 5])
        b = np.repeat([0, 1, 0, 1], [3, 1, 1, 5])
        assert contingency(a, b) == pytest.approx(0.14**2 * (1 / 0.16 + 2 / 0.24 + 1 / 0.36))
        assert contingency(a, b) == pytest.approx(0.340277777)

    def test_three_by_two(self) -> None:
        """Rows (2,0), (1,1), (0,2) of six: margins 1/3 each and 1/2 each; phi^2 = 4 * (1/6)^2 / (1/6) = 2/3."""
        a, b = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1])
        assert contingency(a, b) == pytest.approx(2 / 3)

    def test_ends_of_the_scale(self) -> None:
        a = np.arange(12) % 3
        assert contingency(a, a) == pytest.approx(1.0)
        assert contingency(a, np.arange(12) // 3) == pytest.approx(0.0)
        assert contingency(a, np.zeros(12, dtype=int)) == 0.0

    @settings(max_examples=30)
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=60))
    def test_symmetric_within_bounds_and_as_defined(self, pairs: list[tuple[int, int]]) -> None:
        a, b = np.array(pairs).T
        found = contingency(a, b)
        assert 0.0 <= found <= 1.0
        assert contingency(b, a) == pytest.approx(found)
        joint = np.zeros((5, 4))
        np.add.at(joint, (a, b), 1 / len(a))
        rows, columns = joint.sum(1, keepdims=True), joint.sum(0, keepdims=True)
        present = (rows > 0) & (columns > 0)
        least = min((rows > 0).sum(), (columns > 0).sum()) - 1
        chi = (((joint - rows * columns) ** 2)[present] / (rows * columns)[present]).sum()
        assert found == pytest.approx(chi / least if least else 0.0, abs=1e-9)

    def test_numbers_are_cut_into_bins_of_about_equal_rows(self) -> None:
        frame = pl.DataFrame({"q": ["a"] * 100, "pay": [None, *range(99)]})
        columns = {"q": {"role": "quasi"}, "pay": {"role": "sensitive", "type": "numeric"}}
        column = task_of(frame, columns, {"l": 2}).table.sensitive[0]
        bins = discretized(column, 5)
        sizes = np.bincount(bins)
        assert len(sizes) == 6, "five bins, and missing on its own"
        assert sizes[:5].min() >= 19
        assert sizes[5] == 1


class TestSlices:
    # Two pairs of near points and one alone.
    DISTANCES = np.array(
        [
            [0.0, 0.1, 0.9, 0.9, 0.8],
            [0.1, 0.0, 0.9, 0.8, 0.9],
            [0.9, 0.9, 0.0, 0.2, 0.9],
            [0.9, 0.8, 0.2, 0.0, 0.9],
            [0.8, 0.9, 0.9, 0.9, 0.0],
        ]
    )

    def test_pam_finds_the_clusters(self) -> None:
        assert clusters_of(self.DISTANCES, 3) == [[0, 1], [2, 3], [4]]
        assert natural_slices(self.DISTANCES) == [[0, 1], [2, 3], [4]]
        assert silhouette(self.DISTANCES, [[0, 1], [2, 3], [4]]) > silhouette(self.DISTANCES, [[0, 1, 4], [2, 3]])

    @settings(max_examples=30)
    @given(st.integers(0, 1000), st.integers(3, 7), st.data())
    def test_no_swap_improves_what_pam_returns(self, seed: int, points: int, data: st.DataObject) -> None:
        clusters = data.draw(st.integers(1, points))
        rng = np.random.default_rng(seed)
        distances = rng.random((points, points))
        distances = (distances + distances.T) / 2
        np.fill_diagonal(distances, 0)
        chosen = list(medoids(distances, clusters))
        cost = distances[:, chosen].min(1).sum()
        for i in range(clusters):
            for other in set(range(points)) - set(chosen):
                swapped = [*chosen[:i], other, *chosen[i + 1 :]]
                assert distances[:, swapped].min(1).sum() >= cost - 1e-9

    def test_dependent_columns_go_together(self) -> None:
        rng = np.random.default_rng(0)
        a, c = rng.integers(0, 6, 500), rng.integers(0, 5, 500)
        frame = pl.DataFrame({"q": rng.integers(0, 9, 500), "a": a, "c": c, "a2": a // 2, "c2": (c * 2) % 5})
        columns: dict[str, Any] = {
            "q": {"role": "quasi", "type": "numeric"},
            **{name: {"role": "sensitive", "type": "categorical"} for name in ("a", "c", "a2", "c2")},
        }
        task = task_of(frame, columns, {"l": 2})
        assert natural_slices(attribute_distances(task.table.sensitive, 10)) == [[0, 2], [1, 3]]
        policy = policy_of(columns, privacy={"l": 2, "k": 3}, method={"name": "sloms"})
        release = polyveil.anonymize(frame, policy, seed=1)
        assert release.manifest["method"]["found"]["slices"] == [["a", "a2"], ["c", "c2"]]


class TestHan2013:
    def test_all_nine_rows_are_published_in_two_slices(self) -> None:
        policy = policy_of(
            HAN_COLUMNS, privacy={"k": 3, "l": 3}, method={"name": "sloms", "slices": HAN_SLICES, "restarts": 50}
        )
        for seed in range(5):
            release = polyveil.anonymize(HAN, policy, seed=seed)
            assert release.form == "sliced"
            assert release.loss["suppression_ratio"] == 0.0
            assert release.loss["additional_information_loss"] == 0.0
            assert release.privacy["k"] >= 3
            assert [slice_["attributes"] for slice_ in release.manifest["linked"]["slices"]] == HAN_SLICES
            assert release.verify().holds

    def test_where_plain_msb_over_all_four_suppresses_six(self) -> None:
        policy = policy_of(
            HAN_COLUMNS,
            privacy={"l": 3, "suppression_limit": 0.7},
            method={"name": "mbf", "restarts": 200, "leave_out": "last"},
        )
        assert polyveil.anonymize(HAN, policy, seed=1).manifest["suppressed"] == 6

    def test_suppressed_values_have_the_group_id_na_and_their_row_stays(self) -> None:
        """Five of seven salaries are equal: one slice cannot place them, the other has all its values."""
        frame = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25, 26], "pay": list("xxxxxyz"), "illness": list("abcabcd")})
        columns = {
            "age": {"role": "quasi", "type": "numeric"},
            "pay": {"role": "sensitive"},
            "illness": {"role": "sensitive"},
        }
        policy = policy_of(
            columns,
            privacy={"k": 2, "l": 3, "suppression_limit": 0.7},
            method={"name": "sloms", "slices": [["pay"], ["illness"]], "withhold": "values"},
        )
        release = polyveil.anonymize(frame, policy, seed=1)
        quasi = release.tables["quasi"]
        assert quasi.height == 7
        assert quasi["group_1"].to_list().count("NA") == 4
        assert "NA" not in quasi["group_2"].to_list()
        assert release.tables["sensitive_1"].height == 3
        assert release.loss["suppression_ratio"] == pytest.approx(4 / 7)
        said = release.verify()
        assert not said.holds
        assert not said.failures
        assert [f.check for f in said.findings if f.outcome == "not checked"] == ["withheld values"]
        assert release.manifest["counts_of"] == "released"
        with pytest.raises(Unsatisfiable, match="suppress"):
            polyveil.anonymize(frame, {**policy, "privacy": {"k": 2, "l": 3, "suppression_limit": 0.5}}, seed=1)


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ([["occupation", "wage"], ["physician", "disease"]], r"method.slices.0.*wage"),
        ([["occupation", "salary"], ["physician", "disease", "salary"]], r"salary is named more than once"),
        ([["occupation"], ["physician", "disease"]], r"no slice has the sensitive column salary"),
        (9, r"9 slices are asked for, there are 4"),
        (0, r"slices"),
        ([], r"slices"),
        ("many", r"slices"),
    ],
)
def test_slices_that_cannot_be(slices: Any, expected: str) -> None:
    policy = policy_of(HAN_COLUMNS, privacy={"k": 3, "l": 3}, method={"name": "sloms", "slices": slices})
    with pytest.raises(PolicyError, match=expected):
        polyveil.anonymize(HAN, policy, seed=1)


@pytest.mark.parametrize(
    ("release", "privacy", "expected"),
    [
        ({"form": "generalized"}, {"k": 3, "l": 3}, r"sloms does not make generalized releases"),
        ({"generalize": "range"}, {"k": 3, "l": 3}, r"no one range"),
        ({"generalize": "none"}, {"k": 3, "l": 3}, r"keeps k by generalizing"),
        ({"generalize": "kaca"}, {"l": 3}, r"no k is given"),
    ],
)
def test_forms_that_do_not_fit(release: dict[str, Any], privacy: dict[str, Any], expected: str) -> None:
    policy = policy_of(HAN_COLUMNS, privacy=privacy, method={"name": "sloms", "slices": HAN_SLICES}, release=release)
    with pytest.raises(PolicyError, match=expected):
        polyveil.anonymize(HAN, policy, seed=1)
