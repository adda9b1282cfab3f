"""The papers' algorithms once more, from their text alone: plain, slow, with every choice that the text leaves open.

Where a paper says "at random" or is silent about ties, a twin follows all the ways, and gives the set of all results
that the printed algorithm can have. A run of the method `as_printed` must be one of them. Tables must be tiny.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import floor, gcd
from typing import Any

Rows = frozenset[int]
Classes = frozenset[Rows]
NEARLY = 1e-9


def least(options: Iterable[Any], key: Any) -> list[Any]:
    """All options whose key is the least."""
    scored = [(key(option), option) for option in options]
    best = min(score for score, _ in scored) if scored else 0
    return [option for score, option in scored if score <= best + NEARLY]


# --- Distances of wang2018


class Numbers:
    """Numeric columns: `rank[row][column]`, scaled to 0..1 by the number of values present (distNum)."""

    def __init__(self, columns: Sequence[Sequence[float]]) -> None:
        ranks = []
        for column in columns:
            values = sorted(set(column))
            ranks.append([values.index(value) / max(len(values) - 1, 1) for value in column])
        self.rank = [list(row) for row in zip(*ranks, strict=True)]

    def between(self, one: int, two: int) -> float:
        """Eq. (2)."""
        return sum((a - b) ** 2 for a, b in zip(self.rank[one], self.rank[two], strict=True)) ** 0.5

    def between_classes(self, one: Rows, two: Rows) -> float:
        """Eq. (2) between centroids: the middles of the ranges."""
        total = 0.0
        for column in range(len(self.rank[0])):
            middles = []
            for rows in (one, two):
                inside = [self.rank[row][column] for row in rows]
                middles.append((min(inside) + max(inside)) / 2)
            total += (middles[0] - middles[1]) ** 2
        return float(total**0.5)

    def to_mean(self, row: int) -> float:
        columns = list(zip(*self.rank, strict=True))
        means = [sum(column) / len(column) for column in columns]
        return float(sum((a - b) ** 2 for a, b in zip(self.rank[row], means, strict=True)) ** 0.5)


def ordered_emd(column: Sequence[float], rows: Iterable[int]) -> float:
    """The earth mover's distance of section 2.1 between some rows and all."""
    values, inside = sorted(set(column)), [column[row] for row in rows]
    moved, total = 0.0, 0.0
    for value in values:
        moved += inside.count(value) / len(inside) - list(column).count(value) / len(column)
        total += abs(moved)
    return total / max(len(values) - 1, 1)


def greatest_emd(sensitive: Sequence[Sequence[float]], rows: Iterable[int]) -> float:
    """Definition 4."""
    kept = list(rows)
    return max(ordered_emd(column, kept) for column in sensitive)


# --- wang2018: Pseudocodes 1 and 2 and the contrast algorithm


def generate_equivalence_classes(strata: Sequence[Rows], distance: Numbers) -> set[tuple[Rows, ...]]:
    """Pseudocode 1: all sequences of classes it can form."""
    fewest = min(len(stratum) for stratum in strata)
    found: set[tuple[Rows, ...]] = set()
    for first, stratum in enumerate(strata):
        if len(stratum) == fewest:
            others = [each for i, each in enumerate(strata) if i != first]
            found |= set(_classes(stratum, tuple(others), distance))
    return found


def _classes(first: Rows, others: tuple[Rows, ...], distance: Numbers) -> Iterator[tuple[Rows, ...]]:
    if not first:
        yield ()
        return
    for row in first:  # step 5: at random
        left = first - {row}
        for taken, rest in _from_each(row, len(left), others, distance):
            for later in _classes(left, rest, distance):
                yield (frozenset({row}) | taken, *later)


def _from_each(
    row: int, left: int, others: tuple[Rows, ...], distance: Numbers
) -> Iterator[tuple[Rows, tuple[Rows, ...]]]:
    if not others:
        yield frozenset(), ()
        return
    for near in least(others[0], lambda other: distance.between(row, other)):  # step 9
        once = others[0] - {near}
        ways = [({near}, once)]
        if len(once) > left:  # step 12
            ways = [({near, more}, once - {more}) for more in least(once, lambda other: distance.between(row, other))]
        for taken, rest in ways:
            for later, after in _from_each(row, left, others[1:], distance):
                yield frozenset(taken) | later, (rest, *after)


