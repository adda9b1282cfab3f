"""The compiled judge: does one class, given as a histogram, keep every constraint of a policy?

The kernels know the primitive constraints of `polyveil.models.constraints` and no model; the models are their plain
twin (`holds_plainly` below), and tests keep the two equal. A class is one int64 histogram over all sensitive
attributes laid end to end: the count of code v of attribute a is `hist[spec.offset[a] + v]`.

Cost of one judgement: the length of the histogram plus the number of ranges of the earth mover's distances.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray, Places
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._kernels.joint_flow import flow_cost
from polyveil.methods._kernels.judge_spec import (
    HELLINGER,
    KL,
    JudgeSpec,
    asks_more,
    compile_constraints,
    compile_in_order,
)
from polyveil.models.base import Model
from polyveil.models.statistics import Attribute, from_classes
from polyveil.table.coded import CodedTable

__all__ = [
    "JudgeSpec",
    "asks_more",
    "class_distances",
    "closeness",
    "compile_constraints",
    "compile_in_order",
    "distances_of",
    "holds",
    "holds_classes",
    "holds_plainly",
    "sensitive_matrix",
    "violation",
    "violation_classes",
]


AT_A_TIME = 500
"""Classes whose histograms are in memory at the same time."""
_LEAST = 1e-9
"""What a broken constraint adds to the violation at least, so that only a class that holds has 0."""


@njit
def holds(spec: JudgeSpec, hist: IntArray, n: int) -> bool:
    """Whether a class of n rows keeps every constraint."""
    return _walk(spec, hist, n, True) == 0.0


@njit
def violation(spec: JudgeSpec, hist: IntArray, n: int) -> float:
    """0 for a class that holds; otherwise the sum, over the broken constraints, of how far each is broken (0 to 1)."""
    return _walk(spec, hist, n, False)


@njit
def _walk(spec: JudgeSpec, hist: IntArray, n: int, stop_early: bool) -> float:
    """Add up the violations, the cheap constraints first; with `stop_early` the first broken one ends the walk."""
    total = 0.0
    if n < spec.min_size:
        total += (spec.min_size - n) / spec.min_size
    if n <= 0:
        return total if total > 0.0 or spec.min_size > 0 else 1.0
    if stop_early and total > 0.0:
        return total
    total += _share_violation(spec, hist, n)
    if stop_early and total > 0.0:
        return total
    total += _count_violation(spec, hist, n)
    if stop_early and total > 0.0:
        return total
    for j in range(len(spec.divergence_limit)):
        excess = _divergence(spec, j, hist, n) - spec.divergence_limit[j]
        if excess > 0.0:
            total += max(excess / (1.0 + excess), _LEAST) if excess < np.inf else 1.0
            if stop_early:
                return total
    if len(spec.close_limit) > 0:
        total += _closeness_violation(spec, hist, n, stop_early)
    for j in range(len(spec.joint.limit)):
        if stop_early and total > 0.0:
            return total
        beyond = flow_cost(spec.joint, j, hist, n, stop_early) - spec.joint.limit[j]
        if beyond > 0.0:
            total += max(beyond, _LEAST)
    return total


@njit
def _share_violation(spec: JudgeSpec, hist: IntArray, n: int) -> float:
    excess = 0.0
    if spec.has_caps:
        for v in range(len(hist)):
            if hist[v] > spec.cap[v] * n:
                excess += max(hist[v] / n - spec.cap[v], _LEAST)
    if spec.has_floors:
        for v in range(len(hist)):
            if hist[v] < spec.floor[v] * n:
                excess += max(spec.floor[v] - hist[v] / n, _LEAST)
    return excess


@njit
def _count_violation(spec: JudgeSpec, hist: IntArray, n: int) -> float:
    """Distinct values, entropy, recursive diversity."""
    excess = 0.0
    for j in range(len(spec.distinct_least)):
        a, least = spec.distinct_attribute[j], spec.distinct_least[j]
        distinct = 0
        for v in range(spec.offset[a], spec.offset[a + 1]):
            distinct += hist[v] > 0
        if distinct < least:
            excess += (least - distinct) / least
    for j in range(len(spec.entropy_least)):
        a, nats = spec.entropy_attribute[j], spec.entropy_least[j]
        entropy = 0.0
        for v in range(spec.offset[a], spec.offset[a + 1]):
            if hist[v] > 0:
                share = hist[v] / n
                entropy -= share * np.log(share)
        if entropy < nats:
            excess += max((nats - entropy) / nats, _LEAST)
    for j in range(len(spec.recursive_c)):
        a = spec.recursive_attribute[j]
        top, tail = _top_and_tail(hist[spec.offset[a] : spec.offset[a + 1]], spec.recursive_l[j])
        if tail == 0 or not top / tail < spec.recursive_c[j]:
            excess += max(1.0 - spec.recursive_c[j] * tail / top, _LEAST)
    return excess


@njit
def _top_and_tail(counts: IntArray, l: int) -> tuple[int, int]:  # noqa: E741
    """The greatest count, and the sum of the counts from the l-th greatest on."""
    falling = np.sort(counts)
    tail = 0
    for i in range(max(len(falling) - (l - 1), 0)):
        tail += falling[i]
    return falling[len(falling) - 1], tail


@njit
def _divergence(spec: JudgeSpec, j: int, hist: IntArray, n: int) -> float:
    a, kind, begin = spec.divergence_attribute[j], spec.divergence_kind[j], spec.divergence_begin[j]
    found = 0.0
    for v in range(spec.offset[a + 1] - spec.offset[a]):
        p, q = hist[spec.offset[a] + v] / n, spec.divergence_share[begin + v]
        if kind == HELLINGER:
            found += (np.sqrt(p) - np.sqrt(q)) ** 2 / 2.0
        elif kind == KL:
            if p > 0.0:
                if q == 0.0:
                    return np.inf
                found += p * np.log2(p / q)
        else:
            if p > 0.0:
                found += p * np.log2(2.0 * p / (p + q)) / 2.0
            if q > 0.0:
                found += q * np.log2(2.0 * q / (p + q)) / 2.0
    return float(np.sqrt(found)) if kind == HELLINGER else found


@njit
def _closeness_violation(spec: JudgeSpec, hist: IntArray, n: int, stop_early: bool) -> float:
    upto = _running_total(hist)
    excess: float = 0.0
    for j in range(len(spec.close_limit)):
        beyond = _moved(spec, j, upto, n) - spec.close_limit[j]
        if beyond > 0.0:
            excess += max(beyond, _LEAST)
            if stop_early:
                return excess
    return excess


@njit
def _running_total(hist: IntArray) -> IntArray:
    upto = np.empty(len(hist) + 1, dtype=np.int64)
    upto[0] = 0
    for v in range(len(hist)):
        upto[v + 1] = upto[v] + hist[v]
    return upto


@njit
def _moved(spec: JudgeSpec, j: int, upto: IntArray, n: int) -> float:
    """The earth mover's distance of closeness constraint j."""
    work = 0.0
    for r in range(spec.range_begin[j], spec.range_begin[j + 1]):
        inside = upto[spec.range_stop[r]] - upto[spec.range_start[r]]
        work += spec.range_weight[r] * abs(inside - spec.range_share[r] * n)
    return work / n


