"""A small table with every kind of column, and policies for it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl


def clinic(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    lean = np.clip(rng.normal(age / 20, 1.5, rows), 0, 7).astype(int)
    days = [dt.date(2025, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 300, rows)]
    missing = rng.random(rows) < 0.05
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": [None if gone else int(value) for gone, value in zip(missing, age, strict=True)],
            "zip": [f"{value:04d}" for value in rng.integers(0, 60, rows) * 7],
            "town": rng.choice(["Aa", "Bb", "Cc", "Dd", "Ee"], rows),
            "admitted": days,
            "disease": [["flu", "cold", "ulcer", "cancer"][value % 4] for value in lean],
            "cost": [float(value) * 50 for value in rng.integers(0, 12, rows) + lean],
            "ward": rng.integers(1, 5, rows),
        }
    )


def policy(method: str = "mondrian", **changes: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "hierarchy": {"mask": 4}},
        "town": {"role": "quasi", "recode": "set"},
        "admitted": {"role": "quasi", "type": "date"},
        "disease": {"role": "sensitive", "t": 0.35},
        "cost": {"role": "sensitive", "type": "numeric", "t": 0.35},
        "ward": {"role": "insensitive"},
    }
    columns |= changes.pop("columns", {})
    return {
        "version": 1,
        "columns": columns,
        "privacy": {"k": 4, **changes.pop("privacy", {})},
        "method": {"name": method, **changes.pop("options", {})},
        "release": {"form": "generalized"},
        **changes,
    }
