"""What a simulated adversary achieved: success, baseline, interval, bound and verdict, always together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray
from polyveil.results import Outcome, Result, Row, counted

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


@dataclass(frozen=True, repr=False)
class AttackReport(Result):
    """All adversaries against one release."""

    attacks: tuple[Attack, ...]

    @property
    def outcome(self) -> Outcome:
        """fails where a guarantee was broken, holds where one was attacked and kept; otherwise not checked."""
        if self.broken:
            return "fails"
        return "holds" if any(attack.verdict == "within bound" for attack in self.attacks) else "not checked"

    @property
    def broken(self) -> tuple[Attack, ...]:
        """The attacks that reach more than a guarantee allows."""
        return tuple(attack for attack in self.attacks if attack.verdict == "broken")

    def named(self, name: str, attribute: str | None = None) -> Attack:
        """The attack of that name (and attribute, where it is given)."""
        return next(a for a in self.attacks if a.name == name and attribute in (None, a.attribute))

    @property
    def unpromised(self) -> tuple[Attack, ...]:
        """The attacks that no guarantee covers and that the release makes easier."""
        return tuple(each for each in self.attacks if each.verdict == "no promise" and each.low > each.baseline)

    def answer(self) -> str:
        """What the adversaries reached, in one sentence."""
        outside = f"{counted(len(self.unpromised), 'attack')} outside the guarantees made easier by this release"
        tried = sum(each.verdict in ("within bound", "broken") for each in self.attacks)
        if self.broken:
            return f"{len(self.broken):,} of {counted(tried, 'attack')} broke a guarantee; {outside}."
        if not tried:
            return f"No attack could be held against a guarantee; {outside}."
        return f"{outside[0].upper()}{outside[1:]}; no guarantee was broken by the {counted(tried, 'attack')} on it."

    def records(self) -> Sequence[Row]:
        """One row per attack."""
        names = ("name", "attribute", "success", "baseline", "low", "high", "bound", "worst", "trials", "verdict")
        return [{name: _plain(getattr(each, name)) for name in names} for each in self.attacks]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil attack --json` prints it; a figure that was not measured is None."""
        attacks = [{key: _plain(value) for key, value in each.to_dict().items()} for each in self.attacks]
        return {"holds": self.holds, "outcome": self.outcome, "attacks": attacks}


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value


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
