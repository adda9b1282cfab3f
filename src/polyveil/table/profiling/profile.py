"""A first look at a table: what each column is, who it might point to, and what a policy could say about it.

Names and descriptions are read as words (`words`), values as evidence (`values`, `types`), columns beside each other
(`relations`); `roles` suggests from all of it, and `decisions` asks what only the steward can know.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError, listed
from polyveil.policy.schema import Role
from polyveil.results import Result, Row, counted
from polyveil.table.profiling.column import ColumnProfile, MissingHint
from polyveil.table.profiling.decisions import Decision, decisions_of
from polyveil.table.profiling.dictionary import read_dictionary
from polyveil.table.profiling.people import with_person
from polyveil.table.profiling.precise import POINTING, share_alone, words_of
from polyveil.table.profiling.relations import related
from polyveil.table.profiling.roles import SHARED, Evidence, suggest
from polyveil.table.profiling.spoken import spoken_words
from polyveil.table.profiling.types import Kind, as_numbers, kind_of, kind_of_marker, lengths
from polyveil.table.profiling.values import shape_of
from polyveil.table.profiling.vocabulary_files import Meaning, Vocabulary, vocabulary
from polyveil.table.profiling.words import meaning_of
from polyveil.table.source import Table, read


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Result):
    """A first look at a table: its columns with suggested roles, and who the suggested quasi-identifiers single out."""

    height: int
    columns: tuple[ColumnProfile, ...]
    singled_out: int
    name: str = "table"
    decisions: tuple[Decision, ...] = ()
    """Questions about groups of columns that only you can answer."""

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
        names = ("name", "type", "missing", "distinct", "role", "confidence", "reason")
        return [{name: getattr(column, name) for name in names} for column in self.columns]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil inspect --json` prints it."""
        columns = [{key: _plain(value) for key, value in asdict(column).items()} for column in self.columns]
        return {
            "rows": self.height,
            "quasi": self.quasi,
            "singled_out": self.singled_out,
            "columns": columns,
            "decisions": [each.to_dict() for each in self.decisions],
        }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | list | tuple | dict) else str(value)


