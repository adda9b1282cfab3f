"""Small attributes and class statistics written down by hand, and random ones for the properties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from polyveil.models import (
    AlphaAnonymity,
    Attribute,
    BasicBetaLikeness,
    ClassStatistics,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    Model,
    PSensitivity,
    RecursiveDiversity,
    Sparse,
    TCloseness,
)
from polyveil.models.ground import GroundDistance, divergence, equal, hierarchical, ordered
from polyveil.models.risk import (
    AverageRisk,
    JournalistRisk,
    MarketerRisk,
    PopulationUniqueness,
    ProsecutorRisk,
    StrictSize,
)
from polyveil.policy.hierarchy import Hierarchy, from_tree


def attribute(
    whole: Sequence[int], ground: GroundDistance | None = None, levels: Sequence[int] | None = None, name: str = "x"
) -> Attribute:
    """An attribute whose reference distribution has these counts."""
    size = len(whole)
    return Attribute(
        name=name,
        size=size,
        whole=np.array(whole, dtype=np.int64),
        ground=ground or equal(size),
        levels=np.array(levels if levels is not None else [1] * size, dtype=np.int64),
    )


def classes(counts: Sequence[Sequence[int]], about: Attribute) -> ClassStatistics:
    """Class statistics from one row of counts per class."""
    table = np.array(counts, dtype=np.int64)
    owner, code = np.nonzero(table)
    begin = np.searchsorted(owner, np.arange(len(table) + 1)).astype(np.int64)
    sparse = Sparse(begin=begin, code=code.astype(np.int64), count=table[owner, code])
    return ClassStatistics(sizes=table.sum(axis=1), attributes={about.name: about}, histograms={about.name: sparse})


def measured(model: Model, counts: Sequence[Sequence[int]], about: Attribute) -> list[float]:
    """What a model measures in each class."""
    return [float(value) for value in model.measure_all(classes(counts, about))]


def one_of_each(threshold: float, least: int, attribute_name: str = "x") -> list[Model]:
    """One model of every kind, with a threshold that fits its range."""
    whole = max(round(threshold * 5), 1)
    share = min(max(threshold, 0.01), 1.0)
    return [
        KAnonymity(whole + 1),
        AlphaAnonymity(share, attribute_name),
        DistinctDiversity(least, attribute_name),
        FrequencyDiversity(least, attribute_name),
        EntropyDiversity(1 + threshold, attribute_name),
        RecursiveDiversity(threshold * 4 + 0.1, attribute_name, least),
        LevelDiversity({0: 1, 1: least, 2: least + 1}, attribute_name),
        PSensitivity(least, attribute_name),
        TCloseness(share, attribute_name),
        DeltaDisclosure(threshold * 2 + 0.01, attribute_name),
        BasicBetaLikeness(threshold * 2 + 0.01, attribute_name),
        EnhancedBetaLikeness(threshold * 2 + 0.01, attribute_name),
        ProsecutorRisk(share),
        JournalistRisk(share, 0.2),
        AverageRisk(share),
        MarketerRisk(share, 0.2),
        StrictSize(whole + 1),
        PopulationUniqueness(share, 0.2),
    ]


@st.composite
def trees(draw: st.DrawFn, least: int = 1, most: int = 7) -> Hierarchy:
    """Uneven trees: leaves at different depths, inner nodes with a single child included."""
    names = iter(range(1000))
    leaves = draw(st.integers(least, most))

    def split(count: int, depth: int) -> dict[str, object]:
        children: dict[str, object] = {}
        while count:
            part = draw(st.integers(1, count))
            deeper = depth < 3 and draw(st.booleans())
            if part == 1 and not deeper:
                children[f"v{next(names)}"] = None
            else:
                children[f"g{next(names)}"] = split(part, depth + 1) if depth < 3 else flat_children(part)
            count -= part
        return children

    def flat_children(count: int) -> dict[str, object]:
        return {f"v{next(names)}": None for _ in range(count)}

    return from_tree(split(leaves, 0))


@st.composite
def grounds(draw: st.DrawFn, size: int) -> GroundDistance:
    """Any ground distance over `size` values."""
    kind = draw(st.sampled_from(["ordered", "ordered+missing", "equal", "hierarchical", "hellinger", "kl", "js"]))
    if kind == "ordered":
        return ordered(size)
    if kind == "ordered+missing":
        return ordered(size - 1, has_null=True) if size > 1 else ordered(size)
    if kind == "equal":
        return equal(size)
    if kind == "hierarchical":
        return hierarchical(draw(trees(size, size)))
    return divergence(kind)  # type: ignore[arg-type]


@st.composite
def tables(draw: st.DrawFn, values: int = 5, rows: int = 24) -> tuple[np.ndarray, np.ndarray, Attribute]:
    """Class of each row, code of each row, and the attribute with the table itself as reference."""
    size = draw(st.integers(1, values))
    count = draw(st.integers(1, rows))
    codes = np.array(draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count)), dtype=np.int64)
    owner = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    class_of_row = np.unique(np.array(owner), return_inverse=True)[1].astype(np.int64)
    levels = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    whole = np.bincount(codes, minlength=size)
    return class_of_row, codes, attribute(whole.tolist(), draw(grounds(size)), levels)
