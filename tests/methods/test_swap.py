"""swap: near rows, exchanged for the next nearest only while that helps."""

from __future__ import annotations

import numpy as np

from polyveil.methods import Task, make_method
from polyveil.methods._kernels.judge import compile_constraints, violation_classes
from polyveil.methods._strata.base import prepare
from polyveil.methods.swap import Swap, SwapOptions
from polyveil.models import DistinctDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.hierarchy import flat
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain, as_codes
from tables import random_table


def on_a_line(ages: list[int], illness: str) -> CodedTable:
    positions = np.arange(101.0)
    domain = OrderedDomain("numeric", positions, tuple(str(int(p)) for p in positions))
    values = TreeDomain(flat(sorted(set(illness))))
    codes = as_codes([values.labels.index(value) for value in illness], values.size)
    return CodedTable(
        len(ages),
        (QuasiColumn("age", domain, as_codes(ages, 101)),),
        (SensitiveColumn("illness", values, codes, "equal", np.ones(values.size, dtype=np.int64)),),
    )


def built(table: CodedTable, models: tuple[Model, ...], g: int, **options: object) -> np.ndarray:
    ready = prepare(table, compile_constraints(models, attributes_of(table), table))
    task = Task(table, models, attributes_of(table), Privacy(), np.random.default_rng(0))
    return Swap(SwapOptions(**options)).builder(ready, task)(g, "farthest", np.random.default_rng(0))


def test_without_other_demands_a_class_is_the_seed_and_its_nearest_rows() -> None:
    table = on_a_line([0, 1, 2, 50, 51, 52, 99, 100, 98], "abcabcabc")
    labels = built(table, (KAnonymity(3),), 3)
    assert len({*labels[:3]}) == len({*labels[3:6]}) == len({*labels[6:]}) == 1


def test_a_failing_class_swaps_in_the_next_nearest_row_that_helps() -> None:
    # The seed is at the rim (0 or 100). Three rows near 0 all have "a": the nearest "b", at 9, is swapped in, not the
    # one at 30; one of the "a" rows goes back and is used by a later class.
    table = on_a_line([0, 1, 2, 8, 9, 30, 31, 32, 33, 34], "aaaababbab")
    labels = built(table, (DistinctDiversity(2, "illness"),), 3, candidates=0)
    of_rim = labels[0]
    members = np.flatnonzero(labels == of_rim)
    assert 4 in members or 5 in members
    assert labels.min() >= 0


def test_swapping_lowers_the_number_of_failing_classes() -> None:
    table = random_table(4, 240, nulls=False)
    models = tuple(TCloseness(0.3, column.name) for column in table.sensitive)
    judge = compile_constraints(models, attributes_of(table), table)
    from polyveil.methods._kernels.judge import sensitive_matrix

    def failing(candidates: int) -> int:
        labels = built(table, models, 6, candidates=candidates)
        return int(np.count_nonzero(violation_classes(judge, labels, sensitive_matrix(table))))

    assert failing(64) < failing(1)


def test_every_row_is_in_one_class_and_all_classes_but_the_last_have_g_rows() -> None:
    table = random_table(9, 101)
    models = tuple(TCloseness(0.2, column.name) for column in table.sensitive)
    sizes = np.bincount(built(table, models, 7))
    assert (sizes[:-1] == 7).all()
    assert 7 <= sizes[-1] < 14
    assert sizes.sum() == 101


def test_all_candidates_is_the_papers_run() -> None:
    table = random_table(2, 60)
    models = (KAnonymity(3), *(TCloseness(0.4, column.name) for column in table.sensitive))
    task = Task(table, models, attributes_of(table), Privacy(k=3, t=0.4), np.random.default_rng(0))
    partition = make_method(MethodChoice(name="swap", strata="k", candidates=0)).partition(task)
    assert np.bincount(partition.class_of_row).min() >= 3