def ensure_closeness(
    classes: tuple[Rows, ...], sensitive: Sequence[Sequence[float]], distance: Numbers, t: float
) -> set[Classes]:
    """Pseudocode 2: all results of one pass over the classes."""
    states = {classes}
    for place in range(len(classes)):
        after = set()
        for state in states:
            one = state[place]
            others = [i for i, each in enumerate(state) if each and i != place]
            if not one or greatest_emd(sensitive, one) <= t + NEARLY or not others:
                after.add(state)
                continue
            for other in least(others, lambda i: distance.between_classes(one, state[i])):  # noqa: B023
                merged = list(state)
                merged[place], merged[other] = one | state[other], frozenset()
                after.add(tuple(merged))
        states = after
    return {frozenset(each for each in state if each) for state in states}


def contrast(rows: int, sensitive: Sequence[Sequence[float]], distance: Numbers, k: int, t: float) -> set[Classes]:
    """Groups of the nearest k rows, improved by swaps, then the worst merged with the nearest until all are t-close."""
    found: set[Classes] = set()
    for classes in _micro(frozenset(range(rows)), None, sensitive, distance, k, t):
        found |= _merge_worst(frozenset(classes), sensitive, distance, t)
    return found


def _micro(
    left: Rows, last: int | None, sensitive: Sequence[Sequence[float]], distance: Numbers, k: int, t: float
) -> Iterator[tuple[Rows, ...]]:
    if len(left) < 2 * k:
        yield (left,) if left else ()
        return
    away = distance.to_mean if last is None else lambda row: distance.between(row, last)
    for seed in least(left, lambda row: -away(row)):
        for cluster in _clusters(left, seed, sensitive, distance, k, t):
            for later in _micro(left - cluster, seed if last is None else None, sensitive, distance, k, t):
                yield (cluster, *later)


def _clusters(
    left: Rows, seed: int, sensitive: Sequence[Sequence[float]], distance: Numbers, k: int, t: float
) -> set[Rows]:
    found = set()
    for order in _by_distance(left, seed, distance):
        clusters = {frozenset(order[:k])}
        for row in order[k:]:
            after = set()
            for cluster in clusters:
                now = greatest_emd(sensitive, cluster)
                if now <= t + NEARLY:
                    after.add(cluster)
                    continue
                swapped = [cluster - {out} | {row} for out in cluster]
                best = least(swapped, lambda rows: greatest_emd(sensitive, rows))
                better = greatest_emd(sensitive, best[0]) < now - NEARLY
                after |= set(best) if better else {cluster}
            clusters = after
        found |= clusters
    return found


def _by_distance(left: Rows, seed: int, distance: Numbers) -> Iterator[tuple[int, ...]]:
    if not left:
        yield ()
        return
    for row in least(left, lambda other: distance.between(seed, other)):
        for later in _by_distance(left - {row}, seed, distance):
            yield (row, *later)


def _merge_worst(classes: Classes, sensitive: Sequence[Sequence[float]], distance: Numbers, t: float) -> set[Classes]:
    failing = [each for each in classes if greatest_emd(sensitive, each) > t + NEARLY]
    if not failing or len(classes) == 1:
        return {classes}
    found: set[Classes] = set()
    for worst in least(failing, lambda each: -greatest_emd(sensitive, each)):
        others = classes - {worst}
        for other in least(others, lambda each: distance.between_classes(worst, each)):  # noqa: B023
            found |= _merge_worst(frozenset(others - {other} | {worst | other}), sensitive, distance, t)
    return found


# --- xiao2020: Algorithms 1 to 3

Bucket = tuple[int, ...]
Grouping = tuple[tuple[tuple[Bucket, ...], ...], int]
"""The groups, each as its sorted buckets, sorted; and how many rows are left out."""


