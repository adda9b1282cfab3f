"""How often `inspect` suggests the right role: for tables it had not seen, and for the same tables today.

    python benchmarks/suggested_roles.py                      # write the table of docs/how-to/wide-tables.md
    python benchmarks/suggested_roles.py --record 6 NAME ...  # the first figures of a new batch

The rule of the labels is in tests/table/labelled_tables.py. The first figures of a batch are in suggested_roles.csv:
measured once, after its labels were written and before any word was added because of it. They are never measured again.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from measured_pages import ROOT, markdown, percent, put

from polyveil.table.profiling.decisions import decisions_of
from polyveil.table.profiling.profile import column_profiles
from polyveil.table.profiling.vocabulary_files import vocabulary
from polyveil.table.source import Table

sys.path.insert(0, str(ROOT / "tests"))
from table.labelled_tables import is_exposed, is_right, labelled

FIRST = Path(__file__).with_suffix(".csv")
PAGE = ROOT / "docs" / "how-to" / "wide-tables.md"
FIELDS = ("columns", "right", "exposed", "questions")


def measured(name: str) -> dict[str, int]:
    """The figures of one table with the words of today."""
    each = labelled(name)
    profiles = column_profiles(Table(each.frame, name), each.labels)
    pairs = [(about, each.roles[about.name]) for about in profiles]
    return {
        "columns": len(pairs),
        "right": sum(is_right(about, label) for about, label in pairs),
        "exposed": sum(is_exposed(about, label) for about, label in pairs),
        "questions": len(decisions_of(profiles, vocabulary().topics)),
    }


def record(batch: str, names: Sequence[str]) -> None:
    """Add the figures of tables that have none yet."""
    known = {line["table"] for line in first_figures()}
    if again := known & set(names):
        raise SystemExit(f"First figures are measured once: {', '.join(sorted(again))} has some")
    with FIRST.open("a", encoding="utf-8", newline="") as stream:
        for name in names:
            found = measured(name)
            csv.writer(stream, lineterminator="\n").writerow([batch, name, *(found[field] for field in FIELDS)])


def first_figures() -> list[dict[str, str]]:
    """One line per table."""
    with FIRST.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write_page() -> None:
    """One row per batch: first figures beside those of today."""
    batches = defaultdict(list)
    for line in first_figures():
        batches[line["batch"]].append(line)
    rows = []
    for batch, lines in batches.items():
        shares = [int(line["right"]) / int(line["columns"]) for line in lines]
        today = [measured(line["table"]) for line in lines]
        rows.append(
            [
                batch,
                f"{len(lines)}",
                f"{sum(int(line['columns']) for line in lines)}",
                percent(sum(shares) / len(shares)),
                percent(min(shares)),
                f"{sum(int(line['exposed']) for line in lines)}",
                f"{max(int(line['questions']) for line in lines)}",
                percent(sum(each["right"] / each["columns"] for each in today) / len(today)),
                f"{sum(each['exposed'] for each in today)}",
            ]
        )
    header = [
        *("batch", "tables", "columns", "right at first sight", "lowest table", "harmful column called harmless"),
        *("most questions", "right today", "harmful called harmless today"),
    ]
    put("suggested roles", markdown(header, rows), PAGE)


def main() -> None:
    """Record a batch if one is given, and write the page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--record", metavar="BATCH")
    arguments.add_argument("tables", nargs="*")
    given = arguments.parse_args()
    if given.record:
        record(given.record, given.tables)
    write_page()


if __name__ == "__main__":
    main()
