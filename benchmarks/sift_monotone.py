"""Does asking for less ever cost more? The worst rise of sift's loss as t is loosened or k lowered, table by table.

    python benchmarks/sift_monotone.py [--data FOLDER] [--effort fast] [--only adult,census,diabetes,credit]
                                       [--t 0.1,0.15,0.2,0.25,0.3,0.4,0.5] [--k 20,10,5,2] [--at-t 0.2,0.5] [--at-k 5]
                                       [--alone 0.2,0.3,0.5,1]

t is swept at the given k, k at the given t, and the t of each sensitive column alone while the others keep the first
value of --alone; everything else equal, the seed included. A rise is the loss of a request divided by the least loss of
any stricter request of its sweep, less one; demanded is at most 1 %. A sweep is left out by an empty list.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
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
    parser.add_argument("--alone", default="0.2,0.3,0.5,1")
    chosen = parser.parse_args()
    effort: Any = float(chosen.effort) if chosen.effort.replace(".", "").isdigit() else chosen.effort
    worst = 0.0
    for name in chosen.only.split(","):
        frame = adult(chosen.data) if name == "adult" else other_frame(name, chosen.data)
        known: dict[Request, float] = {}
        for sweep in sweeps(chosen, sensitive_of(name, chosen.data)):
            for request in sweep:
                if request not in known:
                    known[request] = run(frame, policy_for(name, chosen.data, request), "sift", effort)[0]
            worst = max(worst, show(name, sweep, known))
    verdict = "holds" if worst <= MOST_RISE else "misses"
    print(f"worst rise {worst:.2%} at effort {chosen.effort}: {verdict} the demand of at most {MOST_RISE:.0%}")


@dataclass(frozen=True)
class Request:
    """The same t for every sensitive column but one, which may have its own."""

    t: float
    k: int
    alone: str = ""
    its_t: float = 0.0

    def __str__(self) -> str:
        return f"{self.alone} t={self.its_t:g}, others t={self.t:g}" if self.alone else f"t={self.t:g} k={self.k}"


def sweeps(chosen: argparse.Namespace, sensitive: list[str]) -> list[list[Request]]:
    """Every sweep, strictest request first."""
    thresholds, sizes, at_t, at_k, alone = (
        [float(value) for value in listed.split(",") if value]
        for listed in (chosen.t, chosen.k, chosen.at_t, chosen.at_k, chosen.alone)
    )
    found = [[Request(t, int(k)) for t in thresholds] for k in at_k]
    found += [[Request(t, int(k)) for k in sizes] for t in at_t]
    for column in sensitive if alone else []:
        first, *looser = alone
        found.append([Request(first, int(at_k[0])), *(Request(first, int(at_k[0]), column, t) for t in looser)])
    return [sweep for sweep in found if sweep]


def show(name: str, sweep: list[Request], known: dict[Request, float]) -> float:
    """Print a sweep, strictest first; its worst rise."""
    least, worst, cells = float("inf"), 0.0, []
    for request in sweep:
        loss = known[request]
        rise = loss / least - 1.0 if 0.0 < least < float("inf") else 0.0
        cells.append(f"{request}: {loss:.4f}" + (f" (+{rise:.2%})" if rise > 0.0 else ""))
        worst, least = max(worst, rise), min(least, loss)
    print(f"{name:9} {'; '.join(cells)}", flush=True)
    return worst


def sensitive_of(name: str, folder: Path) -> list[str]:
    return list(policy_for(name, folder, Request(1.0, 2)).having("sensitive"))


def policy_for(name: str, folder: Path, request: Request) -> Policy:
    same = adult_policy(folder, request.t, request.k) if name == "adult" else other_policy(name, request.t, request.k)
    if not request.alone:
        return same
    changed = same.columns[request.alone].model_copy(update={"t": request.its_t})
    return same.model_copy(update={"columns": {**same.columns, request.alone: changed}})


if __name__ == "__main__":
    main()
