"""Hierarchies as a steward declares them - a file, a nested tree or a rule - and how each becomes a tree of values."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator

from polyveil.errors import listed
from polyveil.policy.broken import BrokenRule
from polyveil.policy.hierarchy import MAX_DEPTH, ROOT_LABEL, Hierarchy, HierarchyFault, from_paths, from_tree
from polyveil.policy.hierarchy_file import read_hierarchy, read_pairs
from polyveil.policy.scalars import Number, Text, Whole, categories, category, number_label, plain_number

__all__ = [
    "RULE_KEYS",
    "DateParts",
    "EqualIntervals",
    "File",
    "HierarchyRule",
    "Intervals",
    "Mask",
    "Order",
    "Pairs",
    "Rule",
    "Tree",
    "interval_label",
    "number_label",
    "parse_rule",
    "rising_edges",
]

DatePart = Literal["month", "quarter", "year", "decade"]
_DATE_PARTS: tuple[DatePart, ...] = ("month", "quarter", "year", "decade")


class Rule(BaseModel):
    """Base of the declared hierarchies."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Mask(Rule):
    """Hide one character more per level: 12345, 1234*, 123**, ... up to `mask` characters, then `*`.

    Shorter values count as filled up to the longest, so that J45, J45.1 and J45.10 meet in J45***: a group holds the
    values with the same beginning (or, hidden from the left, the same end), and a label does not tell a value's length.
    """

    mask: Whole = Field(ge=1, le=64, description="how many characters can be hidden, one per level")
    side: Literal["right", "left"] = Field(default="right", description="where hiding starts")
    char: Text = Field(default="*", min_length=1, max_length=1, description="replaces a hidden character")

    def build(self, values: Sequence[str]) -> Hierarchy:
        if any(self.char in value for value in values):
            raise HierarchyFault(
                "a value contains the character that replaces hidden ones",
                f"Choose another one with hierarchy: {{mask: {self.mask}, char: '#'}}",
            )
        longest = max((len(value) for value in values), default=0)
        return from_paths(_without_tops([[value, *self.groups(value, longest)] for value in values]))

    def groups(self, value: str, longest: int) -> list[str]:
        """The groups above a value, the narrowest first."""
        groups = []
        for hidden in range(1, min(self.mask, longest - 1) + 1):
            kept = min(longest - hidden, len(value))
            stars = self.char * (longest - kept)
            # A value too short to be reached by the mask has no group but the top.
            if kept > 0 and len(stars) <= self.mask:
                groups.append(value[:kept] + stars if self.side == "right" else stars + value[len(value) - kept :])
        return groups


class EqualIntervals(Rule):
    """Intervals of equal width; each further level joins `fanout` neighbours."""

    width: Number = Field(gt=0, description="width of the narrowest intervals")
    levels: Whole = Field(default=3, ge=1, le=20, description="how many levels of intervals")
    fanout: Whole = Field(default=2, ge=2, le=100, description="how many neighbours the next level joins")
    origin: Number = Field(default=0.0, description="where an interval starts")


Edges = list[list[float]]


def _notation(value: Any) -> str | None:
    if isinstance(value, EqualIntervals | Mapping):
        return "equal"
    return "given" if isinstance(value, list | tuple) else None


