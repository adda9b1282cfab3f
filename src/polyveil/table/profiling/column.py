"""What a first look finds out about one column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polyveil.policy.schema import ColumnType, Role


@dataclass(frozen=True)
class MissingHint:
    """A cell text that usually means "missing", and how often it stands there; to be declared, not assumed."""

    marker: str
    rows: int


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
