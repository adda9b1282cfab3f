"""What balanced loses and takes on small tables if all stricter demands are searched to the end, and if only the best.

    python benchmarks/sift_small.py [--tables 4] [--rows 20,50,60,150,300,600]

Random tables of 20 to 600 rows, each at four closeness thresholds with k = 4. "all" searches every demand to the end,
"best" those that are left after the first steps (`stricter.LEFT_OF_FEW` and `LEFT_OF_TINY`), and no other once some
agree in a table of up to 50 rows (`AGREEING`). Shown are the mean loss, how many losses rise with "best", how many rise
with a looser threshold, and processor seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from polyveil.measure import measure_loss
from polyveil.methods import Task
from polyveil.methods._search import stricter
from polyveil.methods.sift import Sift, SiftOptions
from polyveil.models import KAnonymity, TCloseness, attributes_of
from polyveil.policy.schema import Privacy

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tables import random_table

ROWS, THRESHOLDS, ALL = (20, 50, 60, 150, 300, 600), (0.25, 0.4, 0.5, 0.7), 100


def main() -> None:
    """Print a line for each size of table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=4, help="tables of each size")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    asked = parser.parse_args()
    lost(60, 0)  # compiles
    print(" rows   loss all   loss best  worse  rises  seconds all  seconds best")
    best = stricter.LEFT_OF_FEW, stricter.LEFT_OF_TINY, stricter.AGREEING
    for rows in map(int, asked.rows.split(",")):
        found = []
        for left in ((ALL, ALL, ALL), best):
            stricter.LEFT_OF_FEW, stricter.LEFT_OF_TINY, stricter.AGREEING = left
            began = time.process_time()
            losses = np.array([lost(rows, seed) for seed in range(asked.tables)])
            found.append((losses, time.process_time() - began))
        (every, slow), (some, quick) = found
        rises = sum(after > 1.01 * before for line in some for before, after in pairwise(line))
        worse = int((some > every + 1e-9).sum())
        print(
            f"{rows:5} {every.mean():10.4f} {some.mean():11.4f} {worse:6} {rises:6} {slow:12.1f} {quick:13.1f}",
            flush=True,
        )


def lost(rows: int, seed: int) -> list[float]:
    """The loss of a table at each threshold, the strictest first."""
    table, losses = random_table(seed, rows), []
    for t in THRESHOLDS:
        models = (KAnonymity(4), *(TCloseness(t, column.name) for column in table.sensitive))
        task = Task(table, models, attributes_of(table), Privacy(k=4), np.random.default_rng(seed))
        found = Sift(SiftOptions(effort="balanced")).partition(task)
        losses.append(measure_loss(table, found.class_of_row).information_loss)
    return losses


if __name__ == "__main__":
    main()
