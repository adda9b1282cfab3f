"""Whether a policy can be reached at all, and whether it was: what is said where it cannot, or was not."""

from __future__ import annotations

from collections.abc import Sequence

from polyveil.errors import Unsatisfiable
from polyveil.models.base import Model, Verdict
from polyveil.models.statistics import ClassStatistics


def check_reachable(models: Sequence[Model], whole: ClassStatistics, suppression_limit: float) -> None:
    """Without suppression nothing is safer than the whole table as one class; name the first demand it fails."""
    if suppression_limit > 0:
        return
    for model in models:
        verdict = model.judge(whole)
        if model.monotone and not verdict.holds:
            raise Unsatisfiable(
                f"{verdict.statement}, but even the whole table as one group has {verdict.value:.6g}",
                f"{verdict.value:.6g} for {model.key}"
                + (f" of {model.attribute}" if model.attribute else "")
                + "; or allow rows to be left out with privacy.suppression_limit",
            )


def check_reached(verdicts: Sequence[Verdict], classes: int) -> None:
    """A method's classes must satisfy every model before anything is made of them."""
    for verdict in verdicts:
        if not verdict.holds:
            those = "the worst group has" if verdict.failing_classes else "the groups together have"
            reached = "nothing is left to release" if classes == 0 else f"{those} {verdict.value:.6g}"
            raise Unsatisfiable(f"{verdict.statement}, but {reached}", f"{verdict.value:.6g} with this method")
