"""The shape a manifest must have before anything in it is believed or looked up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from polyveil.errors import InputError
from polyveil.verification.forms import FORMS

MOST_ROWS = 2**53
"""Above it a count is no longer exact as a float, and 64-bit sums of counts could overflow."""

Count = Annotated[int, Field(ge=0, le=MOST_ROWS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class FileShape(_Part):
    """A listed file; tables also have rows and columns."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: Count | None = None
    rows: Count | None = None
    columns: list[str] | None = None


class ClaimShape(_Part):
    """A claim with its figures; a figure that is not finite is null."""

    model: str
    attribute: str | None
    statement: str
    helps_against: str
    leaves_open: str
    threshold: float | None
    measured: float | None
    mean: float | None


class MethodShape(_Part):
    """How the release was made: told to readers, and nothing that a verifier could check."""

    name: str
    parameters: dict[str, Any]
    found: dict[str, Any]


class QuasiShape(_Part):
    """A quasi-identifier's domain, as far as the release shows it."""

    kind: Literal["numeric", "date", "ordinal", "categorical", "set"]
    missing: bool
    values: int = Field(default=1, ge=1)
    low: str | None = None
    high: str | None = None


class SensitiveShape(_Part):
    """A sensitive column's values and how often the input had each; one more count stands for missing."""

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
    groups: Count
    count: str = ""


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


class ManifestShape(_Part):
    """What every manifest holds."""

    form: str
    polyveil: str
    method: MethodShape
    policy: dict[str, Any]
    files: dict[str, FileShape] = Field(default_factory=dict)
    rows: Count
    suppressed: Count
    classes: Count
    class_size: dict[str, float]
    privacy: dict[str, Any]
    claims: list[ClaimShape]
    loss: dict[str, Any]
    quasi: dict[str, QuasiShape]
    sensitive: dict[str, SensitiveShape]
    linked: LinkedShape | None = None

    @model_validator(mode="after")
    def _of_its_form(self) -> ManifestShape:
        if self.form not in FORMS:
            raise ValueError("the form is one that the verifier knows")
        if self.form != "generalized" and self.linked is None:
            raise ValueError("linked tables are described")
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
    """Raise InputError where the manifest is not one; says where, never what stands there."""
    try:
        ManifestShape.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "its top"
        raise InputError(
            f"{source} is damaged: {place} is not what a manifest has there ({error.error_count()} such places). "
            "Get the release again from its source"
        ) from None
