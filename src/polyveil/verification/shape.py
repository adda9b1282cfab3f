"""The shape of a manifest: what must be there before anything in it is believed, and that nothing else is.

This is the one description of a manifest: its keys in their order, at every depth, with their types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from polyveil.errors import DamagedRelease
from polyveil.verification.findings import Finding, fails
from polyveil.verification.forms import FORMS

MOST_ROWS = 2**53
"""Above it a count is no longer exact as a float, and 64-bit sums of counts could overflow."""

Count = Annotated[int, Field(ge=0, le=MOST_ROWS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class FileShape(_Part):
    """A listed file; tables also have rows and columns."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: Count | None = None
    rows: Count | None = None
    columns: list[str] | None = None


class TableShape(_Part):
    """A table of a release in a database."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    rows: Count
    columns: list[str]


class ClaimShape(_Part):
    """A claim with its figures; a figure that is not finite is null."""

    model: str
    attribute: str | None
    statement: str
    threshold: float | None
    measured: float | None
    mean: float | None
    helps_against: str
    leaves_open: str


_WORD = "[a-z][a-z0-9_.-]{0,59}"
TableName = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9_]{0,59}$")]
Word = Annotated[str, Field(pattern=f"^{_WORD}$")]


def is_word(text: Any) -> bool:
    """Whether a text is a name as methods, models and their options have it."""
    return isinstance(text, str) and re.fullmatch(_WORD, text) is not None


class FoundShape(_Part):
    """What a method may say it found by itself: told to readers, and nothing that a verifier could check."""

    blocks: Count | None = None
    strata: Count | None = None
    fragments: Count | None = None
    bounds: dict[str, float] | None = None
    stopped_at_limit: bool | None = None
    trivially_close: list[str] | None = None
    restarts: Count | None = None
    residual_rows: Count | None = None
    slices: list[list[str]] | None = None
    levels: dict[str, Count] | None = None
    optimal: bool | None = None
    method: Word | None = None
    refined: Word | float | None = None


class MethodShape(_Part):
    """How the release was made."""

    name: Word
    parameters: dict[Word, Any]
    found: FoundShape


class LossShape(_Part):
    """What the release cost; that these are numbers is checked where they are measured."""

    information_loss: Any = None
    normalized_loss: Any = None
    discernibility: Any = None
    precision: Any = None
    average_class_size: Any = None
    entropy: Any = None
    suppression_ratio: Any = None
    distortion: Any = None
    by_attribute: Any = None
    weighted_loss: Any = None
    additional_information_loss: Any = None


class SizesShape(_Part):
    """Rows of the smallest class, of all on average, and of the largest."""

    min: Count
    mean: float
    max: Count


class QuasiShape(_Part):
    """A quasi-identifier's domain, as far as the release shows it."""

    kind: Literal["numeric", "date", "ordinal", "categorical", "set"]
    values: int = Field(default=1, ge=1, le=MOST_ROWS)
    missing: bool
    low: str | None = None
    high: str | None = None


class SensitiveShape(_Part):
    """A sensitive column's values and how often they occur, as `counts_of` says; one more count stands for missing."""

    distance: str
    kind: Literal["numeric", "date", "ordinal", "categorical"]
    values: list[str]
    counts: list[Count] = Field(min_length=1)

    @model_validator(mode="after")
    def _fitting(self) -> SensitiveShape:
        if len(self.counts) - len(self.values) not in (0, 1) or not _distinct(self.values):
            raise ValueError("every value is there once and has a count")
        if sum(self.counts) > MOST_ROWS:
            raise ValueError("the counts are those of a table")
        return self


class SliceShape(_Part):
    """A sensitive table of a linked release."""

    table: str
    group: str
    attributes: list[str] = Field(min_length=1)
    count: str = ""
    groups: Count


