"""The role that a column's name, description and values suggest: whether others can know it, and whether it harms.

Suggestions, not decisions. What nothing tells is asked, and never suggested to be published as it is: only columns
whose names say that they tell nothing about people become `insensitive`, or constants of that kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polyveil.policy.schema import Role
from polyveil.results import percent
from polyveil.table.profiling.column import Confidence
from polyveil.table.profiling.types import Kind, kind_of_marker
from polyveil.table.profiling.values import Shape, is_free_text, looks_like_money
from polyveil.table.profiling.vocabulary_files import Meaning
from polyveil.table.profiling.words import describes_identifier, is_counted, is_number_of_a_person, is_numbered

# From this share of rows with a value of their own on, a code or text is an identifier in all but name.
NEARLY_ALL = 0.9
MANY = 0.05
FEW = 10
"""A column with so few values is a property, not a name or a number: email_optin, phone_service."""
SHARED = 0.1
"""Ten rows or more have each value on average."""
DATES = "Dates of events are often known to others."
HAS_AMOUNTS = ("family", "origin", "work", "education", "care", "contract", "year")
"""Topics that others can know, unless the values are amounts: a company car in the year of a tax."""
HAS_DATES = ("lab", "medication", "health", "school", "conduct", "outcome")
"""Sensitive topics of which others can know the day, though not what happened: a prescription, a notice."""
ORGANISATIONS = ("place", "work", "education", "care", "contract")
UNKNOWN = "No hint from the name or the values. Treated as a quasi-identifier until you decide."
UNKNOWN_NUMBER = (
    "No hint from the name. Others can hardly know such numbers, so it is taken as sensitive until you decide."
)


@dataclass(frozen=True)
class Evidence:
    """What is known of one column."""

    name: str
    rows: int
    values: pl.Series
    counts: pl.Series
    kind: Kind
    meaning: Meaning | None
    label: str
    shape: Shape | None

    @property
    def present(self) -> int:
        return int(self.counts.sum())

    @property
    def unique_share(self) -> float:
        return int((self.counts == 1).sum()) / self.rows

    @property
    def distinct_share(self) -> float:
        return self.values.len() / max(self.present, 1)

    @property
    def is_property(self) -> bool:
        """Few values that many rows share; the number of a department is one, though it is a number."""
        if self.meaning is not None and self.meaning.topic == "record_number":
            return self.distinct_share <= SHARED
        return self.values.len() <= FEW and self.present >= 3 * self.values.len()

    @property
    def is_measured(self) -> bool:
        """Numbers that count or measure, whatever they count: calls to a phone, floors of an apartment."""
        return self.kind.type == "numeric" and (not self.kind.whole or is_counted(self.name))

    @property
    def looks_like_weight(self) -> bool:
        """Nearly all different, with more decimals than anything that is measured on a body."""
        decimals = self.values.cast(pl.String).str.contains(r"\.\d{4,}$").sum()
        return min(self.distinct_share, decimals / max(self.values.len(), 1)) >= NEARLY_ALL


@dataclass(frozen=True)
class Suggestion:
    """A role, why, and how sure that is."""

    role: Role
    reason: str
    confidence: Confidence = "high"
    topic: str = ""


def suggest(about: Evidence) -> Suggestion:
    """A role and the one reason for it; evidence that is stronger than the name comes first."""
    if about.values.len() <= 1:
        return _one_value(about)
    if about.meaning is not None and about.meaning.role == "weight":
        return _weight(about, about.meaning)
    found = _pointing(about)
    if found is not None:
        return found
    if about.shape is not None and about.shape.topic == "health":
        return Suggestion("sensitive", f"Values are {about.shape.what}.", topic="health")
    if about.meaning is not None and about.meaning.role != "identifier":
        return _by_meaning(about, about.meaning)
    return _by_values(about)


def _one_value(about: Evidence) -> Suggestion:
    """Constants tell nothing, unless some cells are empty, or the value is what everybody here has in common."""
    meaning = about.meaning
    if not about.present:
        return Suggestion("drop", "No values: every cell is missing.", topic="empty")
    missing = about.rows - about.present
    if missing:
        role: Role = meaning.role if meaning and meaning.role in ("identifier", "sensitive") else "sensitive"
        reason = f"One value, missing in {missing:,} rows. Whether it is filled may itself be sensitive."
        return Suggestion(role, reason, "low", meaning.topic if meaning else "constant")
    reason = "All rows have the same value."
    if meaning is not None and meaning.role in ("sensitive", "identifier"):
        return Suggestion(meaning.role, f"{reason} {_named(about, meaning)}", topic=meaning.topic)
    if meaning is None:
        return Suggestion("drop", reason, topic="constant")
    return Suggestion("insensitive", reason, topic="constant")


def _weight(about: Evidence, meaning: Meaning) -> Suggestion:
    """A sampling weight if every row has one and none is negative; otherwise nothing that a release needs."""
    low = about.kind.low
    if about.kind.type == "numeric" and about.present == about.rows and isinstance(low, int | float) and low >= 0:
        reason = f"{_named(about, meaning)} Published as the mean of each group."
        return Suggestion("weight", reason, "medium", meaning.topic)
    reason = f"{_named(about, meaning)} But not every row has one that counts people. Drop it."
    return Suggestion("drop", reason, "medium", meaning.topic)


def _pointing(about: Evidence) -> Suggestion | None:
    """Columns that point to a person or a row by themselves."""
    meaning = about.meaning
    if is_number_of_a_person(about.name) and about.distinct_share > MANY and not about.is_property:
        return Suggestion("identifier", "Column name suggests a number given to a person.", topic="official_number")
    of_people = meaning is None or meaning.topic not in ORGANISATIONS
    if describes_identifier(about.label) and of_people and about.distinct_share > MANY and not about.is_property:
        return Suggestion("identifier", "Description suggests a number given to a record.", topic="record_number")
    if about.shape is not None and about.shape.topic in ("contact", "official_number"):
        return Suggestion("identifier", f"Values are {about.shape.what}.", topic=about.shape.topic)
    if meaning is not None and meaning.role == "identifier":
        if about.is_measured:
            return None
        if about.kind.type == "date":
            return Suggestion("quasi", DATES, "medium", "date")
        if not about.is_property:
            return Suggestion("identifier", _named(about, meaning), topic=meaning.topic)
        reason = f"{_named(about, meaning)} But it has few values, as a property has."
        return Suggestion("quasi", reason, "medium", topic=meaning.topic)
    if meaning is not None and meaning.topic == "body" and about.looks_like_weight:
        return Suggestion(
            "identifier", "Values look like weights of a sample, nearly all unique. Drop it.", topic="sampling"
        )
    points = _points_to_rows(about)
    return None if points is None else Suggestion("identifier", points, topic="record_number")


def _points_to_rows(about: Evidence) -> str | None:
    """Why the values point to single rows, if they do so beyond what generalization could mend."""
    share = about.unique_share
    own = "Every value is unique" if share == 1 else f"{percent(share)} of the rows have a unique value"
    topic = about.meaning.topic if about.meaning else ""
    if topic in ("sampling", "administration") and share > MANY and about.kind.type != "date":
        return f"{own}, and the column says nothing about people. Drop it."
    if about.kind.type == "categorical" and is_free_text(about.values, about.distinct_share):
        return "Free text, which may contain names."
    if about.kind.type == "categorical" and not topic and share >= NEARLY_ALL:
        return f"{own}, as in a column of names."
    if about.kind.whole and about.distinct_share >= NEARLY_ALL and (not topic or is_numbered(about.name)):
        return f"{own}, as in a column of numbers or codes given to each row."
    return None


def _named(about: Evidence, meaning: Meaning) -> str:
    return f"{'Description' if about.label else 'Column name'} suggests {meaning.subject}."


def _by_meaning(about: Evidence, meaning: Meaning) -> Suggestion:
    shape = about.shape
    if shape is not None and shape.topic == "belief" and meaning.role != "sensitive":
        return Suggestion("sensitive", f"Values are {shape.what}.", "medium", shape.topic)
    if about.kind.type == "date" and meaning.topic in HAS_DATES:
        return Suggestion("quasi", DATES, "medium", "date")
    if meaning.topic in HAS_AMOUNTS and _is_money(about):
        return Suggestion("sensitive", "Values look like amounts of money.", "medium", "money")
    doubtful = meaning.topic in ("outcome", "administration", "sampling", "usage", "contract")
    return Suggestion(meaning.role, _named(about, meaning), "medium" if doubtful else "high", meaning.topic)


def _is_money(about: Evidence) -> bool:
    if about.kind.type != "numeric":
        return False
    return looks_like_money(about.values.cast(pl.Float64, strict=False), about.counts)


def _by_values(about: Evidence) -> Suggestion:
    """Nothing is known but the values."""
    if about.shape is not None:
        role: Role = "sensitive" if about.shape.topic in ("belief", "money") else "quasi"
        return Suggestion(role, f"Values are {about.shape.what}.", "medium", about.shape.topic)
    if about.kind.type == "date":
        return Suggestion("quasi", DATES, "medium", "date")
    if _is_money(about):
        return Suggestion("sensitive", "Values look like amounts of money.", "low", "money")
    if any(kind_of_marker(marker) in ("refused", "don't know") for marker in about.kind.missing_markers):
        reason = "No hint from the name. It has codes for refusals, as answers to delicate questions have."
        return Suggestion("sensitive", reason, "low", "answer")
    return Suggestion("quasi", UNKNOWN, "low")
