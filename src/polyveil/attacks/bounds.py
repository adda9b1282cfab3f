"""What the models asked for allow an adversary to believe at most, and why.

Every bound follows from the primitive constraints of the models, for an adversary who takes the records of a group as
equally likely to be the target's. Let P be the group's distribution and Q the whole table's; G is a set of values.

- a cap on shares (frequency-l, alpha, security levels, beta, delta): P(G) <= the sum of the caps of G;
- t-closeness: whatever of P lies in G and not in Q's neighbourhood G_d of radius d must have come at least d far, so
  P(G) <= Q(G_d) + t / d for every d; the least over d is taken;
- Hellinger, Kullback-Leibler and Jensen-Shannon limits bound total variation (Le Cam, Pinsker): P(G) <= Q(G) + TV;
- entropy >= ln l: the greatest share s that leaves enough entropy for the other values;
- recursive (c,l): the commonest value is rarer than c times the rest, so s < c / (1 + c);
- l distinct values among n records: s <= 1 - (l - 1) / n in the largest group.

A mixture of groups (a target who fits several) keeps every such bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.models import Attribute, JointAttribute, Model
from polyveil.models.constraints import (
    Closeness,
    Constraint,
    Divergence,
    JointTransport,
    MinDistinct,
    MinEntropy,
    Recursive,
    ShareCap,
)
from polyveil.models.space import ValueSpace, value_space

NOTHING = 1.0 - 1e-9
"""A bound of 1 promises nothing."""


@dataclass(frozen=True, eq=False)
class Caps:
    """The bounds on one attribute that the models asked for give."""

    attribute: Attribute
    models: tuple[Model, ...]
    attributes: Mapping[str, Attribute]
    largest: int
    """Records of the largest group."""

    def of_sets(self, sets: Sequence[IntArray]) -> tuple[FloatArray, str]:
        """The bound on each set of values, and the statement of the model that gives most of them."""
        caps, binding = np.ones(len(sets)), np.full(len(sets), -1)
        for number, constraints in enumerate(self._constraints):
            for constraint in constraints:
                found = np.array([self._cap(constraint, chosen) for chosen in sets])
                better = found < caps
                caps[better], binding[better] = found[better], number
        bound = binding[binding >= 0]
        statement = self.models[int(np.bincount(bound).argmax())].statement() if len(bound) else ""
        return caps, statement

    def of_values(self, guesses: IntArray) -> tuple[FloatArray, str] | None:
        """The bound on each guess of one value; None if nothing is promised about any."""
        distinct, where = np.unique(guesses, return_inverse=True)
        caps, statement = self.of_sets([np.array([value]) for value in distinct])
        return (caps[where], statement) if (caps < NOTHING).any() else None

    def _cap(self, constraint: Constraint, chosen: IntArray) -> float:
        share = float(self.attribute.whole_share[chosen].sum())
        match constraint:
            case ShareCap():
                return float(np.minimum(constraint.cap[chosen], 1.0).sum())
            case Closeness():
                return transported(self._distance_to(chosen), self.attribute.whole_share, constraint.limit)
            case JointTransport():
                return transported(self._distance_to(chosen), self.attribute.whole_share, constraint.limit)
            case Divergence():
                return share + total_variation(constraint.kind, constraint.limit)
            case MinEntropy() if len(chosen) == 1:
                return share_at_entropy(constraint.nats, self.attribute.size)
            case Recursive() if len(chosen) == 1:
                return constraint.c / (1.0 + constraint.c)
            case MinDistinct() if len(chosen) == 1:
                return 1.0 - (constraint.values - 1) / max(self.largest, constraint.values)
            case _:
                return 1.0

    def _distance_to(self, chosen: IntArray) -> FloatArray:
        """How far each value is from the nearest one of the set."""
        if isinstance(self.attribute, JointAttribute):
            space = self.attribute.space
            return np.asarray(
                np.min([space.between(np.arange(self.attribute.size), int(one)) for one in chosen], axis=0)
            )
        return self._space.to_nearest(chosen)

    @cached_property
    def _space(self) -> ValueSpace:
        return value_space(self.attribute.ground, self.attribute.size)

    @cached_property
    def _constraints(self) -> tuple[tuple[Constraint, ...], ...]:
        return tuple(model.constraints(self.attributes) for model in self.models)


def caps_for(models: Iterable[Model], attributes: Mapping[str, Attribute], name: str, largest: int) -> Caps:
    """The bounds on one attribute (or joint attribute) from the models that are about it."""
    about = tuple(model for model in models if model.attribute == name)
    return Caps(attributes[name], about, attributes, largest)


def transported(distance: FloatArray, share: FloatArray, limit: float) -> float:
    """The least over d of Q(closer than d) + limit / d."""
    order = np.argsort(distance, kind="stable")
    far, upto = distance[order], np.cumsum(share[order])
    outside = np.flatnonzero(far > 0)
    if len(outside) == 0:
        return 1.0
    # With d the distance of a value, every value that is nearer lies in the neighbourhood.
    nearer = np.searchsorted(far, far[outside], side="left")
    within = np.where(nearer > 0, upto[nearer - 1], 0.0)
    return float(min(1.0, (within + limit / far[outside]).min()))


def total_variation(kind: str, limit: float) -> float:
    """The most total variation that a divergence of `limit` (in bits, or Hellinger's distance) allows."""
    if kind == "hellinger":
        return limit * math.sqrt(max(2.0 - limit**2, 0.0))
    return math.sqrt(limit * math.log(2) * (0.5 if kind == "kl" else 2.0))


def share_at_entropy(nats: float, values: int) -> float:
    """The greatest share of one value at which the entropy can still reach `nats`, the others sharing the rest."""

    def entropy(share: float) -> float:
        rest = 1.0 - share
        return -sum(x * math.log(x) for x in (share,) if x > 0) - (
            rest * math.log(rest / (values - 1)) if rest > 0 and values > 1 else 0.0
        )

    low, high = 1.0 / max(values, 1), 1.0
    if entropy(low) < nats:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy(middle) >= nats else (low, middle)
    return high
