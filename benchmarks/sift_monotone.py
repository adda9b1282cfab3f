"""Does asking for less ever cost more? The worst rise of sift's loss as t is loosened or k lowered, table by table.

    python benchmarks/sift_monotone.py [--data FOLDER] [--effort fast] [--only adult,census,diabetes,credit]
                                       [--t 0.1,0.15,0.2,0.25,0.3,0.4,0.5] [--k 20,10,5,2] [--at-t 0.2,0.5] [--at-k 5]

t is swept at the given k, k at the given t, everything else equal, the seed included. A rise is the loss of a request
divided by the least loss of any stricter request of its sweep, less one; demanded is at most 1 %.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from adult import DATA, adult
from sift_loss import adult_policy, other_frame, other_policy, run

from polyveil.policy import Policy

MOST_RISE = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--only", default="adult,census,diabetes,credit")
    parser.add_argument("--t", default="0.1,0.15,0.2,0.25,0.3,0.4,0.5")
    parser.add_argument("--k", default="20,10,5,2")
    parser.add_argument("--at-t", default="0.2,0.5")
    parser.add_argument("--at-k", default="5")
    chosen = parser.parse_args()
    effort: Any = float(chosen.effort) if chosen.effort.replace(".", "").isdigit() else chosen.effort
    worst = 0.0
    for name in chosen.only.split(","):
        frame = adult(chosen.data) if name == "adult" else other_frame(name, chosen.data)
        known: dict[tuple[float, int], float] = {}
        sweeps = [[(float(t), int(k)) for t in chosen.t.split(",")] for k in chosen.at_k.split(",")]
        sweeps += [[(float(t), int(k)) for k in chosen.k.split(",")] for t in chosen.at_t.split(",")]
        for sweep in sweeps:
            for t, k in sweep:
                if (t, k) not in known:
                    known[t, k] = run(frame, policy_for(name, chosen.data, t, k), "sift", effort)[0]
            worst = max(worst, show(name, sweep, known))
    verdict = "holds" if worst <= MOST_RISE else "misses"
    print(f"worst rise {worst:.2%} at effort {chosen.effort}: {verdict} the demand of at most {MOST_RISE:.0%}")


def show(name: str, sweep: list[tuple[float, int]], known: dict[tuple[float, int], float]) -> float:
    """Print a sweep, strictest first; its worst rise."""
    least, worst, cells = float("inf"), 0.0, []
    for t, k in sweep:
        loss = known[t, k]
        rise = loss / least - 1.0 if 0.0 < least < float("inf") else 0.0
        cells.append(f"t={t:g} k={k}: {loss:.4f}" + (f" (+{rise:.2%})" if rise > 0.0 else ""))
        worst, least = max(worst, rise), min(least, loss)
    print(f"{name:9} {', '.join(cells)}", flush=True)
    return worst


def policy_for(name: str, folder: Path, t: float, k: int) -> Policy:
    return adult_policy(folder, t, k) if name == "adult" else other_policy(name, t, k)


if __name__ == "__main__":
    main()
