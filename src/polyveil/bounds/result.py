"""What `polyveil.bound` finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyveil.results import Result, Row, percent


@dataclass(frozen=True, eq=False, repr=False)
class LossBound(Result):
    """No generalized release with these guarantees loses less.

    `information_loss` and `normalized_loss` are in the units of a release's loss of the same names, `least_rows` is
    the least number of rows (people, where a column says whom a row is about) that any group must have.
    """

    information_loss: float
    normalized_loss: float
    least_rows: int
    rows: int
    seconds: float

    def answer(self) -> str:
        """The bound in one plain sentence."""
        return f"No release with these guarantees can lose less than {percent(self.normalized_loss, 2)} of the detail."

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `polyveil bound --json` prints it."""
        return {
            "information_loss": self.information_loss,
            "normalized_loss": self.normalized_loss,
            "least_rows": self.least_rows,
            "rows": self.rows,
            "seconds": self.seconds,
        }

    def records(self) -> Sequence[Row]:
        """One row."""
        return [self.to_dict()]
