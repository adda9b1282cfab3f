"""The measured tables of docs/methods/index.md: every method on the same tables at the same demands.

    python benchmarks/methods_tables.py [--data FOLDER] [--only adult,others,many] [--methods "sift;fcm"] [--write]

- adult: the 30,162 complete training rows of Adult, seven quasi-identifiers, sensitive occupation (hierarchical) and
  education-num (ordered), k = 5 and the same t for both. Detail lost in percent, no row left out.
- others: the first 30,000 rows of Census-Income, Diabetes-130 and Taiwan credit at k = 5, t = 0.2.
- many: the bucket methods on Adult with two to five sensitive columns and l = 3, or l = 1, 2, 3 by security level.

Every release goes through the pipeline, so its verifier has passed it. Processor seconds are those of the whole job on
a machine that does other things as well: compare them with each other. `--write` puts the tables into the page.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from adult import DATA, HIERARCHY, QUASI, adult
from measured_pages import METHODS as PAGE
from measured_pages import PEERS, README, amount, markdown, percent, put, shown_in
from sift_loss import OTHER_TABLES, ROWS

import polyveil
from polyveil.errors import Unsatisfiable

METHODS: Mapping[str, dict[str, Any]] = {
    "sift": {"name": "sift"},
    "sift, fast": {"name": "sift", "effort": "fast"},
    "mondrian": {"name": "mondrian"},
    "kaca": {"name": "kaca"},
    "fcm": {"name": "fcm"},
    "pca": {"name": "pca"},
    "fragment": {"name": "fragment"},
    "swap": {"name": "swap"},
    "fcm, refined": {"name": "fcm", "refine": "fast"},
}
BUCKETS = ("mbf", "msdcf", "mmdcf", "sloms", "mbf-mslf", "msdcf-mslf", "mmdcf-mslf", "sloms, levels")
LIMIT = 900
"""Processor seconds after which a run is stopped."""
THRESHOLDS = (None, 0.5, 0.3, 0.2, 0.1)
SENSITIVE = ("occupation", "education", "workclass", "marital-status", "race")
"""As in xiao2020, Table 3, with its security levels; what is not listed has level 1."""
LEVELS: Mapping[str, dict[int, list[str]]] = {
    "occupation": {0: ["Other-service"], 2: ["Armed-Forces"]},
    "education": {},
    "workclass": {0: ["Private", "Without-pay"], 2: ["Federal-gov", "Local-gov", "State-gov"]},
    "marital-status": {
        2: ["Divorced", "Married-AF-spouse", "Married-spouse-absent", "Separated", "Widowed"],
    },
    "race": {0: ["Other", "White"], 2: ["Amer-Indian-Eskimo", "Asian-Pac-Islander"]},
}
ARX: Mapping[str, tuple[float, int]] = {
    "k only": (0.131, 0),
    "t = 0.5": (0.183, 192),
    "t = 0.3": (0.793, 516),
    "t = 0.2": (1.933, 1002),
    "t = 0.1": (3.491, 4750),
}
"""Information loss (0 to 7) and rows left out of ARX 3.9.2 on Adult at the same requirements, the best of its local
recodings at each t. It is a Java program and not run from here: these were measured once."""
MANY_QUASI = ("age", "sex", "native-country")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", default="adult,others,many")
    parser.add_argument(
        "--methods", default=";".join(METHODS), help="rows of adult and others, separated by semicolons"
    )
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    titles = chosen.methods.split(";")
    tables = {
        "adult": lambda: on_adult(chosen.data, titles),
        "others": lambda: on_other_tables(chosen.data, titles),
        "many": lambda: with_many_columns(chosen.data),
    }
    for name in chosen.only.split(","):
        text = tables[name]()
        print(f"\n{name}\n{text}", flush=True)
        if chosen.write:
            put(name, text, PAGE)
        if name == "adult":
            loss = beside_arx(text)
            print(f"\nloss\n{loss}", flush=True)
            if chosen.write:
                put("loss", loss, README, PEERS)


def run(frame: pl.DataFrame, policy: Mapping[str, Any]) -> tuple[polyveil.Release | str, float]:
    """The verified release, or why there is none, and processor seconds."""
    columns = {c: {key: v for key, v in about.items() if key != "levels"} for c, about in policy["columns"].items()}
    polyveil.anonymize(frame.head(400), {**policy, "columns": columns, "privacy": {"k": 2}}, seed=1)  # warms up
    start = time.process_time()
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return polyveil.anonymize(frame, policy, seed=1), time.process_time() - start
    except Unsatisfiable:
        return "not reached", time.process_time() - start
    except TimeoutError:
        return f"over {LIMIT} s", time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def stop(*_: object) -> None:
    raise TimeoutError


def loss_of(found: polyveil.Release | str) -> str:
    return found if isinstance(found, str) else percent(found.loss["normalized_loss"])


def adult_columns(folder: Path) -> dict[str, Any]:
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}}
    for name in (*QUASI[1:], "occupation"):
        tree = folder / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        columns[name] = {"role": "sensitive" if name == "occupation" else "quasi", "hierarchy": str(tree)}
    return {**columns, "education-num": {"role": "sensitive", "type": "numeric"}}


def on_adult(folder: Path, titles: Sequence[str]) -> str:
    """Loss of every method at every t, and its time at t = 0.2."""
    frame, columns = adult(folder), adult_columns(folder)
    rows = []
    for title in titles:
        method, cells, times = METHODS[title], [], {}
        for t in THRESHOLDS:
            privacy = {"k": 5} if t is None else {"k": 5, "t": t}
            release, times[t] = run(frame, {"columns": columns, "privacy": privacy, "method": method})
            cells.append(loss_of(release))
        rows.append([f"`{method['name']}`{title.removeprefix(method['name'])}", *cells, whole(times[0.2])])
        print(rows[-1], flush=True)
    return markdown(
        ["method", "k only", *(f"t = {t}" for t in THRESHOLDS if t), "processor seconds, t = 0.2"],
        best(with_others(rows, "adult"), 6),
    )


def beside_arx(table: str) -> str:
    """The row of sift above that of ARX, with the rows that ARX left out."""
    figures = next(line for line in table.splitlines() if line.startswith("| `sift` |")).replace("*", "").split(" | ")
    arx = [percent(loss / len(QUASI)) + (f" ({left_out:,})" if left_out else "") for loss, left_out in ARX.values()]
    rows = [["polyveil", *figures[1:6]], ["ARX 3.9.2", *arx]]
    return markdown(["detail lost (rows left out)", *ARX], rows)


def whole(seconds: float) -> str:
    return "below 1" if seconds < 1 else f"{seconds:.0f}"


def on_other_tables(folder: Path, titles: Sequence[str]) -> str:
    """Loss of every method on three other tables."""
    rows = []
    tables = {name: other_table(folder, name) for name in OTHER_TABLES}
    for title in titles:
        cells = []
        for name, (frame, columns) in tables.items():
            policy = {"columns": columns, "privacy": {"k": 5, "t": 0.2}, "method": METHODS[title]}
            release, seconds = run(frame, policy)
            cells.append(loss_of(release))
            print(title, name, cells[-1], whole(seconds), flush=True)
        rows.append([f"`{METHODS[title]['name']}`{title.removeprefix(METHODS[title]['name'])}", *cells])
        print(rows[-1], flush=True)
    return markdown(["method", "Census-Income", "Diabetes-130", "Taiwan credit"], best(with_others(rows, "others"), 4))


def other_table(folder: Path, name: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    file, quasi, sensitive = OTHER_TABLES[name]
    return described(pl.read_parquet(folder / file).select(*quasi, *sensitive).head(ROWS), quasi, sensitive)


def described(
    frame: pl.DataFrame, quasi: dict[str, str], sensitive: dict[str, str]
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table with its categories as texts, and the columns of its policy."""
    frame = frame.with_columns(pl.col([c for c, kind in quasi.items() if not kind]).cast(pl.String))
    columns: dict[str, Any] = {c: {"role": "quasi", **({"type": kind} if kind else {})} for c, kind in quasi.items()}
    for column, distance in sensitive.items():
        kind = "numeric" if distance == "ordered" else "categorical"
        columns[column] = {"role": "sensitive", "type": kind, "distance": distance}
    return frame, columns


