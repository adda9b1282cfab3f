"""roy2014: niche overlap on the nine-row salary and disease table and on Adult, beside what the paper prints.

    python experiments/roy2014.py [--data FOLDER]

The paper gives neither its coding nor its density estimate, so several are shown. What does not match is said below.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.advise.overlap import advise_t
from polyveil.policy import Policy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

NINE = pl.DataFrame(
    {
        "salary": [3000, 4000, 5000, 6000, 11000, 8000, 7000, 9000, 10000],
        "disease": [
            *("gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu"),
            *("bronchitis", "bronchitis", "pneumonia", "stomach cancer"),
        ],
    }
)
STOMACH = {"gastric ulcer": None, "gastritis": None, "stomach cancer": None}
ILLNESSES = {"stomach": STOMACH, "lung": {"flu": None, "bronchitis": None, "pneumonia": None}}
TABLE_1 = {  # the paper prints the first group again in the third place; the group that is missing is meant
    ("hours-per-week", "relationship", "workclass"): 89,
    ("hours-per-week", "education", "relationship"): 85,
    ("hours-per-week", "education", "workclass"): 79,
    ("education", "relationship", "workclass"): 30,
}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((f"kernel {width:g}, order", {"bandwidth": width}) for width in (0.25, 0.5, 1.0)),
    *((f"kernel {width:g}, freq.", {"bandwidth": width, "coding": "frequency"}) for width in (0.25, 0.5, 1.0)),
    ("discrete, order", {"estimator": "discrete"}),
    ("discrete, freq.", {"estimator": "discrete", "coding": "frequency"}),
]


def coded(frame: pl.DataFrame, **about: Any) -> CodedTable:
    columns = {name: {"role": "sensitive", **about.get(name, {})} for name in frame.columns}
    return encode(bind(Policy.from_dict({"columns": columns, "privacy": {"t": 0.2}}), read(frame)))


def nine_rows() -> None:
    table = coded(NINE, salary={"type": "numeric"}, disease={"hierarchy": {"tree": ILLNESSES}})
    print("Nine rows, salary and disease: the paper finds t = 0.20")
    for words, chosen in [("kernel 0.3, order", {"bandwidth": 0.3}), *SETTINGS]:
        ts = [advise_t(table, classes={"salary": how}, draws=0, **chosen) for how in ("values", "3")]
        found = [f"{advice.t:.2f}" for advice in ts if advice]
        print(f"  {words:20} t = {found[0]} with nine salaries, {found[1]} with three intervals")


def adult(folder: Path) -> None:
    names = ["hours-per-week", "education", "relationship", "workclass"]
    frame = pl.read_csv(folder / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    table = coded(frame.select(names), **{"hours-per-week": {"type": "numeric"}})
    print("\nAdult, 30,162 complete training rows: overlap in percent, Table 1 of the paper in the first column")
    found = [advise_t(table, draws=0, **chosen) for _, chosen in SETTINGS]
    print(f"  {'':46} paper  " + "  ".join(f"{words:>18}" for words, _ in SETTINGS))
    for group, paper in TABLE_1.items():
        shares = [next(o.share for o in advice.overlaps if o.columns == group) for advice in found if advice]
        print(f"  {' · '.join(group):46} {paper:5}  " + "  ".join(f"{100 * share:18.0f}" for share in shares))
    advice = advise_t(table, bandwidth=1.0, draws=200)
    if advice and advice.interval:
        low, high = advice.interval
        print(
            f"  t at bandwidth 1: {advice.t:.3f} ({low:.3f} to {high:.3f}) from {advice.least.title}; the paper: 0.21"
        )
    print(
        "\nWhat does not match: no setting gives 30 % for the last group and the others as well. The paper leaves it\n"
        "out because of 16 education classes beside 6 relationships, and keeps the second group, where both are too."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    chosen = parser.parse_args()
    nine_rows()
    adult(chosen.data)


if __name__ == "__main__":
    main()
