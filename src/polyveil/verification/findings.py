"""What a verification says: one finding per check, each holds, fails or not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyveil.models import Verdict
from polyveil.results import Outcome, Result, Row, counted


@dataclass(frozen=True)
class Finding:
    """One check: a short stable name, its outcome, and what was seen in plain words.

    A `note` is told beside the guarantees: none of them depends on it unless it fails.
    """

    check: str
    outcome: Outcome
    message: str
    note: bool = False


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """All findings about one release, and the models' verdicts re-measured from its files."""

    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...] = ()
    columns: tuple[Mapping[str, Any], ...] = ()
    """Per published column: its name, role, guarantees in words, and marks for what is easily overlooked."""

    @property
    def outcome(self) -> Outcome:
        """holds if nothing failed and every guarantee was checked; a figure of the loss may stay unchecked."""
        if self.failures:
            return "fails"
        checked = [f.outcome == "holds" for f in self.findings if not (f.note or f.check.startswith("loss"))]
        return "holds" if checked and all(checked) else "not checked"

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.outcome == "fails")

    def answer(self) -> str:
        """The verdict in one sentence."""
        total = counted(len(self.findings), "check")
        if self.failures:
            return f"No: {len(self.failures):,} of {total} failed."
        open_checks = [f for f in self.findings if f.outcome == "not checked"]
        if self.holds:
            beside = [f.check for f in open_checks if not f.check.startswith("loss")]
            left = [counted(len(open_checks) - len(beside), "figure") + " of the loss"] * (
                len(open_checks) > len(beside)
            )
            told = f", not checked: {', '.join([*left, *beside])}" if open_checks else ""
            return f"The release holds: {len(self.findings) - len(open_checks):,} of {total} passed{told}."
        return f"Not known: {len(open_checks):,} of {total} could not be made."

    def records(self) -> Sequence[Row]:
        """One row per check."""
        return [{"check": f.check, "outcome": f.outcome, "message": f.message} for f in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil verify --json` prints it."""
        return {
            "holds": self.holds,
            "outcome": self.outcome,
            "findings": list(self.records()),
            "columns": list(self.columns),
        }


def holds(check: str, message: str) -> Finding:
    return Finding(check, "holds", message)


def fails(check: str, message: str) -> Finding:
    return Finding(check, "fails", message)


def not_checked(check: str, message: str) -> Finding:
    return Finding(check, "not checked", message)


def unchecked(check: str, message: str) -> Finding:
    """Something beside the guarantees that this program cannot check, and says so."""
    return Finding(check, "not checked", message, note=True)
