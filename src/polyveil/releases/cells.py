"""How generalized values are written in a release: one text per class and quasi-identifier."""

from __future__ import annotations

import numpy as np
import polars as pl

from polyveil.arrays import IntArray, TextArray
from polyveil.table.coded import QuasiColumn
from polyveil.table.domain import OrderedDomain, TreeDomain

ANYTHING = "*"


def range_cells(domain: OrderedDomain, low: IntArray, high: IntArray) -> TextArray:
    """`20`, `[20-29]`; dates `[2026-01-01/2026-01-31]`; ordered categories `[low..high]`; mixed with missing `*`."""
    labels = np.array([*domain.labels, None], dtype=object)
    join = {"numeric": "-", "date": "/", "ordinal": ".."}[domain.kind]
    cells = labels[low].copy()
    wide = low != high
    cells[wide] = [f"[{a}{join}{b}]" for a, b in zip(labels[low[wide]], labels[high[wide]], strict=True)]
    if domain.has_null:
        cells[wide & (high == domain.null_code)] = ANYTHING
    return cells


def node_cells(domain: TreeDomain, low: IntArray, high: IntArray) -> TextArray:
    """The label of the lowest common ancestor; a class of missing values only stays missing."""
    labels = np.array(domain.hierarchy.labels, dtype=object)
    return np.asarray(labels[domain.hierarchy.common_ancestor(low, high)], dtype=object)


def set_cells(domain: TreeDomain, codes: IntArray, class_of_row: IntArray, classes: int) -> TextArray:
    """`{Austria, Spain}`; a single value stands alone; missing among values is written `{Spain, *}`."""
    kept = class_of_row >= 0
    pairs = np.unique(class_of_row[kept].astype(np.int64) * domain.size + codes[kept])
    owner, code = pairs // domain.size, pairs % domain.size
    begin = np.searchsorted(owner, np.arange(classes + 1))
    labels = [None if label is None else _quoted(label) for label in domain.hierarchy.leaves]
    plain = domain.hierarchy.leaves
    cells = np.empty(classes, dtype=object)
    for c in range(classes):
        members = code[begin[c] : begin[c + 1]]
        if len(members) == 1:
            cells[c] = plain[members[0]]
        else:
            cells[c] = "{" + ", ".join(labels[m] or ANYTHING for m in members) + "}"
    return cells


def _quoted(label: str) -> str:
    """Labels that hold the set's own punctuation are put in double quotes."""
    if label and not any(mark in label for mark in '{},"') and label == label.strip():
        return label
    return '"' + label.replace('"', '""') + '"'


def number_cells(column: QuasiColumn, numbers: str, class_of_row: IntArray, low: IntArray, high: IntArray) -> TextArray:
    """Midpoint or mean of each class, for people who need numbers; null where missing is mixed in."""
    domain = column.domain
    if not isinstance(domain, OrderedDomain):
        raise TypeError("midpoint and mean are for ordered domains")
    positions = np.append(domain.positions, np.nan)
    if numbers == "midpoint":
        values = (positions[low] + positions[high]) / 2
    else:
        kept = class_of_row >= 0
        owner = class_of_row[kept]
        total = np.bincount(owner, weights=positions[column.codes[kept]], minlength=len(low))
        values = total / np.bincount(owner, minlength=len(low))
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    return np.asarray(cells, dtype=object)


def text_column(name: str, cells: TextArray, class_of_row: IntArray) -> pl.Series:
    """One cell per row from one cell per class, without building a Python string per row."""
    texts = pl.Series(name, cells.tolist(), dtype=pl.String)
    return texts.gather(pl.Series(class_of_row, dtype=pl.UInt32)).rename(name)
