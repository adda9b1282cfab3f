"""Guarantees for tables with sampling weights, which a reader counts with as well as without.

Every row of a group is published with the same weight, so that within a group shares are the same in both ways. What
differs is the whole table: with weights, groups of people who were drawn rarely count for more. t therefore holds
twice, against the rows of the table and against the rows with their published weights.

The risk by weights is the individual risk of Benedetti & Franconi (1998), as sdcMicro measures it: a group of n rows
whose weights add up to F is a sample of a share n / F of the people who look like it, and the risk is the expected
value of 1/N given n (see `polyveil.models.risk`). It is greater than 1/F, because F is an estimate; with equal weights
it is the journalist's risk in a random sample. A weight below 1 counts as 1: a row stands for its own person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models.base import Model, SensitiveModel, Verdict, asked_value
from polyveil.models.closeness import distance
from polyveil.models.risk import chance
from polyveil.models.statistics import Attribute, Block, ClassStatistics
from polyveil.policy.schema import Policy

WHOLE = 1e11
"""What the weights of a table are scaled to, so that shares are whole numbers and sums of them exact."""


class _ByWeights(Model):
    """A guarantee that is measured where each class has its published weight, and not checked elsewhere."""

    weighted = True

    def measure(self, block: Block) -> FloatArray:
        return np.full(block.classes, np.nan)

    def judge(self, statistics: ClassStatistics) -> Verdict:
        if statistics.sampling is not None:
            return super().judge(statistics)
        reason = "it takes the weights of the rows, and there are none"
        return self._verdict(self.statement(), "not checked", float("nan"), None, 0, reason)


class WeightedCloseness(_ByWeights, SensitiveModel):
    """distance(P, Q) <= t for every class, Q being the distribution of all released rows with their weights."""

    key = "weighted-t-closeness"
    parameter = "t"
    title = "t-closeness with weights"
    source = "Li, Li & Venkatasubramanian 2007, of the weighted distribution"
    helps_against = "inferring much more about a person from their group than from the whole table with its weights"
    leaves_open = "what the whole table shows about everybody"
    direction = "at most"
    monotone = False  # merging gives other weights, and the whole table counted with them is another

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        weights = statistics.sampling
        if weights is None:
            return super().measure_all(statistics)
        blocks = statistics.blocks(self.attribute, self.unit)
        return self.worse([distance(against_weighted(block, weights)) for block in blocks])

    def statement(self) -> str:
        return (
            f"in every group, the distribution of {self.attribute} is at most {self.threshold:g} away from that of the "
            "whole table counted with its weights"
        )

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        if policy.sampling_weight is None:
            return ()
        asked = {name: asked_value("t", policy.columns[name], policy.privacy) for name in policy.having("sensitive")}
        return [cls(t, name) for name, t in asked.items() if t is not None]

    @classmethod
    def for_column(cls, *_: object) -> None:
        """It is asked for once for the table, whose policy says whether there are weights."""

    @classmethod
    def probes(cls, attributes: Mapping[str, Attribute]) -> Sequence[Model]:
        return ()


def against_weighted(block: Block, weights: FloatArray) -> Block:
    """The same classes with their weighted sum as the reference, or with the one that the attribute brings."""
    about = block.attribute
    whole = weighted_whole(block, weights) if about.weighted is None else about.weighted
    return replace(block, attribute=about.against(whole))


def weighted_whole(block: Block, weights: FloatArray) -> IntArray:
    """How often each value occurs in all classes with their weights, as whole numbers; none that occurs is 0."""
    sums = np.bincount(block.code, block.count * weights[block.owner], minlength=block.attribute.size)
    scaled = np.rint(sums * (WHOLE / max(float(sums.sum()), 1e-300)))
    return np.where(sums > 0, np.maximum(scaled, 1.0), 0.0).astype(np.int64)


class WeightedRisk(_ByWeights):
    """In every group, the expected chance of finding a person among those whom its rows stand for is within a limit."""

    key = "weighted-journalist-risk"
    parameter = "risk"
    title = "journalist risk by sampling weights"
    source = "Benedetti & Franconi 1998; Polettini & Seri 2003"
    helps_against = "naming somebody in the table with a register of the population, with a chance above the threshold"
    leaves_open = "an estimate by weights: whoever knows that a person is in the table finds them more easily"
    direction = "at most"
    monotone = True

    def measure_all(self, statistics: ClassStatistics) -> FloatArray:
        weights = statistics.sampling
        if weights is None:
            return super().measure_all(statistics)
        shares = 1.0 / np.maximum(weights, 1.0)
        return self.worse([chance(block.sizes, shares) for block in statistics.blocks(None, self.unit)])

    def statement(self) -> str:
        return (
            f"the expected chance of naming a person of any row is at most {self.threshold:.6g}, for an attacker who "
            "knows the population, of which each row stands for as many people as its weight says"
        )

    @classmethod
    def for_table(cls, policy: Policy) -> Sequence[Model]:
        risk = policy.privacy.risk
        return () if risk is None or not risk.by_weights or risk.max is None else (cls(risk.max),)
