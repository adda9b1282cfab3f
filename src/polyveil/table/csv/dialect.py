"""How a text table is written: delimiter, quote character, where its header is and what it says.

Detected on the first lines with the standard csv parser, one candidate at a time, by asking which delimiter gives
every line as many fields as the header has.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from polyveil.errors import InputError
from polyveil.frames import check_names
from polyveil.table.csv.content import Content

DELIMITERS = (",", ";", "\t", "|")
AUTO = "auto"
_SNIFFED_BYTES = 65_536
_SNIFFED_RECORDS = 200
_LONGEST_HEADER = 16_777_216
_EXCEL_DELIMITER_LINE = re.compile(r"sep=(.)$", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?$")


class Records(Protocol):
    """Parsed records, and how many lines they took so far."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Records: ...

    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Dialect:
    """Everything needed to parse the lines of one file."""

    delimiter: str
    quote: str | None
    names: tuple[str, ...]
    skipped_lines: int  # before the header: blank lines, and Excel's `sep=;`
    header_lines: int  # lines the header itself takes: 0 if the file has none

    @property
    def first_line(self) -> int:
        """Line of the first row."""
        return self.skipped_lines + self.header_lines + 1

    @property
    def is_single_bytes(self) -> bool:
        """Whether polars can parse it: one byte each for delimiter and quote."""
        return self.delimiter.isascii() and (self.quote is None or self.quote.isascii())


def parse(lines: Iterable[str], delimiter: str, quote: str | None, *, strict: bool) -> Records:
    """The standard csv parser with our rules: doubled quotes, spaces before an opening quote do not count."""
    quoting: dict[str, Any] = {"quoting": csv.QUOTE_NONE} if quote is None else {"quotechar": quote}
    # Behind a space as delimiter further spaces are empty fields, not padding.
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=delimiter != " ", **quoting)


def find_dialect(content: Content, delimiter: str | None, quote: str | None, names: Sequence[str] | None) -> Dialect:
    """The declared or detected dialect with checked column names; UnicodeDecodeError if the header is not UTF-8."""
    _check_marks(delimiter, quote)
    lines = _first_lines(content)
    skipped = sum(1 for _ in itertools.takewhile(lambda line: not line.strip("\r\n \t"), lines))
    if skipped < len(lines) and (excel := _EXCEL_DELIMITER_LINE.match(lines[skipped].rstrip("\r\n"))):
        delimiter = delimiter or excel.group(1)
        skipped += 1
    lines = lines[skipped:]
    if not lines:
        raise InputError(f"{content.name} contains no text. A table needs a header line and at least one row.")
    sniffed = lines[: 4 * _SNIFFED_RECORDS]
    quoting = _likely_quote(sniffed, delimiter) if quote == AUTO else quote
    mark = delimiter or _likely_delimiter(sniffed, quoting)
    if mark == quoting:
        raise InputError(f"{content.name}: delimiter and quote character are the same. Declare different ones.")
    header, header_lines = _header(lines, mark, quoting, content.name, skipped)
    if names is not None:
        return Dialect(mark, quoting, _given_names(names, header, content.name), skipped, 0)
    return Dialect(mark, quoting, _checked_names(header, content.name, skipped + 1), skipped, header_lines)


