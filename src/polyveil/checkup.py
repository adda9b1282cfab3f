"""Measuring any table - raw data, or someone else's release - against every privacy model at once.

Nothing is changed and nothing is generalized: classes are rows whose quasi-identifier cells are equal as they stand
(a missing cell equals a missing cell), so a table with cells like `[20-29]` or `475**` is judged as its reader sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault, InputError, PolicyError
from polyveil.frames import one_or_more
from polyveil.models import (
    ClassStatistics,
    JointAttribute,
    Model,
    attributes_of,
    codes_of,
    from_classes,
    models_for,
    probes_for,
)
from polyveil.models.people import PeopleStatistics, from_people, people_of, weight_of_rows
from polyveil.policy import Policy, PolicyLike, fitted, load_policy
from polyveil.policy.schema import Column, Privacy, Role
from polyveil.results import Outcome, Result, Row, counted
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.parse import column_type, parse_numbers, without_markers
from polyveil.table.population import refuse_strangers
from polyveil.table.profiling.precise import POINTING, share_alone, words_of
from polyveil.table.register import population_file
from polyveil.table.source import Table, read
from polyveil.table.weights import class_weights
from polyveil.verification.any_columns import fewest_alike
from polyveil.verification.classes import class_of_row
from polyveil.verification.population import people_fitting

COUNTED_ROLES: tuple[Role, ...] = ("sensitive", "person", "weight")
"""Columns whose cells are counted in the groups that the quasi-identifiers make."""


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


@dataclass(frozen=True, eq=False, repr=False)
class Checkup(Result):
    """What a table protects as it is."""

    rows: int
    classes: int
    unique_rows: int
    quasi: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    statistics: ClassStatistics
    class_of_row: np.ndarray[Any, np.dtype[np.int64]]
    people: int | None = None
    """How many people the rows are about, where a column says so; guarantees then count people as well."""

    fraction: float | None = None
    """The share of the population that the table has, where the policy says so."""

    notices: tuple[str, ...] = ()
    """What else to know: sensitive numbers that nearly nobody shares."""

    @property
    def asked(self) -> tuple[Measurement, ...]:
        """What was required, not only measured."""
        return tuple(each for each in self.measurements if each.threshold is not None)

    @property
    def outcome(self) -> Outcome:
        """holds or fails by the requirements; not checked where none was given."""
        if not self.asked:
            return "not checked"
        return "holds" if all(each.holds for each in self.asked) else "fails"

    def answer(self) -> str:
        """One plain sentence that answers "is this already anonymous?"."""
        sizes, unit = self.statistics.sizes, "row"
        if isinstance(self.statistics, PeopleStatistics):
            sizes, unit = self.statistics.people, "person"
        k = int(sizes.min())
        any_few = any(each.parameter == "any" for each in self.asked)
        if self.outcome == "fails":
            broken = [each for each in self.asked if not each.holds]
            return f"No: {len(broken)} of {len(self.asked)} requirements {'is' if len(broken) == 1 else 'are'} not met."
        if k == 1 and unit == "person":
            return (
                f"No: {counted(int((sizes == 1).sum()), 'group')} of rows with equal {', '.join(self.quasi)} "
                f"{'is' if (sizes == 1).sum() == 1 else 'are'} about a single person."
            )
        if k == 1 and not any_few:
            return (
                f"No: {self.unique_rows:,} of {self.rows:,} rows have a unique combination of "
                f"{', '.join(self.quasi)}. Anyone who knows these values of a person can find their row."
            )
        told = self._certain()
        if self.holds:
            met = "Yes: every requirement is met in every group."
            return f"{met} But {told}" if told else met
        if told:
            return f"No: {told}"
        return (
            f"Every {unit} shares its combination with at least {k - 1} others (k = {k}). "
            "Add requirements to check more."
        )

    def _certain(self) -> str:
        """The sensitive column that is certain for most people once their group is known; nothing where none is."""
        found = []
        for name, about in self.statistics.attributes.items():
            if not isinstance(about, JointAttribute):
                one = np.diff(self.statistics.histograms[name].begin) == 1
                found.append((int(self.statistics.sizes[one].sum()), int(one.sum()), name))
        rows, groups, name = max(found, default=(0, 0, ""))
        return f"in {counted(groups, 'group')} ({counted(rows, 'row')}) everybody has the same {name}." if rows else ""

    def records(self) -> Sequence[Row]:
        """One row per model and column: the value reached and, where it was required, whether it holds."""
        return [
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
        ]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil check --json` prints it; `holds` is None if nothing was required."""
        sizes = self.statistics.sizes
        found: dict[str, Any] = {"rows": self.rows}
        if self.people is not None:
            of_people = self.statistics.people if isinstance(self.statistics, PeopleStatistics) else sizes
            found |= {"people": self.people, "people_per_class": _sizes(of_people)}
        return {
            **found,
            "classes": self.classes,
            "unique_rows": self.unique_rows,
            "class_size": _sizes(sizes),
            "holds": self.holds if self.asked else None,
            "outcome": self.outcome,
            "answer": self.answer(),
            "measurements": list(self.records()),
            **self._unique_in_population(),
            "notices": list(self.notices),
        }

    def _unique_in_population(self) -> dict[str, Any]:
        """The estimated share of the population that is unique, and its 95 % interval under Pitman's model."""
        if self.fraction is None or self.fraction >= 1.0:
            return {}
        from polyveil.models.uniqueness import estimate  # solvers are slow to load
        from polyveil.models.uniqueness_interval import interval

        sizes = self.statistics.people if isinstance(self.statistics, PeopleStatistics) else self.statistics.sizes
        between = interval(sizes, self.fraction)
        found = {"estimate": estimate(sizes, self.fraction), "interval": None if between is None else list(between)}
        return {"unique_in_population": {"fraction": self.fraction, **found}}


