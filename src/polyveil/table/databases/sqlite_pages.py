"""What the file of a SQLite database holds beside its rows: bytes that are no part of a row of any table.

SQLite leaves what was deleted where it stood, and reads nothing of it again, as its file format says
(https://sqlite.org/fileformat2.html): between the rows of a page, after the end of a long row, in the reserved part of
the header, after the last page, and in the files of its journals. Whoever gets the file may read all of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

HEADER, RESERVED = 100, slice(72, 92)
_LEAF_TABLE, _INNER_TABLE, _LEAF_INDEX, _INNER_INDEX = 13, 5, 10, 2
_INNER = (_INNER_TABLE, _INNER_INDEX)


class SqlitePages:
    """The pages of a file that is not being written to."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.header = file.read(HEADER)
        size = int.from_bytes(self.header[16:18], "big")
        self.size = 65536 if size == 1 else size
        self.usable = self.size - self.header[20]
        self.pages = int.from_bytes(self.header[28:32], "big")
        self.seen: set[int] = set()

    def has_more(self, roots: list[int]) -> bool:
        """Whether the pages of these trees, or the file, have bytes that no row accounts for."""
        end = self.file.seek(0, 2)
        if any(self.header[RESERVED]) or self.usable != self.size or end != self.pages * self.size:
            return True
        return any(self._in_tree(root) for root in roots)

    def _page(self, number: int) -> bytearray:
        """A page, each of which has one place in one tree: a forged file may lead round in a circle."""
        if number in self.seen:
            raise IndexError
        self.seen.add(number)
        self.file.seek((number - 1) * self.size)
        return bytearray(self.file.read(self.size))

    def _in_tree(self, root: int) -> bool:
        waiting = [root]
        while waiting:
            number = waiting.pop()
            page = self._page(number)
            children, chains = self._blank(page, HEADER if number == 1 else 0)
            if any(page) or any(self._in_chain(*chain) for chain in chains):
                return True
            waiting += children
        return False

    def _blank(self, page: bytearray, start: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Zero what is accounted for; the pages below, and where long rows go on and how much of them is there."""
        kind, cells = page[start], _number(page, start + 3, 2)
        places = start + (12 if kind in _INNER else 8)
        children = [_number(page, start + 8, 4)] if kind in _INNER else []
        chains: list[tuple[int, int]] = []
        for place in [_number(page, places + 2 * i, 2) for i in range(cells)]:
            at = place
            if kind in _INNER:
                children.append(_number(page, at, 4))
                at += 4
            if kind == _INNER_TABLE:
                at = _after_varint(page, at)[1]
            else:
                payload, at = _after_varint(page, at)
                at = _after_varint(page, at)[1] if kind == _LEAF_TABLE else at
                here = self._here(payload, kind)
                at += here
                if here < payload:
                    chains.append((_number(page, at, 4), payload - here))
                    at += 4
            _zero(page, place, max(at, place + 4))
        free = _number(page, start + 1, 2)
        while free:
            free, place = _number(page, free, 2), free
            _zero(page, place, place + 4)
        end = places + 2 * cells
        if kind in _INNER:  # SQLite leaves places of entries that moved to another page: numbers below that of its end
            while end < len(page) - 1 and places < _number(page, end, 2) < len(page):
                end += 2
        _zero(page, 0, end)
        return children, chains

    def _here(self, payload: int, kind: int) -> int:
        """How much of a row is on the page itself."""
        usable = self.usable
        most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
        if payload <= most:
            return payload
        least = (usable - 12) * 32 // 255 - 23
        rest = least + (payload - least) % (usable - 4)
        return rest if rest <= most else least

    def _in_chain(self, number: int, left: int) -> bool:
        while number:
            page = self._page(number)
            number = _number(page, 0, 4)
            if any(page[4 + left :]):
                return True
            left = max(left - (self.usable - 4), 0)
        return False


def _number(page: bytearray, at: int, size: int) -> int:
    return int.from_bytes(page[at : at + size], "big")


def _after_varint(page: bytearray, at: int) -> tuple[int, int]:
    value = 0
    for i in range(8):
        value = value << 7 | page[at + i] & 0x7F
        if page[at + i] < 0x80:
            return value, at + i + 1
    return value << 8 | page[at + 8], at + 9


def _zero(page: bytearray, start: int, stop: int) -> None:
    page[start:stop] = bytes(max(stop - start, 0))


def beside_rows(file: Path, roots: list[int]) -> Iterator[str]:
    """In words, what the file of a database has beside the rows of the tables with these first pages."""
    try:
        with file.open("rb") as stream:
            more = SqlitePages(stream).has_more(roots)
    except (IndexError, OSError):
        more = True
    if more:
        yield "bytes that are no part of a row"
    for ending in ("-journal", "-wal"):
        beside = file.with_name(file.name + ending)
        if beside.exists() and beside.stat().st_size:
            yield f"{beside.name}, in which rows of before may be"
