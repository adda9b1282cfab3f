"""Where tables come from: one `read` for files, folders, databases and frames in memory, one Table out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import polars as pl

from polyveil.errors import InputError
from polyveil.frames import FrameKind, frame_from, kind_of, mark_missing
from polyveil.table.codebook import Codebook
from polyveil.table.databases.place import is_url
from polyveil.table.lakes import is_lake
from polyveil.table.stores import is_store, local_copy

# A cell without text is missing, quoted ("") or not: programs that quote every cell write missing values that way, and
# a difference no reader can see must not tell two people apart.
DEFAULT_MISSING = ("",)
AUTO = "auto"
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
EXCEL_SUFFIXES = (".xlsx", ".xlsm")
STATISTICAL_SUFFIXES = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
PACKED_SUFFIXES = (".gz", ".zst", ".zip")
Format = Literal["csv", "parquet", "excel", "statistical", "lake"]
_FORMAT_OF = {
    **dict.fromkeys(TEXT_SUFFIXES, "csv"),
    **dict.fromkeys(PARQUET_SUFFIXES, "parquet"),
    **dict.fromkeys(EXCEL_SUFFIXES, "excel"),
    **dict.fromkeys(STATISTICAL_SUFFIXES, "statistical"),
}
READABLE = (*_FORMAT_OF, *(text + packed for text in TEXT_SUFFIXES for packed in PACKED_SUFFIXES))
"""How the names of files end that can be read."""
_SUPPORTED = (
    "Supported are CSV text (.csv .tsv .tab .txt, also .gz, .zst or .zip), Excel (.xlsx .xlsm), SPSS (.sav .zsav), "
    "Stata (.dta), SAS (.sas7bdat .xpt), Parquet (.parquet .pq), folders of Parquet, and Delta and Iceberg tables"
)


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it was read: nothing dropped, nothing generalized, null if a cell is missing.

    Columns from a text file are all String and keep their exact text (a postcode keeps its leading zero); columns
    from Parquet and from frames keep their own types.
    """

    frame: pl.DataFrame
    name: str
    decimal: str = "."
    # Line of the first row in a text file; None if rows and lines do not go together (Parquet, cells over several
    # lines, frames): messages then count rows.
    first_line: int | None = 2
    delimiter: str | None = None
    encoding: str | None = None
    kind: FrameKind = "polars"
    """The kind of frame it came as, which is the kind that is given back."""
    source: Format | None = None
    """The kind of file it came from; None for frames and databases."""
    codebook: Codebook = field(default_factory=dict)
    """What a statistical file says of its columns: their labels, the labels of values, the codes that mean missing."""
    missing_kinds: Mapping[str, pl.Series] = field(default_factory=dict)
    """Per column of a statistical file the code of each cell that is missing for a reason that the file names."""

    @property
    def labels(self) -> dict[str, str]:
        """The label of each column that has one: what it is, in words."""
        return {name: variable.label for name, variable in self.codebook.items() if variable.label}

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
    sheet: str | None = None,
    as_of: str | int | None = None,
) -> Table:
    """Read a table from a file, a folder of Parquet, a lake, a database, or a polars, pandas or pyarrow object.

    Files are CSV text (also packed), Excel, SPSS, Stata, SAS and Parquet, told apart by their names.

    What a text file does not say about itself is detected and can be declared instead.

    Parameters
    ----------
    source : path, frame, Table or address
        What to read. A database is postgresql://, sqlite:// or duckdb://; a file, folder or Delta table in an object
        store is s3://, gs:// or abfss://.
    format : {"csv", "parquet", "excel"}, optional
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
    sheet : str, optional
        The sheet of an Excel workbook, or the file in a ZIP archive, where there are several.
    as_of : str or int, optional
        For a Delta or Iceberg table: a version (in Iceberg, a snapshot), or a time such as ``2026-01-31T18:00``.

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
    if is_store(source):
        with local_copy(source) as copied:
            return read(
                copied,
                format=format,
                delimiter=delimiter,
                encoding=encoding,
                decimal=decimal,
                quote=quote,
                names=names,
                missing=missing,
                strip=strip,
                table=table,
                query=query,
                sheet=sheet,
                as_of=as_of,
            )
    if is_url(source):
        from polyveil.table.databases import read_database

        frame, title = read_database(source, table=table, query=query, as_of=as_of)
        return Table(mark_missing(frame, missing), title, first_line=None)
    if table is not None or query is not None:
        raise InputError("--table and --query are for databases. Give the URL of a database, or leave them out.")
    if isinstance(source, str | Path):
        path = Path(source)
        kind = _kind_of(path, format)
        if as_of is not None and kind != "lake":
            raise InputError("--as-of is for Delta and Iceberg tables. Leave it out.")
        if sheet is not None and kind != "excel" and path.suffix.lower() != ".zip":
            raise InputError("--sheet is for Excel workbooks and ZIP archives. Leave it out.")
        if kind != "csv":
            return _of_file(path, kind, missing, sheet, as_of)
        from polyveil.table.csv.file import TextOptions, read_text_table

        markers = (*DEFAULT_MISSING, *missing)
        options = TextOptions(delimiter, encoding, decimal, quote, names, markers, strip, sheet)
        text, mark = read_text_table(path, options)
        return Table(
            text.frame,
            path.name,
            mark,
            text.first_line,
            text.dialect.delimiter,
            encoding=text.content.encoding,
            source="csv",
        )
    frame = mark_missing(frame_from(source, "table"), missing)
    return Table(frame, "table", first_line=None, kind=kind_of(source))


def _of_file(path: Path, kind: Format, missing: Sequence[str], sheet: str | None, as_of: str | int | None) -> Table:
    """A table from a file that has types of its own."""
    if kind == "statistical":
        from polyveil.table.statistical_file import read_statistical

        frame, codebook, kinds = read_statistical(path)
        frame = mark_missing(frame, missing)
        return Table(frame, path.name, first_line=None, source=kind, codebook=codebook, missing_kinds=kinds)
    if kind == "excel":
        from polyveil.table.excel_file import read_excel

        frame = read_excel(path, sheet)
    elif kind == "lake":
        from polyveil.table.lakes import read_lake

        frame = read_lake(path, as_of)
    else:
        from polyveil.table.parquet_file import read_parquet

        frame = read_parquet(path)
    return Table(mark_missing(frame, missing), path.name, first_line=None, source=kind)


def _kind_of(path: Path, declared: Format | None) -> Format:
    """The format by declaration or name; refuses what is not there or cannot be read."""
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist. Check the path.")
        if is_lake(path):
            return "lake"
        if path.is_dir():
            return "parquet"
        if not path.is_file():
            raise InputError(f"{path} is not a regular file. Save the table to a file and read that.")
        with path.open("rb"):
            pass
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a valid path"
        raise InputError(f"{path} cannot be opened: {reason}.") from None
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if declared is not None:
        if declared not in {"csv", "parquet", "excel"}:
            raise InputError(f"unknown format {declared!r}. Use csv, parquet or excel.")
        return declared
    if suffixes and suffixes[-1] in PACKED_SUFFIXES:
        packed = suffixes.pop()
        if packed == ".zip" and (not suffixes or suffixes[-1] not in _FORMAT_OF):
            return "csv"
        if suffixes and suffixes[-1] in PARQUET_SUFFIXES:
            raise InputError(f"{path.name} is a packed Parquet file. Unpack it first: Parquet packs its own pages.")
        if suffixes and _FORMAT_OF.get(suffixes[-1], "csv") != "csv":
            raise InputError(f"{path.name} is a packed {suffixes[-1]} file. Unpack it first.")
    if suffixes and suffixes[-1] in _FORMAT_OF:
        return cast(Format, _FORMAT_OF[suffixes[-1]])
    kind = f"files named {suffixes[-1]}" if suffixes else "files without an extension"
    raise InputError(f"{path.name}: {kind} cannot be read. {_SUPPORTED}. Rename the file or declare its format.")
