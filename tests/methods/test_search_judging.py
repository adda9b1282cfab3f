"""The search against plain recounts: the cost of boxes, the judge, histograms and bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._kernels.boxes import SET
from polyveil.methods._kernels.judge import closeness, compile_constraints, holds
from polyveil.methods._search.coarse import coarsen
from polyveil.methods._search.space import KIND, cell_loss, costliest_first, make_space
from polyveil.methods._search.tally import (
    class_holds,
    count_ranges,
    count_row,
    count_values,
    holds_changed,
    holds_exchanged,
    workload,
)
from polyveil.models import AlphaAnonymity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.table.coded import CodedTable, SensitiveColumn
from search_recounts import counted, space_of
from tables import ordered, random_table

seeds = st.integers(0, 10_000)


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
        assert class_holds(space, hist, 0, n) == holds(judge, hist[0, : space.width].astype(np.int64), n)


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
            found = holds_exchanged(space, hist, 0, n, work, rows.tuple_of[gone], rows.tuple_of[come])
            assert found == class_holds(space, after, 0, n)


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
            assert holds_changed(space, hist, 0, n, work, rows.tuple_of[r], -1) == class_holds(space, after, 0, n - 1)
        for r in outside:
            after = counted(space, rows.tuple_of[np.append(inside, r)])
            assert holds_changed(space, hist, 0, n, work, rows.tuple_of[r], 1) == class_holds(space, after, 0, n + 1)


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
