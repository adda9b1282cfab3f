"""Hierarchies as a steward declares them - a file, a nested tree or a rule - and how each becomes a tree of values."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from polyveil.policy.hierarchy import ROOT_LABEL, Hierarchy, HierarchyFault, from_paths, from_tree

DatePart = Literal["month", "quarter", "year", "decade"]
_DATE_PARTS: tuple[DatePart, ...] = ("month", "quarter", "year", "decade")


class Rule(BaseModel):
    """Base of the declared hierarchies."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Mask(Rule):
    """Hide one character more per level: 12345, 1234*, 123**, ... up to `mask` characters, then `*`."""

    mask: int = Field(ge=1, le=64, description="how many characters can be hidden, one per level")
    side: Literal["right", "left"] = "right"

    def build(self, values: Sequence[str]) -> Hierarchy:
        return from_paths([self._path(value) for value in values])

    def _path(self, value: str) -> list[str]:
        steps = [value]
        for hidden in range(1, min(self.mask, len(value) - 1) + 1):
            kept = len(value) - hidden
            steps.append(value[:kept] + "*" * hidden if self.side == "right" else "*" * hidden + value[hidden:])
        return [*steps, ROOT_LABEL]


class EqualIntervals(Rule):
    """Intervals of equal width; each further level joins `fanout` neighbours."""

    width: float = Field(gt=0)
    levels: int = Field(default=3, ge=1, le=20)
    fanout: int = Field(default=2, ge=2, le=100)
    origin: float = 0.0


class Intervals(Rule):
    """Numbers grouped in half-open intervals: of equal width, or with the edges given level by level."""

    intervals: EqualIntervals | list[list[float]]

    @field_validator("intervals")
    @classmethod
    def _edges_nest(cls, value: EqualIntervals | list[list[float]]) -> EqualIntervals | list[list[float]]:
        if isinstance(value, EqualIntervals):
            return value
        if not value or any(len(edges) < 2 or sorted(set(edges)) != edges for edges in value):
            raise ValueError("give each level as a rising list of at least two edges, finest level first")
        for finer, coarser in zip(value, value[1:], strict=False):
            if not set(coarser) <= set(finer):
                raise ValueError("the edges of a coarser level must be among those of the finer one")
        return value

    def build(self, values: Sequence[float], labels: Sequence[str]) -> Hierarchy:
        """`values` and `labels` run in parallel, in rising order."""
        paths = [[label, *self._path(value), ROOT_LABEL] for value, label in zip(values, labels, strict=True)]
        return from_paths(paths)

    def _path(self, value: float) -> list[str]:
        rule = self.intervals
        if isinstance(rule, EqualIntervals):
            widths = [rule.width * rule.fanout**level for level in range(rule.levels)]
            lows = [rule.origin + math.floor((value - rule.origin) / width) * width for width in widths]
            return [interval_label(low, low + width) for low, width in zip(lows, widths, strict=True)]
        path = []
        for edges in rule:
            inside = [i for i in range(len(edges) - 1) if edges[i] <= value < edges[i + 1]]
            if not inside and value == edges[-1]:
                inside = [len(edges) - 2]
            if not inside:
                raise HierarchyFault("a number lies outside the given intervals", "Widen the first or last edge")
            path.append(interval_label(edges[inside[0]], edges[inside[0] + 1]))
        return path


class DateParts(Rule):
    """Dates grouped by calendar parts, finest first, for example `date: [month, year]`."""

    date: list[DatePart] = Field(min_length=1)

    @field_validator("date")
    @classmethod
    def _finest_first(cls, value: list[DatePart]) -> list[DatePart]:
        if value != [part for part in _DATE_PARTS if part in value]:
            raise ValueError("name each part once, finest first: month, quarter, year, decade")
        return value

    def build(self, days: Sequence[dt.date]) -> Hierarchy:
        return from_paths([[day.isoformat(), *self._path(day), ROOT_LABEL] for day in days])

    def _path(self, day: dt.date) -> list[str]:
        parts = {
            "month": f"{day.year:04d}-{day.month:02d}",
            "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
            "year": f"{day.year:04d}",
            "decade": f"{day.year // 10 * 10:04d}s",
        }
        return [parts[part] for part in self.date]


class Order(Rule):
    """Categories in their order, lowest first: released as ranges, compared by rank."""

    order: list[str] = Field(min_length=1)

    @field_validator("order", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return [str(item) for item in value] if isinstance(value, list) else value

    @field_validator("order")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("each category stands once in the order")
        return value


class Tree(Rule):
    """A tree written into the policy: nested mappings, with lists of values at the bottom."""

    tree: dict[str, Any] | list[Any]

    def build(self) -> Hierarchy:
        return from_tree(self.tree)


class File(Rule):
    """A CSV file with one line per value: the value, then ever larger groups (ARX's text format)."""

    csv: str
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)

    def build(self, folder: Path) -> Hierarchy:
        path = folder / self.csv
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise HierarchyFault(
                f"the hierarchy file {self.csv!r} cannot be read ({error.strerror})",
                "Check the name; it is looked up beside the policy file",
            ) from None
        except UnicodeDecodeError:
            raise HierarchyFault(f"the hierarchy file {self.csv!r} is not UTF-8", "Save it as UTF-8") from None
        return from_paths(_read_paths(text, self.delimiter, self.csv))


HierarchyRule = Mask | Intervals | DateParts | Order | Tree | File
_RULE_OF_KEY: dict[str, type[Rule]] = {
    "mask": Mask,
    "intervals": Intervals,
    "date": DateParts,
    "order": Order,
    "tree": Tree,
    "csv": File,
}


def parse_rule(value: Any) -> Any:
    """A file name, a rule or a bare nested tree, as the rule object it stands for."""
    if isinstance(value, Rule):
        return value
    if isinstance(value, str):
        return File(csv=value)
    if isinstance(value, Mapping):
        for key, rule in _RULE_OF_KEY.items():
            if key in value:
                return rule.model_validate(dict(value))
        return Tree(tree=dict(value))
    if isinstance(value, list):
        return Tree(tree=value)
    raise ValueError("give a file name, a nested tree, or one of mask, intervals, date, order, tree, csv")


def _read_paths(text: str, delimiter: str | None, name: str) -> list[list[str]]:
    if delimiter is None:
        head = text[:4096]
        delimiter = max(";,\t|", key=head.count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    if not rows:
        raise HierarchyFault(f"the hierarchy file {name!r} is empty", "Write one line per value")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise HierarchyFault(
                f"line {number} of {name!r} has {len(row)} levels, the first line has {width}",
                "Repeat a label to fill a level",
            )
    return [[cell.strip() for cell in row] for row in rows]


def interval_label(low: float, high: float) -> str:
    """`[20-30)`: from 20 up to, not including, 30."""
    return f"[{number_label(low)}-{number_label(high)})"


def number_label(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a decimal point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
