"""The block tree: cuts over quasi-identifier codes that divide the table into blocks small enough for one worker.

It is built on a sample, like the top of a Mondrian tree (LeFevre et al. 2006): the widest quasi-identifier is cut near
its median, categories between the children of their common ancestor. A cut is made only if both sides stay near
enough to the whole table (see `MARGIN`); if no quasi-identifier allows that, rows are divided by a hash of their
content, which leaves every distribution as it is. Rows with equal quasi-identifiers part only there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models import TOLERANCE, Attribute, ClassStatistics, Model, codes_of, from_classes, one_class
from polyveil.table.coded import CodedTable
from polyveil.table.domain import Domain, OrderedDomain

HASH = -1
"""Stands for an attribute if a node divides rows by a bit of their hash."""
MARGIN = 0.6
"""A block is planned at most this share of t away from the whole table: its classes need room to stay within t. On
Adult less means division by hash, which parts rows that are alike, and more loses if the method is greedy."""
LEAST_SHARE = 0.25
"""No block is planned smaller than this share of the block size."""
HASH_BITS = 62


@dataclass(frozen=True, eq=False)
class BlockTree:
    """Binary nodes, node 0 the root. A row goes right if its code of `attribute` is at least `at`, or if bit `at`
    of its hash is set; a node whose `left` is negative is a block, called by its number."""

    attribute: IntArray
    at: IntArray
    left: IntArray
    right: IntArray
    parent: IntArray

    def blocks_of(self, codes: Sequence[IntArray], hashed: IntArray) -> IntArray:
        """The block of each row."""
        stacked = np.stack([np.asarray(c, dtype=np.int64) for c in codes]) if codes else np.zeros((0, len(hashed)))
        node = np.zeros(len(hashed), dtype=np.int64)
        active = np.flatnonzero(self.left[node] >= 0)
        while len(active):
            here = node[active]
            attribute, at = self.attribute[here], self.at[here]
            by_hash = attribute == HASH
            right = np.empty(len(active), dtype=bool)
            right[by_hash] = (hashed[active[by_hash]] >> at[by_hash]) & 1 == 1
            coded = ~by_hash
            right[coded] = stacked[attribute[coded], active[coded]] >= at[coded]
            node[active] = np.where(right, self.right[here], self.left[here])
            active = active[self.left[node[active]] >= 0]
        return node

    def leaves(self) -> list[int]:
        """The blocks, by number."""
        return sorted(self.below(0))

    def below(self, node: int) -> set[int]:
        """The blocks within a node."""
        found, waiting = set(), [node]
        while waiting:
            one = waiting.pop()
            if self.left[one] < 0:
                found.add(one)
            else:
                waiting += [int(self.left[one]), int(self.right[one])]
        return found

    def coarser(self, blocks: set[int]) -> tuple[BlockTree, set[int], set[int]]:
        """Join each of these blocks with its neighbour under their parent: the tree, blocks gone, blocks new."""
        parents = {int(self.parent[block]) for block in blocks if block != 0}
        tops = {p for p in parents if not any(a in parents for a in self._ancestors(p))}
        gone = set().union(*(self.below(top) for top in tops)) if tops else set()
        left = self.left.copy()
        left[sorted(tops)] = -1
        return replace(self, left=left), gone, tops

    def _ancestors(self, node: int) -> list[int]:
        found = []
        while self.parent[node] >= 0:
            node = int(self.parent[node])
            found.append(node)
        return found


WHOLE = BlockTree(*(np.array([value], dtype=np.int64) for value in (HASH, 0, -1, -1, -1)))
"""One block that holds everything."""


def build_tree(
    sample: CodedTable,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    weight: float,
    block_rows: int,
) -> BlockTree:
    """Cut until a block is expected to hold `block_rows` rows; each sampled row stands for `weight` rows."""
    bounds = tuple(bounds_of(models, one_class(attributes, round(sample.rows * weight)), MARGIN))
    nodes: list[list[int]] = [[HASH, 0, -1, -1, -1]]
    waiting = [(0, np.arange(sample.rows, dtype=np.int64), 1.0, 0)]
    while waiting:
        node, rows, share, bit = waiting.pop()
        if len(rows) * share * weight <= block_rows or bit >= HASH_BITS:
            continue
        least = max(int(LEAST_SHARE * block_rows / weight / share), 1)
        cut = _best_cut(sample, rows, least, bounds, attributes) if share == 1.0 else None
        if cut is None:
            # Both halves look like the whole in expectation, so the sample is not divided, only its weight.
            nodes[node][:2] = [HASH, bit]
            parts = [(rows, share / 2, bit + 1), (rows, share / 2, bit + 1)]
        else:
            nodes[node][:2] = list(cut)
            right = sample.quasi[cut[0]].codes[rows] >= cut[1]
            parts = [(rows[~right], share, bit), (rows[right], share, bit)]
        for side, (some, part_share, next_bit) in enumerate(parts):
            nodes[node][2 + side] = len(nodes)
            waiting.append((len(nodes), some, part_share, next_bit))
            nodes.append([HASH, 0, -1, -1, node])
    table = np.array(nodes, dtype=np.int64)
    return BlockTree(*(np.ascontiguousarray(table[:, i]) for i in range(5)))


def _best_cut(
    sample: CodedTable, rows: IntArray, least: int, bounds: Sequence[Bound], attributes: Mapping[str, Attribute]
) -> tuple[int, int] | None:
    """The first attribute, widest first, with a cut whose sides are large and close enough: (attribute, code)."""
    widths = []
    for column in sample.quasi:
        codes = column.codes[rows]
        widths.append(_width(column.domain, int(codes.min()), int(codes.max())))
    for a in np.argsort(-np.array(widths), kind="stable").tolist():
        if widths[a] <= 0.0:
            return None
        codes = sample.quasi[a].codes[rows]
        for at in _places(sample.quasi[a].domain, codes)[:2]:
            right = codes >= at
            large = int(np.count_nonzero(right))
            if min(large, len(rows) - large) >= least and _close(sample.take(rows), right, bounds, attributes):
                return a, at
    return None


def _width(domain: Domain, low: int, high: int) -> float:
    if isinstance(domain, OrderedDomain) or not domain.as_set:
        return float(domain.loss(low, high))
    return (high - low) / max(domain.size - 1, 1)


def _places(domain: Domain, codes: IntArray) -> list[int]:
    """Codes where a right side may begin, nearest to an even division first."""
    present, counts = np.unique(codes, return_counts=True)
    before = np.append(0, np.cumsum(counts))[:-1]
    starts = present[1:]
    if not isinstance(domain, OrderedDomain) and not domain.as_set:
        tree = domain.hierarchy
        node = int(tree.common_ancestor(present[0], present[-1]))
        children = np.flatnonzero(tree.parent == node)
        # A cut between two children is a cut at the first present code of the later one.
        child = np.searchsorted(np.sort(tree.start[children]), present, side="right")
        starts = present[1:][np.diff(child) != 0]
    uneven = np.abs(before[np.searchsorted(present, starts)] - len(codes) / 2)
    return [int(code) for code in starts[np.argsort(uneven, kind="stable")]]


def _close(part: CodedTable, right: IntArray, bounds: Sequence[Bound], attributes: Mapping[str, Attribute]) -> bool:
    return within(bounds, from_classes(right.astype(np.int64), codes_of(part), attributes))


Bound = tuple[Model, float]
"""A model about a sensitive attribute, and the worst value a block as a whole may have."""


def bounds_of(models: Sequence[Model], whole: ClassStatistics, share: float) -> Iterator[Bound]:
    """How far a block may be from the whole table: this share of the way that the threshold leaves to a class.

    A demand for diversity leaves no way: a block that does not keep it as a whole has no classes that all do. A demand
    that the whole table breaks (rows may be left out then) bounds nothing.
    """
    for model in models:
        if not model.attribute or not model.passes(model.measure_all(whole)).all():
            continue
        if model.direction == "at least":
            yield model, model.threshold
        else:
            own = float(model.measure_all(whole)[0])
            yield model, own + share * (model.threshold - own)


def within(bounds: Sequence[Bound], statistics: ClassStatistics) -> bool:
    """Whether every class of the statistics, a block each, keeps every bound."""
    for model, bound in bounds:
        values = model.measure_all(statistics)
        near = model.passes(values) if model.direction == "at least" else values <= bound + TOLERANCE
        if not near.all():
            return False
    return True
