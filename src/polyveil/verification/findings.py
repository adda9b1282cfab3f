"""What a verification says: one finding per check, each holds, fails or not checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyveil.models import Outcome, Verdict


@dataclass(frozen=True)
class Finding:
    """One check: a short stable name, its outcome, and what was seen in plain words."""

    check: str
    outcome: Outcome
    message: str


@dataclass(frozen=True)
class Verification:
    """All findings about one release, and the models' verdicts re-measured from its files."""

    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...] = ()

    @property
    def holds(self) -> bool:
        """Nothing failed and every promise was checked."""
        return all(f.outcome == "holds" for f in self.findings if not f.check.startswith("loss")) and not any(
            f.outcome == "fails" for f in self.findings
        )

    @property
    def failures(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome == "fails")

    def to_dict(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "findings": [{"check": f.check, "outcome": f.outcome, "message": f.message} for f in self.findings],
        }


def holds(check: str, message: str) -> Finding:
    return Finding(check, "holds", message)


def fails(check: str, message: str) -> Finding:
    return Finding(check, "fails", message)


def not_checked(check: str, message: str) -> Finding:
    return Finding(check, "not checked", message)
