"""A first look at a table: what each column is, who it might point to, and what a policy could say about it.

Suggestions, not decisions: names are read as words (`profile_words`), values as evidence. Where nothing is known a
column is suggested as a quasi-identifier, because a wrong guess there costs detail, and the other way round a person.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from polyveil.errors import InputError, listed
from polyveil.policy.schema import Role
from polyveil.results import Result, Row, counted
from polyveil.table.profiling.column import ColumnProfile, MissingHint
from polyveil.table.profiling.people import with_person
from polyveil.table.profiling.types import Kind, kind_of, lengths
from polyveil.table.profiling.words import (
    POSTCODE,
    SAMPLING,
    Meaning,
    is_number_of_a_person,
    is_numbered,
    meaning_of,
)
from polyveil.table.source import Table, read

# From this share of rows with a value of their own on, a code or text is an identifier in all but name.
NEARLY_ALL = 0.9
MANY = 0.05
_LONG_TEXT = 40


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Result):
    """A first look at a table: its columns with suggested roles, and who the suggested quasi-identifiers single out."""

    height: int
    columns: tuple[ColumnProfile, ...]
    singled_out: int
    name: str = "table"

    @property
    def quasi(self) -> list[str]:
        """The columns that are suggested as quasi-identifiers."""
        return [column.name for column in self.columns if column.role == "quasi"]

    def answer(self) -> str:
        """Size, and how many rows are unique."""
        size = f"{counted(self.height, 'row')}, {counted(len(self.columns), 'column')}"
        if not self.quasi:
            return f"{size}; no quasi-identifier is suggested."
        return f"{size}; {self.singled_out:,} are the only row with their combination of {', '.join(self.quasi)}."

    def records(self) -> Sequence[Row]:
        """One row per column."""
        names = ("name", "type", "missing", "distinct", "role", "reason")
        return [{name: getattr(column, name) for name in names} for column in self.columns]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil inspect --json` prints it."""
        columns = [{key: _plain(value) for key, value in asdict(column).items()} for column in self.columns]
        return {"rows": self.height, "quasi": self.quasi, "singled_out": self.singled_out, "columns": columns}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | list | tuple | dict) else str(value)


def profile(source: Any, **reading: Any) -> Profile:
    """Look at every column of a table: its type, missing cells, and a suggested role with the reason.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    **reading
        Options of `polyveil.read`, such as ``missing=["?"]``.

    Returns
    -------
    Profile
        One entry per column. The roles are suggestions: who could know a column about somebody else is something only
        you can tell. A profile judges nothing, so its `outcome` is "not checked".

    Raises
    ------
    InputError
        The table cannot be read.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 52], "disease": ["flu", "asthma", "flu", "ulcer"]})
    >>> profile = polyveil.profile(people)
    >>> {column.name: column.role for column in profile.columns}
    {'age': 'quasi', 'disease': 'sensitive'}
    >>> profile.singled_out
    2
    """
    table = read(source, **reading)
    columns = column_profiles(table)
    quasi = [column.name for column in columns if column.role == "quasi"]
    alone = singled_out(table, quasi) if quasi else 0
    return Profile(table.height, columns, alone, table.name, frame_kind=table.kind)


def column_profiles(table: Table) -> tuple[ColumnProfile, ...]:
    """The columns alone."""
    return with_person(table, [_profile_column(table, name) for name in table.columns])


def singled_out(table: Table, columns: Sequence[str]) -> int:
    """How many rows no other row equals on these columns. A missing value is a value like any other."""
    unknown = [repr(column) for column in columns if column not in table.columns]
    if unknown:
        raise InputError(f"{table.name} has no column {listed(unknown)}.")
    if not columns:
        return int(table.height == 1)
    sizes = table.frame.lazy().select(list(columns)).group_by(list(columns)).agg(pl.len().alias("rows"))
    return int(sizes.select((pl.col("rows") == 1).sum()).collect().item())


@dataclass(frozen=True)
class _Evidence:
    """What the values of one column show."""

    name: str
    rows: int
    values: pl.Series
    counts: pl.Series
    kind: Kind

    @property
    def present(self) -> int:
        return int(self.counts.sum())

    @property
    def unique_share(self) -> float:
        return int((self.counts == 1).sum()) / self.rows

    @property
    def distinct_share(self) -> float:
        return self.values.len() / max(self.present, 1)


def _profile_column(table: Table, name: str) -> ColumnProfile:
    cells = table.frame[name]
    counted = cells.alias("value").value_counts(name="rows").filter(pl.col("value").is_not_null())
    values, counts = counted["value"], counted["rows"]
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    kind = kind_of(name, values, table.decimal)
    evidence = _Evidence(name, table.height, values, counts, kind)
    meaning = meaning_of(name)
    role, reason = _role(evidence, meaning)
    return ColumnProfile(
        name=name,
        dtype=str(cells.dtype),
        type=kind.type,
        missing=cells.null_count(),
        distinct=values.len(),
        unique_share=evidence.unique_share,
        role=role,
        reason=reason,
        hierarchy=_hierarchy(evidence, role, meaning),
        date_format=kind.date_format,
        missing_hints=_hints(values, counts, kind),
        low=kind.low,
        high=kind.high,
    )


