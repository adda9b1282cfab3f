"""What polyveil raises: every error says what is wrong, the rule, and what to do next - never a person's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class PolyveilError(Exception):
    """Base of everything raised on purpose; the command line prints it as one message and exits with `exit_code`."""

    exit_code = 2


class InputError(PolyveilError):
    """The table, a file or an option cannot be used as given."""


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


class Unsatisfiable(PolyveilError):
    """No release can keep the promise asked for; names the binding constraint and the nearest reachable one."""

    exit_code = 1

    def __init__(self, constraint: str, nearest: str | None = None) -> None:
        self.constraint = constraint
        self.nearest = nearest
        message = f"the policy cannot be reached: {constraint}"
        if nearest:
            message += f"\n  nearest reachable: {nearest}"
        super().__init__(message)


class VerificationFailed(PolyveilError):
    """A release did not pass its own verifier; nothing is published."""

    exit_code = 1
