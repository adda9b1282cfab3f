"""Asking for less never leaves out more: k, l and the number of attributes over a grid, on rows of Adult.

POLYVEIL_WHOLE_GRID=1 runs k = 2..10, l = 2..6, d = 2..5 for all six methods; otherwise a part of it.
"""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paper_tables import ADULT_LEVELS, task_of
from polyveil.errors import Unsatisfiable
from polyveil.methods import make_method
from polyveil.policy.schema import MethodChoice

WHOLE = bool(os.environ.get("POLYVEIL_WHOLE_GRID"))
METHODS = ("mbf", "msdcf", "mmdcf", "mbf-mslf", "msdcf-mslf", "mmdcf-mslf") if WHOLE else ("mbf", "mmdcf-mslf")
KS, LS, DS = (range(2, 11), range(2, 7), range(2, 6)) if WHOLE else ((2, 3, 4, 5, 6), (2, 3, 4), (2, 3))
ROWS, ONE_PERCENT = 1000 if WHOLE else 500, 0.01


def columns_of(frame: pl.DataFrame, attributes: int, *, levels: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in ("age", "sex")}
    for name in list(ADULT_LEVELS)[:attributes]:
        present = set(frame[name].unique())
        known = {level: [v for v in values if v in present] for level, values in ADULT_LEVELS[name].items()}
        columns[name] = {"role": "sensitive", "levels": {level: values for level, values in known.items() if values}}
        if not levels:
            columns[name].pop("levels")
    return columns


def left_out(frame: pl.DataFrame, method: str, k: int, l: int, attributes: int) -> tuple[float, int]:  # noqa: E741
    """The share of rows left out, and the rows of the largest group."""
    levels = method.endswith("-mslf")
    columns = columns_of(frame, attributes, levels=levels)
    privacy = {"k": k, "l": {0: 1, 1: max(l - 1, 1), 2: l} if levels else l, "suppression_limit": 1.0}
    task = task_of(frame.select(*columns), columns, privacy, seed=1)
    try:
        found = make_method(MethodChoice(name=method)).partition(task)
    except Unsatisfiable:
        return 1.0, 0
    grouped = found.class_of_row[found.class_of_row >= 0]
    return found.suppressed / task.table.rows, int(np.bincount(grouped, minlength=1).max())


@pytest.mark.parametrize("method", METHODS)
def test_asking_for_less_never_leaves_out_one_percent_more(method: str, shared_data: Path) -> None:
    frame = pl.read_csv(shared_data / "adult.csv.gz", null_values="?").drop_nulls().head(ROWS)
    found = {asked: left_out(frame, method, *asked)[0] for asked in product(KS, LS, DS)}
    worse = [
        (less, more)
        for less, more in product(found, found)
        if all(a <= b for a, b in zip(less, more, strict=True)) and found[less] > found[more] + ONE_PERCENT
    ]
    assert not worse


def test_k_4_and_l_3_loses_no_more_than_k_6_and_makes_no_huge_group(shared_data: Path) -> None:
    """Groups of four rows may have a value once, as groups of three may: most rows would fit nowhere."""
    frame = pl.read_csv(shared_data / "adult.csv.gz", null_values="?").drop_nulls().head(1000)
    (four, largest), (six, _) = left_out(frame, "mbf", 4, 3, 3), left_out(frame, "mbf", 6, 3, 3)
    assert four <= six
    assert largest < 50
