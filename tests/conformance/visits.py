"""Random tables in which people have several rows, and policies for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import numpy as np
import polars as pl

from conformance.counted_by_hand import People, Promise


def visits(rng: np.random.Generator, most_rows: int, people: int) -> pl.DataFrame:
    """People with one row or more. `x` has up to eight letters, `n` eight numbers, `y` two letters."""
    person = np.repeat(np.arange(people), rng.integers(1, most_rows + 1, people))
    rows, letters = len(person), list("abcdefgh")[: int(rng.integers(3, 9))]
    moves = np.where(rng.random(rows) < 0.2, rng.integers(0, 3, rows), rng.integers(0, 3, people)[person])
    return pl.DataFrame(
        {
            "who": [f"p{number}" for number in person],
            "age": rng.integers(20, 60, people)[person] + rng.integers(0, 3, rows),
            "town": np.array(["u", "v", "w"])[moves],
            "x": rng.choice(letters, rows),
            "n": rng.integers(0, 8, rows),
            "y": rng.choice(list("st"), rows),
        }
    )[rng.permutation(rows)]


def policy(method: str, promise: Promise, k: int, limit: float, *, keyed: bool) -> dict[str, Any]:
    return {
        "columns": {
            "who": {"role": "person"},
            "age": {"role": "quasi", "type": "numeric"},
            "town": {"role": "quasi", "recode": "set"},
            **{name: promise.sensitive.get(name, {"role": "drop"}) for name in ("x", "n", "y")},
        },
        "privacy": {"k": k, **promise.privacy, "suppression_limit": limit},
        "method": {"name": method, **({"effort": "fast"} if method == "sift" else {})},
        "release": {"form": "generalized", **({"person": "pseudonym"} if keyed else {})},
    }


def people_in(rows: list[dict[str, Any]], who: str = "who") -> People:
    found: dict[Hashable, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row[who]].append(row)
    return found
