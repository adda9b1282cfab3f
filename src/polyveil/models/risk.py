"""Re-identification risk as a guarantee: the chance of finding a person, at most or on average.

The risk of a row is what an attacker's chance is to name its person.

- The prosecutor knows that the person is in the release: 1/n in a group of n people.
- The journalist and the marketer know the population only, of which the release is a random sample of a share p. The
  chance is 1/N with the N people of the population who look like the group. N is unknown; given n, it is taken to be
  negative binomial (Benedetti & Franconi 1998), and the risk is the expected value of 1/N, which is
  (p/n) 2F1(1, 1; n+1; 1-p) (Polettini & Seri 2003). It is 1/n if the table is the population, and falls with n.

Groups may overlap after local recoding, so that more people of the population fit a group than are counted here, and
rows left out make the sample smaller than p says. Both make the true risk smaller, not greater.

The mean risk is over the rows (people, where a person may have several) of all groups together: for the prosecutor, the
number of groups divided by that of rows. No group can be judged for it alone (`per_group` is False).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.anonymity import KAnonymity
from polyveil.models.base import TOLERANCE, Model, Verdict
from polyveil.models.constraints import Constraint, MinSize
from polyveil.models.statistics import Attribute, Block, ClassStatistics
from polyveil.policy.risk import Attacker, Risk, least_for
from polyveil.policy.schema import Policy

TERMS, SMALL = 64, 24
"""Terms of the series, enough for p above a half and for groups of the second size or more."""


def chance(sizes: IntArray, fraction: float | FloatArray = 1.0) -> FloatArray:
    """The expected chance of finding a person in groups of these sizes, if a share of the population is in the table.

    The series of 2F1(1, 1; n+1; q) has the terms q^m / C(n+m, m), which soon vanish unless both n and p are small; then
    the chance of n follows from that of n-1, which is stable for p up to a half. Each group may have its own share.
    """
    if isinstance(fraction, float):
        found, where = np.unique(np.asarray(sizes, dtype=np.float64), return_inverse=True)
        return _expected(found, np.full(len(found), fraction))[where]
    return _expected(np.asarray(sizes, dtype=np.float64), fraction)


def _expected(sizes: FloatArray, fraction: FloatArray) -> FloatArray:
    term, total = np.ones(len(sizes)), np.ones(len(sizes))
    for m in range(1, TERMS):
        term = term * (m / (sizes + m)) * (1.0 - fraction)
        total += term
    expected = fraction / sizes * total
    low = fraction <= 0.5
    odds = fraction[low] / (1.0 - fraction[low])
    last, small = odds * np.log(1.0 / fraction[low]), expected[low]
    for size in range(1, SMALL):
        last = odds * (1.0 / (size - 1) - last) if size > 1 else last
        small = np.where(sizes[low] == size, last, small)
    expected[low] = small
    return expected


def least_size(limit: float, fraction: float = 1.0) -> int:
    """The least group in which the chance is within a limit."""
    low, high = 1, least_for(limit)  # a sample is never worse than the population itself
    while low < high:
        middle = (low + high) // 2
        if chance(np.array([middle]), fraction)[0] <= limit + TOLERANCE:
            high = middle
        else:
            low = middle + 1
    return low


def _asked(policy: Policy, attacker: Attacker) -> Risk | None:
    risk = policy.privacy.risk
    return risk if risk is not None and risk.attacker == attacker else None


class OfSample(Model):
    """A risk in a table that is a random sample of a share of the population, or all of it."""

    def __init__(self, threshold: float, fraction: float = 1.0) -> None:
        super().__init__(threshold)
        self.fraction = fraction


class ProsecutorRisk(OfSample):
    """In every group, the chance of finding a person who is known to be in it is at most the threshold."""

    key = "prosecutor-risk"
    parameter = "risk"
    title = "prosecutor risk"
    source = "El Emam & Dankar 2008"
    helps_against = "finding the row of a person who is known to be in the table, with a chance above the threshold"
    leaves_open = "what all rows of a group have in common is learned without finding the person's row"
    direction = "at most"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return chance(block.sizes, self.fraction)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (MinSize(least_size(self.threshold, self.fraction)),)

    def statement(self) -> str:
        return f"the chance of finding the row of a person known to be in the table is at most {self.threshold:.6g}"

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = _asked(policy, "prosecutor")
        return () if risk is None or risk.max is None else (cls(risk.max),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return (cls(1.0),)


class JournalistRisk(ProsecutorRisk):
    """In every group, the expected chance of finding a person by a register of the population is within a limit."""

    key = "journalist-risk"
    title = "journalist risk"
    source = "El Emam & Dankar 2008; Benedetti & Franconi 1998"
    helps_against = "naming somebody in the table with a register of the population, with a chance above the threshold"
    leaves_open = "an estimate for a random sample: whoever knows that a person is in the table finds them more easily"

    def statement(self) -> str:
        return (
            f"the expected chance of naming a person of any row is at most {self.threshold:.6g}, for an attacker who "
            f"knows the population, of which the table is a random sample of {self.fraction:.6g}"
        )

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = _asked(policy, "journalist")
        if risk is None or risk.fraction is None or risk.max is None:
            return ()
        return (cls(risk.max, risk.fraction),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return ()


class RegisterRisk(Model):
    """In every group, the chance of naming a person is within a limit: one by the people of a table who fit its cells.

    k-map (Sweeney 2001), with the people counted by the released cells. Who has no table of the population cannot
    measure it; then it is not checked.
    """

    key = "k-map"
    parameter = "risk"
    title = "journalist risk by a table of the population"
    source = "Sweeney 2001; El Emam & Dankar 2008"
    helps_against = (
        "naming somebody in the table with this register of the population, with a chance above the threshold"
    )
    leaves_open = "whoever knows that a person is in the table finds them more easily; the register may be out of date"
    direction = "at most"
    monotone = True

    def measure(self, block: Block) -> FloatArray:
        return np.full(block.classes, np.nan)

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        people = statistics.population
        return super().measure_all(statistics) if people is None else 1.0 / np.maximum(people, 1)

    def judge(self, statistics: ClassStatistics) -> Verdict:
        if statistics.population is not None:
            return super().judge(statistics)
        reason = "it takes the table of the population to count them (--population FILE)"
        return self._verdict(self.statement(), "not checked", float("nan"), None, 0, reason)

    def statement(self) -> str:
        people = least_for(self.threshold)
        return f"the cells of every row fit at least {people} people of the population, counted in a table of it"

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = policy.privacy.risk
        return () if risk is None or not risk.by_table or risk.max is None else (cls(risk.max),)


class StrictSize(KAnonymity):
    """Every group has at least so many people, where only the mean risk is limited (strict average risk)."""

    key = "strict-k"
    parameter = "risk"
    title = "smallest group of a mean risk"
    source = "El Emam, Rodgers & Malin 2015"
    form = None

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = policy.privacy.risk
        return () if risk is None or risk.strict_k is None else (cls(risk.strict_k),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return ()


class OverAll(OfSample):
    """A guarantee about all groups together: a sum over the groups, divided by the rows."""

    per_group = False
    direction = "at most"
    monotone = True

    @abstractmethod
    def part(self, sizes: IntArray) -> FloatArray:
        """What a group of each size adds to the sum. Merging two groups never adds to it."""

    @property
    @abstractmethod
    def sure_size(self) -> int:
        """The least size with which no group exceeds the mean, so that all together do not."""

    def value(self, sizes: IntArray) -> float:
        """What is limited, over all groups."""
        return float(self.part(sizes).sum()) / max(float(sizes.sum()), 1.0)

    def too_much(self, sizes: IntArray) -> float:
        """What the parts of the groups must lose together, so that the guarantee holds; 0 if it does."""
        excess = float(self.part(sizes).sum()) - self.threshold * float(sizes.sum())
        return excess if self.value(sizes) > self.threshold + TOLERANCE else 0.0

    def measure(self, block: Block) -> FloatArray:
        return np.full(block.classes, self.value(block.sizes))

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return ()


class AverageRisk(OverAll):
    """The mean chance of finding the person of a row is at most the threshold: groups divided by rows."""

    key = "average-risk"
    parameter = "risk"
    title = "average risk"
    source = "El Emam, Rodgers & Malin 2015"
    helps_against = "finding the rows of many people who are known to be in the table"
    leaves_open = "a person in a small group is found more easily than the mean says; strict_k limits that"

    def part(self, sizes: IntArray) -> FloatArray:
        return np.ones(len(sizes)) if self.fraction == 1.0 else sizes * chance(sizes, self.fraction)

    @property
    def sure_size(self) -> int:
        return least_size(self.threshold, self.fraction)

    def statement(self) -> str:
        mean = f"on average {self.threshold:.6g} or less"
        return f"the chance of finding the person of a row, known to be in the table, is {mean}"

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = _asked(policy, "prosecutor")
        return () if risk is None or risk.average is None else (cls(risk.average),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return (cls(1.0),)


class MarketerRisk(AverageRisk):
    """The expected share of rows that a register of the population names rightly is at most the threshold."""

    key = "marketer-risk"
    title = "marketer risk"
    source = "El Emam & Dankar 2008; Benedetti & Franconi 1998"
    helps_against = "naming many people of the table with a register of the population"
    leaves_open = "an estimate for a random sample, and a mean: a person in a small group is named more easily"

    def statement(self) -> str:
        return (
            f"the expected share of rows whose person is named rightly is at most {self.threshold:.6g}, for an "
            f"attacker who knows the population, of which the table is a random sample of {self.fraction:.6g}"
        )

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = policy.privacy.risk
        if risk is None or risk.fraction is None or risk.average is None or risk.attacker == "prosecutor":
            return ()
        return (cls(risk.average, risk.fraction),)

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return ()


class PopulationUniqueness(OverAll):
    """The estimated share of the population that is unique is at most the threshold (Dankar's rule)."""

    key = "unique-in-population"
    parameter = "risk"
    title = "uniqueness in the population"
    source = "Dankar, El Emam, Neisa & Roffey 2012"
    helps_against = "being sure that a row that fits one person of a register is the row of that person"
    leaves_open = "an estimate for a random sample; two people who look alike are found with a chance of one half"
    monotone = False

    def part(self, sizes: IntArray) -> FloatArray:
        """Only people who are alone in the sample can be alone in the population."""
        return np.asarray(sizes == 1, dtype=np.float64)

    def value(self, sizes: IntArray) -> float:
        from polyveil.models.uniqueness import estimate  # solvers are slow to load

        return estimate(sizes, self.fraction)

    def too_much(self, sizes: IntArray) -> float:
        found = self.value(sizes)
        if found <= self.threshold + TOLERANCE:
            return 0.0
        return float((sizes == 1).sum()) * (1.0 - self.threshold / found)

    @property
    def sure_size(self) -> int:
        return 2

    def statement(self) -> str:
        return (
            f"an estimated share of at most {self.threshold:.6g} of the population, of which the table is a random "
            f"sample of {self.fraction:.6g}, is unique in the quasi-identifiers as they are released"
        )

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = policy.privacy.risk
        if risk is None or risk.fraction is None or risk.unique_in_population is None:
            return ()
        return (cls(risk.unique_in_population, risk.fraction),)
