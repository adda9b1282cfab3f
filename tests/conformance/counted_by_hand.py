"""Guarantees counted in people by plain Python: what a release must keep, from its people and the values of their rows.

Nothing here is shared with what makes or verifies a release. A group holds if it does in people and in rows: people who
have a value in any row are counted, and in a distribution every person has the same weight.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

TREE = {"left": list("abcd"), "right": list("efgh")}
SLACK = 1e-6

People = Mapping[Hashable, list[dict[str, Any]]]
"""The rows of each person."""
Counts = Mapping[Hashable, int]
Shares = Mapping[Hashable, float]


@dataclass(frozen=True)
class Having:
    """A test of how many of a group have each value, given how many there are."""

    columns: tuple[str, ...]
    holds: Callable[[Counts, int], bool]

    def __call__(self, group: People, whole: People) -> bool:
        having = Counter(value for rows in group.values() for value in set(_values(rows, self.columns)))
        counts = Counter(value for rows in group.values() for value in _values(rows, self.columns))
        return self.holds(having, len(group)) and self.holds(counts, counts.total())


@dataclass(frozen=True)
class Sharing:
    """A test of a group's shares against those of all."""

    columns: tuple[str, ...]
    holds: Callable[[Shares, Shares], bool]

    def __call__(self, group: People, whole: People) -> bool:
        in_people = self.holds(_of_people(group, self.columns), _of_people(whole, self.columns))
        return in_people and self.holds(_of_rows(group, self.columns), _of_rows(whole, self.columns))


@dataclass(frozen=True)
class Promise:
    """What a policy asks for besides k, the sensitive columns it needs, and how a group is tested for it."""

    privacy: dict[str, Any]
    sensitive: dict[str, dict[str, Any]]
    tests: tuple[Having | Sharing, ...] = ()

    def kept(self, group: People, whole: People, k: int) -> bool:
        return len(group) >= k and all(test(group, whole) for test in self.tests)


def _values(rows: Iterable[dict[str, Any]], columns: tuple[str, ...]) -> list[Hashable]:
    return [tuple(row[name] for name in columns) if len(columns) > 1 else row[columns[0]] for row in rows]


def _of_people(group: People, columns: tuple[str, ...]) -> Shares:
    total: dict[Hashable, float] = defaultdict(float)
    for rows in group.values():
        for value in _values(rows, columns):
            total[value] += 1 / len(rows) / len(group)
    return total


def _of_rows(group: People, columns: tuple[str, ...]) -> Shares:
    counts = Counter(value for rows in group.values() for value in _values(rows, columns))
    return {value: count / counts.total() for value, count in counts.items()}


def emd_line(p: Shares, q: Shares) -> float:
    values = sorted({*p, *q})  # type: ignore[type-var]
    moved, upto = 0.0, 0.0
    for value in values[:-1]:
        upto += p.get(value, 0.0) - q.get(value, 0.0)
        moved += abs(upto)
    return moved / max(len(values) - 1, 1)


def emd_equal(p: Shares, q: Shares) -> float:
    return sum(max(p.get(value, 0.0) - q.get(value, 0.0), 0.0) for value in {*p, *q})


def emd_tree(p: Shares, q: Shares) -> float:
    """What moves between the two branches goes all the way, the rest of what moves half of it."""
    if not all(any(value in q for value in branch) for branch in TREE.values()):
        return emd_equal(p, q)  # a branch that nobody has is no level of its own
    between = abs(sum(p.get(v, 0.0) - q.get(v, 0.0) for v in TREE["left"]))
    return between + (emd_equal(p, q) - between) / 2


def hellinger(p: Shares, q: Shares) -> float:
    return math.sqrt(sum((math.sqrt(p.get(v, 0.0)) - math.sqrt(q.get(v, 0.0))) ** 2 for v in {*p, *q}) / 2)


def kl(p: Shares, q: Shares) -> float:
    return sum(share * math.log2(share / q[value]) for value, share in p.items() if share)


def js(p: Shares, q: Shares) -> float:
    middle = {v: (p.get(v, 0.0) + q.get(v, 0.0)) / 2 for v in {*p, *q}}
    return (kl(p, middle) + kl(q, middle)) / 2


def _recursive(counts: Counts, _: int) -> bool:
    ranked = sorted(counts.values(), reverse=True)
    return ranked[0] < 3 * sum(ranked[1:])