def bucketizations(rows: Sequence[Bucket], need: Sequence[Sequence[float]], priority: str, k: int) -> set[Grouping]:
    """All results of MBF, MSDCF or MMDCF (with levels where `need` differs)."""
    found: set[Grouping] = set()
    for groups, left in _grouped(Counter(rows), need, priority, k):
        found.add(_residual(list(groups), left, need))
    return found


def _grouped(
    left: Counter[Bucket], need: Sequence[Sequence[float]], priority: str, k: int
) -> set[tuple[tuple[tuple[Bucket, ...], ...], tuple[tuple[Bucket, int], ...]]]:
    key = tuple(sorted((bucket, count) for bucket, count in left.items() if count))
    if not key:
        return {((), ())}
    size = max(max(round(_level(bucket, need)) for bucket, _ in key), k)
    found = set()
    for group in _groups(left, (), size, need, priority):
        if len(group) < size:  # step 12: stop grouping
            found.add(((), key))
            continue
        for later, rest in _grouped(left - Counter(group), need, priority, k):
            found.add(((tuple(sorted(group)), *later), rest))
    return found


def _level(bucket: Bucket, need: Sequence[Sequence[float]]) -> float:
    return max(need[a][value] for a, value in enumerate(bucket))


def _groups(
    left: Counter[Bucket], group: tuple[Bucket, ...], size: int, need: Sequence[Sequence[float]], priority: str
) -> set[tuple[Bucket, ...]]:
    remaining = left - Counter(group)
    open_buckets = [
        bucket
        for bucket in remaining
        if all(
            sum(taken[a] == value for taken in group) < floor(size / need[a][value] + NEARLY)
            for a, value in enumerate(bucket)
        )
    ]
    if len(group) == size or not open_buckets:
        return {tuple(sorted(group))}

    def selectivity(bucket: Bucket) -> float:
        capacities = [
            sum(count for other, count in remaining.items() if other[a] == value) for a, value in enumerate(bucket)
        ]
        more = {"mbf": 0, "msdcf": max(capacities), "mmdcf": sum(capacities)}[priority]
        return remaining[bucket] + more

    highest = least(open_buckets, lambda bucket: -_level(bucket, need))
    found = set()
    for bucket in least(highest, lambda bucket: -selectivity(bucket)):
        found |= _groups(left, (*group, bucket), size, need, priority)
    return found


def _residual(
    groups: list[tuple[Bucket, ...]], left: tuple[tuple[Bucket, int], ...], need: Sequence[Sequence[float]]
) -> Grouping:
    """Steps 18 to 21: bucket by bucket, each row joins the first group that stays diverse."""
    suppressed = 0
    for bucket, count in left:
        for _ in range(count):
            for i, group in enumerate(groups):
                wider = (*group, bucket)
                fits = all(
                    sum(row[a] == value for row in wider) * need[a][value] <= len(wider) + NEARLY
                    for a, value in enumerate(bucket)
                )
                if fits:
                    groups[i] = tuple(sorted(wider))
                    break
            else:
                suppressed += 1
    return tuple(sorted(groups)), suppressed


# --- han2013: KACA, Algorithm 1 steps 7 to 13


class Tree:
    """A hierarchy as paths from the value to the root, all of the same length; cost by eq. (2)."""

    def __init__(self, paths: Sequence[Sequence[str]]) -> None:
        self.paths = paths
        steps = [1.0 / j for j in range(1, len(paths[0]))]  # from the root down: w(2,1) = 1, w(3,2) = 1/2, ...
        self.up = [sum(steps[len(steps) - i :]) / sum(steps) for i in range(len(steps) + 1)]

    def cost(self, values: Iterable[int]) -> float:
        """From a value to the closest common generalization."""
        kept = list(values)
        for level in range(len(self.paths[0])):
            if len({tuple(self.paths[value][level:]) for value in kept}) == 1:
                return self.up[level]
        raise ValueError("the paths do not meet")


