"""Excel workbooks (.xlsx, .xlsm): one sheet, one line of names, one row per line, read by fastexcel (calamine).

What a sheet can hold and a table cannot is refused with its place: merged cells, formulas whose results were never
saved, dates and plain numbers in one column. Both of Excel's calendars, counted from 1900 and from 1904, are read.
"""

from __future__ import annotations

import datetime as dt
import logging
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl

from polyveil.errors import InputError, SeveralSheets, listed
from polyveil.frames import check_names, checked_frame

ENDINGS = (".xlsx", ".xlsm")
EXTRA = "pip install 'polyveil[files]'"
_OLD = b"\xd0\xcf\x11\xe0"
"""How an encrypted workbook begins, and one of Excel before 2007."""
_CELL = re.compile(rb"<(?:\w+:)?c[ >]")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+[0-9]+)"')
_FORMULA_ALONE = re.compile(
    rb"<(?:\w+:)?c ([^>]*)><(?:\w+:)?f(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)"
    rb"(?:<(?:\w+:)?v ?/>|<(?:\w+:)?v></(?:\w+:)?v>)?</"
)
"""A cell with a formula and no result; one whose result is an empty text has the type `str`."""
_SHARED = "xl/sharedStrings.xml"
CELL = 16
"""Bytes that a cell takes in memory, whatever it holds."""
_DAY = r"^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?)?$"
_NUMBER = r"^-?\d+(\.\d+)?$"


def read_excel(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """The table in the sheet of this name, or in the only visible sheet that has cells."""
    name, content = _sheet(path, sheet)
    title = f"{path.name}, sheet {name!r}"
    _refuse_what_no_table_has(title, content)
    fastexcel = _reader()
    try:
        book = fastexcel.read_excel(path)
        head = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars()
        names = ["" if cell is None else str(cell).strip() for cell in head.row(0)]
        check_names(names, title)
        body = book.load_sheet(
            name,
            header_row=None,
            skip_rows=1,
            column_names=names,
            schema_sample_rows=None,
            skip_whitespace_tail_rows=True,
            whitespace_as_null=True,
        )
        frame = body.to_polars()
    except fastexcel.FastExcelError as error:
        raise _damaged(path, error) from None
    frame = pl.DataFrame([_plain(title, cells) for cells in frame.get_columns()])
    return checked_frame(frame.filter(~pl.all_horizontal(pl.all().is_null())), title)


def size_of_workbook(path: Path, limit: int) -> int:
    """Bytes that the cells of a workbook take in memory, every text as often as it occurs; stops beyond `limit`."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
            if unpacked > limit:
                return unpacked
            shared = archive.read(_SHARED) if _SHARED in archive.namelist() else b""
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise _damaged(path, error) from None
    lengths = [len(text) for text in re.findall(rb"<(?:\w+:)?si>(.*?)</(?:\w+:)?si>", shared, re.DOTALL)]
    size = 0
    for _, content in _contents(path).values():
        size += len(content) + CELL * len(_CELL.findall(content))
        places = (int(place) for place in re.findall(rb't="s"[^>]*><(?:\w+:)?v>(\d{1,9})<', content))
        size += sum(lengths[place] for place in places if place < len(lengths))
    return size


def _reader() -> Any:
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InputError(f"Excel files need one more package. Install it with: {EXTRA}") from None
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without a cell
    return fastexcel


def _sheet(path: Path, wanted: str | None) -> tuple[str, bytes]:
    """The sheet to read and its XML."""
    with path.open("rb") as handle:
        head = handle.read(4)
    if not head:
        raise InputError(f"{path.name} is empty.")
    if head == _OLD:
        raise InputError(
            f"{path.name} is protected by a password, or of Excel before 2007. Save it as .xlsx without a password."
        )
    contents = _contents(path)
    if wanted is not None:
        if wanted not in contents:
            raise InputError(f"{path.name} has no sheet {wanted!r}. It has {listed(map(repr, contents))}.")
        if not _CELL.search(contents[wanted][1]):
            raise InputError(f"{path.name}, sheet {wanted!r} has no cells.")
        return wanted, contents[wanted][1]
    filled = [name for name, (visible, content) in contents.items() if visible and _CELL.search(content)]
    if not filled:
        raise InputError(f"{path.name} has no visible sheet with cells. A table needs a line of names and a row.")
    if len(filled) > 1:
        raise SeveralSheets(path.name, filled)
    return filled[0], contents[filled[0]][1]


def _contents(path: Path) -> dict[str, tuple[bool, bytes]]:
    """Per worksheet whether it is visible, and its XML."""
    try:
        with zipfile.ZipFile(path) as archive:
            book = _xml(archive.read("xl/workbook.xml"))
            links = _xml(archive.read("xl/_rels/workbook.xml.rels"))
            target = {each.get("Id"): each.get("Target", "") for each in links}
            found = {}
            for each in book.iter():
                if _local(each.tag) != "sheet":
                    continue
                link = next((value for key, value in each.attrib.items() if _local(key) == "id"), None)
                place = target.get(link, "")
                part = place.removeprefix("/") if place.startswith("/") else f"xl/{place}"
                if "worksheets/" in part:
                    found[each.get("name", "")] = (each.get("state", "visible") == "visible", archive.read(part))
            return found
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, ElementTree.ParseError, RuntimeError) as error:
        raise _damaged(path, error) from None


def _xml(content: bytes) -> ElementTree.Element:
    # Entities are not expanded without limit by the expat of the Python versions supported here.
    return ElementTree.fromstring(content)  # noqa: S314


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _damaged(path: Path, error: BaseException) -> InputError:
    return InputError(
        f"{path.name} cannot be read as a workbook ({type(error).__name__}). It is damaged or no Excel file: open it "
        "in Excel and save it again as .xlsx."
    )


def _refuse_what_no_table_has(title: str, content: bytes) -> None:
    merged = [found.decode() for found in _MERGED.findall(content)]
    if merged:
        where = "in its header" if any(re.match(r"[A-Z]+1:", place) for place in merged) else "among its rows"
        raise InputError(
            f"{title} has merged cells {where} ({listed(merged, most=3)}). A table has one name per column and one "
            "cell per value: unmerge them, and fill in each cell."
        )
    alone = [found for found in _FORMULA_ALONE.findall(content) if b't="str"' not in found]
    if alone:
        place = re.search(rb'r="([A-Z]+[0-9]+)"', alone[0])
        first = f"; the first is {place[1].decode()}" if place else ""
        raise InputError(
            f"{title} has {len(alone):,} formulas whose results were not saved{first}. Open it in Excel, let it "
            "calculate, and save it, or replace the formulas by their values."
        )


def _plain(title: str, cells: pl.Series) -> pl.Series:
    """Whole numbers as integers, days as dates; Excel itself has floating numbers and moments only."""
    if cells.dtype.is_float():
        present = cells.drop_nulls()
        whole = len(present) and bool(((present % 1 == 0) & (present.abs() < 2**53)).all())
        return cells.cast(pl.Int64) if whole else cells
    if cells.dtype == pl.Datetime:
        cells = cells.cast(pl.Datetime("us"))
        return cells.cast(pl.Date) if (cells.drop_nulls().dt.time() == dt.time(0)).all() else cells
    if cells.dtype == pl.String:
        texts = cells.drop_nulls()
        days = texts.str.contains(_DAY)
        if days.any() and texts.filter(~days).str.contains(_NUMBER).any():
            raise InputError(
                f"{title}: column {cells.name!r} has dates and plain numbers, so a number may be a date that lost its "
                "format. Give all its cells the format of a date."
            )
        return cells.str.strip_chars()
    return cells
