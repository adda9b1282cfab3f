"""The fast reader: polars parses, and a ledger of bytes proves that it lost and invented nothing.

polars fills short rows with nulls without a word, reads some broken quoting as it sees fit, and its error messages
quote cells. So its result is believed only if every byte of the file is accounted for: the bytes of all cells, one
delimiter between any two cells, one line end per row, and the quotes around and inside quoted cells. polars refuses
rows with too many fields, so nothing can make up for the missing delimiters of a short row.
"""

from __future__ import annotations

import re

import polars as pl

from polyveil.table.csv.census import Census, quotes_pair_up
from polyveil.table.csv.content import Content
from polyveil.table.csv.dialect import Dialect


def read_fast(content: Content, dialect: Dialect, census: Census) -> pl.DataFrame | None:
    """All rows as text, or None if only the careful reader can be sure."""
    if not dialect.is_single_bytes or census.lone_returns or census.start >= census.end:
        return None
    if census.quotes and (len(dialect.names) == 1 or _has_spaced_quotes(content, dialect, census)):
        return None
    frame = _parse(content, dialect, census.end)
    if frame is None or frame.width != len(dialect.names):
        return None
    frame.columns = list(dialect.names)
    return frame if every_byte_accounted_for(frame, content, dialect, census) else None


def _parse(content: Content, dialect: Dialect, end: int) -> pl.DataFrame | None:
    origin = content.origin
    last = content.buffer[end - 1 : end]
    if end != len(content.buffer) or last == dialect.delimiter.encode():
        # Blank lines at the end are not rows; and polars overlooks a surplus delimiter as the very last byte.
        origin = content.buffer[:end] + (b"" if last == b"\n" else b"\n")
    try:
        return pl.read_csv(
            origin,
            has_header=dialect.header_lines > 0,
            separator=dialect.delimiter,
            quote_char=dialect.quote,
            skip_lines=dialect.skipped_lines,
            infer_schema=False,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # The careful reader finds out what is wrong, and on which line.
        return None


def every_byte_accounted_for(frame: pl.DataFrame, content: Content, dialect: Dialect, census: Census) -> bool:
    """Whether cells, delimiters, line ends and quotes add up to the bytes of the rows."""
    cells = _total(frame, pl.all().str.len_bytes())
    marks = frame.height * frame.width - int(census.ends_open)
    surplus = cells + marks + census.quotes + census.returns - (census.end - census.start)
    # Quotes and returns inside cells were counted twice, as cell and as quote or return; nothing else may be left over.
    returns = _count(frame, "\r") if census.returns and surplus > 0 else 0
    quotes = _count(frame, dialect.quote) if census.quotes and dialect.quote and surplus > returns else 0
    return surplus == returns + quotes and _well_quoted(content, dialect, census, frame, quotes)


def _well_quoted(content: Content, dialect: Dialect, census: Census, frame: pl.DataFrame, inside: int) -> bool:
    """Whether quoting is beyond doubt; polars forgives text after a closing quote, and may swallow cells with it."""
    if census.openings == 0 and census.quotes == inside:
        return True  # No cell begins with a quote: they are plain text.
    no_edge_inside = census.edges == frame.height * frame.width - census.ends_open + census.returns
    if no_edge_inside and not inside and not census.other_whitespace:
        return census.quotes == 2 * census.openings == 2 * census.closings
    return quotes_pair_up(content.buffer, census, dialect)


def _total(frame: pl.DataFrame, per_cell: pl.Expr) -> int:
    sums = frame.select(per_cell.cast(pl.Int64).sum()).row(0)
    return sum(value or 0 for value in sums)


def _count(frame: pl.DataFrame, mark: str) -> int:
    return _total(frame, pl.all().str.count_matches(mark, literal=True))


def _has_spaced_quotes(content: Content, dialect: Dialect, census: Census) -> bool:
    """Whether spaces may stand before an opening quote, which polars takes for text."""
    if not census.spaced_quotes or dialect.quote is None:
        return False
    pattern = rf"(?:^|[{re.escape(dialect.delimiter)}\n]) +{re.escape(dialect.quote)}".encode()
    # From the line end before the first row on, so that its first cell is seen as well.
    return re.compile(pattern).search(content.buffer, max(census.start - 1, 0), census.end) is not None