@njit
def closeness(spec: JudgeSpec, hist: IntArray, n: int, out: FloatArray) -> None:
    """Write the earth mover's distance of every closeness constraint to `out`."""
    upto = _running_total(hist)
    for j in range(len(spec.close_limit)):
        out[j] = _moved(spec, j, upto, n)


def class_distances(spec: JudgeSpec, class_of_row: IntArray, places: Places) -> FloatArray:
    """Classes x closeness constraints: every earth mover's distance, without compiling anything."""
    classes, sizes = int(class_of_row.max(initial=-1)) + 1, np.bincount(class_of_row)
    rows = np.argsort(class_of_row, kind="stable")
    begin = np.append(0, np.cumsum(sizes))
    found = np.empty((classes, len(spec.close_limit)))
    for first in range(0, classes, AT_A_TIME):
        last = min(first + AT_A_TIME, classes)
        here = rows[begin[first] : begin[last]]
        at = (class_of_row[here] - first)[:, None] * spec.width + places[here]
        hist = np.bincount(at.ravel(), minlength=(last - first) * spec.width).reshape(-1, spec.width)
        found[first:last] = distances_of(spec, hist, sizes[first:last])
    return found


def distances_of(spec: JudgeSpec, hist: IntArray, sizes: IntArray) -> FloatArray:
    """The same from the histograms and sizes of classes."""
    upto = np.concatenate([np.zeros((len(hist), 1), dtype=np.int64), np.cumsum(hist, axis=1)], axis=1)
    inside = upto[:, spec.range_stop] - upto[:, spec.range_start]
    work = spec.range_weight * np.abs(inside - spec.range_share * sizes[:, None])
    parts = [work[:, a:b].sum(axis=1) for a, b in itertools.pairwise(spec.range_begin)]
    return np.stack(parts, axis=1) / sizes[:, None] if parts else np.zeros((len(hist), 0))


