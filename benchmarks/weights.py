"""What weights cost and what they keep: 20,000 people of the Census-Income table with their sampling weights.

    python benchmarks/weights.py --data FOLDER

FOLDER has census_income_kdd.parquet. Prints the table of docs/how-to/weights.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

import polyveil

ROWS = 20_000
QUASI = ("age", "sex", "race", "marital_stat")
BY_WEIGHTS = {"attacker": "journalist", "population": {"weights": True}}
ASKED: dict[str, dict[str, Any]] = {
    "k 5": {"k": 5},
    "k 5, t 0.1": {"k": 5, "t": 0.1},
    "greatest risk 0.0005 by weights": {"k": 3, "risk": {"max": 0.0005, **BY_WEIGHTS}},
    "greatest risk 0.0005 by weights, t 0.1": {"k": 3, "t": 0.1, "risk": {"max": 0.0005, **BY_WEIGHTS}},
}


def policy(privacy: dict[str, Any], *, weight: bool) -> dict[str, Any]:
    """The policy, with the weight or without it."""
    return {
        "columns": {
            **{name: {"role": "quasi"} for name in QUASI},
            "income": {"role": "sensitive"},
            "instance_weight": {"role": "weight" if weight else "drop"},
        },
        "privacy": privacy,
        "other_columns": "drop",
        "method": {"name": "sift", "effort": "fast"},
    }


def rich(table: pl.DataFrame) -> float:
    """The weighted share of people with the higher income."""
    high = table.filter(pl.col("income").str.contains(r"\+"))
    return float(high["instance_weight"].sum() / table["instance_weight"].sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    people = pl.read_parquet(parser.parse_args().data / "census_income_kdd.parquet").sample(ROWS, seed=1)
    print(f"weights from {people['instance_weight'].min():.0f} to {people['instance_weight'].max():.0f},", end=" ")
    total = people["instance_weight"].sum()
    print(f"together {total:,.0f}; income above 50,000: {100 * rich(people):.2f} % with weights")
    print("\n| asked | detail lost | with weights | without a weight | t in rows | t with weights | total | income |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for title, privacy in ASKED.items():
        release = polyveil.anonymize(people, policy(privacy, weight=True), seed=1)
        plain = "-"
        if "risk" not in privacy:
            without = polyveil.anonymize(people, policy(privacy, weight=False), seed=1)
            plain = f"{100 * without.loss['normalized_loss']:.2f} %"
        claims = {claim["model"]: claim["measured"] for claim in release.manifest["claims"]}
        t = [f"{claims[key]:.3f}" if key in claims else "-" for key in ("t-closeness", "weighted-t-closeness")]
        loss = [f"{100 * release.loss[key]:.2f} %" for key in ("normalized_loss", "weighted_loss")]
        kept = f"{100 * (release.table['instance_weight'].sum() / total - 1):+.3f} %"
        cells = [title, *loss, plain, *t, kept, f"{100 * rich(release.table):.2f} %"]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