def _role(evidence: _Evidence, meaning: Meaning | None) -> tuple[Role, str]:
    """A role and the one reason for it; evidence that is stronger than the name comes first."""
    if evidence.values.len() <= 1:
        return "insensitive", _one_value(evidence)
    if is_number_of_a_person(evidence.name) and evidence.distinct_share > MANY:
        return "identifier", "Column name suggests a number given to a person."
    if meaning is not None and meaning.role == "identifier":
        return "identifier", f"Column name suggests {meaning.subject}."
    if points_to_rows := _points_to_rows(evidence, meaning):
        return "identifier", points_to_rows
    if meaning is not None:
        return meaning.role, f"Column name suggests {meaning.subject}."
    if evidence.kind.type == "date":
        return "quasi", "Dates of events are often known to others."
    return "quasi", "No hint from the name or the values. Treated as a quasi-identifier until you decide."


def _one_value(evidence: _Evidence) -> str:
    """Why a column tells nothing, and the one thing it may tell."""
    if not evidence.present:
        return "No values: every cell is missing."
    missing = evidence.rows - evidence.present
    if not missing:
        return "All rows have the same value."
    return f"One value, missing in {missing:,} rows. Whether it is filled may itself be sensitive."


def _points_to_rows(evidence: _Evidence, meaning: Meaning | None) -> str | None:
    """Why the values point to single rows, if they do so beyond what generalization could mend."""
    share = evidence.unique_share
    own = "Every value is unique" if share == 1 else f"{share:.1%} of the rows have a unique value"
    if meaning is SAMPLING and evidence.unique_share > MANY:
        return f"{own}, and the column says nothing about people. Drop it."
    if evidence.kind.type == "categorical" and meaning is None:
        text = evidence.values.cast(pl.String).str.len_chars()
        if evidence.unique_share >= NEARLY_ALL:
            return f"{own}, as in a column of names."
        if float(text.cast(pl.Float64).mean() or 0.0) > _LONG_TEXT and evidence.distinct_share > 0.5:  # type: ignore[arg-type]
            return "Free text, which may contain names."
    if (
        evidence.kind.whole
        and evidence.distinct_share >= NEARLY_ALL
        and (meaning is None or is_numbered(evidence.name))
    ):
        return f"{own}, as in a column of numbers or codes given to each row."
    return None


def _hierarchy(evidence: _Evidence, role: Role, meaning: Meaning | None) -> Mapping[str, Any] | None:
    """A rule that fits the values; None where they need a hierarchy of their own, or none."""
    kind = evidence.kind
    if role in {"identifier", "insensitive"}:
        return None
    if kind.order is not None:
        return {"order": list(kind.order)}
    if kind.type == "date":
        return {"date": _date_parts(kind)}
    if kind.type == "numeric" and role == "quasi" and evidence.values.len() > 20:
        return _intervals(kind)
    if kind.type == "categorical" and _is_code(evidence, meaning):
        return {"mask": lengths(evidence.values)[-1]}
    return None


def _is_code(evidence: _Evidence, meaning: Meaning | None) -> bool:
    """Postal codes and their like: short codes of figures where those near each other begin alike."""
    if evidence.values.len() <= 20:
        return False
    present = evidence.values.cast(pl.String)
    sizes = lengths(present)
    if sizes[0] < 2 or sizes[-1] > 12 or not present.str.contains(r"\d").all():
        return False
    if meaning is POSTCODE:
        return True
    return sizes[0] == sizes[-1] >= 4 and bool(present.str.contains(r"^\d+$").all())


def _intervals(kind: Kind) -> Mapping[str, Any] | None:
    if not isinstance(kind.low, float) or not isinstance(kind.high, float) or kind.high <= kind.low:
        return None
    return {"intervals": {"width": nice_width((kind.high - kind.low) / 20, whole=kind.whole), "levels": 3}}


def nice_width(width: float, *, whole: bool) -> float:
    """The next width of the form 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    nice = next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))
    nice = max(nice, 1.0) if whole else nice
    return int(nice) if nice >= 1 else float(f"{nice:.12g}")


def _date_parts(kind: Kind) -> list[str]:
    years = kind.high.year - kind.low.year if isinstance(kind.low, dt.date) and isinstance(kind.high, dt.date) else 0
    return ["month", "year", "decade"] if years >= 20 else ["month", "year"]


def _hints(values: pl.Series, counts: pl.Series, kind: Kind) -> tuple[MissingHint, ...]:
    hints = []
    for marker in kind.missing_markers:
        is_marker = values == (float(marker) if values.dtype.is_numeric() else marker)
        hints.append(MissingHint(marker, int(counts.filter(is_marker).sum())))
    return tuple(hints)
