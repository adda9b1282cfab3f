"""What each measure means: direction, range, unit - shown wherever its number is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One measure of a release. `high` None means that the upper end of the range depends on the table."""

    name: str
    better: Literal["lower", "higher"]
    low: float
    high: float | None
    unit: str
    description: str

    @property
    def title(self) -> str:
        """The name in plain words."""
        return self.name.replace("_", " ")


_LOSS = (
    Metric(
        *("information_loss", "lower", 0.0, None, "quasi-identifiers per row"),
        "Width of each cell relative to its domain, summed over the quasi-identifiers, averaged over all input rows; "
        "a suppressed row counts 1 per quasi-identifier (wang2018, eq. (1)).",
    ),
    Metric(
        *("normalized_loss", "lower", 0.0, 1.0, "share"),
        "Information loss divided by the number of quasi-identifiers: 0 nothing generalized, 1 nothing left.",
    ),
    Metric(
        *("discernibility", "lower", 0.0, None, "pairs of rows"),
        "Sum of the squared class sizes, plus the whole table for each suppressed row (Bayardo & Agrawal 2005).",
    ),
    Metric(
        *("precision", "higher", 0.0, 1.0, "share"),
        "1 minus the mean height of generalization over all cells, relative to the hierarchy; ranges of numbers and "
        "sets of values count by their width (Sweeney 2002; roy2014, 2.4).",
    ),
    Metric(
        *("entropy", "higher", 0.0, None, "bits"),
        "How well the quasi-identifiers still tell rows apart: entropy of the class a row belongs to, suppressed rows "
        "as one class (roy2014, 2.4).",
    ),
    Metric(*("average_class_size", "lower", 1.0, None, "rows"), "Released rows per class."),
    Metric(
        *("suppression_ratio", "lower", 0.0, 1.0, "share"),
        "Suppressed rows as a share of the input rows (han2013, eq. (9)).",
    ),
    Metric(
        *("distortion", "lower", 0.0, None, "cells"),
        "Weighted hierarchical distance of every cell from its value, summed over the table (han2013, eq. (4)); ranges "
        "of numbers and sets of values count by their width.",
    ),
    Metric(
        *("additional_information_loss", "lower", 0.0, None, "share"),
        "Rows that groups have beyond the least their l asks for, relative to it, averaged over the sensitive tables "
        "(xiao2020, Definition 14; han2013, eq. (8)); of anatomized and sliced releases.",
    ),
    Metric(
        *("weighted_loss", "lower", 0.0, 1.0, "share"),
        "Normalized loss of the released rows, each counted with its sampling weight; of releases with weights.",
    ),
)

_RISK = (
    Metric(
        *("prosecutor_risk", "lower", 0.0, 1.0, "probability"),
        "Chance of naming the row of a person who is known to be in the release, in the smallest class.",
    ),
    Metric(
        *("journalist_risk", "lower", 0.0, 1.0, "probability"),
        "Chance of naming the person behind some row, for an adversary with a register of the population.",
    ),
    Metric(
        *("marketer_risk", "lower", 0.0, 1.0, "share"),
        "Share of rows that an adversary who links every row with a register names correctly, on average.",
    ),
)

_UTILITY = (
    Metric(
        *("query_error", "lower", 0.0, None, "share of the true count"),
        "Median error of COUNT queries over random ranges, a reader taking every value a cell stands for as equally "
        "likely.",
    ),
    Metric(
        *("distribution_shift", "lower", 0.0, 1.0, "total variation"),
        "How far the distribution of a column that a reader reconstructs is from the original's, mean over columns.",
    ),
    Metric(
        *("association_shift", "lower", 0.0, 1.0, "change of Cramer's V"),
        "How much the association of two columns that a reader reconstructs differs from the original's, mean over "
        "pairs.",
    ),
    Metric(
        *("model_accuracy", "higher", 0.0, 1.0, "share"),
        "Accuracy, on original rows it has not seen, of a classifier of the sensitive columns trained on the release.",
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in (*_LOSS, *_RISK, *_UTILITY)}
"""Every measure by its name in results."""
