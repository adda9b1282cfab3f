"""t-closeness: the distribution of a sensitive attribute in every class is near that of the whole table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import FloatArray
from polyveil.models import many_values
from polyveil.models.base import TOLERANCE, FormField, SensitiveModel, asked_value
from polyveil.models.constraints import Closeness, Constraint, Divergence
from polyveil.models.statistics import Attribute, Block
from polyveil.policy.schema import Column, Distance, Privacy

_SPOKEN: Mapping[Distance, str] = {
    "hellinger": "Hellinger distance",
    "kl": "Kullback-Leibler divergence",
    "js": "Jensen-Shannon divergence",
}


class TCloseness(SensitiveModel):
    """distance(P, Q) <= t for every class (Definition 3 of wang2018); the attribute's ground names the distance."""

    key = "t-closeness"
    parameter = "t"
    title = "t-closeness"
    source = "Li, Li & Venkatasubramanian 2007; wang2018, Definition 4"
    helps_against = "inferring much more about a person from their group than from the whole table"
    leaves_open = (
        "what the whole table shows about everybody; several sensitive columns are close one by one, not together"
    )
    direction = "at most"
    monotone = True
    summary = "t"
    form = FormField("Stay close to the whole table (t)", low=0.01, high=1.0, step=0.01, start=0.2)

    def __init__(self, threshold: float, attribute: str, measured_by: Distance | None = None) -> None:
        super().__init__(threshold, attribute)
        self.measured_by = measured_by

    @classmethod
    def for_column(cls, name: str, column: Column, privacy: Privacy) -> TCloseness | None:
        threshold = asked_value(cls.parameter, column, privacy)
        return None if threshold is None else cls(threshold, name, column.distance)

    def measure(self, block: Block) -> FloatArray:
        return distance(block)

    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        about = attributes[self.attribute]
        ground, limit = about.ground, self.threshold + TOLERANCE
        if ground.distance in ("hellinger", "kl", "js"):
            return (Divergence(self.attribute, ground.distance, about.whole, limit),)
        return (Closeness(self.attribute, ground.start, ground.stop, ground.weight, about.whole, limit),)

    def statement(self) -> str:
        by = f" by {_SPOKEN.get(self.measured_by, f'{self.measured_by} distance')}" if self.measured_by else ""
        return (
            f"in every group, the distribution of {self.attribute} is at most {self.threshold:g} away from that of the "
            f"whole table (t-closeness{by})"
        )


def distance(block: Block) -> FloatArray:
    """How far each class is from the whole table."""
    match block.attribute.ground.distance:
        case "hellinger":
            return hellinger(block)
        case "kl":
            return kullback_leibler(block)
        case "js":
            return jensen_shannon(block)
        case _:
            return many_values.earth_mover(block) if many_values.worthwhile(block) else earth_mover(block)


def earth_mover(block: Block) -> FloatArray:
    """sum over ranges of weight * |P(range) - Q(range)|; ordered, hierarchical and equal distance alike.

    P(range) - Q(range) = (c(range) * N - C(range) * n) / (n * N) is computed as a 64-bit whole number, so it is
    exact up to three thousand million rows; cumulative counts make a range cost two look-ups.
    """
    ground, whole, total = block.attribute.ground, block.attribute.whole, max(block.attribute.total, 1)
    whole_upto = np.append(0, np.cumsum(whole, dtype=np.int64))
    whole_inside = whole_upto[ground.stop] - whole_upto[ground.start]
    result = np.zeros(block.classes)
    for some, counts in block.dense(block.attribute.size + len(ground.start)):
        sizes = block.sizes[some]
        upto = np.zeros((len(counts), block.attribute.size + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=upto[:, 1:])
        inside = upto[:, ground.stop] - upto[:, ground.start]
        moved = np.abs(inside * total - sizes[:, None] * whole_inside)
        result[some] = (moved @ ground.weight) / (sizes * float(total))
    return result


def hellinger(block: Block) -> FloatArray:
    """sqrt(1 - sum sqrt(P * Q)), from 0 to 1 (roy2014, 2.2).

    Computed as sqrt(1/2 * sum (sqrt P - sqrt Q)^2), which is the same and exactly 0 for equal distributions.
    """
    apart = block.sum((np.sqrt(block.share) - np.sqrt(block.whole_share)) ** 2)
    return np.sqrt((apart + block.absent_share) / 2.0)


def kullback_leibler(block: Block) -> FloatArray:
    """sum P * log2(P / Q) in bits; infinite if a class has a value that the reference lacks."""
    known = block.whole_share > 0
    ratio = np.where(known, block.share / np.where(known, block.whole_share, 1.0), np.inf)
    return np.maximum(block.sum(block.share * np.log2(ratio)), 0.0)


def jensen_shannon(block: Block) -> FloatArray:
    """Mean divergence of P and Q from their middle in bits, from 0 to 1."""
    p, q = block.share, block.whole_share
    known = q > 0
    of_q = np.where(known, q * np.log2(np.where(known, 2.0 * q / (p + q), 1.0)), 0.0)
    # A value that the class lacks adds q * log2(2q / q) = q.
    return np.maximum((block.sum(p * np.log2(2.0 * p / (p + q)) + of_q) + block.absent_share) / 2.0, 0.0)
