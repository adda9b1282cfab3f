"""What outside referees say of our releases: anonymeter's three attacks, and SDNist's k-marginal score.

    pip install --no-deps anonymeter
    python benchmarks/outside_referees.py [--data FOLDER] [--rows 4000] [--attacks 300]

Both judge tables of plain values. So values are drawn from the cells of a release, once, as an analyst would do it
(docs/how-to/analyses.md). Adult is divided by chance: one half is released, the other are people whom no release is
about. anonymeter's risk is the success beyond what the same attack has on those people, 0 to 1, with a 95 % interval:
it says that a release helps to attack the people in it, not only that people are alike. The table itself is judged
too, to show what these attacks find where nothing is hidden.

anonymeter demands older versions of NumPy and pyarrow than polyveil, hence --no-deps; version 1.1.0 runs with ours.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import polyveil
from polyveil.analyses.drawing import pair_of
from polyveil.table.source import read

QUASI = ("age", "education", "marital-status", "race", "sex", "workclass", "native-country")
SENSITIVE = ("occupation", "hours-per-week")
CASES: dict[str, dict[str, Any]] = {
    "k = 5": {"k": 5},
    "k = 5, t = 0.2": {"k": 5, "t": 0.2},
    "k = 5, any 2": {"k": 5, "any": 2},
    "risk at most 9 %": {"risk": {"max": 0.09}},
}


def drawn(release: Any, original: pl.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The release with a value drawn from every cell."""
    found = pair_of(release, read(original)).draw(np.random.default_rng(seed))
    return pd.DataFrame({name: found[name] for name in original.columns})


def referees(original: pd.DataFrame, released: pd.DataFrame, control: pd.DataFrame, attacks: int) -> dict[str, Any]:
    """anonymeter's risks: singling out by several columns, linking two halves of the columns, inferring a column."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    names, secret = list(original.columns), SENSITIVE[0] if SENSITIVE[0] in original.columns else original.columns[-1]
    known = [name for name in names if name != secret]
    common = {"ori": original, "syn": released, "control": control, "n_attacks": attacks}
    evaluators = {
        "singling out": SinglingOutEvaluator(**common, n_cols=3, seed=1),
        "linkability": LinkabilityEvaluator(**common, aux_cols=(names[::2], names[1::2]), n_neighbors=5),
        "inference": InferenceEvaluator(**common, aux_cols=known, secret=secret, regression=False),
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(1)  # noqa: NPY002 - anonymeter draws whom it attacks from here
        for name, evaluator in evaluators.items():
            evaluator.evaluate(**({"mode": "multivariate"} if name == "singling out" else {"n_jobs": 1}))
            found[name] = evaluator.risk(confidence_level=0.95)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--attacks", type=int, default=300)
    chosen = parser.parse_args()
    adult = pl.read_csv(chosen.data / "adult.csv.gz", null_values="?").drop_nulls().select(*QUASI, *SENSITIVE)
    people = adult.sample(2 * chosen.rows, seed=1, shuffle=True)
    table, others = people.head(chosen.rows), people.tail(chosen.rows)
    columns = {
        **{name: {"role": "quasi", "type": "numeric" if name == "age" else "categorical"} for name in QUASI},
        "occupation": {"role": "sensitive"},
        "hours-per-week": {"role": "sensitive", "type": "numeric"},
    }
    print(
        "| release | singling out | linkability | inference of occupation | k-marginal (half of the rows: the second) |"
    )
    print("| --- | --- | --- | --- | --- |")
    plain, control = table.to_pandas(), others.to_pandas()
    _row("the table itself", referees(plain, plain.sample(frac=1.0, random_state=1), control, chosen.attacks), "1000")
    for name, privacy in CASES.items():
        policy = {"columns": columns, "privacy": privacy, "method": {"name": "sift", "effort": "fast"}}
        release = polyveil.anonymize(table, policy, seed=1, bound=False)
        score = polyveil.analyze(release, table, [{"linear": "hours-per-week", "on": ["age"]}], draws=3)
        marginal = f"{score.k_marginal:.0f} ({score.k_marginal_half:.0f})"
        _row(name, referees(plain, drawn(release, table), control, chosen.attacks), marginal)


def _row(name: str, risks: dict[str, Any], marginal: str) -> None:
    shown = [f"{risk.value:.3f} ({risk.ci[0]:.3f} to {risk.ci[1]:.3f})" for risk in risks.values()]
    print(f"| {name} | {' | '.join(shown)} | {marginal} |", flush=True)


if __name__ == "__main__":
    main()
