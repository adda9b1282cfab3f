"""polyveil beside pycanon and anjana on the same files: what each can check, how long it takes, what a release loses.

The peers need older libraries, so they live in an environment of their own:

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers/run.py --peers /tmp/peers/bin/python [--data FOLDER] [--write]

Adult, the 30,162 complete training rows; quasi-identifiers age, workclass, marital-status, race, sex, native-country,
income; sensitive occupation and education-num. pycanon and anjana measure categories by equal distance, so occupation
is measured so here too. anjana protects one sensitive column: occupation. Everybody reads the same CSV and the same
hierarchy files; figures are processor seconds of one run, on a machine that does other things as well, so compare them
with each other. `--write` puts the tables into docs/peers.md and
README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

import polyveil
from polyveil.checkup import check

sys.path.insert(0, str(Path(__file__).parents[1]))
from adult import DATA, HIERARCHY, QUASI, adult  # the benchmarks beside this folder
from measured_pages import PEERS, README, amount, markdown, percent, put

LIMIT = 7200.0  # seconds for all peers together
SENSITIVE = ("occupation", "education-num")
K, T, ONE = 5, 0.2, "occupation"
NULLS = """sex,zip,disease
f,11270,flu
f,11270,asthma
f,11270,ulcer
m,11300,flu
m,11300,asthma
m,11300,ulcer
f,,HIV
"""
"""Seven patients; the last one's zip code is missing, and nobody else looks like that."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", required=True, help="the Python of the peers' environment")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        prepare(folder, chosen.data)
        releases = {
            "both": ours(folder, SENSITIVE, T),
            "one": ours(folder, (ONE,), T),
            "k": ours(folder, (ONE,), None),
        }
        command = [chosen.peers, str(Path(__file__).with_name("in_peers.py")), str(folder)]
        theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout)
        texts = {
            "checks": checks(folder, theirs),
            "nulls": nulls(folder, theirs),
            "releases": compared(folder, theirs, releases),
        }
        texts["peers"] = short(texts)
    for title, text in texts.items():
        print(f"\n{title}\n{text}")
        if chosen.write:
            put(title, text, README if title == "peers" else PEERS)


