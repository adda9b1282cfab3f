"""The primitive forms that every model's demand on one class reduces to; kernels know these and no model.

A class has n rows, c(v) of them with value v of the attribute; Q is the whole table's distribution. The numbers here
already contain the models' tolerance for rounding: whoever checks a constraint compares plainly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyveil.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class MinSize:
    """n >= rows."""

    rows: int


@dataclass(frozen=True, eq=False)
class Closeness:
    """sum over ranges of weight * |P(range) - Q(range)| <= limit: the earth mover's distances."""

    attribute: str
    start: IntArray
    stop: IntArray
    weight: FloatArray
    whole: IntArray
    limit: float


@dataclass(frozen=True, eq=False)
class ShareCap:
    """c(v) <= cap[v] * n for every value."""

    attribute: str
    cap: FloatArray


@dataclass(frozen=True, eq=False)
class ShareFloor:
    """c(v) >= floor[v] * n for every value."""

    attribute: str
    floor: FloatArray


@dataclass(frozen=True)
class MinDistinct:
    """At least `values` different values."""

    attribute: str
    values: int


@dataclass(frozen=True)
class MinEntropy:
    """Entropy of the class's distribution (natural logarithm) >= `nats`."""

    attribute: str
    nats: float


@dataclass(frozen=True)
class Recursive:
    """With counts r1 >= r2 >= ...: r1 < c * (r_l + r_(l+1) + ...)."""

    attribute: str
    c: float
    l: int  # noqa: E741


@dataclass(frozen=True, eq=False)
class Divergence:
    """Hellinger, Kullback-Leibler or Jensen-Shannon divergence of P from Q <= limit."""

    attribute: str
    kind: Literal["hellinger", "kl", "js"]
    whole: IntArray
    limit: float


@dataclass(frozen=True, eq=False)
class JointTransport:
    """The cost of moving the class's tuples onto the whole table's along a tree of near tuples <= limit.

    Tuple i is in cell `cell_of[i]`; node v of the tree, in preorder, covers the cells `start[v]` to `stop[v] - 1`. The
    other arrays are the coordinates of the cells' centres (see `polyveil.models.space`), cells x attributes or labels.
    """

    attribute: str
    cell_of: IntArray
    whole: IntArray
    radius: FloatArray
    start: IntArray
    stop: IntArray
    place: FloatArray
    aside: FloatArray
    label: IntArray
    weight: FloatArray
    first: IntArray
    limit: float


@dataclass(frozen=True)
class OnlyByModel:
    """A demand without a primitive form: only the model itself can judge it, and no kernel can."""

    title: str


Constraint = (
    MinSize
    | Closeness
    | ShareCap
    | ShareFloor
    | MinDistinct
    | MinEntropy
    | Recursive
    | Divergence
    | JointTransport
    | OnlyByModel
)