def _levels(counts: Counts, size: int) -> bool:
    return all(count * {"a": 3, "b": 3}.get(str(value), 1) <= size + SLACK for value, count in counts.items())


def _entropy(p: Shares, _: Shares) -> bool:
    return math.exp(-sum(s * math.log(s) for s in p.values() if s)) >= 2 - SLACK


def _delta(p: Shares, q: Shares) -> bool:
    return all(p.get(v, 0.0) and abs(math.log(p[v] / q[v])) <= 2.5 + SLACK for v in q)


def _beta(p: Shares, q: Shares) -> bool:
    return all((p[v] - q[v]) / q[v] <= 1.5 + SLACK for v in p)


def _enhanced_beta(p: Shares, q: Shares) -> bool:
    return all((p[v] - q[v]) / q[v] <= min(1.5, -math.log(q[v])) + SLACK for v in p)


def _close(distance: Callable[[Shares, Shares], float], most: float, *columns: str) -> Sharing:
    return Sharing(columns, lambda p, q: distance(p, q) <= most + SLACK)


def _t(kind: str, distance: Callable[[Shares, Shares], float], most: float, **about: Any) -> Promise:
    return Promise({"t": most}, {"x": {**_X, "distance": kind, **about}}, (_close(distance, most, "x"),))


_X: dict[str, Any] = {"role": "sensitive", "type": "categorical"}
_EQUAL = {**_X, "distance": "equal"}
_NUMBER = {"role": "sensitive", "type": "numeric"}
_ONE: tuple[str, ...] = ("x",)

PROMISES: dict[str, Promise] = {
    "k": Promise({}, {"x": _X}),
    "frequency l": Promise({"l": 2}, {"x": _X}, (Having(_ONE, lambda c, n: max(c.values()) * 2 <= n),)),
    "distinct l": Promise({"l": 3, "diversity": "distinct"}, {"x": _X}, (Having(_ONE, lambda c, _: len(c) >= 3),)),
    "recursive l": Promise({"l": 2, "diversity": "recursive", "c": 3}, {"x": _X}, (Having(_ONE, _recursive),)),
    "entropy l": Promise({"l": 2, "diversity": "entropy"}, {"x": _X}, (Sharing(_ONE, _entropy),)),
    "security levels": Promise({"l": {1: 1, 2: 3}}, {"x": {**_X, "levels": {2: ["a", "b"]}}}, (Having(_ONE, _levels),)),
    "alpha": Promise({"alpha": 0.6}, {"x": _X}, (Having(_ONE, lambda c, n: max(c.values()) <= 0.6 * n + SLACK),)),
    "p": Promise({"p": 3}, {"x": _X}, (Having(_ONE, lambda c, _: len(c) >= 3),)),
    "t equal": _t("equal", emd_equal, 0.4),
    "t hierarchical": _t("hierarchical", emd_tree, 0.25, hierarchy=TREE),
    "t hellinger": _t("hellinger", hellinger, 0.5),
    "t kl": _t("kl", kl, 0.5),
    "t js": _t("js", js, 0.2),
    "t ordered": Promise({"t": 0.15}, {"n": _NUMBER}, (_close(emd_line, 0.15, "n"),)),
    "delta": Promise({"delta": 2.5}, {"x": _X}, (Sharing(_ONE, _delta),)),
    "basic beta": Promise({"beta": 1.5, "beta_kind": "basic"}, {"x": _X}, (Sharing(_ONE, _beta),)),
    "enhanced beta": Promise({"beta": 1.5}, {"x": _X}, (Sharing(_ONE, _enhanced_beta),)),
    "several": Promise(
        {"l": 2, "t": 0.4},
        {"x": _EQUAL, "n": _NUMBER},
        (
            *(Having((name,), lambda c, n: max(c.values()) * 2 <= n) for name in ("x", "n")),
            _close(emd_equal, 0.4, "x"),
            _close(emd_line, 0.4, "n"),
        ),
    ),
    "joint": Promise(
        {"t": 0.4, "joint": [{"columns": ["x", "y"], "t": 0.6}]},
        {"x": _EQUAL, "y": _EQUAL},
        (_close(emd_equal, 0.4, "x"), _close(emd_equal, 0.4, "y"), _close(emd_equal, 0.6, "x", "y")),
    ),
}
