"""The bucket engine: what every grouping keeps, the heaps against the scan, ties, residual rows, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyveil
from paper_tables import HAN, HAN_COLUMNS, LEVELS, XIAO, XIAO_COLUMNS, policy_of, task_of
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import method_class
from polyveil.methods._buckets.choice import groupable_bound
from polyveil.methods._buckets.demand import Demand, demand_of, largest_l, reachable_rows
from polyveil.methods._buckets.engine import TIES, BucketOptions, Engine, bucketize
from polyveil.methods._buckets.residual import add, empty_counts, slot_of
from polyveil.models import (
    EntropyDiversity,
    FrequencyDiversity,
    LevelDiversity,
    RecursiveDiversity,
    attributes_of,
    from_classes,
)
from polyveil.policy.hierarchy import flat
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import TreeDomain

BUCKET_METHODS = ("mbf", "msdcf", "mmdcf", "mbf-mslf", "msdcf-mslf", "mmdcf-mslf")
GREEDY = BucketOptions(leave_out="last")
LEVEL_NEED = {0: 1, 1: 2, 2: 3, 5: 4}


def random_columns(seed: int, rows: int, attributes: int) -> CodedTable:
    """Skewed sensitive attributes with random security levels, one quasi-identifier."""
    rng = np.random.default_rng(seed)
    sensitive = []
    for a in range(attributes):
        size = int(rng.integers(2, 9))
        codes = rng.choice(size, size=rows, p=rng.dirichlet(np.full(size, 2.0)))
        levels = rng.choice(list(LEVEL_NEED), size=size)
        domain = TreeDomain(flat([str(i) for i in range(size)]))
        sensitive.append(SensitiveColumn(f"s{a}", domain, codes, "equal", levels))
    quasi = QuasiColumn("q", TreeDomain(flat([str(i) for i in range(5)])), rng.integers(0, 5, rows))
    return CodedTable(rows, (quasi,), tuple(sensitive))


def needs(table: CodedTable, levels: bool, k: int) -> Demand:
    return Demand(
        {
            column.name: np.array([LEVEL_NEED[level] if levels else 2 for level in column.levels], dtype=np.float64)
            for column in table.sensitive
        },
        k,
    )


cases = st.tuples(st.integers(0, 10_000), st.integers(1, 120), st.integers(1, 4), st.booleans(), st.integers(1, 5))


@settings(max_examples=40)
@given(
    cases,
    st.sampled_from(["mbf", "msdcf", "mmdcf"]),
    st.sampled_from(list(TIES)),
    st.booleans(),
    st.sampled_from(["first", "least-loss"]),
    st.sampled_from(["last", "fewest"]),
)
def test_every_group_keeps_its_demand_and_no_row_is_lost(
    case: tuple[int, int, int, bool, int], priority: Any, ties: Any, strict: bool, residual: Any, leave_out: Any
) -> None:
    seed, rows, attributes, levels, k = case
    table = random_columns(seed, rows, attributes)
    options = BucketOptions(ties=ties, strict_paper=strict, residual=residual, leave_out=leave_out)
    demand = needs(table, levels, k)
    found = bucketize(table, table.sensitive, demand, priority, options, np.random.default_rng(seed))
    kept = found.of_row >= 0
    assert int(kept.sum()) + found.suppressed == rows
    assert found.groups == len(np.unique(found.of_row[kept]))
    if not kept.any():
        return
    sizes = np.bincount(found.of_row[kept])
    assert sizes.min() >= k
    statistics = from_classes(found.of_row, {c.name: c.codes for c in table.sensitive}, attributes_of(table))
    for column in table.sensitive:
        per_level = LEVEL_NEED if levels else dict.fromkeys(LEVEL_NEED, 2)
        assert LevelDiversity(per_level, column.name).judge(statistics).holds


@settings(max_examples=40)
@given(
    cases, st.sampled_from(["mbf", "msdcf", "mmdcf"]), st.sampled_from(["random", "largest-capacity", "rarest-value"])
)
def test_the_heaps_choose_what_the_scan_chooses(
    case: tuple[int, int, int, bool, int], priority: Any, ties: Any
) -> None:
    seed, rows, attributes, levels, k = case
    table = random_columns(seed, rows, attributes)
    options, demand = BucketOptions(ties=ties), needs(table, levels, k)
    by_heap, by_scan = (
        bucketize(table, table.sensitive, demand, priority, options, np.random.default_rng(seed), scan=scan)
        for scan in (False, True)
    )
    assert by_heap.of_row.tolist() == by_scan.of_row.tolist()


def test_leaving_out_the_fewest_groups_what_greed_cannot() -> None:
    # l = 2. The largest bucket is (p, h), and nobody is neither p nor h: as printed, grouping ends there with nothing.
    # Without those three rows, each (p, e) goes with a (q, h); with any of them p would exceed one half.
    rows = [("p", "h")] * 3 + [("p", "e")] * 2 + [("q", "h")] * 2
    table = coded_columns(rows)
    demand = Demand({"a": np.full(2, 2.0), "b": np.full(2, 2.0)}, 1)
    found = {
        way: bucketize(table, table.sensitive, demand, "mbf", BucketOptions(leave_out=way), np.random.default_rng(1))
        for way in ("last", "fewest")
    }
    assert found["last"].suppressed == 7
    assert np.flatnonzero(found["fewest"].of_row < 0).tolist() == [0, 1, 2]
    assert found["fewest"].groups == 2


@pytest.mark.parametrize(("k", "left_out"), [(1, 4), (4, 0), (5, 4)])
def test_rows_that_no_two_of_which_fit_make_one_group_together(k: int, left_out: int) -> None:
    # Any two of the four rows share a value, so no pair is 2-diverse; of all four, each value has exactly half.
    table = coded_columns([("1", "1", "1"), ("1", "2", "2"), ("2", "1", "2"), ("2", "2", "1")])
    demand = Demand({name: np.full(2, 2.0) for name in "abc"}, k)
    found = {
        way: bucketize(table, table.sensitive, demand, "mbf", BucketOptions(leave_out=way), np.random.default_rng(1))
        for way in ("last", "fewest")
    }
    assert found["last"].suppressed == left_out
    assert found["fewest"].of_row.tolist() == ([0] * 4 if k <= 4 else [-1] * 4)


def coded_columns(rows: Sequence[tuple[str, ...]]) -> CodedTable:
    sensitive = []
    for name, column in zip("abc", zip(*rows, strict=True), strict=False):
        values = sorted(set(column))
        codes = np.array([values.index(value) for value in column])
        levels = np.ones(len(values), dtype=np.int64)
        sensitive.append(SensitiveColumn(name, TreeDomain(flat(values)), codes, "equal", levels))
    quasi = QuasiColumn("q", TreeDomain(flat(["0", "1"])), np.zeros(len(rows), dtype=np.int64))
    return CodedTable(len(rows), (quasi,), tuple(sensitive))


@settings(max_examples=40)
@given(cases, st.sampled_from(["mbf", "msdcf", "mmdcf"]))
def test_no_grouping_passes_the_bound_and_leaving_out_the_fewest_never_suppresses_more(
    case: tuple[int, int, int, bool, int], priority: Any
) -> None:
    seed, rows, attributes, levels, _ = case
    table = random_columns(seed, rows, attributes)
    demand = needs(table, levels, 1)
    last, fewest = (
        bucketize(
            *(table, table.sensitive, demand, priority, BucketOptions(leave_out=way), np.random.default_rng(seed))
        ).suppressed
        for way in ("last", "fewest")
    )
    engine = Engine(table, table.sensitive, demand, priority, BucketOptions())
    bound = rows - groupable_bound(engine.values, engine.size, engine.need)
    assert bound <= fewest <= last


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 80))
def test_rows_that_are_spare_are_left_out_rather_than_others(seed: int, rows: int) -> None:
    table = random_columns(seed, rows, 1)
    demand, rng = needs(table, False, 1), np.random.default_rng(seed)
    spare = rng.random(rows) < 0.5
    options = BucketOptions(leave_out="fewest")
    found = bucketize(table, table.sensitive, demand, "mmdcf", options, rng, spare=spare)
    assert found.lost == int(((found.of_row < 0) & ~spare).sum())
    # Within a value, a row that is not spare is left out only when every spare one is.
    codes = table.sensitive[0].codes
    for value in np.unique(codes[(found.of_row < 0) & ~spare]):
        assert not ((found.of_row >= 0) & spare & (codes == value)).any()


def test_the_same_seed_gives_the_same_groups() -> None:
    table = random_columns(3, 100, 3)
    first, second = (
        bucketize(table, table.sensitive, needs(table, True, 2), "mmdcf", BucketOptions(), np.random.default_rng(7))
        for _ in range(2)
    )
    assert first.of_row.tolist() == second.of_row.tolist()


def test_strict_paper_stops_where_the_highest_level_fails_and_otherwise_lower_levels_go_on() -> None:
    """One row of level 2 (l = 3) with only two distinct values: no group of three, but pairs of the others."""
    values = ["x"] * 4 + ["y"] * 4 + ["z"]
    frame = pl.DataFrame({"q": ["a"] * 9, "s": values, "u": ["one"] * 4 + ["two"] * 4 + ["one"]})
    columns = {
        "q": {"role": "quasi"},
        "s": {"role": "sensitive", "levels": {2: ["z"]}},
        "u": {"role": "sensitive", "levels": {}},
    }
    task = task_of(frame, columns, {"l": {1: 2, 2: 3}, "suppression_limit": 1.0})
    runs = {}
    for strict in (True, False):
        options = BucketOptions(strict_paper=strict)
        engine = Engine(task.table, task.table.sensitive, demand_of(task), "mbf", options)
        runs[strict] = engine.run(np.random.default_rng(0), 1, None)
    assert runs[True].suppressed == 9
    assert runs[False].groups == 4
    assert runs[False].suppressed == 1


def test_residual_rows_go_where_they_widen_least_or_to_the_first_group() -> None:
    """Two groups of two, far apart in age; the fifth row fits both and is as old as the second."""
    ages, values = [20, 21, 60, 61, 62], ["a", "b", "a", "b", "c"]
    frame = pl.DataFrame({"age": ages, "s": values})
    columns = {"age": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}}
    task = task_of(frame, columns, {"l": 2})
    together = 0
    for seed in range(30):
        found = bucketize(
            *(task.table, task.table.sensitive, demand_of(task), "mbf", BucketOptions(ties="closest-quasi")),
            np.random.default_rng(seed),
        )
        assert found.suppressed == 0
        by_group = [sorted(np.array(ages)[found.of_row == g]) for g in range(found.groups)]
        together += sorted(map(tuple, by_group)) == [(20, 21), (60, 61, 62)]
    assert together > 0


def test_closest_quasi_keeps_groups_narrower_than_random_ties() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 600),
            "town": rng.choice(list("abcdef"), 600),
            "s": rng.choice(list("uvwxyz"), 600),
            "u": rng.choice(list("klmnop"), 600),
        }
    )
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi"},
        "s": {"role": "sensitive"},
        "u": {"role": "sensitive"},
    }
    task = task_of(frame, columns, {"l": 3})
    loss = {}
    for ties in ("random", "closest-quasi"):
        options = BucketOptions(ties=ties)
        found = bucketize(task.table, task.table.sensitive, demand_of(task), "mbf", options, np.random.default_rng(0))
        loss[ties] = measure_loss(task.table, found.of_row).information_loss
    assert loss["closest-quasi"] < 0.7 * loss["random"]


def test_least_suppression_of_the_restarts_is_kept() -> None:
    task = task_of(HAN, HAN_COLUMNS, {"l": 3, "suppression_limit": 1.0})
    columns, demand = task.table.sensitive[:2], demand_of(task)
    once = [
        bucketize(task.table, columns, demand, "mbf", GREEDY, np.random.default_rng(seed)).suppressed
        for seed in range(20)
    ]
    options = GREEDY.model_copy(update={"restarts": 50})
    best = bucketize(task.table, columns, demand, "mbf", options, np.random.default_rng(0))
    assert max(once) > 0
    assert best.suppressed == 0
    assert best.restarts < 50, "a try that suppresses nothing ends the search"


class TestDemand:
    def test_frequency_diversity_and_levels_are_the_ls_themselves(self) -> None:
        demand = demand_of(task_of(XIAO, XIAO_COLUMNS, {"l": LEVELS, "k": 4}))
        assert demand.least == 4
        assert demand.need["physician"].tolist() == [2.0] * 5
        assert sorted(demand.need["disease"].tolist()) == [1.0, 2.0, 2.0, 3.0, 3.0]
        assert demand.flattened().need["disease"].tolist() == [3.0] * 5

    @pytest.mark.parametrize(
        "privacy",
        [
            {"l": 3, "diversity": "entropy"},
            {"l": 3, "diversity": "distinct"},
            {"l": 3, "diversity": "recursive", "c": 0.7},
            {"alpha": 0.3},
            {"p": 3, "k": 3},
        ],
    )
    def test_every_kind_of_diversity_holds_in_the_groups(self, privacy: dict[str, Any]) -> None:
        rng = np.random.default_rng(5)
        frame = pl.DataFrame({"q": rng.integers(0, 9, 200), "s": rng.integers(0, 9, 200), "u": rng.integers(0, 8, 200)})
        columns = {
            "q": {"role": "quasi", "type": "numeric"},
            "s": {"role": "sensitive", "type": "categorical"},
            "u": {"role": "sensitive", "type": "categorical"},
        }
        policy = policy_of(
            columns, privacy={**privacy, "suppression_limit": 0.5}, method={"name": "mmdcf", "restarts": 3}
        )
        assert polyveil.anonymize(frame, policy, seed=1).verify().holds

    def test_frequency_caps_imply_entropy_and_recursive_diversity(self) -> None:
        """What `bucket_demand` relies on, on random groups at the cap."""
        rng = np.random.default_rng(0)
        for _ in range(200):
            size, l = int(rng.integers(4, 10)), int(rng.integers(2, 4))  # noqa: E741
            codes = np.repeat(np.arange(size), rng.integers(1, 5, size))
            column = SensitiveColumn("s", TreeDomain(flat(map(str, range(size)))), codes, "equal", np.ones(size, int))
            table = CodedTable(len(codes), (), (column,))
            statistics = from_classes(np.zeros(len(codes), np.int64), {"s": codes}, attributes_of(table))
            if FrequencyDiversity(l, "s").judge(statistics).holds:
                assert EntropyDiversity(l, "s").judge(statistics).holds
                assert RecursiveDiversity(1.01, "s", l).judge(statistics).holds

    def test_reachable_rows_by_hand(self) -> None:
        # 5 of a, 1 of b, 1 of c: with l = 3 a can have at most as many as b and c allow: three rows in all.
        assert reachable_rows(np.array([5, 1, 1]), np.full(3, 3.0)) == 3
        assert reachable_rows(np.array([5, 1, 1]), np.full(3, 2.0)) == 4
        assert reachable_rows(np.array([2, 2, 2]), np.full(3, 3.0)) == 6
        assert reachable_rows(np.array([4, 2]), np.full(2, 3.0)) == 0
        assert reachable_rows(np.array([5, 1, 1]), np.array([1.0, 3.0, 3.0])) == 7

    def test_largest_l_by_hand(self) -> None:
        assert largest_l(np.array([5, 1, 1]), 3) == 3
        assert largest_l(np.array([5, 1, 1]), 4) == 2
        assert largest_l(np.array([5, 1, 1]), 7) == 1


class TestRefusals:
    def release(self, columns: dict[str, Any], **parts: Any) -> Any:
        return polyveil.anonymize(XIAO, policy_of(columns, **parts), seed=1)

    def test_an_l_beyond_the_distinct_values_names_the_attribute_and_the_largest_l(self) -> None:
        privacy = {"l": 6, "suppression_limit": 0.5}
        with pytest.raises(Unsatisfiable, match=r"physician .* l = 6 .* 5 distinct values .*\n.*l = 5 for physician"):
            self.release(XIAO_COLUMNS, privacy=privacy, method={"name": "mbf"})

    def test_more_suppression_than_allowed_says_how_much_was_needed(self) -> None:
        policy = policy_of(
            HAN_COLUMNS, privacy={"l": 3, "suppression_limit": 0.5}, method={"name": "mbf", "as_printed": True}
        )
        with pytest.raises(Unsatisfiable, match=r"leave out \d of 9 rows, and .* allows 4"):
            polyveil.anonymize(HAN, policy, seed=1)

    def test_levels_that_name_unknown_values(self) -> None:
        columns = {**XIAO_COLUMNS, "disease": {"role": "sensitive", "levels": {2: ["Plague"]}}}
        with pytest.raises(PolicyError, match=r"disease.levels.*level 2"):
            self.release(columns, privacy={"l": LEVELS}, method={"name": "mbf-mslf"})

    def test_a_level_without_an_l(self) -> None:
        with pytest.raises(PolicyError, match=r"level.* 2"):
            self.release(XIAO_COLUMNS, privacy={"l": {0: 1, 1: 2}}, method={"name": "mbf-mslf"})

    def test_closeness_is_not_what_buckets_give(self) -> None:
        with pytest.raises(PolicyError, match=r"columns.physician.t.*t-closeness"):
            self.release(XIAO_COLUMNS, privacy={"l": 2, "t": 0.4}, method={"name": "mbf"})

    @pytest.mark.parametrize("form", ["anatomized", "generalized"])
    def test_a_table_without_sensitive_columns(self, form: str) -> None:
        columns = {name: {"role": "quasi"} for name in XIAO.columns}
        with pytest.raises(PolicyError, match="no column is sensitive"):
            self.release(columns, privacy={"k": 2}, method={"name": "mbf"}, release={"form": form})

    def test_an_l_that_one_level_can_never_reach_costs_only_the_rows_of_that_level(self) -> None:
        privacy = {"l": {0: 1, 1: 2, 2: 10**12}, "suppression_limit": 0.3}
        release = self.release(XIAO_COLUMNS, privacy=privacy, method={"name": "mbf-mslf", "restarts": 50})
        assert release.manifest["suppressed"] == 2, "Cancer and HIV"
        assert release.verify().holds

    def test_an_unknown_option(self) -> None:
        with pytest.raises(PolicyError, match=r"ties"):
            self.release(XIAO_COLUMNS, privacy={"l": 2}, method={"name": "mbf", "ties": "alphabetical"})


@pytest.mark.parametrize("name", BUCKET_METHODS)
def test_all_six_are_registered_and_publish_verified_releases(name: str) -> None:
    assert method_class(name).forms[0] == "anatomized"
    policy = policy_of(XIAO_COLUMNS, privacy={"l": LEVELS, "k": 2, "suppression_limit": 0.9}, method={"name": name})
    release = polyveil.anonymize(XIAO, {**policy, "method": {"name": name, "restarts": 20}}, seed=3)
    assert release.form == "anatomized"
    assert release.verify().holds
    if name.endswith("-mslf"):
        assert release.manifest["suppressed"] == 0


def test_counts_of_groups_survive_collisions() -> None:
    counts = empty_counts(100, 7)
    rng = np.random.default_rng(2)
    pairs = [(int(g), int(v)) for g, v in zip(rng.integers(0, 20, 400), rng.integers(0, 7, 400), strict=True)][:100]
    for group, value in pairs:
        add(counts, group, value)
    for group, value in set(pairs):
        slot = slot_of(counts, group, value)
        assert counts.key[slot] == group * 7 + value
        assert counts.held[slot] == pairs.count((group, value))
