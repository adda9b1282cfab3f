"""The released cells of each class and quasi-identifier, in the grammar of `polyveil.cells`."""

from __future__ import annotations

import numpy as np
import polars as pl

from polyveil.arrays import IntArray, TextArray
from polyveil.cells import ANYTHING, write_range, write_set
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain


def range_cells(domain: OrderedDomain, low: IntArray, high: IntArray) -> TextArray:
    """The range of each class; values mixed with missing are anything, and missing alone stays missing."""
    single = [write_range(domain.kind, label, label) for label in domain.labels]
    labels = np.array([*domain.labels, None], dtype=object)
    cells = np.array([*single, None], dtype=object)[low]
    wide = (low != high) & (high != domain.null_code)
    ends = zip(labels[low[wide]], labels[high[wide]], strict=True)
    cells[wide] = [write_range(domain.kind, a, b) for a, b in ends]
    cells[(low != high) & ~wide] = ANYTHING
    return cells


def node_cells(domain: TreeDomain, low: IntArray, high: IntArray) -> TextArray:
    """The label of the lowest common ancestor; a class of missing values only stays missing."""
    labels = np.array(domain.hierarchy.labels, dtype=object)
    return np.asarray(labels[domain.hierarchy.common_ancestor(low, high)], dtype=object)


def set_cells(domain: TreeDomain, codes: IntArray, class_of_row: IntArray, classes: int) -> TextArray:
    """The set of values of each class."""
    kept = class_of_row >= 0
    pairs = np.unique(class_of_row[kept].astype(np.int64) * domain.size + codes[kept])
    owner, code = pairs // domain.size, pairs % domain.size
    begin = np.searchsorted(owner, np.arange(classes + 1))
    leaves = domain.hierarchy.leaves
    cells = np.empty(classes, dtype=object)
    for c in range(classes):
        cells[c] = write_set([leaves[member] for member in code[begin[c] : begin[c + 1]]])
    return cells


def number_cells(column: QuasiColumn, numbers: str, class_of_row: IntArray, low: IntArray, high: IntArray) -> TextArray:
    """Midpoint or mean of each class, for people who need numbers; null where missing is mixed in."""
    domain = column.domain
    if not isinstance(domain, OrderedDomain):
        raise TypeError("midpoint and mean are for ordered domains")
    positions = np.append(domain.positions, np.nan)
    if numbers == "midpoint":
        values = positions[low] / 2 + positions[high] / 2
    else:
        kept = class_of_row >= 0
        owner = class_of_row[kept]
        sizes = np.bincount(owner, minlength=len(low))
        # Sums of numbers near the greatest there is would have no number: then each is divided before it is added.
        far = np.nanmax(np.abs(positions)) > np.finfo(np.float64).max / max(len(owner), 1)
        parts = positions[column.codes[kept]] / (sizes[owner] if far else 1)
        values = np.bincount(owner, weights=parts, minlength=len(low)) / (1 if far else sizes)
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    return np.asarray(cells, dtype=object)


def text_column(name: str, cells: TextArray, class_of_row: IntArray) -> pl.Series:
    """One cell per row from one cell per class, without building a Python string per row."""
    texts = pl.Series(name, cells.tolist(), dtype=pl.String)
    return texts.gather(pl.Series(class_of_row, dtype=pl.UInt32)).rename(name)
