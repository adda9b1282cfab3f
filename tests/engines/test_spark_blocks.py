"""Blocks: how the table is cut, that a block follows from its rows alone, and what becomes of rows left over."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from engines.clinic import clinic, policy
from engines.conftest import on_spark
from polyveil.engines.spark.place import Plan, canonical_order, place_block
from polyveil.engines.spark.tree import HASH, WHOLE, BlockTree, build_tree
from polyveil.engines.spark.values import ValueColumn, Values
from polyveil.errors import Unsatisfiable
from polyveil.methods import make_method
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read


def coded(frame: pl.DataFrame, asked: dict[str, Any]) -> tuple[CodedTable, Any, Any]:
    table = encode(bind(Policy.from_dict(asked), read(frame)))
    attributes = attributes_of(table)
    return table, attributes, models_for(Policy.from_dict(asked), attributes)


def blocks_of(tree: BlockTree, table: CodedTable) -> np.ndarray:
    hashed = np.random.default_rng(0).integers(0, 2**62, table.rows)
    return tree.blocks_of([column.codes for column in table.quasi], hashed)


def two_kinds(rows: int = 400) -> pl.DataFrame:
    """The young have flu, the old a cold: no cut by age is close to the whole table."""
    age = np.arange(rows) % 60 + 20
    return pl.DataFrame({"age": age, "disease": np.where(age < 50, "flu", "cold")})


AGE_ALONE = {
    "version": 1,
    "columns": {"age": {"role": "quasi", "type": "numeric"}, "disease": {"role": "sensitive", "t": 0.2}},
    "privacy": {"k": 2},
    "method": {"name": "mondrian"},
}


def test_blocks_are_bounded_and_stay_near_the_whole_table() -> None:
    table, attributes, models = coded(clinic(4000), policy())
    tree = build_tree(table, models, attributes, 1.0, 600)
    blocks = blocks_of(tree, table)
    assert set(np.unique(blocks)) == set(tree.leaves())
    assert np.bincount(blocks)[tree.leaves()].max() < 900  # halves by hash are even in expectation only
    assert (tree.attribute[tree.left >= 0] != HASH).any()


def test_where_no_cut_keeps_the_distribution_rows_are_divided_by_hash() -> None:
    table, attributes, models = coded(two_kinds(), AGE_ALONE)
    tree = build_tree(table, models, attributes, 1.0, 110)
    assert (tree.attribute[tree.left >= 0] == HASH).all()
    assert len(tree.leaves()) == 4
    for block in tree.leaves():
        share = table.sensitive[0].codes[blocks_of(tree, table) == block].mean()
        assert share == pytest.approx(0.5, abs=0.15)


def test_coarser_blocks_join_neighbours() -> None:
    # Node 0 has the children 1 and 2, node 1 the children 3 and 4.
    tree = BlockTree(*(np.array(field) for field in ([0, 0, 0, 0, 0], [9, 5, 0, 0, 0], [1, 3, -1, -1, -1])), *_RIGHT)
    assert tree.leaves() == [2, 3, 4]
    joined, gone, new = tree.coarser({3})
    assert (joined.leaves(), gone, new) == ([1, 2], {3, 4}, {1})
    joined, gone, new = tree.coarser({2, 3})
    assert (joined.leaves(), gone, new) == ([0], {2, 3, 4}, {0})


_RIGHT = (np.array([2, 4, -1, -1, -1]), np.array([-1, 0, 0, 1, 1]))


def test_a_block_is_a_function_of_its_rows_whatever_their_order() -> None:
    frame = clinic(300)
    asked = Policy.from_dict(policy("fcm"))
    bound = bind(asked, read(frame))
    table, attributes, models = coded(frame, policy("fcm"))
    columns = [
        tuple(ValueColumn(b, None, c.codes, np.bincount(c.codes, minlength=c.domain.size)) for b, c in pairs)
        for pairs in (zip(bound.quasi, table.quasi, strict=True), zip(bound.sensitive, table.sensitive, strict=True))
    ]
    values = Values(asked, 300, columns[0], columns[1])
    shown = tuple(column.published() for column in values.sensitive)
    plan = Plan(values, make_method(asked.method), models, attributes, shown, seed=4, secret=b"secret")
    hashed = np.arange(300)
    results = []
    for order in (np.arange(300), np.random.default_rng(1).permutation(300)):
        quasi, sensitive = ([c.codes[order].astype(np.int64) for c in some] for some in (table.quasi, table.sensitive))
        again = canonical_order(quasi, sensitive, hashed[order])
        placed = place_block(plan, [c[again] for c in quasi], [c[again] for c in sensitive], block=7)
        results.append((placed.order.tolist(), [cells.to_list() for cells in placed.columns], placed.summary))
    assert results[0] == results[1]


def test_blocks_that_leave_rows_over_are_joined_until_none_is_left(spark: Any, monkeypatch: Any) -> None:
    import polyveil.engines.spark.run as run

    # A tree that cuts between the young and the old: neither side is close to the whole table.
    tree = BlockTree(
        *(np.array(field) for field in ([0, HASH, HASH], [30, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 0]))
    )
    monkeypatch.setattr(run, "plant", lambda *_: tree)
    release = polyveil.anonymize(on_spark(spark, two_kinds()), AGE_ALONE, reading={"block_rows": 200})
    assert release.manifest["method"]["found"]["blocks"] == 1
    assert release.manifest["suppressed"] == 0
    assert release.verify().holds
    # With blocks that must not grow, the same policy is out of reach, and the error says why.
    monkeypatch.setattr("polyveil.engines.spark.rounds.MOST_GROWTH", 1)
    with pytest.raises(Unsatisfiable, match="400 rows find no class in blocks of up to 200 rows"):
        polyveil.anonymize(on_spark(spark, two_kinds()), AGE_ALONE, reading={"block_rows": 200})


def test_one_block_is_the_whole_table() -> None:
    assert WHOLE.leaves() == [0]
    assert WHOLE.blocks_of([np.arange(5)], np.arange(5)).tolist() == [0] * 5
