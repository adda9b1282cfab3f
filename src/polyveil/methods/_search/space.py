"""What the search works in: the cost of boxes over the quasi-identifiers, and the judge of the sensitive values.

A box is the least and greatest code per attribute and, for attributes released as sets, one bit per value. The cost of
an ordered attribute is the distance of its ends. The cost of a node is found without walking the tree: codes run
depth-first, so the lowest common ancestor of a range of codes is the costliest among the common ancestors of its
neighbouring codes, and a table of maxima over stretches of 2^i neighbours answers that at once. Costs are multiplied by
the attribute's weight; with all weights 1 the cost of a box is the information loss of a row in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.methods._kernels.boxes import ORDERED, SET, TREE, code_matrix, kind_of
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.judge import JudgeSpec, asks_more, sensitive_matrix
from polyveil.methods._search.coarse import coarsen
from polyveil.table.coded import CodedTable, QuasiColumn, distinct
from polyveil.table.domain import OrderedDomain

Bits = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int32]
Flag = npt.NDArray[np.uint8]
"""One number that another thread sets to 1 to have a kernel stop soon; what it has done until then stays."""
SAMPLED = 4096
"""Pairs of rows looked at to say which quasi-identifiers cost the most."""

KIND, SIZE, NULL, TURN, POSITION, WORD, WORDS, GAP = range(8)
"""Columns of `Space.shape`: kind of attribute, codes, code of "missing", its number in the table; where positions,
words and gaps begin."""

__all__ = [
    "GAP",
    "KIND",
    "NULL",
    "ORDERED",
    "SET",
    "SIZE",
    "TREE",
    "TURN",
    "Bits",
    "Codes",
    "Counts",
    "Flag",
    "Rows",
    "Space",
    "make_space",
]


class Rows(NamedTuple):
    """Rows to be put into classes: quasi-identifier codes, and the number of each row's sensitive tuple."""

    codes: Codes
    tuple_of: Codes


@by_reference
class Space(NamedTuple):
    """What never changes during a search, in as few arrays as possible."""

    shape: IntArray  # attributes x (KIND, SIZE, NULL, TURN, POSITION, WORD, WORDS, GAP, GAP + 1, ...)
    cost: FloatArray  # one unit per attribute, then positions and gaps
    places: Codes  # tuples x attributes: where a tuple's values are counted in a histogram
    ranges: IntArray  # closeness: range x (start, stop, constraint)
    terms: FloatArray  # closeness: range x (weight, share in the whole table)
    limits: FloatArray  # closeness: one per constraint
    first_range: IntArray  # closeness: the ranges of constraint j are first_range[j], ..., first_range[j + 1] - 1
    owners: IntArray  # the one closeness constraint that looks at a value, or -1
    steps: FloatArray  # how much a row of a value changes its work at most; none if two constraints look at a value
    covers: IntArray  # value v is in the ranges counted at covers[covers[v]], ..., covers[covers[v + 1] - 1]
    caps: FloatArray  # greatest share per value, or none
    other_constraints: JudgeSpec | None  # all constraints, if there are others than size, closeness and caps
    shares: FloatArray  # share of every value in the whole table
    spent: FloatArray  # room for one distance per closeness constraint
    words: int
    width: int  # values in a histogram, the ranges counted behind them; 0 where only the size of a class is judged
    length: int  # of a histogram: values and ranges
    nested: int  # 1 where the ranges around every value lie within each other
    least: int  # no class has fewer rows
    joint: int  # where in a histogram the combinations judged together begin


