"""Two analyses on Adult and a survival analysis on a generated clinical table: original, release, overlap.

    python benchmarks/analyses.py [--data FOLDER] [--write]

`--write` puts the table into docs/how-to/analyses.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measured_pages import ROOT, markdown, percent, put

import polyveil

ADULT: dict[str, Any] = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi", "recode": "set"},
    "race": {"role": "quasi", "recode": "set"},
    "education-num": {"role": "quasi"},
    "hours-per-week": {"role": "quasi"},
    "income": {"role": "sensitive"},
    "occupation": {"role": "sensitive"},
}
ON_ADULT = [
    {"linear": "hours-per-week", "on": ["age", "sex", "education-num"]},
    {"logistic": "income", "value": ">50K", "on": ["age", "sex", "education-num", "hours-per-week"]},
]
CLINIC: dict[str, Any] = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi", "recode": "set"},
    "stage": {"role": "quasi", "recode": "set"},
    "months": {"role": "quasi"},
    "arm": {"role": "insensitive"},
    "died": {"role": "sensitive"},
}
ON_CLINIC = [{"survival": "months", "event": "died", "value": "yes", "by": "arm"}]


def clinic(rows: int = 5_000) -> pl.DataFrame:
    """Patients of a trial: exponential survival that depends on arm, age and stage, observed for five years at most."""
    rng = np.random.default_rng(11)
    age, sex = rng.normal(62, 11, rows).round().clip(18, 95), rng.choice(["f", "m"], rows)
    stage, arm = (
        rng.choice(["I", "II", "III", "IV"], rows, p=[0.3, 0.3, 0.25, 0.15]),
        rng.choice(["drug", "usual"], rows),
    )
    risk = 0.02 * np.exp(0.02 * (age - 62) + 0.4 * (np.char.str_len(stage.astype(str)) - 1) - 0.5 * (arm == "drug"))
    time, seen = rng.exponential(1 / risk), rng.uniform(6, 60, rows)
    return pl.DataFrame(
        {
            "age": age.astype(int),
            "sex": sex,
            "stage": stage,
            "arm": arm,
            "months": np.ceil(np.minimum(time, seen)).astype(int),
            "died": np.where(time <= seen, "yes", "no"),
        }
    )


def measured(name: str, table: pl.DataFrame, columns: dict[str, Any], asked: list[dict[str, Any]]) -> list[list[str]]:
    """One line per figure."""
    lines = []
    for privacy in ({"k": 5}, {"k": 20, "t": 0.2}):
        policy = {"columns": columns, "privacy": privacy, "method": {"name": "sift", "effort": "fast"}}
        release = polyveil.anonymize(table, policy, seed=1)
        found = polyveil.analyze(release, table, asked)
        lost = percent(release.loss["normalized_loss"])
        said = ", ".join(f"{key} = {value}" for key, value in privacy.items())
        print(name, said, lost, found.answer(), f"k-marginal {found.k_marginal:.0f}", flush=True)
        for each, figure in found.estimates:
            if figure.term != "(constant)":
                pairs = ((figure.original, figure.low, figure.high),)
                pairs += ((figure.released, figure.released_low, figure.released_high),)
                cells = [f"{value:.3g} ({low:.3g} to {high:.3g})" for value, low, high in pairs]
                same = "yes" if figure.same_conclusion else "no"
                lines.append(
                    [f"{name}, {said}: {lost} lost", each.title, figure.term, *cells, percent(figure.overlap), same]
                )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    adult = pl.read_csv(chosen.data / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    lines = measured("Adult", adult.select(*ADULT), ADULT, ON_ADULT)
    lines += measured("Clinic", clinic(), CLINIC, ON_CLINIC)
    header = ["release", "analysis", "figure", "original", "release", "overlap", "same conclusion"]
    text = markdown(header, lines, words=3)
    print(text)
    if chosen.write:
        put("analyses", text, ROOT / "docs" / "how-to" / "analyses.md")


if __name__ == "__main__":
    main()
