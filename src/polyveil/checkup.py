"""Measuring any table - raw data, or someone else's release - against every privacy model at once.

Nothing is changed and nothing is generalized: classes are rows whose quasi-identifier cells are equal as they stand
(a missing cell equals a missing cell), so a table with cells like `[20-29]` or `475**` is judged as its reader sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polyveil.errors import Fault, InputError, PolicyError
from polyveil.models import ClassStatistics, Model, attributes_of, codes_of, from_classes, models_for, probes_for
from polyveil.policy import Policy
from polyveil.policy.schema import Column, Privacy, Role
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.parse import without_markers
from polyveil.table.source import Table, read
from polyveil.verification.classes import class_of_row

_ROLES: tuple[Role, ...] = ("quasi", "sensitive")


@dataclass(frozen=True)
class Measurement:
    """One model on one attribute: the value reached, and - where a threshold was asked for - whether it holds."""

    model: str
    attribute: str | None
    parameter: str
    value: float
    threshold: float | None
    holds: bool | None
    failing_classes: int
    failing_rows: int
    leaves_open: str


@dataclass(frozen=True, eq=False)
class Checkup:
    """What a table protects as it stands. `holds` is None where nothing was asked for."""

    rows: int
    classes: int
    unique_rows: int
    quasi: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    statistics: ClassStatistics
    class_of_row: np.ndarray[Any, np.dtype[np.int64]]

    @property
    def asked(self) -> tuple[Measurement, ...]:
        return tuple(each for each in self.measurements if each.threshold is not None)

    @property
    def holds(self) -> bool | None:
        return all(each.holds for each in self.asked) if self.asked else None

    def answer(self) -> str:
        """One plain sentence that answers "is this already anonymous?"."""
        k = int(self.statistics.sizes.min())
        if self.holds is False:
            broken = [each for each in self.asked if not each.holds]
            return f"No: {len(broken)} of {len(self.asked)} requirements {'is' if len(broken) == 1 else 'are'} not met."
        if k == 1:
            return (
                f"No: {self.unique_rows:,} of {self.rows:,} rows have a unique combination of "
                f"{', '.join(self.quasi)}. Anyone who knows these values of a person can find their row."
            )
        if self.holds:
            return "Yes: every requirement is met in every group."
        return (
            f"Every row shares its combination with at least {k - 1} others (k = {k}). Add requirements to check more."
        )

    def to_dict(self) -> dict[str, Any]:
        sizes = self.statistics.sizes
        return {
            "rows": self.rows,
            "classes": self.classes,
            "unique_rows": self.unique_rows,
            "class_size": {"min": int(sizes.min()), "mean": float(sizes.mean()), "max": int(sizes.max())},
            "holds": self.holds,
            "answer": self.answer(),
            "measurements": [
                {
                    "model": each.model,
                    "attribute": each.attribute,
                    "parameter": each.parameter,
                    "value": each.value if np.isfinite(each.value) else None,
                    "threshold": each.threshold,
                    "holds": each.holds,
                    "failing_classes": each.failing_classes,
                    "failing_rows": each.failing_rows,
                }
                for each in self.measurements
            ],
        }


def check(
    source: Any,
    policy: Policy | Path | str | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    privacy: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Checkup:
    """Measure a table by a policy, or by just naming its columns; `privacy` gives thresholds (k, l, t, ...)."""
    if policy is None:
        columns = {name: Column(role="sensitive") for name in sensitive} | {n: Column(role="quasi") for n in quasi}
        if not quasi:
            raise InputError("no quasi-identifiers. Name them (--quasi a,b) or give a policy")
        policy = Policy(columns=columns, privacy=Privacy.model_validate(privacy or {}))
    elif not isinstance(policy, Policy):
        policy = Policy.from_yaml(policy)
    table = read(source, **(reading or {}))
    _check_columns(policy, table)
    quasi = policy.having("quasi")
    cells = [
        without_markers(table.frame.get_column(name), [*policy.missing, *policy.columns[name].missing])
        for name in quasi
    ]
    classes = class_of_row(table.frame.with_columns(cells), quasi)
    statistics = _statistics(policy, table, classes)
    sizes = statistics.sizes
    measured = [_measure(model, statistics, asked) for model, asked in _models(policy, statistics)]
    return Checkup(
        rows=table.height,
        classes=len(sizes),
        unique_rows=int(np.count_nonzero(sizes == 1)),
        quasi=tuple(quasi),
        measurements=tuple(measured),
        statistics=statistics,
        class_of_row=classes,
    )


def _check_columns(policy: Policy, table: Table) -> None:
    known = ", ".join(table.columns[:50])
    faults = [
        Fault(f"columns.{name}", "the table has no such column", f"The table has: {known}")
        for role in _ROLES
        for name in policy.having(role)
        if name not in table.columns
    ]
    both = [name for name in policy.having("quasi") if policy.columns[name].role == "sensitive"]
    if faults or both:
        raise PolicyError(faults, f"the check of {table.name}")


def _statistics(policy: Policy, table: Table, classes: np.ndarray[Any, np.dtype[np.int64]]) -> ClassStatistics:
    """Count the sensitive values of each class; their types and hierarchies come from the policy."""
    names = policy.having("sensitive")
    if not names:
        return from_classes(classes, {}, {})
    columns = {name: policy.columns[name] for name in names}
    part = policy.model_copy(update={"columns": columns, "privacy": Privacy(joint=policy.privacy.joint)})
    coded = encode(bind(part, replace(table, frame=table.frame.select(names))))
    return from_classes(classes, codes_of(coded), attributes_of(coded))


def _models(policy: Policy, statistics: ClassStatistics) -> list[tuple[Model, bool]]:
    """What the policy asks for, then everything else that can be measured."""
    asked = models_for(policy, statistics.attributes)
    seen = {(model.key, model.attribute) for model in asked}
    others = [model for model in probes_for(statistics.attributes) if (model.key, model.attribute) not in seen]
    return [(model, True) for model in asked] + [(model, False) for model in others]


def _measure(model: Model, statistics: ClassStatistics, asked: bool) -> Measurement:
    values = model.measure_all(statistics)
    failing = ~model.passes(values)
    return Measurement(
        model=model.key,
        attribute=model.attribute,
        parameter=model.parameter,
        value=float(values[model.worst(values)]),
        threshold=model.threshold if asked else None,
        holds=not failing.any() if asked else None,
        failing_classes=int(failing.sum()) if asked else 0,
        failing_rows=int(statistics.sizes[failing].sum()) if asked else 0,
        leaves_open=model.leaves_open,
    )