def sensitive_matrix(table: CodedTable) -> Places:
    """Where each row's sensitive values, and combinations judged together, are counted (rows x attributes)."""
    columns = [(column.codes, column.domain.size) for column in table.sensitive]
    columns += [(tuples.of_row, len(tuples.counts)) for tuples in table.joint_tuples]
    places = np.empty((table.rows, len(columns)), dtype=np.int32)
    start = 0
    for a, (codes, size) in enumerate(columns):
        places[:, a] = codes
        places[:, a] += start
        start += size
    return places


def holds_classes(spec: JudgeSpec, class_of_row: IntArray, places: Places) -> BoolArray:
    """Which classes hold: `class_of_row` numbers them from 0, negative rows are left out; see `sensitive_matrix`."""
    return np.asarray(violation_classes(spec, class_of_row, places) == 0.0)


def violation_classes(spec: JudgeSpec, class_of_row: IntArray, places: Places) -> FloatArray:
    """The violation of every class."""
    owner = class_of_row.astype(np.int64)
    rows = np.argsort(owner, kind="stable")
    rows = rows[np.searchsorted(owner[rows], 0) :]
    classes = int(owner[rows[-1]]) + 1 if len(rows) else 0
    begin = np.searchsorted(owner[rows], np.arange(classes + 1)).astype(np.int64)
    return _violation_of_groups(spec, rows, begin, places)


@njit
def _violation_of_groups(spec: JudgeSpec, rows: IntArray, begin: IntArray, places: Places) -> FloatArray:
    hist = np.zeros(spec.width, dtype=np.int64)
    found = np.empty(len(begin) - 1)
    for group in range(len(begin) - 1):
        for i in range(begin[group], begin[group + 1]):
            for a in range(places.shape[1]):
                hist[places[rows[i], a]] += 1
        found[group] = _walk(spec, hist, begin[group + 1] - begin[group], False)
        for i in range(begin[group], begin[group + 1]):
            for a in range(places.shape[1]):
                hist[places[rows[i], a]] = 0
    return found


def holds_plainly(
    models: Sequence[Model], attributes: Mapping[str, Attribute], class_of_row: IntArray, codes: Mapping[str, IntArray]
) -> BoolArray:
    """The plain twin of `holds_classes`: every model judges the class statistics."""
    statistics = from_classes(class_of_row, codes, attributes)
    held = np.ones(statistics.classes, dtype=bool)
    for model in models:
        held &= model.passes(model.measure_all(statistics))
    return held
