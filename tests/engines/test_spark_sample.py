"""How many rows the tree of blocks is grown on: with too few, parts look farther from the table than they are."""

from __future__ import annotations

import numpy as np
import polars as pl

from engines.test_spark_blocks import coded
from polyveil.engines.spark.engine import SAMPLE_PER_BLOCK
from polyveil.engines.spark.tree import HASH, build_tree

ROWS, BLOCKS = 210_000, 20
POLICY = {
    "columns": {
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "hierarchy": {"mask": 4}},
        **{name: {"role": "quasi"} for name in ("sex", "education")},
        "admitted": {"role": "quasi", "type": "numeric"},
        "disease": {"role": "sensitive", "t": 0.2},
        "cost": {"role": "sensitive", "type": "numeric", "t": 0.2},
    },
    "privacy": {"k": 5},
    "method": {"name": "mondrian"},
}


def sampled(rows: int) -> pl.DataFrame:
    """Thirty diseases that lean on the age as in `benchmarks/spark_scale.py`."""
    draw = np.random.default_rng(1).random((7, rows))
    age = 18 + np.floor(draw[0] * 75).astype(int)
    lean = (draw[3] * 0.7 + age / 93 * 0.3) * 30
    return pl.DataFrame(
        {
            "age": age,
            "zip": [f"{int(value):04d}" for value in draw[4] ** 2 * 2000 + 1000],
            "sex": np.where(draw[1] < 0.5, "f", "m"),
            "education": [f"school {int(value)}" for value in draw[2] * 9],
            "admitted": (draw[5] * 700).astype(int),
            "disease": [f"disease {int(value)}" for value in lean],
            "cost": np.floor(lean / 3 + draw[6] * 40).astype(int) * 100,
        }
    )


def test_a_table_is_not_divided_by_chance_because_its_sample_is_small() -> None:
    """Halves by hash part rows that are alike: ten million rows lost 6.9 % of the detail so, and 5.4 % without."""
    table, attributes, models = coded(sampled(ROWS), POLICY)
    rng = np.random.default_rng(0)

    def hash_cuts(per_block: int) -> int:
        rows = np.sort(rng.choice(ROWS, per_block * BLOCKS, replace=False))
        tree = build_tree(table.take(rows), models, attributes, ROWS / len(rows), ROWS // BLOCKS)
        assert len(tree.leaves()) >= BLOCKS
        return int((tree.attribute[tree.left >= 0] == HASH).sum())

    assert hash_cuts(SAMPLE_PER_BLOCK) == 0
    assert hash_cuts(SAMPLE_PER_BLOCK // 10) > 0