def kaca(rows: Sequence[tuple[int, ...]], trees: Sequence[Tree], k: int) -> set[Classes]:
    """All results of merging a random class smaller than k with the one at the least distance (eq. (7))."""
    by_tuple: dict[tuple[int, ...], set[int]] = {}
    for number, row in enumerate(rows):
        by_tuple.setdefault(row, set()).add(number)

    def cost(group: Rows) -> float:
        return sum(tree.cost({rows[row][a] for row in group}) for a, tree in enumerate(trees))

    def distance(one: Rows, two: Rows) -> float:
        together = cost(one | two)
        return len(one) * (together - cost(one)) + len(two) * (together - cost(two))

    states, done = {frozenset(frozenset(group) for group in by_tuple.values())}, set()
    while states:
        state = states.pop()
        small = [group for group in state if len(group) < k]
        if not small or len(state) == 1:
            done.add(state)
        for group in small if len(state) > 1 else ():
            for other in least(state - {group}, lambda each: distance(group, each)):  # noqa: B023
                states.add(frozenset(state - {group, other} | {group | other}))
    return done


# --- bagai2023: FIND-FRAGMENTATION and GENERATE-CLASSES

Box = tuple[tuple[int, int], ...]


def fragmentations(
    rows: Sequence[tuple[int, ...]], sizes: Sequence[int], limits: Sequence[float]
) -> set[frozenset[Box]]:
    """All fragmentations that the greedy choice of the least Psi can end with."""
    total = len(rows)

    def delta(box: Box, a: int) -> float:
        """Theorem 10: all the mass moved to one end, in the fragment's own length."""
        low, high = box[a]
        if low == high:
            return 0.0
        inside = [row[a] for row in rows if all(first <= v <= last for v, (first, last) in zip(row, box, strict=True))]
        to_low, to_high = sum(v - low for v in inside), sum(high - v for v in inside)
        return max(to_low, to_high) / (high - low) / total

    def bounds(state: frozenset[Box]) -> list[float]:
        return [sum(delta(box, a) for box in state) for a in range(len(sizes))]

    def psi(state: frozenset[Box]) -> float:
        return sum(max(bound - limit, 0.0) for bound, limit in zip(bounds(state), limits, strict=True))

    whole: Box = tuple((0, size - 1) for size in sizes)
    states, seen, done = {frozenset({whole})}, set(), set()
    while states:
        state = states.pop()
        seen.add(state)
        if all(bound <= limit + NEARLY for bound, limit in zip(bounds(state), limits, strict=True)):
            done.add(state)
            continue
        finer = []
        for box, a in product(state, range(len(sizes))):
            for cut in range(box[a][0] + 1, box[a][1] + 1):
                left, right = list(box), list(box)
                left[a], right[a] = (box[a][0], cut - 1), (cut, box[a][1])
                finer.append(frozenset(state - {box} | {tuple(left), tuple(right)}))
        states |= set(least(finer, psi)) - seen
    return done


def conforming_classes(fragments: Sequence[Rows], distance: Numbers) -> set[Classes]:
    """All results of GENERATE-CLASSES for the fragments that hold rows."""
    rows = sum(len(fragment) for fragment in fragments)
    classes = gcd(rows, *(len(fragment) for fragment in fragments))
    share = [len(fragment) // classes for fragment in fragments]

    def generate(left: tuple[Rows, ...]) -> Iterator[frozenset[Rows]]:
        if not any(left):
            yield frozenset()
            return
        for own, fragment in enumerate(left):
            for row in fragment:
                choices = []
                for i, other in enumerate(left):
                    given = frozenset({row}) if i == own else frozenset()
                    orders = _nearest_sets(other - given, row, share[i] - len(given), distance)
                    choices.append([given | chosen for chosen in orders])
                for chosen in product(*choices):
                    rest = tuple(each - taken for each, taken in zip(left, chosen, strict=True))
                    for later in generate(rest):
                        yield later | {frozenset().union(*chosen)}

    return set(generate(tuple(fragments)))


def _nearest_sets(rows: Rows, to: int, count: int, distance: Numbers) -> set[Rows]:
    if count == 0:
        return {frozenset()}
    found = set()
    for row in least(rows, lambda other: distance.between(to, other)):
        found |= {chosen | {row} for chosen in _nearest_sets(rows - {row}, to, count - 1, distance)}
    return found
