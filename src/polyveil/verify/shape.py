"""The shape a manifest must have before anything in it is believed or looked up."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from polyveil.errors import InputError


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class FileShape(_Part):
    """A listed file; tables also have rows and columns."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    rows: int | None = Field(default=None, ge=0)
    columns: list[str] | None = None


class ClaimShape(_Part):
    """A claim with its figures; a figure that is not finite is null."""

    model: str
    attribute: str | None
    threshold: float | None
    measured: float | None
    mean: float | None


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
    kind: str
    values: list[str]
    counts: list[int]


class ManifestShape(_Part):
    """What every manifest holds."""

    form: Literal["generalized", "anatomized", "sliced"]
    policy: dict[str, Any]
    files: dict[str, FileShape] = Field(default_factory=dict)
    rows: int = Field(ge=0)
    suppressed: int = Field(ge=0)
    classes: int = Field(ge=0)
    class_size: dict[str, float]
    privacy: dict[str, Any]
    claims: list[ClaimShape]
    loss: dict[str, Any]
    quasi: dict[str, QuasiShape]
    sensitive: dict[str, SensitiveShape]

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
