"""Values that a database writes one way and a table in memory another: turned over without loss, or refused."""

from __future__ import annotations

import polars as pl

from polyveil.errors import InputError
from polyveil.table.databases.described import Becomes, DescribedColumn

# Every decimal of up to 15 significant digits survives the way into a 64-bit float and back (IEEE 754, DBL_DIG).
EXACT_DIGITS = 15
_STAMPS = [f"%Y-%m-%d{gap}%H:%M:%S{fraction}" for gap in " T" for fraction in ("", "%.6f", "%.3f")]
_FORMATS: dict[Becomes, list[str]] = {
    "date": ["%Y-%m-%d"],
    "time": ["%H:%M:%S", "%H:%M:%S%.6f", "%H:%M:%S%.3f"],
    "timestamp": _STAMPS,
    "timestamp UTC": [f"{stamp}{zone}" for zone in ("+00:00", "Z") for stamp in _STAMPS],
}
_DTYPES: dict[Becomes, pl.Date | pl.Time | pl.Datetime] = {
    "date": pl.Date(),
    "time": pl.Time(),
    "timestamp": pl.Datetime("us"),
    "timestamp UTC": pl.Datetime("us"),
}


def turned_over(column: DescribedColumn, cells: pl.Series, source: str) -> pl.Series:
    """The cells as what they become; those of a loosely typed column stay as they are if one does not fit."""
    if column.becomes == "number":
        return exact_numbers(cells, source)
    if column.becomes == "boolean":
        fits = cells.dtype == pl.Int64 and cells.drop_nulls().is_between(0, 1).all()
        return cells.cast(pl.Boolean) if fits else cells
    if column.becomes in _FORMATS and cells.dtype == pl.String:
        return _as_time(cells, column.becomes)
    return cells


def exact_numbers(texts: pl.Series, source: str) -> pl.Series:
    """Decimals as 64-bit floats where each keeps all its digits, else as 64-bit integers, else refused."""
    digits = texts.str.replace_all(r"[-.]", "")
    if (digits.str.len_bytes().max() or 0) > EXACT_DIGITS:  # type: ignore[operator]
        digits = digits.str.strip_chars("0")
    number = texts.cast(pl.Float64, strict=False)
    if (digits.filter(number.is_finite()).str.len_bytes().max() or 0) <= EXACT_DIGITS:  # type: ignore[operator]
        return number
    whole = texts.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)
    if whole.null_count() == texts.null_count():
        return whole
    raise InputError(
        f"{source}: the column {texts.name!r} has decimals of more than {EXACT_DIGITS} significant digits, which "
        "cannot be read as numbers without loss. Round it, or cast it to text, in --query"
    )


def _as_time(cells: pl.Series, becomes: Becomes) -> pl.Series:
    """Text as a date or time in the one format all cells have; a format counts only if it gives every text back."""
    for text_format in _FORMATS[becomes]:
        parsed = cells.str.strptime(_DTYPES[becomes], text_format, strict=False)
        if parsed.null_count() == cells.null_count() and (parsed.dt.to_string(text_format) == cells).all():
            return parsed.dt.replace_time_zone("UTC") if becomes == "timestamp UTC" else parsed
    return cells


def refuse_far_times(frame: pl.DataFrame, source: str) -> None:
    """Dates outside the years 1 to 9999, where `infinity` and wrapped-around numbers end up, are refused."""
    for name, dtype in frame.schema.items():
        if dtype not in (pl.Date, pl.Datetime):
            continue
        days = frame.get_column(name).to_physical().cast(pl.Int64)
        per_day = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
        days = days // per_day[dtype.time_unit] if isinstance(dtype, pl.Datetime) else days
        if not days.drop_nulls().is_between(-719_162, 2_932_896).all():  # 0001-01-01 and 9999-12-31
            raise InputError(
                f"{source}: the column {name!r} has dates that are infinite or outside the years 1 to 9999. "
                "Replace them in --query, for example by NULL"
            )


def storable(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the few types every release has: boolean, integer, float, text, date, time, timestamp.

    Categories become text: a type would publish those no row has. Whole numbers have 64 bits, times microseconds.
    """
    return frame.select(_storable(frame.get_column(name)) for name in frame.columns)


def _storable(cells: pl.Series) -> pl.Series:
    dtype = cells.dtype
    if dtype.is_float():
        numbers = cells.cast(pl.Float64).fill_nan(None)
        return numbers.set((numbers == 0).fill_null(False), 0.0)  # -0.0 and 0.0 are one value
    if dtype.is_integer():
        # Only UInt64 and Int128 can hold what 64 signed bits cannot.
        whole = cells.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == cells.null_count() else cells.cast(pl.String)
    if isinstance(dtype, pl.Decimal):
        try:
            return exact_numbers(cells.cast(pl.String), "the release")
        except InputError:
            return cells.cast(pl.String)
    if isinstance(dtype, pl.Datetime):
        instant = cells.dt.convert_time_zone("UTC") if dtype.time_zone else cells
        micro = instant.cast(pl.Datetime("us", "UTC" if dtype.time_zone else None))
        return micro if (micro.cast(instant.dtype) == instant).all() else instant.dt.to_string("iso")
    if isinstance(dtype, pl.Time):
        micro_text = cells.dt.to_string("%H:%M:%S%.9f")
        return cells if micro_text.str.ends_with("000").all() else micro_text
    return cells if dtype in (pl.Boolean, pl.Date, pl.String) else cells.cast(pl.String)
