"""Reading released quasi-identifier cells the way an adversary does: which values may stand behind each cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.cells import ANYTHING, place_of, read_range, read_set
from polyveil.errors import InputError
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain


def misfits(column: QuasiColumn, cells: pl.Series) -> tuple[FloatArray, IntArray]:
    """How badly each distinct cell fits each value (cells x codes; 0 fits, infinite does not), and each row's cell.

    A cell that is a midpoint or mean hides its range; it fits by nearness.
    """
    texts = cells.unique(maintain_order=True)
    of_row = cells.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    if cells.null_count() == 0:
        of_row -= 1
    texts = texts.sort(nulls_last=False)
    if cells.dtype.is_float() and isinstance(column.domain, OrderedDomain):
        return _nearness(column.domain, texts), of_row
    covers = np.stack([_cover(column, text) for text in texts.cast(pl.String).to_list()])
    return np.where(covers, 0.0, np.inf), of_row


def _nearness(domain: OrderedDomain, texts: pl.Series) -> FloatArray:
    span = max(float(domain.positions[-1] - domain.positions[0]), 1e-300)
    numbers = texts.cast(pl.Float64).to_numpy()
    found = np.abs(np.append(domain.positions, [np.nan] * domain.has_null)[None, :] - numbers[:, None]) / span
    # A missing number stands for a class in which missing was mixed with values: anything.
    found[np.isnan(numbers)] = 0.0
    return np.asarray(np.where(np.isnan(found), np.inf, found))


def _cover(column: QuasiColumn, text: str | None) -> BoolArray:
    domain = column.domain
    try:
        found = _range(domain, text) if isinstance(domain, OrderedDomain) else _node_or_set(domain, text)
    except (KeyError, ValueError):
        raise InputError(
            f"the release's column {column.name} has cells that do not come from the original's values. "
            "Give the table this release was made from"
        ) from None
    return found


def _range(domain: OrderedDomain, text: str | None) -> BoolArray:
    codes = np.arange(domain.size)
    if text is None:
        return np.asarray(codes == domain.null_code)
    if text == ANYTHING:
        return np.ones(domain.size, dtype=bool)
    place = _place_of(domain)
    low, high = map(place, read_range(domain.kind, text))
    inside = (domain.positions >= low) & (domain.positions <= high)
    return np.append(inside, [False] * domain.has_null)


def _place_of(domain: OrderedDomain) -> Callable[[str], float]:
    if domain.kind != "ordinal":
        return partial(place_of, domain.kind)
    rank = {label: float(position) for label, position in zip(domain.labels, domain.positions, strict=True)}
    return rank.__getitem__


def _node_or_set(domain: TreeDomain, text: str | None) -> BoolArray:
    tree = domain.hierarchy
    codes = np.arange(domain.size)
    if domain.as_set:
        known = {label: code for code, label in enumerate(tree.leaves)}
        return np.isin(codes, [known[value] for value in read_set(text)])
    node = tree.labels.index(text)
    return np.asarray((codes >= tree.start[node]) & (codes < tree.stop[node]))