def _check_marks(delimiter: str | None, quote: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\0"):
        raise InputError("the delimiter must be one character, such as , ; | or a tab.")
    if quote not in {None, AUTO} and (len(str(quote)) != 1 or str(quote) in "\r\n\0 "):
        raise InputError('the quote character must be one character, such as ", or none.')


def _first_lines(content: Content) -> list[str]:
    """The first lines with their ends. As many bytes as it takes to see the header and some rows."""
    size = _SNIFFED_BYTES
    head = content.buffer[content.start : content.start + size]
    while head.count(b"\n") + head.count(b"\r") < 2 and size < min(len(content.buffer), _LONGEST_HEADER):
        size *= 4
        head = content.buffer[content.start : content.start + size]
    cut = content.start + size < len(content.buffer)
    if cut:
        # Half a line at the end, or half a letter, would mislead.
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
    # The header must be right, the rest only guides the guess: bad bytes there are found by the real pass.
    first, *rest = head.splitlines(keepends=True) or [b""]
    return [first.decode("utf-8"), *(line.decode("utf-8", errors="replace") for line in rest)]


def _likely_quote(lines: list[str], delimiter: str | None) -> str:
    """The double quote, unless the file has none and wraps cells in single quotes."""
    text = "".join(lines)
    if '"' in text or "'" not in text:
        return '"'
    marks = re.escape(delimiter) if delimiter else ",;|\t"
    opened = len(re.findall(rf"(?m)(?:^|[{marks}])[ ]*'", text))
    closed = len(re.findall(rf"(?m)'[ ]*(?:[{marks}\r]|$)", text))
    # Apostrophes inside words (O'Neill) stand neither at the start nor at the end of a cell.
    return "'" if opened == closed > 0 and text.count("'") <= 3 * opened else '"'


def _likely_delimiter(lines: list[str], quote: str | None) -> str:
    """The candidate under which most lines have as many fields as the header, preferring several fields."""
    scores = [(*_agreement(lines, mark, quote), mark) for mark in DELIMITERS]
    # `max` keeps the first of equals, so the order of DELIMITERS decides between them.
    several = [score for score in scores if score[1] > 1]
    agreeing = [score for score in several if score[0] >= 0.5]
    if agreeing:
        return max(agreeing, key=lambda score: score[:2])[2]
    # One column, unless the header has several fields and there are too few rows to say it is alone in that.
    alone = [mark for share, fields, mark in scores if fields == 1 and share == 1.0]
    if alone and (not several or (len(lines) > 4 and max(several)[0] < 0.1)):
        return alone[0]
    return max(scores, key=lambda score: (score[1], score[0]))[2]


def _agreement(lines: list[str], delimiter: str, quote: str | None) -> tuple[float, int]:
    """Share of records with the header's number of fields, and that number."""
    records: list[int] = []
    # A cell beyond the parser's limit ends the sample: the records before it are judged.
    with contextlib.suppress(csv.Error):
        parsed = itertools.islice(parse(lines, delimiter, quote, strict=False), _SNIFFED_RECORDS)
        records.extend(len(record) or 1 for record in parsed)
    if not records:
        return 0.0, 1
    rows = records[1:]
    share = sum(fields == records[0] for fields in rows) / len(rows) if rows else 1.0
    return share, records[0]


def _header(lines: list[str], delimiter: str, quote: str | None, name: str, skipped: int) -> tuple[list[str], int]:
    reader = parse(lines, delimiter, quote, strict=True)
    try:
        header = next(reader)
    except csv.Error:
        raise InputError(
            f"{name}: line {skipped + 1}: a quote in the header is not closed properly. "
            f"Close it, or declare that the file has no quoting."
        ) from None
    return [column.strip() for column in header], reader.line_num


def _given_names(names: Sequence[str], first_record: list[str], name: str) -> tuple[str, ...]:
    if len(names) != len(first_record):
        raise InputError(
            f"{name}: {len(names)} column names were given, the first line has {len(first_record)} fields. "
            f"Give one name per field."
        )
    check_names(list(names), name)
    return tuple(names)


def _checked_names(header: list[str], name: str, line: int) -> tuple[str, ...]:
    """The header's names; a header that looks like a row is never quoted, it may be a person's data."""
    if len(header) > 1 and looks_like_a_row(header):
        raise InputError(
            f"{name}: line {line} looks like a row, not like column names. "
            f"Add a header line, or give the column names when reading."
        )
    check_names(header, name)
    return tuple(header)


def looks_like_a_row(header: Sequence[str]) -> bool:
    """Whether two or more names are numbers in no order; years or running numbers as names are in order."""
    texts = [column for column in header if _NUMBER.match(column)]
    if len(texts) < 2:
        return False
    numbers = [float(text.replace(",", ".")) for text in texts]
    steps = list(itertools.pairwise(numbers))
    rising = all(a < b for a, b in steps)
    falling = all(a > b for a, b in steps)
    as_text = all(a < b for a, b in itertools.pairwise(texts))
    return not (rising or falling or as_text)
