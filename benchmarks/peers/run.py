"""polyveil beside pycanon and anjana on the same files: what each can check, how long it takes, what a release loses.

The peers need older libraries, so they live in an environment of their own:

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers/run.py --peers /tmp/peers/bin/python [--data FOLDER] [--write]

Adult, the 30,162 complete training rows; quasi-identifiers age, workclass, marital-status, race, sex, native-country,
income; sensitive occupation and education-num. pycanon and anjana measure categories by equal distance, so occupation
is measured so here too. anjana protects one sensitive column: occupation. Everybody reads the same CSV and the same
hierarchy files; figures are processor seconds of one run, on a machine that does other things as well, so compare them
with each other. `--write` puts the tables into docs/peers.md.
"""

from __future__ import annotations

import argparse
import json
import re
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

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
SENSITIVE = ("occupation", "education-num")
K, T, ONE = 5, 0.2, "occupation"
NULLS = """age,zip,disease
34,11270,flu
34,11270,asthma
34,11270,ulcer
51,11300,flu
51,11300,asthma
51,11300,ulcer
,11270,HIV
"""
"""Seven patients; the last one's age is missing, and nobody else looks like that."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", required=True, help="the Python of the peers' environment")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        prepare(folder, chosen.data)
        releases = {"both": ours(folder, SENSITIVE), "one": ours(folder, (ONE,))}
        command = [chosen.peers, str(Path(__file__).with_name("in_peers.py")), str(folder)]
        theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        texts = {
            "checks": checks(folder, theirs),
            "nulls": nulls(folder, theirs),
            "releases": compared(folder, theirs, releases),
        }
    for title, text in texts.items():
        print(f"\n{title}\n{text}")
        if chosen.write:
            write(title, text)


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


def ours(folder: Path, sensitive: tuple[str, ...]) -> dict[str, Any]:
    """Our release at the same demands, with age as a number and the same hierarchies; that for both stays."""
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}}
    for name in QUASI[1:]:
        columns[name] = {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{name}.csv")}
    for name in SENSITIVE:
        columns[name] = {"role": "sensitive" if name in sensitive else "insensitive"}
    columns = {name: about for name, about in columns.items() if name in QUASI or name in sensitive}
    frame = pl.read_csv(folder / "adult.csv").select(*columns)
    start = time.process_time()
    release = polyveil.anonymize(frame, {"columns": columns, "privacy": {"k": K, "t": T}}, seed=1)
    seconds = time.process_time() - start
    if sensitive == SENSITIVE:
        release.table.write_csv(folder / "ours.csv")
    return {"rows": release.table.height, "loss": release.loss["information_loss"], "seconds": seconds}


def checks(folder: Path, theirs: dict[str, Any]) -> str:
    """k, l and t of two sensitive columns, by pycanon and by us, on the raw table and on our release."""
    rows = []
    check(folder / "nulls.csv", quasi=["age", "zip"], sensitive=["disease"])  # loads the libraries
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
    return markdown(header, rows)


def nulls(folder: Path, theirs: dict[str, Any]) -> str:
    """A table whose last row is alone because a cell is missing."""
    found = check(folder / "nulls.csv", quasi=["age", "zip"], sensitive=["disease"])
    value = {each.model: each.value for each in found.measurements}
    rows = [
        ["polyveil check", f"{value['k-anonymity']:.0f}", f"{value['distinct-l-diversity']:.0f}"],
        ["pycanon", str(theirs["nulls"]["k"]), str(theirs["nulls"]["l"])],
    ]
    return markdown(["measured by", "k", "distinct l"], rows)


def compared(folder: Path, theirs: dict[str, Any], releases: dict[str, dict[str, Any]]) -> str:
    """Releases at k = 5, t = 0.2: rows left, loss, time, and what the other sensitive column is worth."""
    rows = [
        ["polyveil", "occupation, education-num", *figures(releases["both"])],
        ["polyveil", "occupation", *figures(releases["one"])],
    ]
    total = pl.read_csv(folder / "adult.csv").height
    for each in theirs["anjana"]:
        title = f"anjana, up to {each['percent']} % suppressed"
        if each["rows"] == 0:
            rows.append([title, "occupation", "0", "an empty table", f"{each['seconds']:.0f}"])
            continue
        released = pl.read_csv(folder / f"anjana_{each['percent']}.csv", infer_schema=False)
        lost = cell_loss(released, folder) + len(QUASI) * (total - released.height)
        rows.append([title, "occupation", *figures({**each, "loss": lost / total})])
    return markdown(["release by", "t = 0.2 for", "rows published", "information loss", "processor seconds"], rows)


def figures(found: dict[str, Any]) -> list[str]:
    return [f"{found['rows']:,}", f"{found['loss']:.3f}", f"{found['seconds']:.0f}"]


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


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(name: str, text: str) -> None:
    """Put a table between its marks in the page."""
    page = PAGE.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    changed, count = marks.subn(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)
    if count != 1:
        raise SystemExit(f"{PAGE} has no place for the table {name}")
    PAGE.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
