"""The frontier: what no other release beats in loss and protection at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polyveil.advice.cases import Case, CaseOutcome


def frontier(outcomes: Iterable[CaseOutcome]) -> frozenset[Case]:
    """Cases that no other release of the same form dominates: at least as good in everything, better in something.

    Forms are compared among themselves: exact quasi-identifiers beside groups lose nothing by a measure that looks at
    quasi-identifiers alone.
    """
    done = [outcome for outcome in outcomes if outcome.done]
    return frozenset(
        outcome.case
        for outcome in done
        if not any(_dominates(other, outcome) for other in done if other.form == outcome.form)
    )


def protection(outcome: CaseOutcome) -> float:
    """How far the worst class is from the whole table; where that was not asked for, the chance of finding a row."""
    if outcome.distance is not None:
        return outcome.distance
    return 1.0 / max(float(outcome.privacy.get("k", 1)), 1.0)


def _scores(outcome: CaseOutcome) -> tuple[float, float]:
    return outcome.normalized_loss, protection(outcome)


def _dominates(one: CaseOutcome, other: CaseOutcome) -> bool:
    ours, theirs = _scores(one), _scores(other)
    return all(a <= b for a, b in zip(ours, theirs, strict=True)) and ours != theirs


def lower_steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (x, y) of which no other has both a smaller x and a smaller y, from left to right."""
    kept: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    return kept
