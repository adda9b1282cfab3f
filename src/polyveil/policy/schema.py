"""The policy: what a steward declares about a table. Frozen, round-trips through YAML, imports no engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, field_validator

from polyveil.policy.rules import HierarchyRule, parse_rule

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]
ColumnType = Literal["numeric", "categorical", "ordinal", "date"]
Distance = Literal["ordered", "hierarchical", "equal", "hellinger", "kl", "js"]
Diversity = Literal["frequency", "distinct", "entropy", "recursive"]

DEFAULT_LEVEL = 1
DEFAULT_METHOD = "mondrian"


class Part(BaseModel):
    """A part of a policy: unknown keys are faults, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Part):
    """One column: its role, and what that role needs."""

    role: Role = Field(description="identifier: dropped; quasi: generalized; sensitive: protected; insensitive: kept")
    type: ColumnType | None = Field(default=None, description="found from the data where it is not given")
    hierarchy: SerializeAsAny[HierarchyRule] | None = Field(
        default=None, description="a CSV file, a nested tree, or a rule: mask, intervals, date, order"
    )
    recode: Literal["hierarchy", "set"] = Field(
        default="hierarchy", description="release as a node or as a set of values"
    )
    weight: float = Field(default=1.0, gt=0, description="how much a quasi-identifier counts in distances")
    missing: tuple[str, ...] = Field(default=(), description="cells of this column that mean 'missing'")
    date_format: str | None = Field(default=None, description="strptime format of a date column; ISO 8601 by default")
    t: float | None = Field(default=None, ge=0, le=1, description="t-closeness threshold of this sensitive column")
    distance: Distance | None = Field(default=None, description="how closeness is measured")
    l: int | dict[int, int] | None = Field(default=None, description="l-diversity of this column, or one l per level")  # noqa: E741
    levels: dict[int, tuple[str, ...]] = Field(default_factory=dict, description="security level -> values")
    alpha: float | None = Field(default=None, gt=0, le=1, description="greatest share of any one value in a class")
    beta: float | None = Field(default=None, gt=0, description="beta-likeness")
    delta: float | None = Field(default=None, gt=0, description="delta-disclosure privacy")

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _any_notation(cls, value: Any) -> Any:
        return None if value is None else parse_rule(value)

    @field_validator("levels", mode="before")
    @classmethod
    def _values_as_text(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {level: tuple(str(item) for item in _as_list(items)) for level, items in value.items()}

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_as_text(cls, value: Any) -> Any:
        return tuple(str(item) for item in _as_list(value))

    @field_validator("l")
    @classmethod
    def _positive(cls, value: int | dict[int, int] | None) -> int | dict[int, int] | None:
        return check_diversity(value)


class Privacy(Part):
    """The guarantees asked for. What is not asked for is not checked; a column's own value wins over these."""

    k: int | None = Field(default=None, ge=2, description="least number of rows that look alike")
    l: int | dict[int, int] | None = Field(default=None, description="l-diversity, or one l per security level")  # noqa: E741
    diversity: Diversity = Field(default="frequency", description="what l means")
    c: float = Field(default=2.0, gt=0, description="c of recursive (c,l)-diversity")
    t: float | None = Field(default=None, ge=0, le=1, description="t-closeness of every sensitive column")
    p: int | None = Field(default=None, ge=2, description="p-sensitive k-anonymity: distinct values per class")
    alpha: float | None = Field(default=None, gt=0, le=1, description="(alpha,k)-anonymity")
    beta: float | None = Field(default=None, gt=0, description="beta-likeness")
    beta_kind: Literal["basic", "enhanced"] = "enhanced"
    delta: float | None = Field(default=None, gt=0, description="delta-disclosure privacy")
    suppression_limit: float = Field(default=0.0, ge=0, le=1, description="greatest share of rows that may be left out")

    @field_validator("l")
    @classmethod
    def _positive(cls, value: int | dict[int, int] | None) -> int | dict[int, int] | None:
        return check_diversity(value)


class MethodChoice(BaseModel):
    """The method's name; its options are checked by the method itself."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str = DEFAULT_METHOD

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ReleaseChoice(Part):
    """How the release is published."""

    form: Literal["generalized", "anatomized", "sliced"] = "generalized"
    format: Literal["parquet", "csv"] = "parquet"
    numbers: Literal["interval", "midpoint", "mean"] = Field(
        default="interval", description="how a generalized number is written"
    )


class Policy(Part):
    """Everything declared about one table."""

    version: Literal[1] = 1
    columns: dict[str, Column] = Field(min_length=1)
    privacy: Privacy = Field(default_factory=Privacy)
    method: MethodChoice = Field(default_factory=MethodChoice)
    release: ReleaseChoice = Field(default_factory=ReleaseChoice)
    missing: tuple[str, ...] = Field(default=(), description="cells of any column that mean 'missing', for example '?'")

    folder: Path = Field(default=Path(), exclude=True, description="where hierarchy files are looked up")

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_as_text(cls, value: Any) -> Any:
        return tuple(str(item) for item in _as_list(value))

    def having(self, role: Role) -> tuple[str, ...]:
        """The names of the columns of one role, in order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: Path | str = ".") -> Policy:
        """Build from plain data; raises PolicyError with every fault."""
        from polyveil.policy.load import from_dict

        return from_dict(data, folder=Path(folder))

    @classmethod
    def from_yaml(cls, path: Path | str) -> Policy:
        """Read a policy file; raises PolicyError with every fault, each with its line."""
        from polyveil.policy.load import from_file

        return from_file(Path(path))

    def to_yaml(self) -> str:
        """The policy as a YAML file's text; reading it back gives an equal policy."""
        from polyveil.policy.load import to_yaml

        return to_yaml(self)


def check_diversity(value: int | dict[int, int] | None) -> int | dict[int, int] | None:
    """An l is at least 1; one l per level does not fall as the level rises."""
    if isinstance(value, int) and value < 1:
        raise ValueError("l must be at least 1")
    if isinstance(value, dict):
        if not value or any(item < 1 for item in value.values()):
            raise ValueError("give an l of at least 1 for each security level")
        rising = [value[level] for level in sorted(value)]
        if rising != sorted(rising):
            raise ValueError("a higher security level must not have a smaller l")
    return value


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
