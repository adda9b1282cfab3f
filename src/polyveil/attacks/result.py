"""What a simulated adversary achieved: success, baseline, interval, bound and verdict, always together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyveil.arrays import FloatArray
from polyveil.results import Outcome, Result, Row, counted, percent, worst_of_each

Verdict = Literal["within bound", "broken", "no promise", "not run"]
Criterion = Literal["singling out", "linkability", "inference"]
"""The three risks of the Article 29 Working Party's Opinion 05/2014 (WP216)."""
USUAL = 1.959964
"""Standard deviations of the 95 % interval that is shown."""
CAREFUL = 3.290527
"""Standard deviations (99.9 %) before a measured rate alone counts as a broken promise."""
SLACK = 1e-6


@dataclass(frozen=True)
class Attack:
    """One adversary's result.

    `success` is how often the adversary is right about the people attacked and `low` to `high` its 95 % interval.
    `baseline` is how often the same guess is right without the release, and `baseline_population` how often it is right
    when it is learned from other people of the same population: what is learned about people in general is no
    disclosure of one (None: the attack looks for a record, about which other people tell nothing). `bound` is the
    most that the promised model allows on average over the same guesses (None: it promises nothing here), `worst` the
    greatest certainty about any one person. `tried` of `possible` people (or what `unit` says) were attacked.
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
    criterion: Criterion = "inference"
    assumes: str = ""
    tried: int = 0
    possible: int = 0
    unit: str = "people"
    baseline_population: float | None = None

    @property
    def title(self) -> str:
        """The attack and the column it is about."""
        return f"{self.name} of {self.attribute}" if self.attribute else self.name

    @property
    def complete(self) -> bool:
        """Whether everything was tried that could have been."""
        return self.tried >= self.possible

    @property
    def known_without(self) -> float:
        """How often the guess is right without the release: from the whole table, or from a model of other people."""
        return max(self.baseline, self.baseline_population or 0.0)

    @property
    def made_easier(self) -> bool:
        """Whether the release lets the attack do better than without it."""
        return self.low > self.known_without

    def extent(self) -> str:
        """How much was tried."""
        if self.complete:
            return f"all {self.possible:,} {self.unit}" if self.possible else "–"
        return f"{self.tried:,} of {self.possible:,} {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in results."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class AttackReport(Result):
    """All adversaries against one release."""

    attacks: tuple[Attack, ...]
    notices: tuple[str, ...] = ()
    """What else to know: published numbers that nearly nobody shares."""

    @property
    def outcome(self) -> Outcome:
        """fails if a guarantee was broken, holds if one was attacked and kept and no attack was left out.

        Otherwise not checked: also where the attacks that ran broke nothing, but others could not be run.
        """
        if self.broken:
            return "fails"
        tested = any(attack.verdict == "within bound" for attack in self.attacks)
        return "holds" if tested and not self.untried else "not checked"

    @property
    def broken(self) -> tuple[Attack, ...]:
        """The attacks that reach more than a guarantee allows."""
        return tuple(attack for attack in self.attacks if attack.verdict == "broken")

    @property
    def untried(self) -> tuple[Attack, ...]:
        """What could have been tried and was not."""
        return tuple(attack for attack in self.attacks if attack.verdict == "not run" and not attack.complete)

    def named(self, name: str, attribute: str | None = None) -> Attack:
        """The attack of that name (and attribute, where it is given)."""
        return next(a for a in self.attacks if a.name == name and attribute in (None, a.attribute))

    def kinds(self) -> list[tuple[Attack, bool]]:
        """The first attack of each name, and whether others of that name assume something else: of other columns."""
        first: dict[str, Attack] = {}
        for each in self.attacks:
            first.setdefault(each.name, each)
        other = {each.name for each in self.attacks if each.adversary != first[each.name].adversary}
        return [(each, name in other) for name, each in first.items()]

    def worst_of_kinds(self, most: float) -> list[tuple[Attack, int]]:
        """All attacks, or of more than `most` the most successful of each kind and verdict, and of how many."""

        def kind(each: Attack) -> tuple[str, str, str]:
            return each.name, each.verdict, each.note if each.verdict == "not run" else ""

        return worst_of_each(self.attacks, kind, lambda each: each.known_without - each.success, most=most)

    @property
    def unpromised(self) -> tuple[Attack, ...]:
        """The attacks that no guarantee covers and that the release makes easier, the most successful first."""
        found = [each for each in self.attacks if each.verdict == "no promise" and each.made_easier]
        return tuple(sorted(found, key=lambda each: -each.success))

    @property
    def general(self) -> tuple[Attack, ...]:
        """The attacks that no guarantee covers and that do no better than a model of other people."""
        return tuple(
            each
            for each in self.attacks
            if each.verdict == "no promise" and each.low > each.baseline and not each.made_easier
        )

    def sentences(self) -> list[str]:
        """What the adversaries reached, the most serious first; the last sentence is about the guarantees."""
        said = []
        if self.broken:
            said.append(f"{counted(len(self.broken), 'attack')} broke a guarantee of this release.")
        if self.unpromised:
            one = len(self.unpromised) == 1
            most = self.unpromised[0]
            said.append(
                f"{counted(len(self.unpromised), 'attack')} {'is' if one else 'are'} outside your guarantees, and this "
                f"release makes {'it' if one else 'them'} easier"
                + (
                    f": it succeeds for {percent(most.success)} of people."
                    if one
                    else f" (up to {percent(most.success)} right)."
                )
                + " See the table."
            )
        if self.general:
            beat = "beats" if len(self.general) == 1 else "beat"
            said.append(
                f"{counted(len(self.general), 'attack')} {beat} guessing from the table, but not a model of other "
                "people: what is learned is about people in general."
            )
        said += [f"Not tried: {each.note}." for each in self.untried]
        return [*said, *self._about_guarantees()]

    def _about_guarantees(self) -> list[str]:
        if self.broken:
            return []
        tested = [each for each in self.attacks if each.verdict == "within bound"]
        if not tested:
            return ["No attack could be compared with a guarantee, so none was tested."]
        if self.untried:
            tests = f"The {counted(len(tested), 'attack')} that could test a guarantee broke none."
            return [f"{tests} The check is not complete."]
        some = [each for each in tested if not each.complete]
        if not some:
            return [f"No guarantee was broken by the {counted(len(tested), 'attack')} that test one."]
        return [
            f"No guarantee was broken by the {counted(len(tested), 'attack')} that test one; "
            f"{len(some):,} of them tried a random part ({some[0].extent()})."
        ]

    def answer(self) -> str:
        """What the adversaries reached, in a few sentences."""
        return " ".join(self.sentences())

    def records(self) -> Sequence[Row]:
        """One row per attack."""
        names = (
            *("name", "attribute", "criterion", "success", "low", "high", "baseline", "baseline_population", "bound"),
            *("worst", "trials", "tried", "possible", "unit", "verdict"),
        )
        return [{name: _plain(getattr(each, name)) for name in names} for each in self.attacks]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil attack --json` prints it; a figure that was not measured is None."""
        attacks = [
            {**{key: _plain(value) for key, value in each.to_dict().items()}, "extent": each.extent()}
            for each in self.attacks
        ]
        return {
            "holds": self.holds,
            "outcome": self.outcome,
            "sentences": self.sentences(),
            "attacks": attacks,
            "notices": list(self.notices),
        }


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
    *,
    criterion: Criterion = "inference",
    assumes: str = "",
    tried: int | None = None,
    possible: int | None = None,
    unit: str = "people",
    population: float | None = None,
) -> Attack:
    """Sum up: `hits` is 1 or 0 for each person attacked, or the probability of being right about them.

    A rate breaks its bound where it lies `deviations` standard deviations above it, and above what a model of other
    people (`population`) reaches: no release can keep a reader from learning about people in general. If not all were
    attacked, `tried` of `possible` were; they count people, or what `unit` says.
    """
    rates = np.asarray(hits, dtype=np.float64)
    trials = len(rates)
    if trials == 0:
        return not_run(name, attribute, adversary, "nobody could be attacked", criterion=criterion)
    total = float(rates.sum())
    low, high = wilson(total, trials)
    bound = None if promise is None else float(promise.caps.mean())
    verdict: Verdict = "no promise"
    if promise is not None and bound is not None:
        surely = wilson(total, trials, deviations)[0]
        beyond = surely > bound + SLACK
        verdict = "broken" if promise.broken or beyond else "within bound"
        if verdict == "broken" and not promise.broken and surely <= (population or 0.0):
            verdict = "no promise"
            note = "; ".join(
                filter(None, [note, "more than one group may tell, but a model of other people tells it too"])
            )
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
        criterion=criterion,
        assumes=assumes or adversary.split(";")[0],
        tried=trials if tried is None else tried,
        possible=trials if possible is None else possible,
        unit=unit,
        baseline_population=population,
    )


def not_run(
    name: str,
    attribute: str | None,
    adversary: str,
    why: str,
    *,
    criterion: Criterion = "inference",
    tried: int = 0,
    possible: int = 0,
    unit: str = "people",
) -> Attack:
    """An attack that does not apply (nothing was possible), or of which only a part was tried; not run is no pass."""
    nothing = math.nan
    return Attack(
        name=name,
        attribute=attribute,
        adversary=adversary,
        success=nothing,
        baseline=nothing,
        low=nothing,
        high=nothing,
        bound=None,
        promise="",
        worst=None,
        trials=0,
        verdict="not run",
        note=why,
        criterion=criterion,
        assumes=adversary.split(";")[0],
        tried=tried,
        possible=possible,
        unit=unit,
    )
