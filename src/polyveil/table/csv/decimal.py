"""The decimal mark of a text table: `3.5` or `3,5`, judged by the cells that can only be one of the two."""

from __future__ import annotations

import polars as pl

_SAMPLED_ROWS = 2_000
# A comma followed by one, two or more than three digits, or by three digits where no thousands could stand.
_WITH_COMMA = r"^[-+]?(?:\d*,(?:\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+|\d{1,3}(?:\.\d{3})+,\d+)$"
_WITH_POINT = r"^[-+]?(?:\d*\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(?:,\d{3})+\.\d+)$"


def likely_decimal(frame: pl.DataFrame) -> str:
    """The mark most numbers of an even sample of rows use; a point where nothing speaks for the comma."""
    sample = frame.gather_every(max(1, frame.height // _SAMPLED_ROWS))
    commas = _votes(sample, _WITH_COMMA)
    return "," if commas and commas > _votes(sample, _WITH_POINT) else "."


def _votes(sample: pl.DataFrame, pattern: str) -> int:
    return sum(sample.select(pl.all().str.contains(pattern).sum()).row(0))