def profile(
    source: Any, *, dictionary: Path | str | None = None, words: Path | str | None = None, **reading: Any
) -> Profile:
    """Look at every column of a table: its type, missing cells, and a suggested role with the reason.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    dictionary : path, optional
        A data dictionary: a CSV file with a column of names and one of descriptions. They are read like names.
    words : path, optional
        Words of your own, as lines of ``topic: word word``, that say what columns are about.
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
    known = vocabulary(Path(words) if words is not None else None)
    labels = read_dictionary(dictionary, table.columns) if dictionary is not None else {}
    columns = column_profiles(table, labels, known)
    quasi = [column.name for column in columns if column.role == "quasi"]
    alone = singled_out(table, quasi) if quasi else 0
    asked = decisions_of(columns, known.topics)
    return Profile(table.height, columns, alone, table.name, asked, frame_kind=table.kind)


def column_profiles(
    table: Table, labels: Mapping[str, str] | None = None, words: Vocabulary | None = None
) -> tuple[ColumnProfile, ...]:
    """The columns alone; `labels` are descriptions by name, beside those that the file itself may have."""
    known = words or vocabulary()
    described = {**table.labels, **(labels or {})}
    spoken = spoken_words(known, (*table.columns, *described.values()))
    found = []
    for name in table.columns:
        label = described.get(name, "")
        meaning = meaning_of(name, label, spoken) or _in_other_languages(name, known)
        if meaning is not None and meaning.role == "identifier" and _is_shared(table.frame[name]):  # model of a phone
            meaning = meaning_of(name, label, spoken, but=meaning.topic) or meaning
        found.append(_profile_column(table, name, label, meaning))
    return with_person(table, related(table, _one_weight(found), known.topics))


def _one_weight(profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """A policy has one sampling weight: the first stays, and others are left out."""
    first = next((about.name for about in profiles if about.role == "weight"), None)
    reason = f"Another sampling weight; {first} is suggested. A release has one."
    return [
        replace(about, role="drop", reason=reason) if about.role == "weight" and about.name != first else about
        for about in profiles
    ]


def _is_shared(cells: pl.Series) -> bool:
    """Whether ten rows or more have each value on average, as no way to reach or number a person has."""
    return cells.n_unique() <= SHARED * cells.len()


def _in_other_languages(name: str, known: Vocabulary) -> Meaning | None:
    """What a name says in languages that the table is not written in; no such guess calls a column harmless."""
    meaning = meaning_of(name, "", known)
    return None if meaning is None or meaning.role in ("insensitive", "weight") else meaning


def singled_out(table: Table, columns: Sequence[str]) -> int:
    """How many rows no other row equals on these columns. A missing value is a value like any other."""
    unknown = [repr(column) for column in columns if column not in table.columns]
    if unknown:
        raise InputError(f"{table.name} has no column {listed(unknown)}.")
    if not columns:
        return int(table.height == 1)
    sizes = table.frame.lazy().select(list(columns)).group_by(list(columns)).agg(pl.len().alias("rows"))
    return int(sizes.select((pl.col("rows") == 1).sum()).collect().item())


def _profile_column(table: Table, name: str, label: str, meaning: Meaning | None) -> ColumnProfile:
    cells = table.frame[name]
    counted = cells.alias("value").value_counts(name="rows").filter(pl.col("value").is_not_null())
    values, counts = counted["value"], counted["rows"]
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    kind = kind_of(name, values, table.decimal, meaning)
    evidence = Evidence(name, table.height, values, counts, kind, meaning, label, shape_of(values))
    found = suggest(evidence)
    return ColumnProfile(
        name=name,
        dtype=str(cells.dtype),
        type=kind.type,
        missing=cells.null_count(),
        distinct=values.len(),
        unique_share=evidence.unique_share,
        role=found.role,
        reason=found.reason,
        hierarchy=_hierarchy(evidence, found.role, meaning),
        date_format=kind.date_format,
        missing_hints=_hints(values, counts, kind),
        low=kind.low,
        high=kind.high,
        confidence=found.confidence,
        topic=found.topic,
        evidence=_pointing(evidence, found.role, table.decimal),
        label=label,
    )


def _pointing(evidence: Evidence, role: Role, decimal: str) -> tuple[str, ...]:
    """What to know of a sensitive number that nearly nobody shares."""
    if role != "sensitive" or evidence.kind.type != "numeric":
        return ()
    counts = evidence.counts.cast(pl.Int64).to_numpy()
    alone = share_alone(counts)
    if alone < POINTING:
        return ()
    markers = set(evidence.kind.missing_markers)
    kept = ~evidence.values.cast(pl.String).is_in(list(markers))
    numbers = as_numbers(evidence.values.filter(kept), decimal)
    if numbers is None:
        return ()
    return (words_of(evidence.name, alone, numbers.to_numpy(), counts[kept.to_numpy()]),)


def _hierarchy(evidence: Evidence, role: Role, meaning: Meaning | None) -> Mapping[str, Any] | None:
    """A rule that fits the values; None if they need a hierarchy of their own, or none."""
    kind = evidence.kind
    if role in {"identifier", "insensitive", "drop"}:
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


def _is_code(evidence: Evidence, meaning: Meaning | None) -> bool:
    """Postal codes and their like: short codes of figures where those near each other begin alike."""
    if evidence.values.len() <= 20:
        return False
    present = evidence.values.cast(pl.String)
    sizes = lengths(present)
    if sizes[0] < 2 or sizes[-1] > 12 or not present.str.contains(r"\d").all():
        return False
    if meaning is not None and meaning.topic == "postcode":
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
        number = marker.lstrip("-").isdigit()
        sure = not number or (kind.type == "numeric" and len(marker.lstrip("-")) > 1)
        hints.append(MissingHint(marker, int(counts.filter(is_marker).sum()), kind_of_marker(marker), sure))
    return tuple(hints)
