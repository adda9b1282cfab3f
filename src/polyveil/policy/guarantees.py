"""Which keys of a policy ask for a guarantee, which ones change what another key means, and keys added from outside.

The fields of `Privacy` and `Column` say it themselves with the marks `Asks` and `Sets`; whoever needs the keys reads
them here. A model from outside the package brings its key with a `PolicyField`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from polyveil.policy.scalars import Number, Whole

About = Literal["groups", "column", "columns"]


@dataclass(frozen=True)
class Asks:
    """Marks a key that asks for a guarantee about the groups, each sensitive column, or columns taken together."""

    about: About


@dataclass(frozen=True)
class Sets:
    """Marks a key that changes what another key asks for."""

    key: str


ABOUT_GROUPS, OF_COLUMN, OF_COLUMNS = Asks("groups"), Asks("column"), Asks("columns")


@dataclass(frozen=True)
class PolicyField:
    """A key that a model from outside brings: a number within bounds, in `privacy` and for single columns."""

    kind: type[int] | type[float]
    description: str
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None

    def info(self) -> FieldInfo:
        """The same as a field of a policy, with the checks of all others."""
        number: Any = Annotated[Whole | None if self.kind is int else Number | None, OF_COLUMN]
        bounds = Field(default=None, ge=self.ge, gt=self.gt, le=self.le, lt=self.lt, description=self.description)
        return FieldInfo.from_annotated_attribute(number, bounds)


def guarantee_keys(part: type[BaseModel], *about: About) -> tuple[str, ...]:
    """The keys of `Privacy` or `Column` that ask for a guarantee, all or those about something."""
    marks = {key: mark for key, info in part.model_fields.items() for mark in info.metadata if isinstance(mark, Asks)}
    return tuple(key for key, mark in marks.items() if not about or mark.about in about)


def setting_keys(part: type[BaseModel], *of: str) -> tuple[str, ...]:
    """The keys that change what others ask for, all or those of some keys."""
    marks = {key: mark for key, info in part.model_fields.items() for mark in info.metadata if isinstance(mark, Sets)}
    return tuple(key for key, mark in marks.items() if not of or mark.key in of)