def with_others(rows: list[list[str]], name: str) -> list[list[str]]:
    """The rows in the place of their methods in the page's table, between those of methods that were not run."""
    found = {row[0]: row for row in rows}
    shown = [line.replace("*", "").strip("| ").split(" | ") for line in shown_in(name, PAGE).splitlines()[2:]]
    kept = [found.pop(row[0], row) for row in shown]
    return [*kept, *found.values()]


def best(rows: list[list[str]], stop: int) -> list[list[str]]:
    """The same rows with the least figure of each column in bold."""
    for column in range(1, stop):
        least = min(amount(row[column]) for row in rows)
        for row in rows:
            if amount(row[column]) == least < float("inf"):
                row[column] = f"**{row[column]}**"
    return rows


def with_many_columns(folder: Path) -> str:
    """Rows that cannot be published, by method and number of sensitive columns."""
    frame = pl.read_csv(folder / "adult.csv.gz", null_values="?").filter(pl.col("split") == "train").drop_nulls()
    rows = []
    for name in BUCKETS:
        levelled, cells = name.endswith(("-mslf", "levels")), []
        method = name.split(",")[0]
        for count in range(2, len(SENSITIVE) + 1):
            chosen = SENSITIVE[:count]
            columns: dict[str, Any] = {c: {"role": "quasi"} for c in MANY_QUASI}
            for c in chosen:
                levels = {"levels": LEVELS[c]} if levelled and LEVELS[c] else {}
                columns[c] = {"role": "sensitive", **levels}
            asked = {0: 1, 1: 2, 2: 3} if levelled else 3
            privacy: dict[str, Any] = {"l": asked, "suppression_limit": 1}
            if method == "sloms":
                privacy["k"] = 5
            table = frame.select(*MANY_QUASI, *chosen)
            release, seconds = run(table, {"columns": columns, "privacy": privacy, "method": {"name": method}})
            if isinstance(release, str):
                cells.append(release)
                continue
            loss = release.loss
            cells.append(f"{percent(loss['suppression_ratio'])} / {loss['additional_information_loss']:.2f}")
        rows.append([f"`{method}`", "1, 2, 3 by level" if levelled else "3", *cells, whole(seconds)])
        print(rows[-1], flush=True)
    header = ["method", "l", *(f"{count} columns" for count in range(2, len(SENSITIVE) + 1))]
    return markdown([*header, "processor seconds, 5 columns"], rows, words=2)


if __name__ == "__main__":
    main()
