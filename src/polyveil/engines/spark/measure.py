"""Measuring a release by Spark: every class judged by the models, on the worker that holds it.

Rows with equal quasi-identifier cells are brought to one partition, already counted, and each partition is judged
there by the same models, classes and coding as on one machine. The driver gets one line of figures per partition.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from polyveil.arrays import IntArray
from polyveil.engines.spark.values import quoted
from polyveil.engines.spark.without_data import items_without_data
from polyveil.models import Attribute, ClassStatistics, Model, Sparse, Verdict
from polyveil.models.linked import LinkedStatistics
from polyveil.policy import Policy
from polyveil.verification.attributes import Declared, codes_of_cells
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding
from polyveil.verification.linked import grouping_sums
from polyveil.verification.loss import NOTHING, Costs, summed_costs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_PER_PART = 500_000


def shards_of(rows: int) -> int:
    """How many workers judge the classes of so many rows."""
    return max(math.ceil(rows / ROWS_PER_PART), 1)


@dataclass(frozen=True, eq=False)
class AsCoded:
    """A sensitive column that holds codes already, as the blocks had them."""

    attribute: Attribute


Known = Mapping[str, Declared | AsCoded]
"""How the cells of each sensitive column are read."""


def _codes(known: Declared | AsCoded, cells: pl.Series) -> IntArray | None:
    if isinstance(known, AsCoded):
        return cells.to_numpy().astype(np.int64)
    return codes_of_cells(known, cells)


@dataclass
class Judged:
    """One model's values over all classes: how many there are and how many fail, the worst, and the sum."""

    classes: int = 0
    failing: int = 0
    worst: float = math.nan
    total: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.classes if self.classes else math.nan

    def add(self, other: Judged, model: Model) -> None:
        self.classes += other.classes
        self.failing += other.failing
        self.total += other.total
        worse = min if model.direction == "at least" else max
        self.worst = other.worst if math.isnan(self.worst) else worse(self.worst, other.worst)

    def verdict(self, model: Model) -> Verdict:
        """As the model itself would say it; which class is worst stays on the workers."""
        outcome = "not checked" if self.classes == 0 else "fails" if self.failing else "holds"
        reason = "" if self.classes else "there is no group to judge"
        return Verdict(
            model=model.key,
            attribute=model.attribute,
            outcome=outcome,  # type: ignore[arg-type]
            threshold=model.threshold,
            value=self.worst,
            worst_class=None,
            failing_classes=self.failing,
            statement=model.statement(),
            reason=reason,
            parameter=model.parameter,
        )


@dataclass
class Measured:
    """Figures of a table: class sizes, and per model what was found against the input and against the release.

    `grouping` are the rows beyond what the groups of a sensitive table need at least, and that least.
    """

    rows: int = 0
    classes: int = 0
    least: int = 0
    greatest: int = 0
    squares: int = 0
    logs: float = 0.0
    loss: dict[str, Costs | None] | Finding = field(default_factory=dict)
    grouping: tuple[float, float] | None = None
    judged: list[Judged] = field(default_factory=list)
    again: list[Judged] = field(default_factory=list)

    @property
    def sizes(self) -> tuple[float, float, float]:
        """Least, mean and greatest class size."""
        return float(self.least), self.rows / self.classes if self.classes else 0.0, float(self.greatest)


def distinct_cells(frame: DataFrame, names: Sequence[str]) -> dict[str, pl.Series]:
    """The distinct cells of each column, gathered at once; a set of cells does not count missing ones."""
    from pyspark.sql import functions as sf

    sets = [sf.collect_set(quoted(name)) for name in names]
    gaps = [sf.coalesce(sf.max(sf.col(quoted(name)).isNull()), sf.lit(False)) for name in names]
    if not names:
        return {}
    found = frame.agg(*(column.alias(f"c{i}") for i, column in enumerate([*sets, *gaps]))).toArrow()
    cells = [pl.Series(pl.from_arrow(column.combine_chunks().flatten())) for column in found.columns[: len(names)]]
    missing = [column[0].as_py() for column in found.columns[len(names) :]]
    return {
        name: pl.concat([some, pl.Series([None], dtype=some.dtype)]) if gap else some
        for name, some, gap in zip(names, cells, missing, strict=True)
    }


def released_counts(
    frame: DataFrame, columns: Known, count: str | None = None
) -> tuple[dict[str, IntArray], list[str]]:
    """How often the release has each sensitive value, and the columns with values that were never declared.

    `count` is the column that says how many rows each row stands for, if there is one.
    """
    from pyspark.sql import functions as sf

    each = sf.count("*") if count is None else sf.sum(quoted(count))
    counts, unknown = {}, []
    for name, known in columns.items():
        counted = frame.groupBy(quoted(name)).agg(each.alias("polyveil rows"))
        # One value more than is known is enough to see that a release is not what its manifest says.
        values, rows = counted.limit(known.attribute.size + 1).toArrow().columns
        codes = _codes(known, pl.Series(name, pl.from_arrow(values)))
        if codes is None:
            unknown.append(name)
            continue
        counts[name] = np.zeros(known.attribute.size, dtype=np.int64)
        np.add.at(counts[name], codes, np.asarray(rows, dtype=np.int64))
    return counts, unknown


