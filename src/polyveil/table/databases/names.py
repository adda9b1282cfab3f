"""Names of tables and columns in SQL: always quoted, so that no name can be anything but a name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from polyveil.errors import InputError

MANIFEST = "manifest"
"""The table of a release that holds its manifest."""
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".][^.]*)')


@dataclass(frozen=True)
class TableName:
    """A table or view, in a schema or wherever the database looks by itself."""

    name: str
    schema: str | None = None
    # Written with double quotes: taken letter by letter, upper and lower case included.
    exact: bool = False

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def sql(self) -> str:
        """Quoted for a statement."""
        return f"{quoted(self.schema)}.{quoted(self.name)}" if self.schema else quoted(self.name)


@dataclass(frozen=True)
class Query:
    """A SELECT the user wrote."""

    sql: str

    def __str__(self) -> str:
        return "the query"


Wanted = TableName | Query


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever is in it."""
    if "\0" in name:
        raise InputError("a table or column name contains a zero byte, which no database accepts. Rename it")
    return '"' + name.replace('"', '""') + '"'


def table_name(text: str) -> TableName:
    """`name`, `schema.name`; a part in double quotes may hold dots, and doubled quotes stand for one."""
    parts: list[str] = []
    place, exact = 0, False
    while place <= len(text):
        found = _PART.match(text, place)
        if found is None or (found.end() < len(text) and text[found.end()] != "."):
            raise InputError(
                f"{text!r} is not the name of a table. Write name or schema.name; "
                "a part with a dot in it in double quotes: '\"a.b\"'"
            )
        exact = found[1] is not None
        parts.append(found[1].replace('""', '"') if exact else found[2])
        place = found.end() + 1
    if len(parts) > 2:
        raise InputError(f"{text!r} has {len(parts)} parts. Write name or schema.name; put a name with a dot in quotes")
    return TableName(parts[-1], parts[0] if len(parts) == 2 else None, exact)
