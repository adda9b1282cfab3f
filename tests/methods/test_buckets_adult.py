"""The experiments of xiao2020 on Adult (Figs. 2 to 23): with levels nothing is suppressed, without them most is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paper_tables import ADULT_LEVELS
from polyveil.measure.additional_loss import loss_of_groups
from polyveil.methods._buckets.demand import Demand
from polyveil.methods._buckets.engine import BucketOptions, Priority, bucketize
from polyveil.methods.as_printed import in_force
from polyveil.policy.hierarchy import flat
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import TreeDomain


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> pl.DataFrame:
    """The 30,162 complete training rows, in file order."""
    frame = pl.read_csv(shared_data / "adult.csv.gz").filter(pl.col("split") == "train")
    complete = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    assert complete.height == 30_162
    return complete


AS_PRINTED = in_force("mbf", BucketOptions(as_printed=True))


def coded(frame: pl.DataFrame, attributes: int) -> CodedTable:
    columns = []
    for name, by_level in list(ADULT_LEVELS.items())[:attributes]:
        values = sorted(frame[name].unique().to_list())
        level_of = {value: level for level, names in by_level.items() for value in names}
        levels = np.array([level_of.get(value, 1) for value in values])
        codes = frame[name].cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)
        columns.append(SensitiveColumn(name, TreeDomain(flat(values)), codes, "equal", levels))
    return CodedTable(frame.height, (), tuple(columns))


def run(table: CodedTable, priority: Priority, *, levels: bool) -> tuple[float, float]:
    """Suppression ratio and additional information loss, with l = 1, 2, 3 by level or l = 3 for all."""
    need = {c.name: c.levels + 1.0 if levels else np.full(c.domain.size, 3.0) for c in table.sensitive}
    found = bucketize(table, table.sensitive, Demand(need, 1), priority, AS_PRINTED, np.random.default_rng(0))
    kept = found.of_row >= 0
    least = np.zeros(found.groups)
    for column in table.sensitive:
        np.maximum.at(least, found.of_row[kept], need[column.name][column.codes[kept]])
    return found.suppressed / table.rows, loss_of_groups(np.bincount(found.of_row[kept]), least)


@pytest.mark.parametrize("priority", ["mbf", "msdcf", "mmdcf"])
def test_suppression_over_the_number_of_rows(adult: pl.DataFrame, priority: Priority) -> None:
    for rows in range(1000, 10_001, 1000):
        table = coded(adult.head(rows), 3)
        ratio, loss = run(table, priority, levels=True)
        assert ratio == 0.0
        assert 0.05 < loss < 0.25
        assert run(table, priority, levels=False)[0] > 0.5


@pytest.mark.parametrize("priority", ["mbf", "msdcf", "mmdcf"])
def test_suppression_over_the_number_of_attributes(adult: pl.DataFrame, priority: Priority) -> None:
    plain = []
    for attributes in (2, 3, 4, 5):
        table = coded(adult.head(2000), attributes)
        assert run(table, priority, levels=True)[0] == 0.0
        plain.append(run(table, priority, levels=False)[0])
    assert plain == sorted(plain)
    assert plain[1] > 0.5
    assert plain[3] > 0.95