@dataclass(frozen=True, eq=False)
class Judge:
    """What to measure in one table, and how. Runs on the workers: rows of one partition in, one line of figures out.

    Rows with equal cells in the columns `by` are a class; `released` are the counts to judge against as well, `count`
    the column that says how many rows a row stands for. Cells are measured for their loss by the manifest and policy in
    `loss`, if given; groups for what they hold beyond the least, if `grouping` is set.
    """

    by: tuple[str, ...]
    columns: Known
    models: tuple[Model, ...]
    released: Mapping[str, IntArray] | None = None
    count: str | None = None
    loss: tuple[Mapping[str, Any], Policy] | None = None
    grouping: bool = False

    def measure(self, frame: DataFrame, rows: int) -> Measured:
        """All figures of a table of about so many rows."""
        from pyspark.sql import functions as sf

        names = [quoted(name) for name in (*self.by, *self.columns)]
        each = sf.count("*") if self.count is None else sf.sum(quoted(self.count))
        counted = frame.groupBy(*names).agg(each.alias("polyveil rows"))
        parts = shards_of(rows)
        spread = counted.repartition(parts, *(quoted(name) for name in self.by)) if self.by else counted.repartition(1)
        return figures_of_lines(self, spread)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._lines(batches))

    def _lines(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            line = json.dumps(self.figures(pl.DataFrame(pl.from_arrow(pa.Table.from_batches(held)))))
            yield pa.RecordBatch.from_arrays([pa.array([line], pa.string())], names=["line"])

    def figures(self, frame: pl.DataFrame) -> dict[str, Any]:
        weights = frame.get_column("polyveil rows").to_numpy().astype(np.int64)
        owner = class_of_row(frame, self.by)
        codes = self._codes(frame)
        attributes = {name: known.attribute for name, known in self.columns.items()}
        statistics = weighted(owner, weights, codes, attributes)
        figures = {**sizes_of(statistics.sizes), "judged": self._judged(statistics)}
        figures["loss"] = self._loss(frame, *self.loss) if self.loss else {}
        if self.released is not None:
            own = {name: about.against(self.released[name]) for name, about in attributes.items()}
            figures["again"] = self._judged(replace(statistics, attributes=own))
        if self.grouping:
            figures["grouping"] = grouping_sums(statistics, self.models, tuple(self.columns))
        return figures

    def _codes(self, frame: pl.DataFrame) -> dict[str, IntArray]:
        codes = {}
        for name, known in self.columns.items():
            found = _codes(known, frame.get_column(name))
            if found is None:
                raise ValueError("a value is not declared")  # released_counts has refused such a release before
            codes[name] = found
        return codes

    def _judged(self, statistics: ClassStatistics) -> list[tuple[int, int, float, float]]:
        found = []
        for model in self.models:
            values = model.measure_all(statistics)
            failing = int(np.count_nonzero(~model.passes(values)))
            found.append((len(values), failing, float(values[model.worst(values)]), float(values.sum())))
        return found

    def _loss(self, frame: pl.DataFrame, manifest: Mapping[str, Any], policy: Policy) -> Any:
        def counts_of(name: str) -> Iterable[tuple[Any, int]]:
            return frame.group_by(name).agg(pl.col("polyveil rows").sum()).iter_rows()

        summed = summed_costs(manifest, policy, counts_of)
        return [summed.check, summed.outcome, summed.message] if isinstance(summed, Finding) else summed


def figures_of_lines(judge: Judge, spread: DataFrame) -> Measured:
    """What the judge finds in all partitions, each of which holds whole classes."""
    lines = spread.mapInArrow(judge, "line string").collect()
    return added_up([json.loads(line["line"]) for line in lines], judge.models, judge.released is not None)


def sizes_of(sizes: IntArray) -> dict[str, Any]:
    """What is added up over partitions from the sizes of classes."""
    return {
        "rows": int(sizes.sum()),
        "classes": len(sizes),
        "least": int(sizes.min()),
        "greatest": int(sizes.max()),
        "squares": sum(int(size) ** 2 for size in sizes.tolist()),
        "logs": float((sizes * np.log2(sizes)).sum()),
    }


def weighted(
    owner: IntArray, weights: IntArray, codes: Mapping[str, IntArray], attributes: Mapping[str, Attribute]
) -> LinkedStatistics:
    """Class statistics of rows that each stand for `weights` equal ones; `from_classes` for counted rows."""
    classes = int(owner.max(initial=-1)) + 1
    sizes = np.zeros(classes, dtype=np.int64)
    np.add.at(sizes, owner, weights)
    histograms = {}
    for name, about in attributes.items():
        cell, of_row = np.unique(owner * about.size + codes[name], return_inverse=True)
        count = np.zeros(len(cell), dtype=np.int64)
        np.add.at(count, of_row, weights)
        begin = np.searchsorted(cell, np.arange(classes + 1, dtype=np.int64) * about.size)
        histograms[name] = Sparse(begin.astype(np.int64), cell % about.size, count)
    return LinkedStatistics(sizes, attributes, histograms, dict.fromkeys(attributes, sizes))


def sum_of_costs(one: Costs | None, other: Costs | None) -> Costs | None:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2]) if one and other else None


def added_up(parts: list[dict[str, Any]], models: Sequence[Model], again: bool) -> Measured:
    found = Measured(judged=[Judged() for _ in models], again=[Judged() for _ in models] if again else [])
    for part in parts:
        for name in ("rows", "classes", "squares", "logs"):
            setattr(found, name, getattr(found, name) + part[name])
        found.least = part["least"] if not found.least else min(found.least, part["least"])
        found.greatest = max(found.greatest, part["greatest"])
        if isinstance(part["loss"], list):
            found.loss = Finding(*part["loss"])
        elif not isinstance(found.loss, Finding):
            for name, costs in part["loss"].items():
                found.loss[name] = sum_of_costs(found.loss.get(name, NOTHING), costs)
        if part.get("grouping"):
            before = found.grouping or (0.0, 0.0)
            found.grouping = before[0] + part["grouping"][0], before[1] + part["grouping"][1]
        for name in ("judged", "again"):
            for one, values, model in zip(getattr(found, name), part.get(name, []), models, strict=False):
                one.add(Judged(*values), model)
    return found
