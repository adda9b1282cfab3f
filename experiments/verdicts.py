"""Claims of a paper, what came out, and the verdicts: collected by each script, shown on top of its page.

A script also writes its points beside the page (`wang2018.json`), from which `as_printed.py` makes the overview.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

AGREES, DIFFERS, UNTOLD, OURS = "agrees", "differs", "cannot be told", "our improvement"
NEAR = 0.2
"""Figures within a fifth of the printed one agree."""


@dataclass(frozen=True)
class Point:
    """One claim, what came out, and the verdict that follows from it."""

    claim: str
    found: str
    verdict: str


def judged(holds: bool | None) -> str:
    """The verdict on a claim of the paper: None where the figures leave it open."""
    return UNTOLD if holds is None else AGREES if holds else DIFFERS


def ours(better: bool) -> str:
    """The verdict on a departure of our default."""
    return OURS if better else DIFFERS


def near(found: float, printed: float) -> bool:
    return abs(found - printed) <= NEAR * abs(printed)


def summary(points: Sequence[Point]) -> str:
    counts = [f"{verdict} {sum(p.verdict == verdict for p in points)}" for verdict in (AGREES, DIFFERS, UNTOLD, OURS)]
    return (
        f"Of {len(points)} points: {', '.join(counts)}. Every verdict is computed from the figures beside "
        "it: printed figures agree within a fifth, claims about every case must hold in every case, and what lies "
        "within the spread of samples cannot be told."
    )


def write_points(points: Sequence[Point], file: Path) -> None:
    file.write_text(json.dumps([asdict(point) for point in points], indent=1) + "\n", encoding="utf-8")


def read_points(file: Path) -> list[Point]:
    return [Point(**point) for point in json.loads(file.read_text(encoding="utf-8"))]
