"""What evidence is made of: figures and tables, each with the check behind it."""

from __future__ import annotations

from dataclasses import dataclass

WITH_ORIGINAL = "original: "
"""Checks that begin so need the original table."""
NOTHING = "–"
"""What stands where a figure was not measured."""


@dataclass(frozen=True)
class Fact:
    """A figure or a word, as it is written, and the check behind it."""

    text: str
    check: str


@dataclass(frozen=True)
class FactTable:
    """Several figures, and the check behind all of them."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    check: str
