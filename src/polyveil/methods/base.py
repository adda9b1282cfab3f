"""What a method is: it turns a coded table into classes that satisfy the models, blind to which models they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from polyveil.models import Attribute, Model
from polyveil.models.people import Everybody
from polyveil.partition import Partition
from polyveil.policy.forms import forms_of_one_table
from polyveil.policy.schema import Privacy
from polyveil.progress import SILENT, Progress
from polyveil.table.coded import CodedTable
from polyveil.table.register import Register


@dataclass(frozen=True, eq=False)
class Task:
    """All a method gets to see. `models` must hold in every class; `privacy` tells how many rows may be suppressed."""

    table: CodedTable
    models: tuple[Model, ...]
    attributes: Mapping[str, Attribute]
    privacy: Privacy
    rng: np.random.Generator
    progress: Progress = SILENT
    slices: tuple[tuple[str, ...], ...] = ()
    """What `Method.slices` said of the whole table, where the task is one block of it."""
    register: Register | None = None
    """The population, where a policy names a table of it."""
    everybody: Everybody | None = None
    """The people of the whole table, where the task is one block of it."""
    goes_on: bool = False
    """Whether the classes are improved in another way afterwards, so that good first ones will do."""

    @property
    def k(self) -> int:
        """The least class size asked for (1 if no k is asked)."""
        return self.privacy.least_group

    @property
    def suppressible(self) -> int:
        """How many rows may be left out."""
        return int(self.privacy.suppression_limit * self.table.rows + 1e-9)

    def lost_so_far(self, loss: float) -> str:
        """What to tell of a mean loss of a row while a method searches."""
        whole = sum(column.weight for column in self.table.quasi) or 1.0
        return f"{100 * loss / whole:.2f} % lost so far"


class Options(BaseModel):
    """Base of a method's options: unknown ones are faults. Field descriptions feed help texts and forms."""

    model_config = ConfigDict(extra="forbid", frozen=True)


OptionsT = TypeVar("OptionsT", bound=Options)


class Method(ABC, Generic[OptionsT]):
    """A registered method. Class attributes describe it to people; `partition` does the work."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    guarantee: ClassVar[str]
    cost: ClassVar[str]
    forms: ClassVar[tuple[str, ...]] = forms_of_one_table()
    """The forms in which its classes can be released, its own first."""
    makes_own_slices: ClassVar[bool] = False
    """Whether it decides itself which sensitive attributes are published together, and groups each slice on its own."""
    options_type: ClassVar[type[Options]] = Options
    judges_by_model: ClassVar[bool] = False
    """It asks the models themselves about classes, so it needs no constraints from them."""

    recodes_columns: ClassVar[bool] = False
    """Whether it can recode columns one by one, for guarantees about any few quasi-identifiers (`privacy.any`)."""

    def __init__(self, options: OptionsT) -> None:
        self.options = options

    @abstractmethod
    def partition(self, task: Task) -> Partition:
        """Classes that satisfy every model of the task; raises Unsatisfiable if that cannot be done."""

    def slices(self, table: CodedTable) -> tuple[tuple[str, ...], ...]:
        """The sensitive attributes it publishes together, where it decides that itself; empty if the form does."""
        return ()
