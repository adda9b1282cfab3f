"""What an engine is: it takes the steps of a release where the rows are. `polyveil.pipeline` says in which order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from polyveil.bounds import LossBound
from polyveil.methods.base import Method
from polyveil.models import Attribute, ClassStatistics, Model, Verdict
from polyveil.policy import Policy
from polyveil.progress import Progress
from polyveil.releases.form import Form
from polyveil.verification import Verification

SourceT = TypeVar("SourceT")
BoundT = TypeVar("BoundT")
FoundT = TypeVar("FoundT")
FiguresT = TypeVar("FiguresT", bound="Figures")
TableT = TypeVar("TableT")
ReleaseT = TypeVar("ReleaseT", bound="AnyRelease")


class Figures(Protocol):
    """What was measured of the classes, before anything is made of them."""

    @property
    def verdicts(self) -> Sequence[Verdict]: ...

    @property
    def classes(self) -> int: ...


class AnyRelease(Protocol):
    """A release that can be verified, whatever kind of table it holds."""

    def verify(self) -> Verification: ...


@dataclass(frozen=True, eq=False)
class Job:
    """What every step after binding gets to know. The form's options are filled in in the policy."""

    policy: Policy
    method: Method[Any]
    form: Form
    attributes: Mapping[str, Attribute]
    models: tuple[Model, ...]
    seed: int | None
    progress: Progress


class Engine(ABC, Generic[SourceT, BoundT, FoundT, FiguresT, TableT, ReleaseT]):
    """One run of the pipeline on one kind of table. Steps are listed in the order in which they are called."""

    population: Any = None
    """The table of the population that a release is verified with, if its policy names one."""

    def running(self) -> AbstractContextManager[None]:
        """Wraps the whole run: frees what it holds, and makes one-line errors of the engine's own."""
        return nullcontext()

    def refuse(self, policy: Policy, method: Method[Any]) -> None:
        """Raise PolicyError for what this engine cannot do."""
        return

    @abstractmethod
    def check_place(self, out: Path | str, *, overwrite: bool) -> None:
        """Refuse early a place that could not be written to at the end."""

    @abstractmethod
    def read(self, source: Any) -> SourceT: ...

    def natural_format(self, table: SourceT) -> Literal["parquet", "csv"]:
        """How releases of this table are written unless the policy says otherwise."""
        return "parquet"

    @abstractmethod
    def columns(self, table: SourceT) -> Sequence[str]:
        """The names of the table's columns."""

    @abstractmethod
    def bind(self, table: SourceT, policy: Policy) -> BoundT:
        """The policy bound to the table and the table as codes; raises PolicyError with all that does not fit."""

    @abstractmethod
    def attributes(self, bound: BoundT) -> dict[str, Attribute]:
        """The sensitive attributes with the whole table's distribution."""

    @abstractmethod
    def whole(self, bound: BoundT) -> ClassStatistics:
        """The table as one class: the most any method can join."""

    @abstractmethod
    def partition(self, job: Job, bound: BoundT) -> FoundT:
        """The method's classes."""

    @abstractmethod
    def refine(self, job: Job, bound: BoundT, found: FoundT) -> FoundT:
        """The classes improved as far as the policy asks, and arranged as the form publishes them."""

    def least_loss(self, job: Job, bound: BoundT, seconds: float, least_rows: int) -> LossBound | None:
        """What every release of the table must lose; None if it has fewer rows, or if that is not known."""
        return None

    @abstractmethod
    def measure(self, job: Job, bound: BoundT, found: FoundT) -> FiguresT:
        """What the release can claim, counted from codes and classes, not from the cells that are published."""

    @abstractmethod
    def manifest(self, job: Job, bound: BoundT, found: FoundT, figures: FiguresT) -> dict[str, Any]: ...

    @abstractmethod
    def tables(self, job: Job, bound: BoundT, found: FoundT) -> dict[str, TableT]:
        """The tables to publish."""

    @abstractmethod
    def release(
        self,
        bound: BoundT,
        found: FoundT,
        tables: dict[str, TableT],
        manifest: dict[str, Any],
        seconds: Mapping[str, float],
    ) -> ReleaseT: ...

    @abstractmethod
    def publish(
        self, release: ReleaseT, out: Path | str, *, overwrite: bool, report: bool, accept: Callable[[Any], None]
    ) -> ReleaseT:
        """Write everything beside its place, let `accept` judge what was written, and only then give it its name."""

    @abstractmethod
    def verify(self, written: Any) -> Verification:
        """What the verifier says of what was written, from the files alone."""