def make_space(table: CodedTable, judge: JudgeSpec) -> tuple[Space, Rows]:
    """The space of a table under a judge, and its rows."""
    names, table = [column.name for column in table.quasi], costliest_first(table)
    places = sensitive_matrix(table)
    if not asks_more(judge):
        judge, bin_of = coarsen(judge)
        places = bin_of.astype(np.int32)[places]
    alone = len(table.sensitive)
    judged = [a for a in range(places.shape[1]) if a >= alone or _is_judged(judge, a)]
    shares = np.bincount(places.ravel(), minlength=judge.width) / max(table.rows, 1)
    tuples = distinct([places[:, a].astype(np.int64) for a in judged], [judge.width] * len(judged), table.rows)
    shape, cost = _shapes(table)
    shape[:, TURN] = [names.index(column.name) for column in table.quasi]
    covers, nested = _covers(judge)
    owners, steps = _steps(judge, judged)
    owner = np.repeat(np.arange(len(judge.close_limit)), np.diff(judge.range_begin))
    space = Space(
        shape=shape,
        cost=cost,
        places=np.ascontiguousarray(tuples.codes, dtype=np.int32),
        ranges=np.stack([judge.range_start, judge.range_stop, owner], axis=1).astype(np.int64),
        terms=np.stack([judge.range_weight, judge.range_share], axis=1),
        limits=judge.close_limit.copy(),  # dividing lowers them for a while
        first_range=judge.range_begin,
        owners=owners,
        steps=steps,
        covers=covers,
        caps=judge.cap if judge.has_caps else np.zeros(0),
        other_constraints=judge if asks_more(judge) else None,
        shares=shares,
        spent=np.zeros(len(judge.close_limit)),
        words=max(int(shape[:, WORDS].sum()), 1),
        width=judge.width if judged else 0,
        length=judge.width + len(owner) if judged else 0,
        nested=nested,
        least=max(judge.min_size, 1),
        joint=int(judge.offset[alone]),
    )
    return space, Rows(code_matrix(table), tuples.of_row.astype(np.int32))


def copy_for_thread(space: Space) -> Space:
    """The same space in arrays of its own: cores that share arrays wait for each other."""
    parts: list[Any] = [part.copy() if isinstance(part, np.ndarray) else part for part in space]
    return Space(*parts)


def _is_judged(judge: JudgeSpec, attribute: int) -> bool:
    """Whether any constraint looks at the attribute; tuples need not tell values apart that none looks at."""
    first, last = int(judge.offset[attribute]), int(judge.offset[attribute + 1])
    if np.isfinite(judge.cap[first:last]).any() or (judge.floor[first:last] > 0).any():
        return True
    if ((judge.range_start >= first) & (judge.range_start < last)).any():
        return True
    by_number = (judge.distinct_attribute, judge.entropy_attribute, judge.recursive_attribute)
    return any((found == attribute).any() for found in (*by_number, judge.divergence_attribute))


def _steps(judge: JudgeSpec, judged: list[int]) -> tuple[IntArray, FloatArray]:
    """Per value its closeness constraint (-1: none) and the distance of one row of it from the whole table."""
    owners, steps = np.full(judge.width, -1, dtype=np.int64), np.zeros(judge.width)
    for j in range(len(judge.close_limit)):
        own = slice(int(judge.range_begin[j]), int(judge.range_begin[j + 1]))
        start, stop = judge.range_start[own], judge.range_stop[own]
        weight, share = judge.range_weight[own], judge.range_share[own]
        if len(start) == 0:
            continue
        attribute = int(np.searchsorted(judge.offset, start.min(), side="right")) - 1
        first, last = int(judge.offset[attribute]), int(judge.offset[attribute + 1])
        if attribute not in judged or stop.max() > last or (owners[first:last] >= 0).any():
            return owners, np.zeros(0)
        inside = np.zeros(last - first + 1)
        np.add.at(inside, start - first, weight * (1.0 - 2.0 * share))
        np.add.at(inside, stop - first, -weight * (1.0 - 2.0 * share))
        owners[first:last], steps[first:last] = j, float(weight @ share) + np.cumsum(inside)[:-1]
    return owners, steps


def _covers(judge: JudgeSpec) -> tuple[IntArray, int]:
    """Where the ranges around each value are counted, the narrowest first, and whether they lie within each other."""
    length = judge.range_stop - judge.range_start
    ranges = np.repeat(np.arange(len(length)), length)
    values = np.arange(len(ranges)) - np.repeat(np.cumsum(length) - length, length) + judge.range_start[ranges]
    order = np.lexsort((length[ranges], values))
    values, ranges = values[order], ranges[order]
    begin = np.searchsorted(values, np.arange(judge.width + 1)) + judge.width + 1
    same = values[1:] == values[:-1]
    inner, outer = ranges[:-1][same], ranges[1:][same]
    within = (judge.range_start[inner] >= judge.range_start[outer]) & (
        judge.range_stop[inner] <= judge.range_stop[outer]
    )
    return np.concatenate([begin, ranges + judge.width]).astype(np.int64), int(within.all())


