"""What a release is still good for: counting, describing, relating and learning, each against the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from polyveil.measure.loss import loss_of_boxes
from polyveil.measure.queries import QueryError, query_error, random_queries
from polyveil.measure.utility_model import ModelScore, model_scores
from polyveil.measure.utility_shift import Association, Reconstruction, associations, distribution_shifts
from polyveil.partition import Partition
from polyveil.table.coded import CodedTable

QUERIES = 300


@dataclass(frozen=True)
class Utility:
    """All figures of usefulness; the names are those of `polyveil.measure.METRICS`.

    `query_error` is the median relative error of COUNT queries, `distribution_shift` and `association_shift` are means
    over columns and pairs of columns, `model_accuracy` is a mean over the sensitive columns (None: nothing to learn).
    """

    query_error: float
    distribution_shift: float
    association_shift: float
    model_accuracy: float | None
    model_accuracy_original: float | None
    queries: QueryError
    shift_by_column: Mapping[str, float]
    associations: tuple[Association, ...]
    models: tuple[ModelScore, ...]
    loss_by_attribute: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in results."""
        return asdict(self)


def measure_utility(
    table: CodedTable, partition: Partition, *, seed: int = 0, queries: int = QUERIES, learn: bool = True
) -> Utility:
    """Measure a release of `table` whose rows are in the classes (and slices) of `partition`, as published.

    `seed` draws the queries and the rows to learn from; `learn=False` leaves out the classifiers, which take longest.
    """
    rng = np.random.default_rng(seed)
    view = Reconstruction(table, partition)
    asked = query_error(table, partition, random_queries(table, rng, queries))
    shifts, pairs = distribution_shifts(view), associations(view)
    scores = model_scores(view, rng) if learn else ()
    return Utility(
        query_error=asked.median,
        distribution_shift=_mean([*shifts.values()]),
        association_shift=_mean([pair.shift for pair in pairs]),
        model_accuracy=_mean([score.released for score in scores]) if scores else None,
        model_accuracy_original=_mean([score.original for score in scores]) if scores else None,
        queries=asked,
        shift_by_column=shifts,
        associations=pairs,
        models=scores,
        loss_by_attribute=loss_of_boxes(table, view.boxes).by_attribute,
    )


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0