def prepare(folder: Path, data: Path) -> None:
    """The files that everybody reads."""
    adult(data).write_csv(folder / "adult.csv")
    (folder / "nulls.csv").write_text(NULLS, encoding="utf-8")
    (folder / "hierarchies").mkdir()
    for name in QUASI:
        tree = data / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        (folder / "hierarchies" / f"{name}.csv").write_bytes(tree.read_bytes())
    settings = {"quasi": QUASI, "sensitive": SENSITIVE, "one": ONE, "k": K, "t": T}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def ours(folder: Path, sensitive: tuple[str, ...], t: float | None) -> dict[str, Any]:
    """Our release at the same demands, with age as a number and the same hierarchies; that for both stays."""
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}}
    for name in QUASI[1:]:
        columns[name] = {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{name}.csv")}
    for name in SENSITIVE:
        columns[name] = {"role": "sensitive" if name in sensitive else "insensitive"}
    columns = {name: about for name, about in columns.items() if name in QUASI or name in sensitive}
    frame = pl.read_csv(folder / "adult.csv").select(*columns)
    start = time.process_time()
    privacy = {"k": K} if t is None else {"k": K, "t": t}
    release = polyveil.anonymize(frame, {"columns": columns, "privacy": privacy}, seed=1)
    seconds = time.process_time() - start
    if sensitive == SENSITIVE:
        release.table.write_csv(folder / "ours.csv")
    return {"rows": release.table.height, "loss": release.loss["information_loss"], "seconds": seconds}


def checks(folder: Path, theirs: dict[str, Any]) -> str:
    """k, l and t of two sensitive columns, by pycanon and by us, on the raw table and on our release."""
    rows = []
    check(folder / "nulls.csv", quasi=["zip"], sensitive=["disease"])  # loads the libraries
    for name, title in (("adult", "the raw table"), ("ours", "our release")):
        start = time.process_time()
        found = check(folder / f"{name}.csv", quasi=list(QUASI), sensitive=list(SENSITIVE))
        seconds = time.process_time() - start
        value = {(each.model, each.attribute): each.value for each in found.measurements}
        ts = ", ".join(f"{value['t-closeness', column]:.4f}" for column in SENSITIVE)
        least = min(value["distinct-l-diversity", column] for column in SENSITIVE)
        rows.append(
            [title, "polyveil check", f"{value['k-anonymity', None]:.0f}", f"{least:.0f}", ts, f"{seconds:.2f}"]
        )
        peer = theirs[name]
        total = peer["seconds_k"] + peer["seconds_l"] + peer["seconds_t"]
        ts = ", ".join(f"{peer['t'][column]:.4f}" for column in SENSITIVE)
        rows.append([title, "pycanon", str(peer["k"]), str(peer["l"]), ts, f"{total:.2f}"])
        rows[-1][-1] += f" ({peer['seconds_t']:.2f} for t)"
    header = ["table", "measured by", "k", "distinct l", "t of occupation, education-num", "processor seconds"]
    return markdown(header, rows, words=2)


def nulls(folder: Path, theirs: dict[str, Any]) -> str:
    """A table whose last row is alone because a cell is missing."""
    rows = []
    for quasi in (["zip"], ["sex", "zip"]):
        found = check(folder / "nulls.csv", quasi=quasi, sensitive=["disease"])
        value = {each.model: each.value for each in found.measurements}
        names, peer = ", ".join(quasi), theirs["nulls"][str(len(quasi))]
        rows.append([names, "polyveil check", f"{value['k-anonymity']:.0f}", f"{value['distinct-l-diversity']:.0f}"])
        rows.append([names, "pycanon", str(peer["k"]), str(peer["l"])])
    return markdown(["quasi-identifiers", "measured by", "k", "distinct l"], rows, words=2)


def compared(folder: Path, theirs: dict[str, Any], releases: dict[str, dict[str, Any]]) -> str:
    """Releases at k = 5, t = 0.2: rows left, detail lost, time, and what the other sensitive column is worth."""
    rows = [
        ["polyveil", "k = 5, t = 0.2 for both", *figures(releases["both"])],
        ["polyveil", "k = 5, t = 0.2 for occupation", *figures(releases["one"])],
        ["polyveil", "k = 5", *figures(releases["k"])],
    ]
    total = pl.read_csv(folder / "adult.csv").height
    for each in theirs["anjana"]:
        title = f"anjana, up to {each['percent']} % left out"
        asked = "k = 5" if each["t"] is None else f"k = 5, t = {each['t']} for occupation"
        if each["rows"] == 0:
            rows.append([title, asked, "0", "an empty table", f"{each['seconds']:.0f}"])
            continue
        released = pl.read_csv(folder / each["file"], infer_schema=False)
        lost = cell_loss(released, folder) + len(QUASI) * (total - released.height)
        rows.append([title, asked, *figures({**each, "loss": lost / total})])
    return markdown(["release by", "asked for", "rows published", "detail lost", "processor seconds"], rows, words=2)


def short(texts: dict[str, str]) -> str:
    """The few figures that the README shows."""

    def cells(table: str, *begins: str) -> list[str]:
        line = next(line for line in texts[table].splitlines() if line.startswith("| " + " | ".join(begins) + " |"))
        return line.strip("| ").split(" | ")

    seconds = [cells("checks", "the raw table", by)[-1].split(" ")[0] for by in ("polyveil check", "pycanon")]
    unique = [f"k = {cells('nulls', 'zip', by)[2]}" for by in ("polyveil check", "pycanon")]
    kept, most = (f"anjana, up to {percent} % left out" for percent in (0, 10))
    rows = [["k, l, t of both columns of the raw table, processor seconds", *seconds, "-"]]
    rows.append(["a table with a row that is alone because its zip code is missing", *unique, "-"])
    for asked in ("k = 5", "k = 5, t = 0.2 for occupation"):
        theirs = min((cells("releases", by, asked)[3] for by in (kept, most)), key=amount)
        rows.append([f"detail lost by a release, {asked}", cells("releases", "polyveil", asked)[3], "-", theirs])
    return markdown(["", "polyveil", "pycanon 1.3.5", "anjana 1.2.3"], rows)


def figures(found: dict[str, Any]) -> list[str]:
    return [f"{found['rows']:,}", percent(found["loss"] / len(QUASI)), f"{found['seconds']:.0f}"]


def cell_loss(released: pl.DataFrame, folder: Path) -> float:
    """Summed over the cells: (leaves - 1) / (all leaves - 1), or for ages the width over the table's range."""
    whole = pl.read_csv(folder / "adult.csv", infer_schema=False)
    total = 0.0
    for name in QUASI:
        lines = (folder / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        present = set(whole[name])
        below: dict[str, set[str]] = {}
        for line in lines:
            labels = line.split(";")
            if labels[0] in present:
                for label in labels:
                    below.setdefault(label, set()).add(labels[0])
        if name == "age":
            ages = {label: [int(age) for age in leaves] for label, leaves in below.items()}
            everybody = [int(age) for age in present]
            span = max(everybody) - min(everybody)
            costs = {label: (max(some) - min(some)) / span for label, some in ages.items()}
        else:
            costs = {label: (len(leaves) - 1) / (len(present) - 1) for label, leaves in below.items()}
        total += sum(costs[cell] for cell in released[name])
    return total


if __name__ == "__main__":
    main()
