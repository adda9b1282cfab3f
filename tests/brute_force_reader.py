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
from itertools import combinations
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

    def __init__(self, folder: Path, population: list[dict[str, Any]] | None = None) -> None:
        self.population = population or []
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

    def misdescribed(self) -> list[str]:
        """Quasi-identifiers whose described ends, values or missing cells are not those that the cells show."""
        return [name for name in self.quasi if not self._is_described(name)]

    def cells(self, name: str) -> list[Any]:
        """The cells of a column, wherever it is."""
        return [row[name] for rows in self.tables.values() for row in rows if name in row]

    def _is_described(self, name: str) -> bool:
        about, cells = self.manifest["quasi"][name], {text(cell) for cell in self.cells(name)}
        parts = [part for cell in cells - {None, "*"} for part in ends(about["kind"], str(cell))]
        null = None in cells or (about["kind"] in ("numeric", "date", "set") and bool({"*"} & {*cells, *parts}))
        if about["missing"] != null:
            return False
        if about["kind"] in ("numeric", "date"):
            order = sorted(parts, key=float if about["kind"] == "numeric" else str)
            return (about.get("low"), about.get("high")) in ((None, None), (order[0], order[-1]))
        return about["kind"] != "set" or about["values"] == len({*parts, *({"*"} if null else {})})

    def beyond(self) -> list[str]:
        """Every way in which a group goes beyond a promise."""
        k, any_few = (self.policy["privacy"].get(key) for key in ("k", "any"))
        found = self._beyond_risk() + self._beyond_weights()
        if any_few is not None:
            found += self._beyond_few(k, any_few)
            k = None
        # Linked tables with generalized quasi-identifiers promise k of these; others of their groups.
        of_quasi = "quasi" in self.tables and self.policy["release"].get("generalize", "none") != "none"
        for what, name, counts in self.groups():
            size, greatest = sum(counts.values()), max(counts.values()) / sum(counts.values())
            if k and what != PRESENT and (what == SAME_QUASI) == of_quasi and size < k - NEAR:
                found.append(f"{what} of {name}: {size} rows, k is {k}")
            least = self.asked(name, "l")
            if least and greatest > 1 / least + NEAR:
                found.append(f"{what} of {name}: a share of {greatest}, l is {least}")
            t = None if what == PEOPLE else self.asked(name, "t")
            far = 0.0 if t is None else self.distance(name, counts, self.reference(what, name))
            if t is not None and far > t + 1e-6:
                found.append(f"{what} of {name}: a distance of {far}, t is {t}")
        return found

    def _beyond_few(self, k: int, columns: int) -> list[str]:
        """Combinations of at most so many quasi-identifiers with cells that fewer rows share."""
        rows = self.tables["table"]
        found = []
        for number in range(1, min(columns, len(self.quasi)) + 1):
            for names in combinations(self.quasi, number):
                least = min(Counter(tuple(text(row[name]) for name in names) for row in rows).values())
                found += [f"{names}: {least} rows, k is {k}"] if least < k else []
        return found

    def _rows_by_group(self) -> list[list[dict[str, Any]]]:
        groups = defaultdict(list)
        for row in self.tables.get("table", []):
            groups[tuple(text(row[name]) for name in self.quasi)].append(row)
        return list(groups.values())

    def _beyond_risk(self) -> list[str]:
        """Groups in which somebody of the population is named with a chance above the limit."""
        risk = self.policy["privacy"].get("risk") or {}
        given = risk.get("population") or {}
        found = []
        for rows in self._rows_by_group() if given else ():
            if "table" in given:
                chance = 1 / max(sum(self._fits(person, rows[0]) for person in self.population), 1e-9)
            else:
                weights = [float(rows[0][name]) for name in self._weights()]
                chance = one_in_population(len(rows), given.get("fraction") or 1 / max(weights[0], 1.0))
            if chance > risk["max"] + 1e-6:
                found.append(f"a chance of {chance}, the limit is {risk['max']}")
        return found

    def _fits(self, person: dict[str, Any], row: dict[str, Any]) -> bool:
        for name in self.quasi:
            low, *high = ends(self.manifest["quasi"][name]["kind"], str(text(row[name])))
            own = str(text(person[name]))
            if low != "*" and not (float(low) <= float(own) <= float(high[0]) if high else low == own):
                return False
        return True

    def _weights(self) -> list[str]:
        return [name for name, about in self.policy["columns"].items() if about["role"] == "weight"]

    def _beyond_weights(self) -> list[str]:
        """Weights that tell rows of a group apart, and groups far from the table as it is with its weights."""
        found = []
        for weight in self._weights():
            groups = self._rows_by_group()
            found += [
                f"{weight}: several in a group" for rows in groups if len({text(row[weight]) for row in rows}) > 1
            ]
            for name in self.sensitive:
                whole: Counter[str | None] = Counter(dict.fromkeys(self.whole[name], 0))
                for row in self.tables["table"]:
                    whole[text(row[name])] += float(row[weight])  # type: ignore[assignment]
                for rows in groups if self.asked(name, "t") is not None else ():
                    far = self.distance(name, Counter(text(row[name]) for row in rows), whole)  # type: ignore[arg-type]
                    if far > self.asked(name, "t") + 1e-6:
                        found.append(f"{name}: {far} away with weights")
        return found

    def reference(self, what: str, name: str) -> Counter[str | None]:
        """What a group is compared with."""
        return self.whole[name]

    def distance(self, name: str, counts: dict[Any, float], whole: Counter[str | None]) -> float:
        """The earth mover's distance to the whole table: all values equally far, or in their order."""
        size, total = sum(counts.values()), sum(whole.values())
        gap = [counts.get(value, 0) / size - whole[value] / total for value in whole]
        if self.policy["columns"][name].get("type") != "numeric":
            return sum(map(abs, gap)) / 2
        moved, at = 0.0, 0.0
        for step in gap:  # the manifest lists numbers in their order
            at += step
            moved += abs(at)
        return moved / max(len(gap) - 1, 1)


