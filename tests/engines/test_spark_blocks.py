"""Blocks: how the table is cut, that a block follows from its rows alone, and what becomes of rows left over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from engines.clinic import clinic, policy
from polyveil.engines.spark.block import BlockResult, Plan, anonymize_block, canonical_order
from polyveil.engines.spark.tree import HASH, WHOLE, BlockTree, build_tree
from polyveil.engines.spark.values import ValueColumn, Values
from polyveil.errors import Unsatisfiable
from polyveil.methods import METHODS, make_method, method_class
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.releases import form_of, resolve_form
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read
from spark_session import on_spark


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


def plan_of(frame: pl.DataFrame, asked: dict[str, Any]) -> tuple[Plan, CodedTable]:
    """What a worker gets to place blocks of the frame, and the frame as codes."""
    given = Policy.from_dict(asked)
    method = make_method(given.method)
    given = resolve_form(given, method)
    bound = bind(given, read(frame))
    table = encode(bound)
    attributes = attributes_of(table)
    columns = [
        tuple(ValueColumn(b, None, c.codes, np.bincount(c.codes, minlength=c.domain.size)) for b, c in pairs)
        for pairs in (zip(bound.quasi, table.quasi, strict=True), zip(bound.sensitive, table.sensitive, strict=True))
    ]
    values = Values(given, table.rows, columns[0], columns[1])
    shown = [tuple(column.published() for column in some) for some in (values.quasi, values.sensitive)]
    models = models_for(given, attributes)
    form = form_of(given)
    return Plan(
        values=values,
        method=method,
        form=form,
        models=models,
        attributes=attributes,
        published=shown[1],
        seed=4,
        secret=b"secret",
        as_they_are=shown[0] if given.release.generalize == "none" else (),
        slices=form.slices(given),
    ), table


def anonymized(plan: Plan, table: CodedTable, rows: np.ndarray, block: int) -> BlockResult:
    """Some rows of the table as they arrive, brought into order and anonymized."""
    quasi, sensitive = ([c.codes[rows].astype(np.int64) for c in some] for some in (table.quasi, table.sensitive))
    order = canonical_order(quasi, sensitive, rows)
    return anonymize_block(plan, [c[order] for c in quasi], [c[order] for c in sensitive], block)


ANATOMIZED = policy(
    "mbf",
    columns={"disease": {"role": "sensitive"}, "cost": {"role": "sensitive", "type": "numeric"}},
    privacy={"l": 2, "diversity": "frequency", "suppression_limit": 0.2},
    release={"form": "anatomized"},
)


def of_method(name: str) -> dict[str, Any]:
    """A policy that the method can serve: bucket methods know l, the others t."""
    if "generalized" not in method_class(name).forms:
        return {**ANATOMIZED, "method": {"name": name}, "release": {"form": "sliced"}}
    if name.startswith(("mbf", "msdcf", "mmdcf")):
        return {**ANATOMIZED, "method": {"name": name}}
    return policy(name, options={"effort": "fast"} if name in ("sift", "auto") else {})


@pytest.mark.parametrize("name", METHODS)
def test_a_block_is_a_function_of_its_rows_whatever_their_order(name: str) -> None:
    # A retried or speculative task, and one that an executor took with it, therefore write the same cells, the same
    # group ids into every table, and the same order.
    plan, table = plan_of(clinic(300), of_method(name))
    one, other = (
        anonymized(plan, table, rows, block=7) for rows in (np.arange(300), np.random.default_rng(1).permutation(300))
    )
    assert one.summary == other.summary
    for kind in ("columns", "groups", "orders", "codes"):
        shown, again = ([list(values) for values in getattr(result, kind)] for result in (one, other))
        assert shown == again
    assert len(one.kept) > 200


def test_group_ids_and_orders_differ_between_blocks_and_tables() -> None:
    plan, table = plan_of(clinic(300), ANATOMIZED)
    here, there = (anonymized(plan, table, np.arange(300), block) for block in (7, 8))
    assert not set(here.groups[0]) & set(there.groups[0])
    first, second = here.orders
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.3
    assert abs(np.corrcoef(first, there.orders[0])[0, 1]) < 0.3
    # Ids are drawn, so the first groups that were made do not have the smallest.
    made = np.array([int(text) for text in dict.fromkeys(here.groups[0])])
    assert abs(np.corrcoef(made, np.arange(len(made)))[0, 1]) < 0.5


@pytest.mark.parametrize("method", ["fcm", "pca", "mondrian", "sift"])
def test_a_block_exactly_at_t_hands_its_rows_up(method: str) -> None:
    # Half of the table has flu. A block with 70 of 100 is 0.2 = t away: only all of its rows together hold, and
    # looking for classes among them is long and vain. With 60 of 100 there is room for classes.
    frame = pl.DataFrame({"age": np.arange(400) % 60, "disease": np.where(np.arange(400) < 200, "flu", "cold")})
    plan, table = plan_of(frame, {**AGE_ALONE, "method": {"name": method}})
    at_t, near = (np.append(np.arange(flu), np.arange(200, 300 - flu)) for flu in (70, 60))
    for rows in (at_t, near):
        assert len(rows) == 100
    handed_up = anonymized(plan, table, at_t, block=3)
    assert handed_up.summary["left"] == 100
    assert handed_up.summary["why"] == ["a block is too far from the whole table", None]
    assert anonymized(plan, table, near, block=3).summary["left"] == 0
    # The block that holds everything has no coarser one and is tried in any case.
    assert anonymized(plan, table, at_t, block=0).summary["left"] == 0


def test_blocks_that_leave_rows_over_are_joined_until_none_is_left(spark: Any, monkeypatch: Any) -> None:
    import polyveil.engines.spark.engine as run

    # A tree that cuts between the young and the old: neither side is close to the whole table.
    tree = BlockTree(
        *(np.array(field) for field in ([0, HASH, HASH], [30, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 0]))
    )
    monkeypatch.setattr(run, "plant", lambda *_: (tree, ()))
    by_fcm = {**AGE_ALONE, "method": {"name": "fcm"}}
    release = polyveil.anonymize(on_spark(spark, two_kinds()), by_fcm, reading={"block_rows": 200})
    assert release.manifest["method"]["found"]["blocks"] == 1
    assert release.manifest["suppressed"] == 0
    assert release.verify().holds
    # With blocks that must not grow, the same policy is out of reach, and the error says why.
    monkeypatch.setattr("polyveil.engines.spark.coarsening.MOST_GROWTH", 1)
    with pytest.raises(Unsatisfiable, match="400 rows fit into no group in blocks of up to 200 rows"):
        polyveil.anonymize(on_spark(spark, two_kinds()), AGE_ALONE, reading={"block_rows": 200})


def test_one_block_is_the_whole_table() -> None:
    assert WHOLE.leaves() == [0]
    assert WHOLE.blocks_of([np.arange(5)], np.arange(5)).tolist() == [0] * 5


def test_blocks_are_not_cut_where_a_side_breaks_a_demand_for_diversity() -> None:
    asked = {**AGE_ALONE, "columns": {**AGE_ALONE["columns"], "disease": {"role": "sensitive", "l": 2}}}
    table, attributes, models = coded(two_kinds(360), asked)
    tree = build_tree(table, models, attributes, 1.0, 100)
    assert (tree.attribute[tree.left >= 0] == HASH).all()


def test_classes_are_refined_in_blocks_where_the_policy_asks_for_it() -> None:
    lost = []
    for options in ({}, {"refine": "fast"}):
        plan, table = plan_of(clinic(300), policy(options=options))
        costs = anonymized(plan, table, np.arange(300), block=0).summary["costs"]
        lost.append(sum(costs["width"].values()))
    assert lost[1] < lost[0]


def test_compute_that_keeps_nothing_stages_rows_in_a_table(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As serverless compute refuses it. The groups are the same, and no table is left over."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.classic.dataframe import DataFrame

    made: list[str] = []

    def refused(*_: Any) -> Any:
        made.append("asked")
        raise AnalysisException(errorClass="NOT_IMPLEMENTED", messageParameters={"feature": "PERSIST TABLE"})

    usual = anonymized_clinic(spark, tmp_path / "usual")
    monkeypatch.setattr(DataFrame, "persist", refused)
    staged = anonymized_clinic(spark, tmp_path / "staged")
    assert made
    assert staged == usual
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith("polyveil_staged")]


def anonymized_clinic(spark: Any, out: Path) -> list[Any]:
    polyveil.anonymize(on_spark(spark, clinic()), policy(), out=out, seed=3, reading={"block_rows": 150})
    parts = [pl.read_parquet(part) for part in sorted((out / "table").iterdir())]
    return pl.concat(parts).sort(pl.all()).rows()
