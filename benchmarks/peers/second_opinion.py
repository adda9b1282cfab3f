"""A second opinion on our releases: k, distinct and frequency l, and t (equal and ordered distance) by pycanon.

    python benchmarks/peers/second_opinion.py --peers /tmp/peers/bin/python [--data FOLDER] [--rows 1200]

Six releases of each of five tables; every figure of pycanon is compared with the one `polyveil check` measures on the
same file. Prints a line per release and ends with an error if any two differ. The environment of the peers: run.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import polyveil

sys.path.insert(0, str(Path(__file__).parents[1]))
from adult import DATA  # the benchmarks beside this folder

LIMIT = 1800.0
TABLES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "adult": (
        "adult.csv.gz",
        {"age": "numeric", "sex": "set", "race": "set", "marital-status": "set"},
        {"occupation": "categorical", "education-num": "numeric"},
    ),
    "hcv": ("hcv.csv.gz", {"Age": "numeric", "Sex": "set"}, {"Category": "categorical", "CREA": "numeric"}),
    "ilpd": (
        "ilpd.csv.gz",
        {"age": "numeric", "gender": "set"},
        {"total_bilirubin": "numeric", "class": "categorical"},
    ),
    "credit": (
        "credit_default_tw.parquet",
        {"AGE": "numeric", "SEX": "set", "EDUCATION": "set"},
        {"LIMIT_BAL": "numeric", "MARRIAGE": "categorical"},
    ),
    "diabetes": (
        "diabetes130.parquet",
        {"age": "set", "gender": "set", "time_in_hospital": "numeric"},
        {"readmitted": "categorical", "num_medications": "numeric"},
    ),
}
"""File, quasi-identifiers and sensitive columns with their types."""
ASKED: tuple[dict[str, Any], ...] = (
    {"k": 2},
    {"k": 5},
    {"k": 10},
    {"k": 5, "t": 0.5},
    {"k": 5, "t": 0.3},
    {"k": 3, "l": 2, "diversity": "distinct"},
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", required=True, help="the Python of the peers' environment")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=1200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="opinion-") as name:
        folder = Path(name)
        ours = dict(released(folder, chosen.data, chosen.rows))
        script = Path(__file__).with_name("opinion_in_pycanon.py")
        answer = subprocess.run(
            [chosen.peers, str(script), name], capture_output=True, text=True, check=True, timeout=LIMIT
        )
        theirs = json.loads(answer.stdout)
    print(f"pycanon {theirs.pop('version')}, {len(ours)} releases")
    differing = [line for title in ours for line in compared(title, ours[title], theirs[title])]
    print("\n".join(differing) or "every figure is the same")
    if differing:
        raise SystemExit(1)


def released(folder: Path, data: Path, rows: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Writes every release as CSV; gives what `polyveil check` measures in it."""
    about: dict[str, Any] = {}
    for table, (file, quasi, sensitive) in TABLES.items():
        frame = polyveil.read(data / file).frame.select([*quasi, *sensitive]).drop_nulls().head(rows)
        for number, asked in enumerate(ASKED):
            title = f"{table}-{number}"
            columns: dict[str, Any] = {
                name: {"role": "quasi", **({"recode": "set"} if kind == "set" else {"type": kind})}
                for name, kind in quasi.items()
            }
            columns |= {name: {"role": "sensitive", "type": kind} for name, kind in sensitive.items()}
            policy = {"columns": columns, "privacy": asked, "method": {"name": "mondrian"}}
            shown = polyveil.anonymize(frame, policy, seed=number).frames["table"]
            shown.write_csv(folder / f"{title}.csv")
            numeric = [name for name, kind in sensitive.items() if kind == "numeric"]
            about[title] = {"quasi": list(quasi), "sensitive": list(sensitive), "numeric": numeric}
            yield title, measured(shown, policy)
    (folder / "releases.json").write_text(json.dumps(about), encoding="utf-8")


def measured(shown: pl.DataFrame, policy: dict[str, Any]) -> dict[str, Any]:
    """The same figures by polyveil, from the released table alone."""
    columns = {
        name: {"role": "quasi"} if about["role"] == "quasi" else about for name, about in policy["columns"].items()
    }
    texts = [pl.col(name).cast(pl.String) for name, about in policy["columns"].items() if about["role"] == "quasi"]
    found = polyveil.check(shown.with_columns(texts), {"columns": columns, "privacy": {"k": 2}}).measurements
    keys = {"distinct-l-diversity": "distinct", "frequency-l-diversity": "frequency", "t-closeness": "t"}
    result: dict[str, Any] = {"k": next(each.value for each in found if each.model == "k-anonymity")}
    for each in found:
        if each.model in keys and each.attribute is not None:
            result.setdefault(each.attribute, {})[keys[each.model]] = each.value
    return result


def compared(title: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
    """The figures that differ."""
    print(title, json.dumps(ours))
    for name, value in theirs.items():
        pairs = {f"{name}.{key}": (ours[name][key], found) for key, found in value.items()} if name != "k" else {}
        pairs |= {"k": (ours["k"], value)} if name == "k" else {}
        for what, (mine, other) in pairs.items():
            if abs(mine - other) > 1e-9 * max(1.0, abs(mine)):
                yield f"{title} {what}: polyveil {mine:.9g}, pycanon {other:.9g}"


if __name__ == "__main__":
    main()
