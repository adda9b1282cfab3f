"""A broken rule of a policy, before it is known in which line it stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

Path = tuple[str | int, ...]
"""Keys and positions that lead from the top of a policy to one of its parts."""


class PolicyFinding(NamedTuple):
    """Something wrong at a path; the loader adds the line."""

    path: Path
    rule: str
    remedy: str


class BrokenRule(ValueError):
    """Raised by validators: which rule is broken and how to mend it. It never names a value of the data.

    `path` leads from the validated part to the spot, where that is known.
    """

    def __init__(self, rule: str, remedy: str, path: Path = ()) -> None:
        self.rule, self.remedy, self.path = rule, remedy, path
        super().__init__(f"{rule}. {remedy}")


def listed(items: Iterable[object], last: str = "and", most: int = 12) -> str:
    """`a, b and c`; beyond `most` items only how many more there are."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
