"""Where tables come from: one `read` for CSV and Parquet files and for frames in memory, one Table out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from polyveil.errors import InputError
from polyveil.frames import FrameKind, frame_from, kind_of, mark_missing
from polyveil.table.databases.place import is_url

# A cell without text is missing, quoted ("") or not: programs that quote every cell write missing values that way, and
# a difference no reader can see must not tell two people apart.
DEFAULT_MISSING = ("",)
AUTO = "auto"
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
PACKED_SUFFIXES = (".gz", ".zst")
Format = Literal["csv", "parquet"]
_SUPPORTED = (
    "Supported are CSV text (.csv .tsv .tab .txt, also .gz or .zst), Parquet (.parquet .pq) and folders of Parquet"
)


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it was read: nothing dropped, nothing generalized, null where a cell is missing.

    Columns from a text file are all String and keep their exact text (a postcode keeps its leading zero); columns
    from Parquet and from frames keep their own types.
    """

    frame: pl.DataFrame
    name: str
    decimal: str = "."
    # Line of the first row in a text file; None where rows and lines do not go together (Parquet, cells over several
    # lines, frames): messages then count rows.
    first_line: int | None = 2
    delimiter: str | None = None
    encoding: str | None = None
    kind: FrameKind = "polars"
    """The kind of frame it came as, which is the kind that is given back."""

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.frame.height

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.frame.width

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.frame.columns)


def read(
    source: str | Path | pl.DataFrame | pl.LazyFrame | Any,
    *,
    format: Format | None = None,  # noqa: A002 - the plain word for it
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = AUTO,
    names: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    strip: bool = True,
    table: str | None = None,
    query: str | None = None,
) -> Table:
    """Read a table from a file, a folder of Parquet files, a database, or a polars, pandas or pyarrow object.

    What a text file does not say about itself is detected and can be declared instead.

    Parameters
    ----------
    source : path, frame, Table or database address
        What to read. A database is postgresql://, sqlite:// or duckdb://.
    format : {"csv", "parquet"}, optional
        The format of a file whose name does not tell it.
    delimiter, encoding, decimal : str, optional
        How a text file is written.
    quote : str or None
        The quote character of a text file; None if it has no quoting.
    names : list of str, optional
        Column names for a text file without a header line.
    missing : list of str
        Further cells that mean "missing", such as ``["?", "NA", "-9"]``.
    strip : bool
        Remove whitespace around the cells of a text file.
    table, query : str, optional
        What to read from a database: ``name`` or ``schema.name``, or a SELECT.

    Returns
    -------
    Table
        The table as it was read: nothing dropped, nothing generalized. `Table.frame` is its polars frame.

    Raises
    ------
    InputError
        Something cannot be read with certainty. The message has the line number and never a cell.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> table = polyveil.read(pl.DataFrame({"age": [30, 31], "town": ["Ulm", "?"]}), missing=["?"])
    >>> table.height, table.frame["town"].null_count()
    (2, 1)
    """
    if isinstance(source, Table):
        return source
    if is_url(source):
        from polyveil.table.databases import read_database

        frame, title = read_database(source, table=table, query=query)
        return Table(mark_missing(frame, missing), title, first_line=None)
    if table is not None or query is not None:
        raise InputError("--table and --query are for databases. Give the URL of a database, or leave them out.")
    if isinstance(source, str | Path):
        path = Path(source)
        kind = _kind_of(path, format)
        if kind == "parquet":
            from polyveil.table.parquet_file import read_parquet

            frame = mark_missing(read_parquet(path), missing)
            return Table(frame, path.name, first_line=None)
        from polyveil.table.csv.file import TextOptions, read_text_table

        markers = (*DEFAULT_MISSING, *missing)
        options = TextOptions(delimiter, encoding, decimal, quote, names, markers, strip)
        text, mark = read_text_table(path, options)
        return Table(
            text.frame, path.name, mark, text.first_line, text.dialect.delimiter, encoding=text.content.encoding
        )
    frame = mark_missing(frame_from(source, "table"), missing)
    return Table(frame, "table", first_line=None, kind=kind_of(source))


def _kind_of(path: Path, declared: Format | None) -> Format:
    """The format by declaration or name; refuses what is not there or cannot be read."""
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist. Check the path.")
        if path.is_dir():
            return "parquet"
        if not path.is_file():
            raise InputError(f"{path} is not a regular file. Save the table to a file and read that.")
        with path.open("rb"):
            pass
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a valid path"
        raise InputError(f"{path} cannot be opened: {reason}.") from None
    if declared is not None:
        if declared not in {"csv", "parquet"}:
            raise InputError(f"unknown format {declared!r}. Use csv or parquet.")
        return declared
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED_SUFFIXES:
        suffixes.pop()
        if suffixes and suffixes[-1] in PARQUET_SUFFIXES:
            raise InputError(f"{path.name} is a packed Parquet file. Unpack it first: Parquet packs its own pages.")
    if suffixes and suffixes[-1] in TEXT_SUFFIXES:
        return "csv"
    if suffixes and suffixes[-1] in PARQUET_SUFFIXES:
        return "parquet"
    kind = f"files named {suffixes[-1]}" if suffixes else "files without an extension"
    raise InputError(f"{path.name}: {kind} cannot be read. {_SUPPORTED}. Rename the file or declare its format.")
