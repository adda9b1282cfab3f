"""What a statistical file says of its columns beside their cells: labels of columns and values, kinds of missing.

A column whose values all have labels is a column of categories, and its cells are the labels: `Female`, not 2. A kind
of missing with a label ("Refused") is then a category like any other, protected and published as one, until a policy
declares it missing. In every other column the cells stay as they are, and each kind of missing is a missing cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

Code = float | str
"""A number, a text, or the letter of a kind of missing in Stata and SAS (`a` for .a)."""


@dataclass(frozen=True)
class Variable:
    """One column: its label, the labels of its values, and which codes mean missing."""

    label: str = ""
    values: Mapping[Code, str] = field(default_factory=dict)
    missing: tuple[Code, ...] = ()
    """The codes of the kinds of missing that occur or have a label."""
    is_labelled: bool = False
    """Whether the cells are the labels of the values."""


Codebook = Mapping[str, Variable]


def read_column(cells: pl.Series, variable: Variable) -> tuple[pl.Series, pl.Series | None, Variable]:
    """The cells as polyveil reads them, the kinds of missing of cells that become missing, and what was decided."""
    distinct = cells.to_list() if cells.dtype == pl.Object else cells.unique().to_list()  # numbers among letters
    codes: set[Code] = {value for value in distinct if value is not None}
    kinds = codes & set(variable.missing)
    labels = list(variable.values.values())
    told_apart = len(set(labels)) == len(labels) and all(label.strip() for label in labels)
    plain = codes - kinds
    if plain and plain <= set(variable.values) and told_apart:
        named = {code: variable.values.get(code) for code in codes}
        kept = _kinds_of(cells, kinds - set(variable.values))
        return _replaced(cells, named), kept, _labelled(variable)
    without = _replaced(cells, {code: None if code in kinds else code for code in codes}, plain)
    return without, _kinds_of(cells, kinds), variable


def _labelled(variable: Variable) -> Variable:
    return Variable(variable.label, variable.values, variable.missing, is_labelled=True)


def _replaced(cells: pl.Series, new: Mapping[Code, Code | None], plain: set[Code] | None = None) -> pl.Series:
    if plain is not None and len(plain) == len(new):
        return cells
    if plain is not None and cells.dtype != pl.Object:
        gone = [code for code, value in new.items() if value is None]
        return cells.set(cells.is_in(gone), None)
    kind = pl.String if plain is None else pl.Float64
    if cells.dtype != pl.Object:
        return cells.replace_strict(list(new), list(new.values()), default=None, return_dtype=kind)
    return pl.Series(cells.name, [None if cell is None else new[cell] for cell in cells.to_list()], dtype=kind)


def _kinds_of(cells: pl.Series, kinds: set[Code]) -> pl.Series | None:
    """Per cell the code of its kind of missing, as text; None if no cell has one."""
    if not kinds:
        return None
    texts = {code: code_text(code) for code in kinds}
    return pl.Series(cells.name, [texts.get(cell) for cell in cells.to_list()], dtype=pl.String)


def code_text(code: Code) -> str:
    """A code as text: whole numbers without a point."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