def costliest_first(table: CodedTable) -> CodedTable:
    """The same table, those quasi-identifiers first that cost the most over two rows: sums over them stop soonest."""
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, max(table.rows, 1), min(table.rows, SAMPLED)) for _ in range(2))
    mean = [_mean_cost(column, column.codes[one], column.codes[two]) for column in table.quasi]
    order = np.argsort(-np.array(mean), kind="stable")
    return replace(table, quasi=tuple(table.quasi[a] for a in order))


def _mean_cost(column: QuasiColumn, one: IntArray, two: IntArray) -> float:
    if len(one) == 0:
        return 0.0
    if kind_of(column) == SET:
        return column.weight * float((one != two).mean()) / max(column.domain.size - 1, 1)
    return column.weight * float(column.domain.loss(np.minimum(one, two), np.maximum(one, two)).mean())


def _shapes(table: CodedTable) -> tuple[IntArray, FloatArray]:
    levels = max((int(column.domain.size).bit_length() for column in table.quasi), default=1) + 1
    shape = np.zeros((len(table.quasi), GAP + levels), dtype=np.int64)
    parts: list[FloatArray] = [np.zeros(len(table.quasi))]
    filled, words = len(table.quasi), 0
    for a, column in enumerate(table.quasi):
        kind, size = kind_of(column), column.domain.size
        shape[a, KIND], shape[a, SIZE], shape[a, NULL] = kind, size, column.domain.null_code
        parts[0][a] = column.weight / max(size - 1, 1) if kind == SET else column.weight
        if kind == SET:
            shape[a, WORD], shape[a, WORDS] = words, (size + 63) // 64
            words += (size + 63) // 64
        for i, level in enumerate(_levels(column)):
            shape[a, POSITION if kind == ORDERED else GAP + i] = filled
            parts.append(level * column.weight)
            filled += len(level)
    return shape, np.concatenate(parts)


