"""What polyveil raises: every error says what is wrong, the rule, and what to do next - never a person's data."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


class PolyveilError(Exception):
    """Base of everything raised on purpose; the command line prints it as one message and exits with `exit_code`."""

    exit_code = 2

    def to_dict(self) -> dict[str, Any]:
        """The error as data: its kind, its message, and the parts that a program or a form needs."""
        return {"kind": type(self).__name__, "message": str(self)}


class InputError(PolyveilError):
    """The table, a file or an option cannot be used as given."""


class UnreadableTable(InputError):
    """What is stored as a table cannot be read as one. Nobody refused it, so of a release it is damage.

    `why` says what is wrong with it, without the remedy that a reader of any table is told.
    """

    def __init__(self, message: str, why: str) -> None:
        self.why = why
        super().__init__(message)


class DamagedRelease(InputError):
    """There is a manifest, and it cannot be read or contradicts itself: verification fails."""

    exit_code = 1


class SeveralSheets(InputError):
    """A workbook has several sheets with cells, and none was chosen."""

    def __init__(self, name: str, sheets: Sequence[str]) -> None:
        self.sheets = tuple(sheets)
        super().__init__(
            f"{name} has {len(sheets)} sheets: {listed(map(repr, sheets))}. Choose one with --sheet NAME, or save "
            "it as a file of its own."
        )


@dataclass(frozen=True)
class Fault:
    """One thing wrong in a policy: where, which rule it breaks, how to mend it."""

    place: str
    rule: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}. {self.remedy}"


class PolicyError(PolyveilError):
    """Everything wrong with a policy, reported at once."""

    def __init__(self, faults: Sequence[Fault], source: str = "the policy") -> None:
        self.faults = tuple(faults)
        count = len(self.faults)
        head = f"{source} has {count} fault{'s' if count != 1 else ''}:"
        super().__init__("\n".join([head, *(f"  - {fault}" for fault in self.faults)]))

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "faults": [asdict(fault) for fault in self.faults]}


class Unsatisfiable(PolyveilError):
    """No release can meet the requirements; names the one that prevents it and the nearest that can be met."""

    exit_code = 1

    def __init__(self, constraint: str, nearest: str | None = None) -> None:
        self.constraint = constraint
        self.nearest = nearest
        message = f"the policy cannot be met: {constraint}"
        if nearest:
            message += f"\n  Nearest that can be met: {nearest}"
        super().__init__(message)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "constraint": self.constraint, "nearest": self.nearest}


class VerificationFailed(PolyveilError):
    """A release did not pass its own verifier; nothing is published."""

    exit_code = 1


def kind_and_place(error: BaseException) -> str:
    """What may be said of an unexpected error: its text may contain data, its kind and place do not."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"


def listed(items: Iterable[object], last: str = "and", most: int = 12) -> str:
    """`a, b and c`; beyond `most` items only how many more there are."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most:,} more"]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
