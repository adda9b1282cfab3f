"""What a simulated adversary achieved: success, baseline, interval, bound and verdict, always together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray

Verdict = Literal["within bound", "broken", "no promise", "not run"]
USUAL = 1.959964
"""Standard deviations of the 95 % interval that is shown."""
CAREFUL = 3.290527
"""Standard deviations (99.9 %) before a measured rate alone counts as a broken promise."""
SLACK = 1e-6


@dataclass(frozen=True)
class Attack:
    """One adversary's result.

    `success` is how often the adversary is right about the people attacked and `baseline` how often without the
    release; `low` to `high` is the 95 % interval of the success. `bound` is the most that the promised model allows on
    average over the same guesses (None: it promises nothing here), `worst` the greatest certainty about any one person.
    """

    name: str
    attribute: str | None
    adversary: str
    success: float
    baseline: float
    low: float
    high: float
    bound: float | None
    promise: str
    worst: float | None
    trials: int
    verdict: Verdict
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in results."""
        return asdict(self)


@dataclass(frozen=True)
class AttackReport:
    """All adversaries against one release."""

    attacks: tuple[Attack, ...]

    @property
    def holds(self) -> bool:
        """No promise was broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[Attack, ...]:
        return tuple(attack for attack in self.attacks if attack.verdict == "broken")

    def named(self, name: str, attribute: str | None = None) -> Attack:
        """The attack of that name (and attribute, where it is given)."""
        return next(a for a in self.attacks if a.name == name and attribute in (None, a.attribute))

    def to_dict(self) -> dict[str, Any]:
        return {"holds": self.holds, "attacks": [attack.to_dict() for attack in self.attacks]}


def wilson(successes: float, trials: int, deviations: float = USUAL) -> tuple[float, float]:
    """Wilson's interval for a rate. Sums of probabilities may stand for successes: they vary less, never more."""
    if trials == 0:
        return 0.0, 1.0
    rate, spread = successes / trials, deviations**2 / trials
    middle = rate + spread / 2
    half = deviations * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


@dataclass(frozen=True)
class Promise:
    """What the models asked for allow an adversary at most, and which of them says so.

    `caps` holds one bound per guess, `certainty` how sure the release makes the adversary of each. A promise is broken
    where any certainty exceeds its cap.
    """

    caps: FloatArray
    certainty: FloatArray
    statement: str

    @property
    def broken(self) -> bool:
        return bool((self.certainty > self.caps + SLACK).any())


def attack_of(
    name: str,
    attribute: str | None,
    adversary: str,
    hits: npt.NDArray[np.bool_] | FloatArray | Sequence[float],
    baseline: float,
    promise: Promise | None,
    worst: float | None,
    note: str = "",
    deviations: float = CAREFUL,
) -> Attack:
    """Sum up: `hits` is 1 or 0 for each person attacked, or the probability of being right about them.

    A rate breaks its bound where it lies `deviations` standard deviations above it.
    """
    rates = np.asarray(hits, dtype=np.float64)
    trials = len(rates)
    if trials == 0:
        return not_run(name, attribute, adversary, "nobody could be attacked")
    total = float(rates.sum())
    low, high = wilson(total, trials)
    bound = None if promise is None else float(promise.caps.mean())
    verdict: Verdict = "no promise"
    if promise is not None and bound is not None:
        beyond = wilson(total, trials, deviations)[0] > bound + SLACK
        verdict = "broken" if promise.broken or beyond else "within bound"
    return Attack(
        name=name,
        attribute=attribute,
        adversary=adversary,
        success=total / trials,
        baseline=baseline,
        low=low,
        high=high,
        bound=bound,
        promise="" if promise is None else promise.statement,
        worst=worst,
        trials=trials,
        verdict=verdict,
        note=note,
    )


def not_run(name: str, attribute: str | None, adversary: str, why: str) -> Attack:
    """An attack that does not apply; not run is not a pass."""
    nothing = float("nan")
    return Attack(name, attribute, adversary, nothing, nothing, nothing, nothing, None, "", None, 0, "not run", why)