def _levels(column: QuasiColumn) -> list[FloatArray]:
    """Ordered: the positions. Tree: the cost of joining each code with the next, and maxima over 2^i of these."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        return [np.append(domain.normalized, 0.0)]
    if domain.as_set or domain.size < 2:
        return []
    codes = np.arange(domain.size - 1)
    levels = [domain.loss(codes, codes + 1)]
    while 2 << (len(levels) - 1) <= len(codes):
        step = 1 << (len(levels) - 1)
        levels.append(np.maximum(levels[-1][:-step], levels[-1][step:]))
    return levels


@njit
def as_int64(value: Any) -> int:
    """A number in 64 bits: kernels are compiled anew for every width of their arguments."""
    return np.int64(value)  # type: ignore[return-value]


@njit
def most_codes(space: Space) -> int:
    """How many codes the attribute with the most has; a loop compiles sooner than `max` of a column."""
    most = 0
    for a in range(len(space.shape)):
        most = max(most, space.shape[a, SIZE])
    return most


@njit
def cell_loss(space: Space, a: int, low: int, high: int) -> float:
    """The cost of releasing the codes low..high of attribute a as one range or node (not for sets)."""
    if low >= high:
        return 0.0
    if space.shape[a, KIND] == ORDERED:
        if high == space.shape[a, NULL]:
            return space.cost[a]
        begin = space.shape[a, POSITION]
        return space.cost[begin + high] - space.cost[begin + low]
    level = 0
    while (2 << level) <= high - low:
        level += 1
    begin = space.shape[a, GAP + level]
    return max(space.cost[begin + low], space.cost[begin + high - (1 << level)])


@njit
def copy_values(values: Codes, to: Codes) -> None:
    """Copy values to the front of an array; a loop compiles sooner than an assignment to a slice."""
    for i in range(len(values)):
        to[i] = values[i]


@njit
def shuffle(values: Codes) -> None:
    """Put values in random order."""
    for i in range(len(values) - 1, 0, -1):
        j = np.random.randint(i + 1)  # noqa: NPY002 - kernels have no generators
        values[i], values[j] = values[j], values[i]


@njit
def numbers(count: int) -> Codes:
    """0, 1, ..."""
    found = np.empty(count, dtype=np.int32)
    for i in range(count):
        found[i] = i
    return found


@njit
def some_rows(rows: Rows, members: Codes) -> Rows:
    """A copy of some rows."""
    codes = np.empty((len(members), rows.codes.shape[1]), dtype=np.int32)
    tuple_of = np.empty(len(members), dtype=np.int32)
    for i in range(len(members)):
        tuple_of[i] = rows.tuple_of[members[i]]
        for a in range(rows.codes.shape[1]):
            codes[i, a] = rows.codes[members[i], a]
    return Rows(codes, tuple_of)


@njit
def bit_count(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return as_int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit
def set_size(space: Space, a: int, words: Bits, b: int) -> int:
    """How many values of attribute a box b has."""
    found = 0
    begin = space.shape[a, WORD]
    for i in range(begin, begin + space.shape[a, WORDS]):
        found += bit_count(words[b, i])
    return found


@njit
def has_value(space: Space, a: int, words: Bits, b: int, code: int) -> bool:
    """Whether box b has a value of attribute a."""
    word = words[b, space.shape[a, WORD] + (code >> 6)]
    return (word >> np.uint64(code & 63)) & np.uint64(1) != np.uint64(0)


@njit
def clear_box(space: Space, box: Codes, words: Bits, b: int) -> None:
    """Make box b empty. `box[b]` is the least code of every attribute, then the greatest of every attribute."""
    attributes = len(space.shape)
    for a in range(attributes):
        box[b, a] = np.int32(2**31 - 1)
        box[b, attributes + a] = np.int32(-1)
    for i in range(space.words):
        words[b, i] = np.uint64(0)


@njit
def copy_box(space: Space, box: Codes, words: Bits, b: int, to_box: Codes, to_words: Bits, to: int) -> None:
    """Copy box b to another place."""
    for a in range(2 * len(space.shape)):
        to_box[to, a] = box[b, a]
    for i in range(space.words):
        to_words[to, i] = words[b, i]


@njit
def widen(space: Space, codes: Codes, r: int, box: Codes, words: Bits, b: int) -> None:
    """Widen box b to cover row r."""
    attributes = len(space.shape)
    for a in range(attributes):
        code = codes[r, a]
        if space.shape[a, KIND] == SET:
            words[b, space.shape[a, WORD] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
        else:
            box[b, a] = min(box[b, a], code)
            box[b, attributes + a] = max(box[b, attributes + a], code)


@njit
def width(space: Space, a: int, box: Codes, words: Bits, b: int) -> float:
    """What attribute a costs in box b."""
    if space.shape[a, KIND] == SET:
        return (set_size(space, a, words, b) - 1) * space.cost[a]
    return cell_loss(space, a, box[b, a], box[b, len(space.shape) + a])


@njit
def box_loss(space: Space, box: Codes, words: Bits, b: int) -> float:
    """What a row in box b costs."""
    total = 0.0
    for a in range(len(space.shape)):
        total += width(space, a, box, words, b)
    return total


@njit
def loss_with(space: Space, codes: Codes, r: int, box: Codes, words: Bits, b: int) -> float:
    """What a row costs in box b widened to cover row r."""
    total = 0.0
    attributes = len(space.shape)
    for a in range(attributes):
        code = codes[r, a]
        if space.shape[a, KIND] == SET:
            values = set_size(space, a, words, b) + (not has_value(space, a, words, b, code))
            total += (values - 1) * space.cost[a]
        else:
            total += cell_loss(space, a, min(code, box[b, a]), max(code, box[b, attributes + a]))
    return total


@njit
def loss_joined(space: Space, box: Codes, words: Bits, b: int, other: int) -> float:
    """What a row costs in the box that covers two boxes."""
    total = 0.0
    attributes = len(space.shape)
    for a in range(attributes):
        if space.shape[a, KIND] == SET:
            values = 0
            begin = space.shape[a, WORD]
            for i in range(begin, begin + space.shape[a, WORDS]):
                values += bit_count(words[b, i] | words[other, i])
            total += (values - 1) * space.cost[a]
        else:
            low = min(box[b, a], box[other, a])
            total += cell_loss(space, a, low, max(box[b, attributes + a], box[other, attributes + a]))
    return total
