"""A reader who has nothing but the files: plain Python, and not a line of the library.

Forms every group of people the files let a reader form - the groups, the rows left out, the values withheld, the people
with the same quasi-identifiers over all their groups - and says by how much any of them goes beyond what the manifest's
policy promises.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

Group = tuple[str, str, dict[Any, float]]
"""What the group is, the sensitive column, and the value's counts (or shares) in it."""
NEAR = 1e-9
SAME_QUASI = "people with the same quasi-identifiers"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV or Parquet file; an empty cell of a CSV is missing."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]


class Reader:
    """One release folder, read."""

    def __init__(self, folder: Path) -> None:
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.policy = self.manifest["policy"]
        self.tables = {
            path.stem: read_rows(path) for path in sorted(folder.iterdir()) if path.suffix in (".csv", ".parquet")
        }
        columns = self.policy["columns"]
        self.quasi = [name for name, about in columns.items() if about["role"] == "quasi"]
        self.sensitive = [name for name, about in columns.items() if about["role"] == "sensitive"]
        self.whole = {name: self._whole(name) for name in self.sensitive}
        self.released = {name: Counter[str | None]() for name in self.sensitive}
        for _, name, counts in self._classes():
            self.released[name].update(counts)

    def _whole(self, name: str) -> Counter[str | None]:
        about = self.manifest["sensitive"][name]
        labels = [text(value) for value in about["values"]]
        labels += [None] * (len(about["counts"]) - len(labels))
        return Counter(dict(zip(labels, about["counts"], strict=True)))

    def groups(self) -> Iterator[Group]:
        """Every group a reader can form."""
        yield from self._classes()
        for name in self.sensitive:
            if self.rest(name):
                yield "left out or withheld", name, dict(self.rest(name))
        if "linked" in self.manifest:
            yield from self._same_quasi()

    def rest(self, name: str) -> Counter[str | None]:
        """The values that the manifest counts and the files do not have."""
        return self.whole[name] - self.released[name]

    def _classes(self) -> Iterator[Group]:
        if "table" in self.tables:
            for name in self.sensitive:
                yield from self._counted(self.tables["table"], self.quasi, name, None)
            return
        for part in self.manifest["linked"]["slices"]:
            for name in part["attributes"]:
                yield from self._counted(self.tables[part["table"]], [part["group"]], name, part.get("count"))

    @staticmethod
    def _counted(rows: list[dict[str, Any]], by: list[str], name: str, count: str | None) -> Iterator[Group]:
        found: dict[tuple[Any, ...], dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        for row in rows:
            found[tuple(text(row[key]) for key in by)][text(row[name])] += int(row[count]) if count else 1
        yield from (("group", name, dict(counts)) for counts in found.values())

    def _same_quasi(self) -> Iterator[Group]:
        """People with the same quasi-identifiers: each row has its group's shares, or those of the withheld values."""
        for part in self.manifest["linked"]["slices"]:
            for name in part["attributes"]:
                shares: dict[str | None, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
                for row in self.tables[part["table"]]:
                    repeats = int(row[part["count"]]) if "count" in part else 1
                    shares[text(row[part["group"]])][text(row[name])] += repeats
                people: dict[tuple[Any, ...], dict[Any, float]] = defaultdict(lambda: defaultdict(float))
                for row in self.tables["quasi"]:
                    counts = shares.get(text(row[part["group"]]), self.rest(name))
                    total = sum(counts.values())
                    for value, count in counts.items():
                        people[tuple(text(row[key]) for key in self.quasi)][value] += count / total
                yield from ((SAME_QUASI, name, dict(found)) for found in people.values())

    def asked(self, name: str, key: str) -> Any:
        """What is promised about a column: its own, or that of all columns."""
        own = self.policy["columns"][name].get(key)
        return self.policy["privacy"].get(key) if own is None else own

    def beyond(self) -> list[str]:
        """Every way in which a group goes beyond a promise."""
        found = []
        k = self.policy["privacy"].get("k")
        # Linked tables with generalized quasi-identifiers promise k of these; others of their groups.
        of_quasi = "quasi" in self.tables and self.policy["release"].get("generalize", "none") != "none"
        for what, name, counts in self.groups():
            size, greatest = sum(counts.values()), max(counts.values()) / sum(counts.values())
            if k and (what == SAME_QUASI) == of_quasi and size < k - NEAR:
                found.append(f"{what} of {name}: {size} rows, k is {k}")
            least = self.asked(name, "l")
            if least and greatest > 1 / least + NEAR:
                found.append(f"{what} of {name}: a share of {greatest}, l is {least}")
            t = self.asked(name, "t")
            if t is not None and self.distance(name, counts) > t + 1e-6:
                found.append(f"{what} of {name}: a distance of {self.distance(name, counts)}, t is {t}")
        return found

    def distance(self, name: str, counts: dict[Any, float]) -> float:
        """The earth mover's distance to the whole table: all values equally far, or in their order."""
        whole, size, total = self.whole[name], sum(counts.values()), sum(self.whole[name].values())
        gap = [counts.get(value, 0) / size - whole[value] / total for value in whole]
        if self.policy["columns"][name].get("type") != "numeric":
            return sum(map(abs, gap)) / 2
        moved, at = 0.0, 0.0
        for step in gap:  # the manifest lists numbers in their order
            at += step
            moved += abs(at)
        return moved / max(len(gap) - 1, 1)


def text(value: Any) -> str | None:
    """A cell as text; whole numbers without a point."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
