"""Names with a `*` stand for all columns that they fit: `lab_*` for lab_hdl and lab_ldl."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

STAR = "*"


def is_pattern(name: str) -> bool:
    """Whether a name may stand for several columns. A table that has a column of exactly this name means that one."""
    return STAR in name


@lru_cache(maxsize=1024)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split(STAR)), re.DOTALL)


def fits(pattern: str, name: str) -> bool:
    """Whether the pattern stands for this column; capitals count, as in names without a star."""
    return _expression(pattern).fullmatch(name) is not None


def entry_for(name: str, entries: Iterable[str]) -> str | None:
    """The entry of the policy that a column has: its own name, else the first pattern that fits it."""
    known = list(entries)
    if name in known:
        return name
    return next((entry for entry in known if is_pattern(entry) and fits(entry, name)), None)