def _sizes(sizes: IntArray) -> dict[str, float]:
    return {"min": int(sizes.min()), "mean": float(sizes.mean()), "max": int(sizes.max())}


def check(
    source: Any,
    policy: PolicyLike | None = None,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    privacy: Mapping[str, Any] | None = None,
    person: str | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Checkup:
    """Measure any table as it is against every privacy model at once.

    Rows are in one group if their quasi-identifier cells are equal; a missing cell is a value like any other.

    Parameters
    ----------
    source : path, frame, Table or database address
        Raw data, or someone else's release.
    policy : Policy, dict or path, optional
        What each column is, and what is required.
    quasi, sensitive : str or list of str
        The columns, instead of a policy. A column may be both: then it is one that others can know, and it is judged
        as sensitive as well.
    privacy : dict, optional
        Requirements to go with `quasi` and `sensitive`, as in a policy: ``{"k": 5, "t": 0.2}``.
    person : str, optional
        The column that says whom a row is about. Guarantees then count people as well as rows; the weaker is told.
    reading : dict, optional
        Options of `polyveil.read`.

    Returns
    -------
    Checkup
        What each model measures. `outcome` is "not checked" if nothing was required.

    Raises
    ------
    InputError, PolicyError
        The table cannot be read, no quasi-identifier is named, or a column is not there.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 30, 52, 52], "disease": ["flu", "asthma", "flu", "flu"]})
    >>> polyveil.check(people, quasi="age", sensitive="disease", privacy={"k": 2}).outcome
    'holds'
    >>> polyveil.check(people, quasi="age", sensitive="disease")
    <Checkup: No: in 1 group (2 rows) everybody has the same disease.>
    """
    if policy is not None and (quasi or sensitive or privacy):
        raise InputError("the policy already says the columns and requirements. Leave quasi, sensitive and privacy out")
    names = one_or_more(quasi)
    asked = _named(names, one_or_more(sensitive), privacy or {}) if policy is None else load_policy(policy)
    table = read(source, **(reading or {}))
    if policy is not None:
        asked = fitted(asked, table.columns)
        names = asked.having("quasi")
    policy = asked
    if person is not None:
        policy = _about(person, policy)
    _check_columns(policy, names, table)
    cells = [
        without_markers(table.frame.get_column(name), [*policy.missing, *policy.columns[name].missing])
        for name in names
    ]
    classes = class_of_row(table.frame.with_columns(cells), names)
    statistics = _statistics(policy, table, classes)
    if policy.privacy.any is not None:
        alike = fewest_alike(table.frame.with_columns(cells), names, policy.privacy.any, classes)
        statistics = replace(statistics, alike=alike)
    people = population_file(policy)
    if people is not None:
        fitting = people_fitting(policy, table.frame.with_columns(cells), classes, people)
        if fitting is not None:
            refuse_strangers(int(statistics.sizes[fitting == 0].sum()), table.height, people.name)
        statistics = replace(statistics, population=fitting)
    sizes = statistics.sizes
    measured = [_measure(model, statistics, asked) for model, asked in _models(policy, statistics)]
    return Checkup(
        rows=table.height,
        classes=len(sizes),
        unique_rows=int(np.count_nonzero(sizes == 1)),
        quasi=names,
        measurements=tuple(measured),
        statistics=statistics,
        class_of_row=classes,
        people=None if policy.person is None else table.frame.get_column(policy.person).n_unique(),
        fraction=None if policy.privacy.risk is None else policy.privacy.risk.fraction,
        notices=tuple(_notices(policy, table)),
        frame_kind=table.kind,
    )


def _notices(policy: Policy, table: Table) -> Iterator[str]:
    """Sensitive numbers that point to people by themselves."""
    for name in policy.having("sensitive"):
        column = policy.columns[name]
        cells = without_markers(table.frame.get_column(name), [*policy.missing, *column.missing])
        if column_type(column, cells) != "numeric":
            continue
        counted_values = parse_numbers(name, cells, table)[0].drop_nulls().alias("value").value_counts(name="rows")
        counts = counted_values.get_column("rows").cast(pl.Int64).to_numpy()
        if share_alone(counts) >= POINTING:
            yield words_of(name, share_alone(counts), counted_values.get_column("value").to_numpy(), counts)


def _named(quasi: Sequence[str], sensitive: Sequence[str], privacy: Mapping[str, Any]) -> Policy:
    """A policy for named columns; one that is named both ways stands in it as sensitive, and in `quasi` beside it."""
    if not quasi:
        raise InputError("no quasi-identifiers. Name them (--quasi a,b) or give a policy")
    roles: dict[str, Role] = {**dict.fromkeys(quasi, "quasi"), **dict.fromkeys(sensitive, "sensitive")}
    columns = {name: Column(role=role) for name, role in roles.items()}
    return Policy(columns=columns, privacy=Privacy.model_validate(privacy))


def _about(person: str, policy: Policy) -> Policy:
    """The policy with this column as the one that says whom a row is about."""
    columns = {name: column for name, column in policy.columns.items() if column.role != "person"}
    return policy.model_copy(update={"columns": {**columns, person: Column(role="person")}})


def _check_columns(policy: Policy, quasi: Sequence[str], table: Table) -> None:
    known = ", ".join(table.columns[:50])
    faults = [
        Fault(f"columns.{name}", "the table has no such column", f"The table has: {known}")
        for name in dict.fromkeys((*quasi, *(each for role in COUNTED_ROLES for each in policy.having(role))))
        if name not in table.columns
    ]
    if faults:
        raise PolicyError(faults, f"the check of {table.name}")


def _statistics(policy: Policy, table: Table, classes: np.ndarray[Any, np.dtype[np.int64]]) -> ClassStatistics:
    """Count the sensitive values of each class; their types and hierarchies come from the policy."""
    names = [name for role in COUNTED_ROLES for name in policy.having(role)]
    if not names:
        return from_classes(classes, {}, {})
    # A table is measured as it stands, so nothing is made coarser that it has.
    columns = {name: policy.columns[name].model_copy(update={"publish": None}) for name in names}
    part = policy.model_copy(update={"columns": columns, "privacy": Privacy(joint=policy.privacy.joint)})
    coded = encode(bind(part, replace(table, frame=table.frame.select(names))))
    codes, attributes = codes_of(coded), attributes_of(coded)
    sampling = None if coded.sampling is None else class_weights(coded.sampling, classes)
    if coded.person is None:
        return replace(from_classes(classes, codes, attributes), sampling=sampling)
    people = people_of(coded.person, codes, attributes)
    # A person may have rows in several groups, and weighs as much as anybody else in each of them.
    member = np.unique(classes * people.person.max() + classes + people.person, return_inverse=True)[1]
    within = replace(
        people,
        person=member,
        weights={name: weight_of_rows(member, people.weight, found) for name, found in codes.items()},
    )
    return replace(from_people(classes, codes, attributes, within), sampling=sampling)


def _models(policy: Policy, statistics: ClassStatistics) -> list[tuple[Model, bool]]:
    """What the policy asks for, then everything else that can be measured."""
    asked = models_for(policy, statistics.attributes)
    seen = {(model.key, model.attribute) for model in asked}
    others = [model for model in probes_for(statistics.attributes) if (model.key, model.attribute) not in seen]
    return [(model, True) for model in asked] + [(model, False) for model in others]


def _measure(model: Model, statistics: ClassStatistics, asked: bool) -> Measurement:
    values = model.measure_all(statistics)
    broken = ~model.passes(values)
    failing = broken if model.per_group else np.zeros(len(values), dtype=bool)
    return Measurement(
        model=model.key,
        attribute=model.attribute,
        parameter=model.parameter,
        value=float(values[model.worst(values)]),
        threshold=model.threshold if asked else None,
        holds=not broken.any() if asked else None,
        failing_classes=int(failing.sum()) if asked else 0,
        failing_rows=int(statistics.sizes[failing].sum()) if asked else 0,
        leaves_open=model.leaves_open,
    )