class Intervals(Rule):
    """Numbers grouped in half-open intervals: of equal width, or with the edges given level by level.

    The last edge belongs to the last interval. The first and the last edge may be infinite.
    """

    intervals: Annotated[
        Annotated[EqualIntervals, Tag("equal")] | Annotated[Edges, Tag("given")],
        Discriminator(
            _notation,
            custom_error_type="intervals",
            custom_error_message="give a width, as in {width: 10}, or a rising list of edges for each level",
        ),
    ]

    @field_validator("intervals", mode="before")
    @classmethod
    def _one_level_or_more(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        levels = value if value and isinstance(value[0], list | tuple) else [value]
        return [rising_edges(level) for level in levels]

    @field_validator("intervals")
    @classmethod
    def _edges_nest(cls, value: EqualIntervals | Edges) -> EqualIntervals | Edges:
        if isinstance(value, EqualIntervals):
            return value
        for finer, coarser in pairwise(value):
            if not set(coarser) <= set(finer) or (coarser[0], coarser[-1]) != (finer[0], finer[-1]):
                raise BrokenRule(
                    "the edges of a coarser level must be edges of the finer one, with the same first and last",
                    "List the finest level first, and leave out inner edges for the next",
                )
        return value

    def build(self, values: Sequence[float], labels: Sequence[str]) -> Hierarchy:
        """`values` and `labels` run in parallel, in rising order."""
        whole = all(float(value).is_integer() for value in values)
        groups = [self.groups(value, label, whole) for value, label in zip(values, labels, strict=True)]
        return from_paths(_without_tops([[label, *path] for label, path in zip(labels, groups, strict=True)]))

    def groups(self, value: float, label: str, whole: bool) -> list[str]:
        """The groups above a number, the narrowest first; `whole`: all values of the column are whole numbers."""
        rule = self.intervals
        if isinstance(rule, EqualIntervals):
            # Exact arithmetic on the decimals as written: 0.1 steps stay 0.1 steps, and levels nest for certain.
            origin, width = Fraction(repr(rule.origin)), Fraction(repr(rule.width))
            place = (Fraction(repr(float(value))) - origin) // width
            spans = [(place // rule.fanout**level, width * rule.fanout**level) for level in range(rule.levels)]
            bounds = [(float(origin + at * wide), float(origin + (at + 1) * wide), False) for at, wide in spans]
        else:
            bounds = [_inside(value, edges) for edges in rule]
        return [interval_label(low, high, closed, whole) or label for low, high, closed in bounds]


def rising_edges(level: Any) -> list[float]:
    """A rising list of numbers; JSON has no infinity, so its name is accepted as well."""
    names = {"inf": float("inf"), "-inf": float("-inf")}
    items = [names.get(i, i) if isinstance(i, str) else plain_number(i) for i in level] if _is_list(level) else []
    numbers = [float(item) for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
    rising = all(low < high for low, high in pairwise(numbers))
    if len(numbers) < 2 or len(numbers) != len(items) or not rising:
        raise BrokenRule(
            "each level must be a rising list of at least two numbers",
            "Write [[0, 10, 20, 40], [0, 20, 40]], finest first",
        )
    return numbers


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _inside(value: float, edges: Sequence[float]) -> tuple[float, float, bool]:
    if not edges[0] <= value <= edges[-1]:
        raise HierarchyFault("a number lies outside the given intervals", "Widen the first or last edge")
    at = min(bisect_right(edges, value), len(edges) - 1)
    return edges[at - 1], edges[at], at == len(edges) - 1


class DateParts(Rule):
    """Dates grouped by calendar parts, finest first, for example `date: [month, year]`."""

    date: list[DatePart] = Field(min_length=1)

    @field_validator("date", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else list(value) if isinstance(value, tuple) else value

    @field_validator("date")
    @classmethod
    def _finest_first(cls, value: list[DatePart]) -> list[DatePart]:
        if value != [part for part in _DATE_PARTS if part in value]:
            raise BrokenRule("date parts must be listed once each, finest first", f"Choose from {listed(_DATE_PARTS)}")
        return value

    def build(self, days: Sequence[dt.date]) -> Hierarchy:
        return from_paths(_without_tops([[day.isoformat(), *self.groups(day)] for day in days]))

    def groups(self, day: dt.date) -> list[str]:
        """The groups above a day, the narrowest first."""
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
        return list(categories(value)) if isinstance(value, list | tuple) else value

    @field_validator("order")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        seen: set[str] = set()
        for position, item in enumerate(value):
            if item in seen:
                raise BrokenRule("a category appears twice in the order", "Remove one of them", (position,))
            seen.add(item)
        return value


class Tree(Rule):
    """A tree written into the policy: nested mappings, with lists of values at the bottom."""

    tree: dict[str, Any] | list[Any]
    root: Text = Field(default=ROOT_LABEL, min_length=1, description="what the top of the tree is called")

    @field_validator("tree", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return _text_tree(value, MAX_DEPTH) or []

    def build(self) -> Hierarchy:
        return from_tree(self.tree, self.root)


def _text_tree(tree: Any, depth: int) -> Any:
    """Labels as text, every leaf of a mapping as None, so that equal trees are equal however they were written."""
    if depth < 0:
        raise HierarchyFault(f"a hierarchy has at most {MAX_DEPTH} levels", "Join some levels")
    if isinstance(tree, Mapping):
        named = {category(label): _text_tree(below, depth - 1) for label, below in tree.items()}
        if len(named) != len(tree):
            raise HierarchyFault("the same label appears twice in one group", "Remove one of them")
        return named or None
    if tree is None or (_is_list(tree) and not tree):
        return None
    if not _is_list(tree):
        return [category(tree)]
    if any(_is_list(item) for item in tree):
        raise HierarchyFault("a list is directly inside a list, so its group has no name", "Name it: {group: [a, b]}")
    items = [_text_tree(item, depth - 1) if isinstance(item, Mapping) else category(item) for item in tree]
    return [item for item in items if item is not None] or None


class File(Rule):
    """A CSV file with one line per value: the value, then ever larger groups (ARX's text format)."""

    csv: Text = Field(min_length=1)
    delimiter: Text | None = Field(default=None, min_length=1, max_length=1, description="detected by default")

    @field_validator("delimiter")
    @classmethod
    def _usable(cls, value: str | None) -> str | None:
        if value is not None and value in '"\r\n':
            raise BrokenRule("a quote or line break cannot separate cells", "Leave delimiter out. It is detected")
        return value

    def build(self, folder: Path) -> Hierarchy:
        return read_hierarchy(folder / self.csv, self.csv, self.delimiter)


class Pairs(Rule):
    """A tree of codes from a table of pairs, parent or ancestor and child: a CSV file, or a table of the source."""

    pairs: Text = Field(min_length=1, description="a CSV file, or one more table of the folder or database")
    parent: Text = Field(default="parent", description="the column of the parents or ancestors")
    child: Text = Field(default="child", description="the column of the children or descendants")

    @property
    def in_file(self) -> bool:
        """Whether the pairs are in a file beside the policy."""
        return self.pairs.lower().endswith((".csv", ".tsv", ".txt"))

    def read(self, folder: Path) -> list[tuple[str, str]]:
        """The pairs of the file."""
        return read_pairs(folder / self.pairs, self.pairs, self.parent, self.child)


HierarchyRule = Mask | Intervals | DateParts | Order | Tree | File | Pairs
_RULE_OF_KEY: dict[str, type[Rule]] = {
    "mask": Mask,
    "intervals": Intervals,
    "date": DateParts,
    "order": Order,
    "tree": Tree,
    "csv": File,
    "pairs": Pairs,
}
RULE_KEYS = tuple(_RULE_OF_KEY)


def rule_class(value: Any) -> type[Rule]:
    """Which rule a notation stands for: a bare text is a file, a list or a mapping without a rule's key is a tree."""
    if isinstance(value, str):
        return File
    if isinstance(value, Mapping):
        return next((rule for key, rule in _RULE_OF_KEY.items() if key in value), Tree)
    if _is_list(value):
        return Tree
    raise BrokenRule(
        "a hierarchy must be a file name, a nested tree or a rule",
        f"Write hierarchy: disease.csv, or one of the rules {listed(RULE_KEYS)}, as in hierarchy: {{mask: 5}}",
    )


def parse_rule(value: Any) -> Any:
    """A file name, a rule or a bare nested tree, as the rule object it stands for."""
    if isinstance(value, Rule):
        return value
    rule = rule_class(value)
    if isinstance(value, str):
        return File(csv=value)
    if rule is Tree and not (isinstance(value, Mapping) and "tree" in value):
        return Tree(tree=value)
    return rule.model_validate(dict(value))


def _without_tops(paths: list[list[str]]) -> list[list[str]]:
    """Paths to the root, without upper levels that hold every value: those are the root under another name.

    A level more would make the root higher than any two values are apart, and hierarchical distances too small.
    """
    while paths and all(len(path) > 1 for path in paths) and len({path[-1] for path in paths}) == 1:
        paths = [path[:-1] for path in paths]
    return [[*path, ROOT_LABEL] for path in paths]


def interval_label(low: float, high: float, closed: bool = False, whole: bool = False) -> str:
    """`[20-30)`: from 20 up to, not including, 30; `[20-29]` for whole numbers; `<20` and `>=60` where one end is open.

    Empty where whole numbers leave a single value, which needs no other name.
    """
    if low == float("-inf") or high == float("inf"):
        if low == -high:
            return ROOT_LABEL
        return f">={number_label(low)}" if high == float("inf") else f"<{'=' * closed}{number_label(high)}"
    if whole and low.is_integer() and high.is_integer():
        last = high if closed else high - 1
        return f"[{number_label(low)}-{number_label(last)}]" if last > low else ""
    return f"[{number_label(low)}-{number_label(high)}{']' if closed else ')'}"
