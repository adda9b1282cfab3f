"""What a first look finds out about one column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from polyveil.policy.schema import ColumnType, Role

Confidence = Literal["high", "medium", "low"]
"""high: name or values say it; medium: likely, and worth a question; low: no hint, so it must be asked."""
MissingKind = Literal["missing", "refused", "don't know", "not applicable"]


@dataclass(frozen=True)
class MissingHint:
    """A cell text that usually means "missing", what kind of missing, and how often it occurs.

    `sure` says that it is no value of its own: a word such as "Refused", or a number far from all others.
    """

    marker: str
    rows: int
    kind: MissingKind = "missing"
    sure: bool = False


@dataclass(frozen=True)
class ColumnProfile:
    """One column: what it holds and what is suggested for it. `low` and `high` stay out of its printed form."""

    name: str
    dtype: str
    type: ColumnType
    missing: int
    distinct: int
    unique_share: float  # share of rows whose value no other row has
    role: Role
    reason: str
    hierarchy: Mapping[str, Any] | None  # in the notation of the policy file
    date_format: str | None
    missing_hints: tuple[MissingHint, ...]
    low: float | dt.date | None = field(repr=False)
    high: float | dt.date | None = field(repr=False)
    confidence: Confidence = "high"
    topic: str = ""
    """What it is about, by the name of a topic of the vocabulary; empty if nothing tells."""
    evidence: tuple[str, ...] = ()
    """What else was noticed about the values."""
    label: str = ""
    """Its description, from a data dictionary or from the file itself."""

    @property
    def asked(self) -> bool:
        """Whether the suggestion is a question to the steward."""
        return self.confidence != "high"