class LinkedShape(_Part):
    """The sensitive tables of a linked release, each with a name and a group id of its own."""

    slices: list[SliceShape] = Field(min_length=1)
    rows_with_suppressed_values: Count

    @field_validator("slices")
    @classmethod
    def _told_apart(cls, slices: list[SliceShape]) -> list[SliceShape]:
        if not _distinct(["quasi", *(one.table for one in slices)]) or not _distinct([one.group for one in slices]):
            raise ValueError("tables and group ids have names of their own")
        return slices


def _distinct(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


class PeopleClaimShape(_Part):
    """A guarantee measured in people."""

    model: Word
    attribute: str | None
    statement: str | None = None
    measured: float | None


class PeopleShape(_Part):
    """The guarantees in people, of a table in which a person may have several rows: told, not checked."""

    count: Count
    released: Count
    class_size: SizesShape
    privacy: dict[Word, float | dict[str, float | None] | None]
    claims: list[PeopleClaimShape]
    rows_left_out: Count | None = None


class ViewShape(_Part):
    """A table of a relational release with the quasi-identifiers of all tables joined to its rows."""

    rows: Count
    suppressed: Count
    class_size: SizesShape
    privacy: dict[str, Any]
    claims: list[ClaimShape]
    loss: LossShape
    counts_of: Literal["input", "released"]
    people: PeopleShape


class RelationalShape(_Part):
    """The tables of a relational release, that of people first, and the column that links them."""

    group: Word
    tables: dict[TableName, ViewShape] = Field(min_length=2)


class ManifestShape(_Part):
    """What every manifest holds."""

    format: Literal["polyveil-release"]
    format_version: Literal[1]
    polyveil: str = Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,4}){1,3}([.+]?(a|b|rc|dev|post)[0-9]{1,4}){0,2}$")
    form: str
    policy: dict[str, Any]
    method: MethodShape
    rows: Count
    suppressed: Count
    classes: Count
    class_size: SizesShape
    privacy: dict[str, Any]
    claims: list[ClaimShape]
    loss: LossShape
    quasi: dict[str, QuasiShape]
    sensitive: dict[str, SensitiveShape]
    counts_of: Literal["input", "released"] = "input"
    people: PeopleShape | None = None
    linked: LinkedShape | None = None
    relational: RelationalShape | None = None
    files: dict[str, FileShape] = Field(default_factory=dict)
    tables: dict[str, TableShape] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_its_form(self) -> ManifestShape:
        if self.form not in FORMS:
            raise ValueError("the form is one that the verifier knows")
        if (self.form == "relational") != (self.relational is not None):
            raise ValueError("the tables of a relational release are described")
        if (self.linked is None) != (self.form in ("generalized", "relational")):
            raise ValueError("linked tables, and only they, are described")
        return self

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, FileShape]) -> dict[str, FileShape]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError("a listed file lies inside the release")
        return files


def check_shape(manifest: dict[str, Any], source: str) -> None:
    """Raise DamagedRelease if the manifest is not one; says where, never what stands there."""
    try:
        ManifestShape.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "its top"
        raise DamagedRelease(
            f"{source} is damaged: {place} is not what a manifest has there ({error.error_count()} such places). "
            "Get the release again from its source"
        ) from None


def unknown_keys(manifest: Mapping[str, Any]) -> list[Finding]:
    """Keys a manifest does not have, and keys that are not in their order, at any depth."""
    known = ManifestShape.model_validate(manifest).model_dump(exclude_unset=True)
    return [fails("manifest", f"the manifest has {where}") for where in _differences(manifest, known, "it")]


def _differences(stated: Any, known: Any, place: str) -> Iterator[str]:
    if isinstance(stated, Mapping):
        strange = [key for key in stated if key not in known]
        if strange:
            yield f"{len(strange)} unknown keys in {place}"
        elif list(stated) != list(known):
            yield f"keys in another order in {place}"
        for key in (key for key in stated if key in known):
            yield from _differences(stated[key], known[key], f"{place}.{key}")
    elif isinstance(stated, list):
        for i, (item, kept) in enumerate(zip(stated, known, strict=True)):
            yield from _differences(item, kept, f"{place}.{i}")
    elif isinstance(stated, float) and isinstance(known, int):
        yield f"a fraction for a whole number in {place}"
