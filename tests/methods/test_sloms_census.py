"""Fig. 2 of han2013 on Census-Income: slicing never suppresses more than not slicing, and less where that is much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyveil.errors import Unsatisfiable
from polyveil.methods import make_method
from polyveil.methods._buckets.choice import groupable_bound
from polyveil.methods._buckets.demand import demand_of
from polyveil.methods._buckets.engine import BucketOptions, Engine
from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.policy.hierarchy import flat
from polyveil.policy.schema import MethodChoice
from polyveil.releases.linked import rows_with_suppressed_values
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import TreeDomain

QUASI = ("sex", "race", "marital_stat")
SENSITIVE = (
    "detailed_occupation_recode",
    "detailed_industry_recode",
    "class_of_worker",
    "education",
    "major_industry_code",
    "major_occupation_code",
)
FIRST_SLICE = {3: 2, 4: 2, 5: 3, 6: 3}  # Table VIII


@pytest.fixture(scope="module")
def census(shared_data: Path) -> pl.DataFrame:
    frame = pl.read_parquet(shared_data / "census_income_kdd.parquet").select(*QUASI, *SENSITIVE)
    return frame.sample(700, seed=1).cast(pl.String)


def task_of(frame: pl.DataFrame, attributes: int, l: int) -> Task:  # noqa: E741
    def coded(name: str) -> tuple[TreeDomain, np.ndarray]:
        values = sorted(frame[name].unique().to_list())
        return TreeDomain(flat(values)), frame[name].cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)

    sensitive = []
    for name in SENSITIVE[:attributes]:
        domain, codes = coded(name)
        sensitive.append(SensitiveColumn(name, domain, codes, "equal", np.ones(domain.size, dtype=np.int64)))
    table = CodedTable(frame.height, tuple(QuasiColumn(name, *coded(name)) for name in QUASI), tuple(sensitive))
    columns = {name: {"role": "sensitive"} for name in SENSITIVE[:attributes]}
    policy = Policy.from_dict({"columns": columns, "privacy": {"l": l, "suppression_limit": 1.0}})
    about = attributes_of(table)
    return Task(table, models_for(policy, about), about, policy.privacy, np.random.default_rng(1))


def suppressed(task: Task, **method: object) -> int:
    try:
        partition = make_method(MethodChoice.model_validate(method)).partition(task)
    except Unsatisfiable:
        return task.table.rows
    return rows_with_suppressed_values(partition)


@pytest.mark.parametrize("attributes", [3, 4, 5, 6])
def test_sloms_suppresses_no_more_than_plain_msb_and_less_where_that_is_much(
    census: pl.DataFrame, attributes: int
) -> None:
    names = list(SENSITIVE[:attributes])
    slices = [names[: FIRST_SLICE[attributes]], names[FIRST_SLICE[attributes] :]]
    less = 0
    for l in (3, 5, 7, 9):  # noqa: E741
        greedy = {"leave_out": "last"}
        plain = suppressed(task_of(census, attributes, l), name="mbf", **greedy)
        as_printed = {"name": "sloms", "slices": slices, "withhold": "values"}
        sliced = suppressed(task_of(census, attributes, l), **as_printed, priority="mbf")
        bound = least_suppressed(task_of(census, attributes, l), slices)
        assert bound <= sliced
        assert sliced < plain or sliced == plain == bound, "equal only where no method could do better"
        less += sliced < plain
        others = [suppressed(task_of(census, attributes, l), name=name, **greedy) for name in ("msdcf", "mmdcf")]
        by_value = suppressed(task_of(census, attributes, l), **as_printed)
        assert bound <= by_value <= min(plain, *others)
        by_row = suppressed(task_of(census, attributes, l), name="sloms", slices=slices)
        assert bound <= by_row <= min(plain, *others)
    assert less >= 2


def least_suppressed(task: Task, slices: list[list[str]]) -> int:
    """What the tightest slice makes any method suppress."""
    demand, found = demand_of(task), []
    for names in slices:
        columns = tuple(column for column in task.table.sensitive if column.name in names)
        engine = Engine(task.table, columns, demand.only(names), "mbf", BucketOptions())
        found.append(groupable_bound(engine.values, engine.size, engine.need))
    return task.table.rows - min(found)
