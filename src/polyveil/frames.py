"""Frames, in and out: polars, pandas, pyarrow, and anything that speaks the Arrow stream interface.

The library an object comes from is recognised by its module name, so pandas is never imported for someone who does
not use it. Error messages of the libraries are not passed on: they quote cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import polars as pl

from polyveil.errors import InputError, listed

FrameKind = Literal["polars", "pandas", "arrow"]
T = TypeVar("T", str, int, float)
MAX_COLUMNS = 5_000
_FORMULA = r"^[=+\-@\t\r]"
_SCALARS = (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time, pl.Null)


def frame_from(source: object, name: str) -> pl.DataFrame:
    """A polars frame with the columns of any supported object; InputError for everything else."""
    if isinstance(source, pl.DataFrame):
        return checked_frame(source, name)
    if isinstance(source, pl.LazyFrame):
        return checked_frame(_collected(source, name), name)
    if _is_pandas(source):
        return checked_frame(_from_pandas(source, name), name)
    if hasattr(source, "__arrow_c_stream__"):
        return checked_frame(_from_arrow_stream(source, name), name)
    raise InputError(
        f"a table cannot be read from a {type(source).__name__}. "
        f"Give a path to a CSV, Excel, SPSS, Stata, SAS or Parquet file, or a polars, pandas or pyarrow table."
    )


def kind_of(source: object) -> FrameKind:
    """The kind of frame a caller works with; polars for everything that is no pandas or pyarrow object."""
    if _is_pandas(source):
        return "pandas"
    return "arrow" if type(source).__module__.split(".")[0] == "pyarrow" else "polars"


def as_kind(frame: pl.DataFrame, kind: FrameKind) -> Any:
    """A frame of ours as the caller's kind."""
    if kind == "pandas":
        return frame.to_pandas()
    return frame.to_arrow() if kind == "arrow" else frame


def one_or_more(values: T | Sequence[T]) -> tuple[T, ...]:
    """`"age"` is one name, not three letters; a list stays what it is."""
    return (values,) if isinstance(values, str | int | float) else tuple(values)


