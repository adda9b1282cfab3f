"""Measuring a release by Spark: every class judged by the models, on the worker that holds it.

Rows with equal quasi-identifier cells are brought to one partition, already counted, and each partition is judged
there by the same models, classes and coding as on one machine. The driver gets one line of figures per partition.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from polyveil.engines.spark.guarded import guarded_items
from polyveil.engines.spark.values import quoted, value_counts
from polyveil.models import Attribute, ClassStatistics, Model, Sparse, Verdict
from polyveil.policy import Policy
from polyveil.policy.hierarchy import IntArray
from polyveil.verify.attributes import Declared, codes_of_cells
from polyveil.verify.classes import class_of_row
from polyveil.verify.findings import Finding
from polyveil.verify.loss import summed_loss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_PER_PART = 500_000


@dataclass
class Judged:
    """One model's values over all classes: how many fail, the worst, and the sum."""

    failing: int = 0
    worst: float = math.nan
    total: float = 0.0

    def add(self, other: Judged, model: Model) -> None:
        self.failing += other.failing
        self.total += other.total
        worse = min if model.direction == "at least" else max
        self.worst = other.worst if math.isnan(self.worst) else worse(self.worst, other.worst)

    def verdict(self, model: Model, classes: int) -> Verdict:
        """As the model itself would say it; which class is worst stays on the workers."""
        outcome = "not checked" if classes == 0 else "fails" if self.failing else "holds"
        reason = "" if classes else "there is no class to judge"
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
    """Figures of a release: class sizes, and per model what was found against the input and against the release."""

    rows: int = 0
    classes: int = 0
    least: int = 0
    greatest: int = 0
    squares: int = 0
    logs: float = 0.0
    loss: float | Finding = 0.0
    judged: list[Judged] = field(default_factory=list)
    again: list[Judged] = field(default_factory=list)

    @property
    def sizes(self) -> tuple[float, float, float]:
        """Least, mean and greatest class size."""
        return float(self.least), self.rows / self.classes if self.classes else 0.0, float(self.greatest)


def released_counts(frame: DataFrame, declared: Mapping[str, Declared]) -> tuple[dict[str, IntArray], list[str]]:
    """How often the release has each sensitive value, and the columns with values that were never declared."""
    counted = value_counts(frame.select(*(quoted(name) for name in declared)))
    counts, unknown = {}, []
    for name, known in declared.items():
        values, rows = counted[name]
        codes = codes_of_cells(known, pl.Series(name, pl.from_arrow(values)))
        if codes is None:
            unknown.append(name)
            continue
        counts[name] = np.zeros(known.attribute.size, dtype=np.int64)
        np.add.at(counts[name], codes, np.asarray(rows, dtype=np.int64))
    return counts, unknown


def measure(
    frame: DataFrame,
    rows: int,
    manifest: Mapping[str, Any],
    policy: Policy,
    declared: Mapping[str, Declared],
    models: Sequence[Model],
    released: Mapping[str, IntArray] | None,
) -> Measured:
    """All figures of a generalized release; with `released` the models are judged against these counts as well."""
    from pyspark.sql import functions as sf

    quasi, sensitive = list(policy.having("quasi")), list(policy.having("sensitive"))
    names = [quoted(name) for name in (*quasi, *sensitive)]
    counted = frame.groupBy(*names).agg(sf.count("*").alias("polyveil rows"))
    parts = max(math.ceil(rows / ROWS_PER_PART), 1)
    spread = counted.repartition(parts, *(quoted(name) for name in quasi)) if quasi else counted.repartition(1)
    judge = _Judge(dict(manifest), policy, dict(declared), tuple(models), released)
    lines = spread.mapInArrow(judge, "line string").collect()
    return _added_up([json.loads(line["line"]) for line in lines], models, released is not None)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Runs on the workers: the rows of one partition in, one line of figures out."""

    manifest: Mapping[str, Any]
    policy: Policy
    declared: Mapping[str, Declared]
    models: tuple[Model, ...]
    released: Mapping[str, IntArray] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from guarded_items(self._lines(batches))

    def _lines(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            line = json.dumps(self._figures(pl.DataFrame(pl.from_arrow(pa.Table.from_batches(held)))))
            yield pa.RecordBatch.from_arrays([pa.array([line], pa.string())], names=["line"])

    def _figures(self, frame: pl.DataFrame) -> dict[str, Any]:
        weights = frame.get_column("polyveil rows").to_numpy().astype(np.int64)
        owner = class_of_row(frame, self.policy.having("quasi"))
        codes = {}
        for name, known in self.declared.items():
            found = codes_of_cells(known, frame.get_column(name))
            if found is None:
                raise ValueError("a value is not declared")  # released_counts has refused such a release before
            codes[name] = found
        attributes = {name: known.attribute for name, known in self.declared.items()}
        statistics = weighted(owner, weights, codes, attributes)
        figures = {**_sizes(statistics.sizes), "judged": self._judged(statistics), "loss": self._loss(frame)}
        if self.released is not None:
            own = {name: about.against(self.released[name]) for name, about in attributes.items()}
            figures["again"] = self._judged(ClassStatistics(statistics.sizes, own, statistics.histograms))
        return figures

    def _judged(self, statistics: ClassStatistics) -> list[tuple[int, float, float]]:
        found = []
        for model in self.models:
            values = model.measure_all(statistics)
            failing = int(np.count_nonzero(~model.passes(values)))
            found.append((failing, float(values[model.worst(values)]), float(values.sum())))
        return found

    def _loss(self, frame: pl.DataFrame) -> Any:
        def counts_of(name: str) -> Iterable[tuple[Any, int]]:
            return frame.group_by(name).agg(pl.col("polyveil rows").sum()).iter_rows()

        summed = summed_loss(self.manifest, self.policy, counts_of)
        return [summed.check, summed.outcome, summed.message] if isinstance(summed, Finding) else summed


def _sizes(sizes: IntArray) -> dict[str, Any]:
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
) -> ClassStatistics:
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
    return ClassStatistics(sizes, attributes, histograms)


def _added_up(parts: list[dict[str, Any]], models: Sequence[Model], again: bool) -> Measured:
    found = Measured(judged=[Judged() for _ in models], again=[Judged() for _ in models] if again else [])
    for part in parts:
        for name in ("rows", "classes", "squares", "logs"):
            setattr(found, name, getattr(found, name) + part[name])
        found.least = part["least"] if not found.least else min(found.least, part["least"])
        found.greatest = max(found.greatest, part["greatest"])
        if isinstance(part["loss"], list):
            found.loss = Finding(*part["loss"])
        elif not isinstance(found.loss, Finding):
            found.loss += part["loss"]
        for name in ("judged", "again"):
            for one, values, model in zip(getattr(found, name), part.get(name, []), models, strict=False):
                one.add(Judged(*values), model)
    return found
