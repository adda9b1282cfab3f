"""A broken rule of a policy, before it is known in which line it stands."""

from __future__ import annotations

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