def one_in_population(rows: int, share: float) -> float:
    """The mean of 1/N, N people having been asked until so many of them, each with this chance, were in the sample."""
    if share >= 1:
        return 1 / rows
    probability, total, mean = share**rows, 0.0, 0.0
    for people in range(rows, rows + 100_000):
        total += probability
        mean += probability / people
        probability *= people / (people - rows + 1) * (1 - share)
        if total > 1 - 1e-9:
            break
    return mean


def text(value: Any) -> str | None:
    """A cell as text; whole numbers without a point."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def ends(kind: str, cell: str) -> list[str]:
    """The ends of a range, the values of a set ("*" for a missing one), or the one value of a cell."""
    if kind == "set" and cell[0] + cell[-1] == "{}":
        return cell[1:-1].split(", ")
    if kind in ("numeric", "date") and cell[0] + cell[-1] == "[]":
        inside = cell[1:-1]
        at = inside.index("-" if kind == "numeric" else "/", 1)
        return [inside[:at], inside[at + 1 :]]
    return [cell]


PRESENT, PEOPLE = "rows with values", "people"


class LinkedReader(Reader):
    """Linked tables: their rows by group, those with values alone, and people by their keys where there are some."""

    def __init__(self, folder: Path, population: list[dict[str, Any]] | None = None) -> None:
        self.group = json.loads((folder / "manifest.json").read_text())["relational"]["group"]
        super().__init__(folder, population)

    def cells(self, name: str) -> list[Any]:
        table, column = name.split(".", 1)
        return [row[column] for row in self.tables[table]]

    def groups(self) -> Iterator[Group]:
        yield from super().groups()
        for name in self.sensitive:
            rows = [row for row in self._rows(name) if self.is_present(name.split(".")[0], row)]
            counted = self._counted(rows, [self.group], name.split(".", 1)[1], None)
            yield from ((PRESENT, name, counts) for _, _, counts in counted)
            yield from self._of_people(name)

    def _rows(self, name: str) -> list[dict[str, Any]]:
        return self.tables[name.split(".")[0]]

    def _classes(self) -> Iterator[Group]:
        for name in self.sensitive:
            found = self._counted(self._rows(name), [self.group], name.split(".", 1)[1], None)
            yield from (("group", name, counts) for _, _, counts in found)

    def key(self, table: str) -> str | None:
        """The column with the keys of people."""
        columns = self.policy["columns"].items()
        return next(
            (n.split(".", 1)[1] for n, c in columns if c["role"] == "person" and n.split(".")[0] == table), None
        )

    def is_present(self, table: str, row: dict[str, Any]) -> bool:
        """Whether a row has any value; one without stands for a person of whom the table knows nothing."""
        return any(cell is not None for name, cell in row.items() if name not in (self.group, self.key(table)))

    def strata(self) -> dict[Any, list[str]]:
        """People of a group with as many rows in every table and with values in the same tables, by their keys."""
        seen: dict[str, list[Any]] = defaultdict(list)
        for table, rows in self.tables.items():
            own: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for row in rows:
                own[row[self.key(table)]].append(row)
            for who, found in own.items():
                there = any(self.is_present(table, row) for row in found)
                seen[who].append((table, len(found), there, found[0][self.group]))
        strata: dict[Any, list[str]] = defaultdict(list)
        for who, about in seen.items():
            strata[tuple(about)].append(who)
        return strata

    def _of_people(self, name: str) -> Iterator[Group]:
        """Of every stratum, how many people have the value that most have; the others count one by one."""
        table, column = name.split(".", 1)
        key = self.key(table)
        if key is None:
            return
        values: dict[str, set[Any]] = defaultdict(set)
        for row in self.tables[table]:
            values[row[key]].add(text(row[column]))
        for people in self.strata().values():
            having = Counter(value for who in people for value in values[who])
            most, count = having.most_common(1)[0]
            if most is not None or len(having) > 1:
                yield PEOPLE, name, {most: count, **{f"other {i}": 1 for i in range(len(people) - count)}}

    def reference(self, what: str, name: str) -> Counter[str | None]:
        if what != PRESENT:
            return self.whole[name]
        table, column = name.split(".", 1)
        return Counter(text(row[column]) for row in self.tables[table] if self.is_present(table, row))