def checked_frame(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Check names, size and kinds of columns; turn NaN into null, so that there is one way to be missing."""
    check_names(frame.columns, name)
    refuse_unusable_types(dict(frame.schema), name)
    if frame.height == 0:
        raise InputError(f"{name} has columns but no rows. A table needs at least one row.")
    casts: list[pl.Expr] = []
    for column, dtype in frame.schema.items():
        if dtype.is_float():
            casts.append(pl.col(column).fill_nan(None))
        elif dtype == pl.Null:
            casts.append(pl.col(column).cast(pl.String))
    return frame.with_columns(casts) if casts else frame


def check_names(names: Sequence[str], name: str) -> None:
    """Column names must be there, be few enough, and be told apart."""
    if not names:
        raise InputError(f"{name} has no columns.")
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"{name} has {len(names):,} columns; at most {MAX_COLUMNS:,} are read. "
            f"Keep only the columns of the release, or turn repeated measurements into rows."
        )
    empty = [str(i) for i, column in enumerate(names, start=1) if not column.strip()]
    if empty:
        raise InputError(
            f"{name}: {'column' if len(empty) == 1 else 'columns'} {listed(empty)} without a name. "
            f"Every column needs one: name it or remove it "
            f"(a first column without a name is usually a row index written by mistake)."
        )
    patterns = [str(i) for i, column in enumerate(names, start=1) if is_pattern(column)]
    if patterns:
        raise InputError(
            f"{name}: the names of columns {listed(patterns)} stand for other columns, too (* or ^...$). Rename them."
        )
    count = Counter(names)
    repeated = [str(i) for i, column in enumerate(names, start=1) if count[column] > 1]
    if repeated:
        # By place, not by name: where the header line is missing, the "names" are somebody's cells.
        raise InputError(
            f"{name}: column names must differ, but columns {listed(repeated)} share theirs. "
            f"Rename or remove the repeated columns, or add the header line if it is missing."
        )


def is_pattern(name: str) -> bool:
    """Whether a name stands for other columns as well: `*` and `^...$` do, to the library that selects columns."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def refuse_unusable_types(schema: dict[str, pl.DataType], name: str) -> None:
    """Only columns of single values can be judged and generalized."""
    unusable = [f"{column!r} ({dtype})" for column, dtype in schema.items() if not is_scalar(dtype)]
    if unusable:
        raise InputError(
            f"{name}: a column must have one plain value per row. These do not: {listed(unusable)}. "
            f"Unnest them, turn them into text or numbers, or drop them before reading."
        )


def mark_missing(frame: pl.DataFrame, markers: Sequence[str]) -> pl.DataFrame:
    """Cells equal to a declared marker become null, in text, in numbers (`-9`) and in dates (`9999-12-31`)."""
    if not markers:
        return frame
    expressions = [
        pl.when(~_is_marker(column, dtype, markers)).then(pl.col(column)).alias(column)
        for column, dtype in frame.schema.items()
        if dtype != pl.Boolean and not (dtype.is_numeric() and not _numbers(markers))
    ]
    return frame.with_columns(expressions) if expressions else frame


def _is_marker(column: str, dtype: pl.DataType, markers: Sequence[str]) -> pl.Expr:
    if dtype.is_numeric():
        found = pl.col(column).cast(pl.Float64).is_in(_numbers(markers))
    elif dtype == pl.String:
        found = pl.col(column).is_in(list(markers))
    else:
        found = pl.col(column).cast(pl.String).is_in(list(markers))
    return found.fill_null(value=False)


def _numbers(markers: Sequence[str]) -> list[float]:
    numbers = []
    for marker in markers:
        try:
            numbers.append(float(marker))
        except ValueError:
            continue
    return numbers


def is_scalar(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds one plain value per row, as every column of a table and a release does."""
    return dtype.is_numeric() or isinstance(dtype, _SCALARS)


def _collected(source: pl.LazyFrame, name: str) -> pl.DataFrame:
    try:
        return source.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{name}: the lazy frame could not be collected ({type(error).__name__}). Collect it before reading."
        ) from None


def _is_pandas(source: object) -> bool:
    return any(
        base.__name__ == "DataFrame" and base.__module__.split(".")[0] == "pandas" for base in type(source).__mro__
    )


def _from_pandas(source: Any, name: str) -> pl.DataFrame:
    """Column by column, so that a column that cannot be converted is named. The index is ignored."""
    if source.columns.nlevels > 1:
        raise InputError(f"{name}: the columns have {source.columns.nlevels} header levels. Flatten them to one.")
    names = [str(column) for column in source.columns]
    check_names(names, name)
    mixed = []
    series = []
    for position, column in enumerate(names):
        try:
            series.append(_pandas_column(source.iloc[:, position], column))
        except _CONVERSION_ERRORS:
            mixed.append(repr(column))
    if mixed:
        raise InputError(
            f"{name}: the values of {listed(mixed)} are of mixed or unusual Python types. "
            f"Turn each column into one type (numbers, text or dates) before reading."
        )
    return pl.DataFrame(series)


def _pandas_column(cells: Any, column: str) -> pl.Series:
    import pyarrow as pa

    array = pa.Array.from_pandas(cells)
    if pa.types.is_dictionary(array.type) and not _holds_text(array.type.value_type):
        # Categories that are numbers or dates: their values, since polars categories are text.
        array = array.dictionary_decode()
    converted = pl.from_arrow(array)
    if not isinstance(converted, pl.Series):
        raise TypeError(column)
    return converted.alias(column)


def _holds_text(arrow_type: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type) or pa.types.is_string_view(arrow_type)
    )


def _from_arrow_stream(source: Any, name: str) -> pl.DataFrame:
    column_names = getattr(source, "column_names", None)
    if isinstance(column_names, list):
        check_names([str(column) for column in column_names], name)
    try:
        return pl.DataFrame(source)
    except _CONVERSION_ERRORS as error:
        raise InputError(
            f"{name}: the {type(source).__name__} could not be turned into a table ({type(error).__name__}). "
            f"Every column must have plain values: numbers, text, dates or true/false."
        ) from None


# pyarrow's errors derive from these built-in ones; a polars panic derives from BaseException alone.
_CONVERSION_ERRORS = (
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
    NotImplementedError,
    AttributeError,
    OSError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def has_formulas(cells: pl.Series) -> bool:
    """Whether a spreadsheet would run some of these texts as formulas; a number with its sign is none."""
    if not isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        return False
    texts = cells.drop_nulls().unique().cast(pl.String)
    return texts.filter(texts.str.contains(_FORMULA)).cast(pl.Float64, strict=False).has_nulls()
