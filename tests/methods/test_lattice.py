"""lattice: the best recoding against all of them, one by one, and the optimum that ARX finds on Adult."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.methods import Task, make_method
from polyveil.methods._lattice.levels import levels_of
from polyveil.methods._lattice.search import LatticeSearch
from polyveil.methods.lattice import Lattice, LatticeOptions
from polyveil.models import DistinctDiversity, KAnonymity, Model, TCloseness, attributes_of, codes_of, from_classes
from polyveil.policy import Policy
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.domain import OrderedDomain
from polyveil.table.encode import encode
from polyveil.table.source import read
from tables import random_table

SEEDS = range(200) if os.environ.get("POLYVEIL_ALL_SEEDS") else range(25)
QUASI = ("age", "workclass", "marital-status", "race", "sex", "native-country", "income")


def recoded(column: Any, code: int, level: int) -> tuple[Any, float]:
    """What a value becomes at a level, and what that loses: from the definitions, value by value."""
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        return ranged(domain, code, level)
    if domain.as_set:
        return (code, 0.0) if level == 0 else ("all", 1.0)
    tree = domain.hierarchy
    node = int(tree.leaf_node[code])
    while node and tree.level[tree.parent[node]] <= level:
        node = int(tree.parent[node])
    return node, float(tree.stop[node] - tree.start[node] - 1) / max(tree.leaf_count - 1, 1)


def ranged(domain: OrderedDomain, code: int, level: int) -> tuple[Any, float]:
    values, low, high = len(domain.labels), domain.positions[0], domain.positions[-1]
    widths = [parts for parts in (32, 16, 8, 4, 2) if parts < values]
    if level > len(widths):
        return "all", 1.0
    if code == domain.null_code or level == 0:
        return code, 0.0
    parts = widths[level - 1]
    which = [min(int((position - low) / (high - low) * parts), parts - 1) for position in domain.positions]
    inside = [p for p, number in zip(domain.positions, which, strict=True) if number == which[code]]
    return ("range", which[code]), float((max(inside) - min(inside)) / (high - low))


def top_of(column: Any) -> int:
    domain = column.domain
    if isinstance(domain, OrderedDomain):
        return 1 + sum(parts < len(domain.labels) for parts in (32, 16, 8, 4, 2))
    return 1 if domain.as_set else int(domain.hierarchy.level[0])


def holds(table: CodedTable, labels: np.ndarray, group: int, models: tuple[Model, ...], against: list[Any]) -> bool:
    alone = np.where(labels == group, 0, -1)
    return all(
        model.judge(from_classes(alone, codes_of(table), attributes)).holds
        for model in models
        for attributes in against
    )


def exhaustive(table: CodedTable, models: tuple[Model, ...], spare: int) -> float:
    """The least loss over all recodings; groups that fail are left out, again as long as some fail."""
    best = np.inf
    for node in product(*(range(top_of(column) + 1) for column in table.quasi)):
        cells = [[recoded(c, int(code), level) for code in c.codes] for c, level in zip(table.quasi, node, strict=True)]
        keys = list(zip(*[[cell[0] for cell in column] for column in cells], strict=True))
        numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        labels = np.array([numbers[key] for key in keys])
        whole: list[Any] = [attributes_of(table)]
        while True:
            failing = [g for g in set(labels[labels >= 0]) if not holds(table, labels, g, models, whole)]
            labels = np.where(np.isin(labels, failing), -1, labels)
            kept = np.flatnonzero(labels >= 0)
            if not failing or table.rows - len(kept) > spare or not len(kept):
                break
            smaller = CodedTable(len(kept), (), tuple(column.only(kept) for column in table.sensitive))
            whole = [attributes_of(table), attributes_of(smaller)]
        if len(kept) and table.rows - len(kept) <= spare:
            lost = sum(sum(column[row][1] for row in kept) + table.rows - len(kept) for column in cells)
            best = min(best, lost / table.rows)
    return float(best)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_recoding_loses_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, rows=int(rng.integers(20, 40)), nulls=bool(seed % 2))
    k, limit = int(rng.integers(2, 6)), float(rng.choice([0.0, 0.2]))
    illness, salary = (column.name for column in table.sensitive)
    models: tuple[Model, ...] = (KAnonymity(k), TCloseness(float(rng.uniform(0.2, 0.6)), illness))
    models = models if seed % 3 else (KAnonymity(k), DistinctDiversity(2, salary))
    task = Task(table, models, attributes_of(table), Privacy(k=k, suppression_limit=limit), rng)
    expected = exhaustive(table, models, task.suppressible)
    found = Lattice(LatticeOptions()).partition(task)
    levels = levels_of(table)
    node = tuple(found.found["levels"].values())
    kept = found.class_of_row >= 0
    lost = sum(
        each.cell[level][column.codes[kept]].sum() + (~kept).sum()
        for each, level, column in zip(levels, node, table.quasi, strict=True)
    )
    assert found.found["optimal"] is True
    assert lost / table.rows == pytest.approx(expected)


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> CodedTable:
    """The complete training rows with the hierarchies of ARX, age as well."""
    folder = shared_data / "hierarchies"
    frame = pl.read_csv(shared_data / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    columns: dict[str, Any] = {
        name: {
            "role": "quasi",
            "type": "categorical",
            "hierarchy": str(folder / f"adult_hierarchy_{'salary-class' if name == 'income' else name}.csv"),
        }
        for name in QUASI
    }
    columns["occupation"] = {"role": "sensitive", "hierarchy": str(folder / "adult_hierarchy_occupation.csv")}
    columns["education-num"] = {"role": "sensitive", "type": "numeric"}
    policy = Policy.from_dict({"columns": columns, "privacy": {"k": 2}})
    return encode(bind(policy, read(frame.select(*columns))))


@pytest.mark.parametrize(("t", "loss"), [(0.5, 4.43), (0.3, 4.43), (0.2, 5.43), (0.1, 7.0)])
def test_the_optimum_that_arx_finds_on_adult(adult: CodedTable, t: float, loss: float) -> None:
    models = (KAnonymity(5), *(TCloseness(t, column.name) for column in adult.sensitive))
    task = Task(adult, models, attributes_of(adult), Privacy(k=5, t=t), np.random.default_rng(1))
    found = Lattice(LatticeOptions()).partition(task)
    levels = levels_of(adult)
    lost = sum(each.cost[level] for each, level in zip(levels, found.found["levels"].values(), strict=True))
    assert found.suppressed == 0
    assert lost == pytest.approx(loss, abs=0.005)


def test_failing_recodings_rule_out_those_below_them_unseen() -> None:
    table = random_table(3, rows=60)
    levels = levels_of(table)
    looked: list[tuple[int, ...]] = []

    def look(node: tuple[int, ...]) -> tuple[float, None] | None:
        looked.append(node)
        return (search.cost(node), None) if sum(node) >= sum(each.top for each in levels) - 1 else None

    search = LatticeSearch(levels, look, monotone=True, most=10_000)
    found = search.run()
    assert found is not None
    assert sum(found.node) == sum(each.top for each in levels) - 1
    nodes = int(np.prod([each.top + 1 for each in levels]))
    assert len(looked) < nodes / 3
    assert len(looked) == len(set(looked))


def test_a_search_that_is_stopped_says_so_and_still_holds() -> None:
    table = random_table(5, rows=80)
    models = (KAnonymity(3),)
    task = Task(table, models, attributes_of(table), Privacy(k=3), np.random.default_rng(1))
    found = make_method(MethodChoice(name="lattice", most_nodes=1)).partition(task)
    assert found.found["optimal"] is False
    assert KAnonymity(3).judge(from_classes(found.class_of_row, codes_of(table), task.attributes)).holds


def test_a_release_says_the_level_of_every_column() -> None:
    frame = pl.DataFrame(
        {"zip": ["11", "12", "21", "22"] * 3, "age": [20, 30, 40, 50] * 3, "ill": list("abcabcabcabc")}
    )
    columns = {
        "zip": {"role": "quasi", "type": "categorical", "hierarchy": {"mask": 2}},
        "age": {"role": "quasi", "type": "numeric"},
        "ill": {"role": "sensitive"},
    }
    policy = {"columns": columns, "privacy": {"k": 6}, "method": {"name": "lattice"}}
    release = polyveil.anonymize(frame, policy, seed=1)
    assert release.manifest["method"]["found"]["levels"] == {"zip": 1, "age": 1}
    assert release.table["zip"].unique().sort().to_list() == ["1*", "2*"]
    assert polyveil.verify(release).holds
