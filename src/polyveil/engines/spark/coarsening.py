"""All blocks anonymized, and those that leave rows over once more in coarser blocks, until few enough are left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyveil.engines.spark.block import ROOT, Plan
from polyveil.engines.spark.block_udf import anonymized, row_schema
from polyveil.engines.spark.held import Held, held
from polyveil.engines.spark.rows import in_blocks, insensitive_types
from polyveil.engines.spark.tree import BlockTree
from polyveil.engines.spark.values import Values
from polyveil.errors import Fault, PolicyError, Unsatisfiable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

MOST_GROWTH = 16
"""Joined blocks may grow to this many times the block size; beyond that a worker's memory is at stake."""
MOST_PARTITIONS = 2000


@dataclass(frozen=True, eq=False)
class Coarsened:
    """All rows that have a class, one summary per block, and the rows that Spark keeps for them."""

    frame: DataFrame
    summaries: list[dict[str, Any]]
    held: list[Held]
    schema: StructType
    """The columns of the rows, packed or not."""

    @property
    def left(self) -> int:
        """Rows without a class, or with a value that has no group."""
        return sum(summary["left"] for summary in self.summaries)

    @property
    def suppressed(self) -> int:
        """Rows without a class."""
        return sum(summary["suppressed"] for summary in self.summaries)

    @property
    def groups(self) -> list[int]:
        """How many groups each sensitive table of a linked release has."""
        return [sum(some) for some in zip(*(s["groups"] for s in self.summaries if s["groups"]), strict=True)]

    def let_go(self) -> None:
        for rows in self.held:
            rows.let_go()


def anonymize_blocks(frame: DataFrame, plan: Plan, tree: BlockTree, block_rows: int, *, values: Values) -> Coarsened:
    """Every block, coarser if rows are left over; raises Unsatisfiable if that does not help.

    `values` are those of the plan with what rows are encoded by.
    """
    from pyspark.sql import functions as sf

    privacy = values.policy.privacy
    schema = row_schema(insensitive_types(frame, values), plan)
    allowed = int(privacy.suppression_limit * values.rows + 1e-9)
    outcome = Coarsened(frame, [], [], schema)
    new = set(tree.leaves())
    while True:
        blocks = in_blocks(frame, values, plan.seed, tree)
        if outcome.summaries:
            blocks = blocks.where(sf.col("block").isin(sorted(new)))
        fresh = held(
            anonymized(blocks, plan, schema, min(len(new), MOST_PARTITIONS))
        )  # for the summaries and the release
        outcome = _joined(outcome, fresh, tree)
        _refuse_faults(outcome)
        failing = {summary["block"] for summary in outcome.summaries if summary["left"]}
        if outcome.left <= allowed:
            return outcome
        try:
            tree, new = _coarser(tree, failing, outcome, allowed, MOST_GROWTH * block_rows)
        except Unsatisfiable:
            outcome.let_go()
            raise


def _refuse_faults(outcome: Coarsened) -> None:
    """What a method says against the policy itself, once, however many blocks it was said in."""
    for summary in outcome.summaries:
        if "faults" in summary:
            outcome.let_go()
            raise PolicyError([Fault(*fault) for fault in summary["faults"]])


def _joined(before: Coarsened, fresh: Held, tree: BlockTree) -> Coarsened:
    """The rows of before, without the blocks that are gone, and the fresh ones."""
    from pyspark.sql import functions as sf

    rows = fresh.frame.where(sf.col("summary").isNotNull()).select("summary").collect()
    summaries = [json.loads(row["summary"]) for row in rows]
    if not before.summaries:
        return Coarsened(fresh.frame, summaries, [fresh], before.schema)
    current = set(tree.leaves()) - {summary["block"] for summary in summaries}
    kept = before.frame.where(sf.col("block").isin(sorted(current)))
    older = [summary for summary in before.summaries if summary["block"] in current]
    return Coarsened(kept.unionByName(fresh.frame), [*older, *summaries], [*before.held, fresh], before.schema)


def _coarser(
    tree: BlockTree, failing: set[int], outcome: Coarsened, allowed: int, most_rows: int
) -> tuple[BlockTree, set[int]]:
    """The tree with the failing blocks joined with their neighbours, and the new blocks."""
    if ROOT in failing:
        raise _unreachable(outcome, allowed)
    rows = {summary["block"]: summary["rows"] for summary in outcome.summaries}
    coarse, _, new = tree.coarser(failing)
    largest = max(sum(rows.get(block, 0) for block in tree.below(top)) for top in new)
    if largest > most_rows:
        raise Unsatisfiable(
            f"{outcome.left} rows fit into no group in blocks of up to {most_rows} rows, and {allowed} may be left out",
            "a weaker requirement, a greater privacy.suppression_limit, or larger blocks (--block-rows)",
        )
    return coarse, new


def _unreachable(outcome: Coarsened, allowed: int) -> Unsatisfiable:
    """In one block that holds everything, the method's own words; otherwise how many rows are left over."""
    for summary in outcome.summaries:
        if summary["block"] == ROOT and "why" in summary:
            constraint, nearest = summary["why"]
            return Unsatisfiable(constraint, nearest)
    return Unsatisfiable(
        f"{outcome.left} rows fit into no group even if all rows are in one block, and {allowed} may be left out",
        "a weaker requirement, or a greater privacy.suppression_limit",
    )
