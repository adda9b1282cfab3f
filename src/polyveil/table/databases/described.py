"""What a session says of a column before it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Becomes = Literal["as it is", "number", "boolean", "date", "time", "timestamp", "timestamp UTC"]


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a result: its name, its type in the database's words, and how to read it without loss.

    `sql` is the expression that reads it, None if its type is refused; `becomes` is what its cells are turned into.
    """

    name: str
    type: str
    sql: str | None
    becomes: Becomes = "as it is"
