"""Mondrian against a plain recursive twin, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.measure import measure_loss
from polyveil.methods import Task
from polyveil.methods.mondrian import Mondrian, MondrianOptions
from polyveil.models import KAnonymity, Model, TCloseness, attributes_of, from_classes
from polyveil.policy.schema import Privacy
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import OrderedDomain
from tables import random_table


def asked(k: int, t: float | None, table: CodedTable) -> tuple[Model, ...]:
    closeness = [TCloseness(t, column.name) for column in table.sensitive] if t is not None else []
    return (KAnonymity(k), *closeness)


def run(table: CodedTable, models: tuple[Model, ...], cut: str = "strict") -> np.ndarray:
    task = Task(table, models, attributes_of(table), Privacy(), np.random.default_rng(0))
    return Mondrian(MondrianOptions(cut=cut)).partition(task).class_of_row


def holds(table: CodedTable, models: tuple[Model, ...], rows: np.ndarray) -> bool:
    part = table.take(rows)
    statistics = from_classes(
        np.zeros(len(rows), dtype=np.int64), {c.name: c.codes for c in part.sensitive}, attributes_of(table)
    )
    return all(model.judge(statistics).holds for model in models)


def width(column: QuasiColumn, codes: np.ndarray) -> float:
    if isinstance(column.domain, OrderedDomain) or not column.domain.as_set:
        return float(column.domain.loss(codes.min(), codes.max()))
    return (int(codes.max()) - int(codes.min())) / max(column.domain.size - 1, 1)


def plain_cuts(column: QuasiColumn, rows: np.ndarray) -> list[list[np.ndarray]]:
    """The cuts to try, best first: each a list of parts."""
    codes = column.codes[rows].astype(int)
    rows = rows[np.argsort(codes, kind="stable")]
    codes = np.sort(codes)
    domain = column.domain
    if not isinstance(domain, OrderedDomain) and not domain.as_set:
        tree = domain.hierarchy
        node = int(tree.common_ancestor(codes[0], codes[-1]))
        children = [child for child in range(len(tree.parent)) if tree.parent[child] == node]
        parts = [rows[(codes >= tree.start[c]) & (codes < tree.stop[c])] for c in children]
        return [[part for part in parts if len(part)]]
    middle = len(rows) // 2
    if isinstance(domain, OrderedDomain) and codes[-1] == domain.null_code and codes[0] != codes[-1]:
        middle = len(rows) - 1
    value = codes[middle]
    before, after = int(np.sum(codes < value)), int(np.sum(codes <= value))
    places = [before, after] if middle - before <= after - middle else [after, before]
    return [[rows[:place], rows[place:]] for place in places if 0 < place < len(rows)]


def plain_mondrian(table: CodedTable, models: tuple[Model, ...], rows: np.ndarray) -> list[frozenset[int]]:
    widths = np.array([width(column, column.codes[rows].astype(int)) for column in table.quasi])
    for a in np.argsort(-widths):
        if widths[a] <= 0:
            break
        for parts in plain_cuts(table.quasi[a], rows):
            if len(parts) > 1 and all(holds(table, models, part) for part in parts):
                return [each for part in parts for each in plain_mondrian(table, models, part)]
    return [frozenset(rows.tolist())]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 8), t=st.sampled_from([None, 0.15, 0.3, 0.6]))
def test_the_kernel_makes_the_same_classes_as_the_plain_recursion(seed: int, k: int, t: float | None) -> None:
    table = random_table(seed)
    models = asked(k, t, table)
    classes = run(table, models)
    made = {frozenset(np.flatnonzero(classes == c).tolist()) for c in range(classes.max() + 1)}
    assert made == set(plain_mondrian(table, models, np.arange(table.rows)))


@pytest.mark.parametrize("cut", ["strict", "relaxed"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_every_class_satisfies_every_model(seed: int, cut: str) -> None:
    table = random_table(seed, rows=120, sensitive=3)
    models = asked(4, 0.4, table)
    classes = run(table, models, cut)
    assert all(holds(table, models, np.flatnonzero(classes == c)) for c in range(classes.max() + 1))


def test_relaxed_cuts_part_rows_of_one_value_where_strict_ones_cannot() -> None:
    # Seven rows at one value and three at the other, k=5: no strict cut leaves five on both sides; the relaxed one
    # makes a class of five equal rows (no loss) and one of two and three (loss 1 for five of ten rows).
    domain = OrderedDomain("numeric", np.array([1.0, 2.0]), ("1", "2"))
    codes = np.array([0] * 7 + [1] * 3)
    table = CodedTable(10, (QuasiColumn("age", domain, codes),), ())
    strict, relaxed = run(table, (KAnonymity(5),)), run(table, (KAnonymity(5),), "relaxed")
    assert measure_loss(table, strict).information_loss == 1.0
    assert measure_loss(table, relaxed).information_loss == 0.5
