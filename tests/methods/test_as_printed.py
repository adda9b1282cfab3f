"""`as_printed: true` against twins written from the papers: every run is one that the printed algorithm can have.

POLYVEIL_ALL_SEEDS=1 tries 100 random tables for each algorithm, otherwise ten.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import printed_twins as twins
from polyveil.errors import Unsatisfiable
from polyveil.methods import METHODS, Task, make_method, method_class
from polyveil.methods._buckets.demand import Demand
from polyveil.methods._buckets.engine import BucketOptions, bucketize
from polyveil.methods._strata.embedding import sensitive_cells
from polyveil.methods.as_printed import DEPARTURES, PaperOptions, in_force
from polyveil.methods.fcm import fcm_strata
from polyveil.models import FrequencyDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.hierarchy import flat, from_tree
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain

SEEDS = range(100) if os.environ.get("POLYVEIL_ALL_SEEDS") else range(10)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def numbers(values: Any) -> tuple[OrderedDomain, np.ndarray]:
    known, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    return OrderedDomain("numeric", known, tuple(str(v) for v in known)), codes.astype(np.int64)


def table_of(quasi: dict[str, tuple[Domain, Any]], sensitive: dict[str, tuple[Domain, Any]], kind: str) -> CodedTable:
    rows = len(next(iter(sensitive.values()))[1])
    return CodedTable(
        rows,
        tuple(QuasiColumn(name, domain, codes) for name, (domain, codes) in quasi.items()),
        tuple(
            SensitiveColumn(name, domain, codes, kind, np.ones(domain.size, dtype=np.int64))  # type: ignore[arg-type]
            for name, (domain, codes) in sensitive.items()
        ),
    )


def numeric_table(seed: int, rows: int, *, distinct: bool) -> tuple[CodedTable, list[list[float]], list[list[float]]]:
    """Two numeric quasi-identifiers and two sensitive ones; `distinct`: no two rows share a sensitive value."""
    rng = np.random.default_rng(seed)
    quasi = [rng.integers(0, 6, rows).tolist(), rng.integers(0, 6, rows).tolist()]
    sensitive = [(rng.random(rows) if distinct else rng.integers(0, 4, rows)).astype(float).tolist() for _ in range(2)]
    made = table_of(
        {f"q{i}": numbers(column) for i, column in enumerate(quasi)},
        {f"s{i}": numbers(column) for i, column in enumerate(sensitive)},
        "ordered",
    )
    return made, quasi, sensitive


def task_of(table: CodedTable, models: tuple[Model, ...], k: int | None, seed: int) -> Task:
    privacy = Privacy(k=k, suppression_limit=1.0)
    return Task(table, models, attributes_of(table), privacy, np.random.default_rng(seed))


def close(k: int, t: float, table: CodedTable) -> tuple[Model, ...]:
    return (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))


def as_classes(labels: np.ndarray) -> twins.Classes:
    return frozenset(frozenset(np.flatnonzero(labels == c).tolist()) for c in range(int(labels.max()) + 1))


def printed(name: str, task: Task) -> twins.Classes:
    method: Any = make_method(MethodChoice(name=name, as_printed=True))
    return as_classes(method.printed_classes(task))


def pca_strata(sensitive: list[list[float]], k: int) -> list[list[twins.Rows]]:
    """Steps 2 to 5 of Algorithm 2 on columns of variance 1; the component has no sign, so both orders are given."""
    points = np.array(sensitive, dtype=float).T
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    along = points @ np.linalg.svd(points)[2][0]
    rows = len(points)
    k += (rows % k) // (rows // k)
    size, left = divmod(rows, k)
    sizes = [size] * k
    if k % 2:
        sizes[k // 2] += left
    else:
        sizes[k // 2 - 1] += -(-left // 2)
        sizes[k // 2] += left // 2
    found = []
    for order in (np.argsort(along), np.argsort(-along)):
        ends = np.cumsum([0, *sizes])
        found.append([frozenset(order[a:b].tolist()) for a, b in pairwise(ends)])
    return found


@every_seed
def test_wang_2018_algorithm_2(seed: int) -> None:
    table, quasi, sensitive = numeric_table(seed, 7 + seed % 3, distinct=True)
    k, t, distance = 2 + seed % 2, 0.25, twins.Numbers(quasi)
    possible = {
        merged
        for strata in pca_strata(sensitive, k)
        for classes in twins.generate_equivalence_classes(strata, distance)
        for merged in twins.ensure_closeness(classes, sensitive, distance, t)
    }
    assert printed("pca", task_of(table, close(k, t, table), k, seed)) in possible


@every_seed
def test_wang_2018_algorithm_1(seed: int) -> None:
    """The strata are those of the package: the paper leaves the clustering to another one."""
    table, quasi, sensitive = numeric_table(seed, 7 + seed % 3, distinct=False)
    k, t, distance = 2 + seed % 2, 0.25, twins.Numbers(quasi)
    of_row, _ = fcm_strata(sensitive_cells(table), k, 0, np.random.default_rng(seed))
    strata = [frozenset(np.flatnonzero(of_row == stratum).tolist()) for stratum in range(k)]
    assert max(map(len, strata)) - min(map(len, strata)) <= 1
    possible = {
        merged
        for classes in twins.generate_equivalence_classes(strata, distance)
        for merged in twins.ensure_closeness(classes, sensitive, distance, t)
    }
    assert printed("fcm", task_of(table, close(k, t, table), k, seed)) in possible


@every_seed
def test_wang_2018_contrast_algorithm(seed: int) -> None:
    table, quasi, sensitive = numeric_table(seed, 7, distinct=False)
    possible = twins.contrast(7, sensitive, twins.Numbers(quasi), 2, 0.3)
    assert printed("swap", task_of(table, close(2, 0.3, table), 2, seed)) in possible


@every_seed
@pytest.mark.parametrize("priority", ["mbf", "msdcf", "mmdcf"])
def test_xiao_2020_algorithms_1_to_3(seed: int, priority: Any) -> None:
    rng = np.random.default_rng(seed)
    rows, sizes = int(rng.integers(5, 10)), (3, 4)
    codes = [rng.integers(0, size, rows) for size in sizes]
    levels = [rng.choice([1.0, 2.0, 3.0], size) if seed % 2 else np.full(size, 2.0 + seed % 3) for size in sizes]
    table = table_of(
        {"q": (TreeDomain(flat(["a"])), np.zeros(rows, dtype=np.int64))},
        {f"s{a}": (TreeDomain(flat([str(v) for v in range(n)])), codes[a]) for a, n in enumerate(sizes)},
        "equal",
    )
    k = 1 + seed % 3
    demand = Demand({f"s{a}": need for a, need in enumerate(levels)}, k)
    options = in_force(priority, BucketOptions(as_printed=True))
    found = bucketize(table, table.sensitive, demand, priority, options, np.random.default_rng(seed))
    buckets = [tuple(int(column[row]) for column in codes) for row in range(rows)]
    groups = sorted(tuple(sorted(buckets[row] for row in group)) for group in as_classes_or_none(found.of_row))
    assert (tuple(groups), found.suppressed) in twins.bucketizations(buckets, levels, priority, k)


def as_classes_or_none(labels: np.ndarray) -> twins.Classes:
    return as_classes(labels) if labels.max(initial=-1) >= 0 else frozenset()


TREE = {"North": {"N1": ["a", "b"], "N2": ["c", "d"]}, "South": {"S1": ["e", "f"], "S2": ["g"]}}


@every_seed
def test_han_2013_algorithm_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 7
    region = from_tree(TREE)
    sex = from_tree({"f": None, "m": None})
    quasi = {
        "region": (TreeDomain(region), rng.integers(0, region.leaf_count, rows)),
        "sex": (TreeDomain(sex), rng.integers(0, 2, rows)),
    }
    secret = {f"s{a}": (TreeDomain(flat(list("uvwx"))), rng.integers(0, 4, rows)) for a in range(3)}
    table = table_of(quasi, secret, "equal")
    models = (KAnonymity(3), *(FrequencyDiversity(2, name) for name in secret))
    method = make_method(MethodChoice(name="sloms", as_printed=True, slices=[["s0", "s1"], ["s2"]]))
    try:
        found = method.partition(task_of(table, models, 3, seed))
    except Unsatisfiable:
        pytest.skip("some value is too common for l = 2")
    trees = [twins.Tree(paths_of(region)), twins.Tree(paths_of(sex))]
    tuples = [tuple(int(codes[row]) for _, codes in quasi.values()) for row in range(rows)]
    assert as_classes(found.class_of_row) in twins.kaca(tuples, trees, 3)
    for part in found.slices:
        columns = [secret[name][1] for name in part.attributes]
        buckets = [tuple(int(column[row]) for column in columns) for row in range(rows)]
        groups = sorted(tuple(sorted(buckets[row] for row in g)) for g in as_classes_or_none(part.group_of_row))
        left = int((part.group_of_row < 0).sum())
        need = [[2.0] * 4 for _ in part.attributes]
        assert (tuple(groups), left) in twins.bucketizations(buckets, need, "mmdcf", 1)


def paths_of(tree: Any) -> list[list[str]]:
    paths = []
    for leaf in tree.leaf_node:
        node, path = int(leaf), [str(leaf)]
        while node:
            node = int(tree.parent[node])
            path.append(str(node))
        paths.append(path)
    return paths


@every_seed
def test_bagai_2023(seed: int) -> None:
    """Every sensitive tuple twice, so that the counts of all fragments have a common divisor."""
    rng = np.random.default_rng(seed)
    half = 4
    pairs = np.repeat(rng.integers(0, 3, (half, 2)), 2, axis=0)
    quasi = [rng.integers(0, 5, 2 * half).tolist() for _ in range(2)]
    table = table_of(
        {f"q{i}": numbers(column) for i, column in enumerate(quasi)},
        {f"s{i}": numbers(pairs[:, i]) for i in range(2)},
        "ordered",
    )
    codes = np.stack([column.codes for column in table.sensitive], axis=1)
    limits = (float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.1, 0.5)))
    sizes = [column.domain.size for column in table.sensitive]
    models = tuple(TCloseness(t, column.name) for t, column in zip(limits, table.sensitive, strict=True))
    possible = set()
    for boxes in twins.fragmentations([tuple(map(int, row)) for row in codes], sizes, limits):
        inside = [
            frozenset(
                row for row in range(2 * half) if all(low <= codes[row, a] <= high for a, (low, high) in enumerate(box))
            )
            for box in boxes
        ]
        possible |= twins.conforming_classes([rows for rows in inside if rows], twins.Numbers(quasi))
    assert printed("fragment", task_of(table, models, None, seed)) in possible


class TestTheTable:
    def test_every_method_with_the_option_lists_its_departures_and_the_other_way_round(self) -> None:
        having = {name for name in METHODS if issubclass(method_class(name).options_type, PaperOptions)}
        assert having == set(DEPARTURES)

    @pytest.mark.parametrize("name", sorted(DEPARTURES))
    def test_its_settings_are_options_of_the_method_and_win_over_others(self, name: str) -> None:
        options = method_class(name).options_type(as_printed=True)
        settings = {key: value for each in DEPARTURES[name] for key, value in each.options.items()}
        assert set(settings) <= set(type(options).model_fields)
        forced = in_force(name, options)
        assert {key: getattr(forced, key) for key in settings} == settings
        assert in_force(name, method_class(name).options_type()) == method_class(name).options_type()

    def test_the_priority_of_a_slice_is_left_to_the_user(self) -> None:
        options = method_class("sloms").options_type(as_printed=True, priority="mbf", leave_out="fewest")
        assert in_force("sloms", options).priority == "mbf"
        assert in_force("sloms", options).leave_out == "last"


def test_one_pass_of_pseudocode_2_that_leaves_failing_groups_is_refused_with_their_number() -> None:
    table, _, _ = numeric_table(3, 40, distinct=True)
    method = make_method(MethodChoice(name="pca", as_printed=True))
    with pytest.raises(Unsatisfiable, match=r"as printed gives \d+ groups, of which \d+ do not meet"):
        method.partition(task_of(table, close(2, 0.05, table), 2, 1))
