"""How much detail any release of a table must lose: a number that no method, however long it searches, can go below."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.bounds.costs import points_of
from polyveil.bounds.prices import Crowd, Stop, crowd_bound
from polyveil.bounds.required import Required, required_of
from polyveil.errors import InputError
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import width
from polyveil.models import Attribute, Model, attributes_of, models_for
from polyveil.policy import PolicyLike, load_policy
from polyveil.policy.schema import Privacy
from polyveil.progress import Progress, shown
from polyveil.results import Result, Row
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import Table, read

SECONDS = 20.0
"""How long `polyveil.bound` takes at most, unless asked."""
ROUNDING = 1e-9
"""Taken off, so that sums of rounded numbers do not exceed the true one."""


@dataclass(frozen=True, eq=False, repr=False)
class LossBound(Result):
    """No generalized release with these guarantees loses less.

    `information_loss` and `normalized_loss` are in the units of a release's loss of the same names, `least_rows` is
    the least number of rows (people, where a column says whom a row is about) that any group must have.
    """

    information_loss: float
    normalized_loss: float
    least_rows: int
    rows: int
    seconds: float

    def answer(self) -> str:
        """The bound in one plain sentence."""
        return f"No release with these guarantees can lose less than {self.normalized_loss:.2%} of the detail."

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `polyveil bound --json` prints it."""
        return {
            "information_loss": self.information_loss,
            "normalized_loss": self.normalized_loss,
            "least_rows": self.least_rows,
            "rows": self.rows,
            "seconds": self.seconds,
        }

    def records(self) -> Sequence[Row]:
        """One row."""
        return [self.to_dict()]


def bound(
    source: Any,
    policy: PolicyLike,
    *,
    seconds: float = SECONDS,
    progress: Progress | bool = False,
    reading: Mapping[str, Any] | None = None,
) -> LossBound:
    """Compute a loss that no release of a table with these guarantees can go below, by any method.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    policy : Policy, dict or path
        What each column is, and which guarantees a release must give. Its method plays no part.
    seconds : float
        How long to look for a greater bound. The bound holds whenever it is stopped.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.
    reading : dict, optional
        Options of `polyveil.read`, such as ``{"delimiter": ";"}``.

    Returns
    -------
    LossBound
        The bound, in the unit of `information_loss` and as the share of the detail that is lost.

    Raises
    ------
    PolicyError, InputError
        The policy or the table cannot be used, or the policy asks for a form other than generalized.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 54], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> print(f"{polyveil.bound(people, policy).normalized_loss:.4f}")
    0.0625
    >>> print(f"{polyveil.anonymize(people, policy).loss['normalized_loss']:.4f}")
    0.0625
    """
    chosen = load_policy(policy)
    if chosen.release.form not in (None, "generalized"):
        raise InputError(
            f"there is no bound for the form {chosen.release.form}: it publishes quasi-identifiers without groups of "
            "rows that look alike. Ask for the generalized form"
        )
    with shown(progress) as listening:
        listening.stage("read")
        table: Table = read(source, **(reading or {}))
        listening.stage("encode")
        coded = encode(bind(chosen, table))
        listening.stage("bound")
        attributes = attributes_of(coded)
        return bound_of(coded, models_for(chosen, attributes), attributes, chosen.privacy, seconds)


def bound_of(
    table: CodedTable,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    privacy: Privacy,
    seconds: float = SECONDS,
) -> LossBound:
    """The bound of a coded table under some models, within some seconds."""
    begun = time.perf_counter()

    def stop() -> bool:
        return time.perf_counter() - begun > seconds

    required = required_of(models, attributes, in_people=table.person is not None)
    may_leave_out = int(privacy.suppression_limit * table.rows + 1e-9) > 0
    if table.person is None:
        total = _of_rows(table, required, may_leave_out, stop)
    else:
        total = _of_people(table, table.person, required, stop)
    value = max(total / max(table.rows, 1) - ROUNDING, 0.0)
    return LossBound(
        information_loss=value,
        normalized_loss=value / max(len(table.quasi), 1),
        least_rows=required.size,
        rows=table.rows,
        seconds=time.perf_counter() - begun,
    )


def _of_rows(table: CodedTable, required: Required, may_leave_out: bool, stop: Stop) -> float:
    """The least sum over all rows."""
    tuples = table.quasi_tuples
    left_out = float(len(table.quasi)) if may_leave_out else np.inf
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, required.size, left_out)
    return float(tuples.counts @ crowd_bound(crowd, stop))


def _of_people(table: CodedTable, people: IntArray, required: Required, stop: Stop) -> float:
    """People with several rows: each loses the box of their own rows, or that around k people's first rows."""
    _, first, person, rows = np.unique(people, return_index=True, return_inverse=True, return_counts=True)
    one_row_each = table.take(first)
    boxes = class_boxes(table, person)
    own = np.zeros(len(first))
    for a, column in enumerate(table.quasi):
        own += width(column.domain, boxes.low[:, a], boxes.high[:, a], boxes.distinct[:, a])
    tuples = one_row_each.quasi_tuples
    crowd = Crowd(points_of(table.quasi, tuples.codes), tuples.counts, required.size)
    around = crowd_bound(crowd, stop, with_prices=False)[tuples.of_row]
    return float(rows @ np.maximum(own, around))
