"""What the compiled judge checks: all constraints of a policy's models as flat arrays that kernels accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.joint_flow import JointSpec, joint_spec
from polyveil.models.base import Model
from polyveil.models.constraints import (
    Closeness,
    Constraint,
    Divergence,
    JointTransport,
    MinDistinct,
    MinEntropy,
    MinSize,
    Recursive,
    ShareCap,
    ShareFloor,
)
from polyveil.models.joint import joint_name
from polyveil.models.statistics import Attribute
from polyveil.table.coded import CodedTable

HELLINGER, KL, JS = 0, 1, 2
KNOWN = (
    MinSize, Closeness, ShareCap, ShareFloor, MinDistinct, MinEntropy, Recursive, Divergence, JointTransport,
)  # fmt: skip
KINDS = {"hellinger": HELLINGER, "kl": KL, "js": JS}


@by_reference
class JudgeSpec(NamedTuple):
    """All constraints on a class as flat arrays. Codes are positions in the histogram, attributes their numbers."""

    offset: IntArray
    width: int  # length of a histogram
    min_size: int
    cap: FloatArray
    floor: FloatArray
    has_caps: bool
    has_floors: bool
    range_begin: IntArray  # closeness constraint j owns ranges range_begin[j] to range_begin[j + 1]
    range_start: IntArray
    range_stop: IntArray
    range_weight: FloatArray
    range_share: FloatArray  # Q(range)
    close_limit: FloatArray
    distinct_attribute: IntArray
    distinct_least: IntArray
    entropy_attribute: IntArray
    entropy_least: FloatArray
    recursive_attribute: IntArray
    recursive_c: FloatArray
    recursive_l: IntArray
    divergence_attribute: IntArray
    divergence_kind: IntArray
    divergence_begin: IntArray  # divergence j compares with divergence_share[divergence_begin[j] :]
    divergence_share: FloatArray
    divergence_limit: FloatArray
    joint: JointSpec


def asks_more(judge: JudgeSpec) -> bool:
    """Whether there are constraints other than size, caps and closeness."""
    others = (judge.distinct_least, judge.entropy_least, judge.recursive_c, judge.divergence_limit, judge.joint.limit)
    return judge.has_floors or any(len(part) for part in others)


def compile_constraints(models: Sequence[Model], attributes: Mapping[str, Attribute], table: CodedTable) -> JudgeSpec:
    """Gather the constraints of all models; histograms follow the order of the table's sensitive columns."""
    together = [joint_name(names) for names in table.together]
    return compile_in_order(models, attributes, [*(column.name for column in table.sensitive), *together])


def compile_in_order(models: Sequence[Model], attributes: Mapping[str, Attribute], names: Sequence[str]) -> JudgeSpec:
    """The same for histograms over the named attributes, in this order."""
    constraints = [item for model in models for item in _known_constraints(model, attributes)]
    sizes = [attributes[name].size for name in names]
    offset = np.append(0, np.cumsum(sizes, dtype=np.int64)).astype(np.int64)
    where = {name: int(start) for name, start in zip(names, offset[:-1], strict=True)}
    number = {name: i for i, name in enumerate(names)}
    cap, floor = _shares(constraints, where, int(offset[-1]))
    return JudgeSpec(
        offset=offset,
        width=int(offset[-1]),
        min_size=max((item.rows for item in constraints if isinstance(item, MinSize)), default=0),
        cap=cap,
        floor=floor,
        has_caps=bool(np.isfinite(cap).any()),
        has_floors=bool((floor > 0).any()),
        **_closeness(constraints, where),
        **_counted(constraints, number),
        **_divergences(constraints, number),
        joint=joint_spec(constraints, where),
    )


def _known_constraints(model: Model, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
    """A model's constraints; raises PolicyError for one that no kernel checks, which would otherwise not be kept."""
    constraints = model.constraints(attributes)
    for item in constraints:
        if not isinstance(item, KNOWN):
            rule = f"this method searches with compiled constraints, and {model.title} has none of a known kind"
            remedy = f"Use a method that judges groups by the model itself, or leave out {model.parameter}"
            raise PolicyError([Fault(model.place, f"{rule} ({type(item).__name__})", remedy)])
    return constraints


def _shares(constraints: Sequence[Constraint], where: Mapping[str, int], length: int) -> tuple[FloatArray, FloatArray]:
    """The tightest cap and floor of every code."""
    cap, floor = np.full(length, np.inf), np.zeros(length)
    for item in constraints:
        if isinstance(item, ShareCap):
            part = cap[where[item.attribute] :][: len(item.cap)]
            np.minimum(part, item.cap, out=part)
        elif isinstance(item, ShareFloor):
            part = floor[where[item.attribute] :][: len(item.floor)]
            np.maximum(part, item.floor, out=part)
    return cap, floor


def _closeness(constraints: Sequence[Constraint], where: Mapping[str, int]) -> dict[str, Any]:
    close = [item for item in constraints if isinstance(item, Closeness)]
    shares = []
    for item in close:
        upto = np.append(0, np.cumsum(item.whole, dtype=np.int64))
        shares.append((upto[item.stop] - upto[item.start]) / max(int(upto[-1]), 1))
    return {
        "range_begin": np.append(0, np.cumsum([len(item.start) for item in close], dtype=np.int64)).astype(np.int64),
        "range_start": _joined([item.start + where[item.attribute] for item in close], np.int64),
        "range_stop": _joined([item.stop + where[item.attribute] for item in close], np.int64),
        "range_weight": _joined([item.weight for item in close], np.float64),
        "range_share": _joined(shares, np.float64),
        "close_limit": np.array([item.limit for item in close], dtype=np.float64),
    }


def _counted(constraints: Sequence[Constraint], number: Mapping[str, int]) -> dict[str, Any]:
    distinct = [item for item in constraints if isinstance(item, MinDistinct)]
    entropy = [item for item in constraints if isinstance(item, MinEntropy)]
    recursive = [item for item in constraints if isinstance(item, Recursive)]
    return {
        "distinct_attribute": np.array([number[item.attribute] for item in distinct], dtype=np.int64),
        "distinct_least": np.array([item.values for item in distinct], dtype=np.int64),
        "entropy_attribute": np.array([number[item.attribute] for item in entropy], dtype=np.int64),
        "entropy_least": np.array([item.nats for item in entropy], dtype=np.float64),
        "recursive_attribute": np.array([number[item.attribute] for item in recursive], dtype=np.int64),
        "recursive_c": np.array([item.c for item in recursive], dtype=np.float64),
        "recursive_l": np.array([item.l for item in recursive], dtype=np.int64),
    }


def _divergences(constraints: Sequence[Constraint], number: Mapping[str, int]) -> dict[str, Any]:
    far = [item for item in constraints if isinstance(item, Divergence)]
    return {
        "divergence_attribute": np.array([number[item.attribute] for item in far], dtype=np.int64),
        "divergence_kind": np.array([KINDS[item.kind] for item in far], dtype=np.int64),
        "divergence_begin": np.append(0, np.cumsum([len(item.whole) for item in far], dtype=np.int64)).astype(np.int64),
        "divergence_share": _joined([item.whole / max(int(item.whole.sum()), 1) for item in far], np.float64),
        "divergence_limit": np.array([item.limit for item in far], dtype=np.float64),
    }


def _joined(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)
