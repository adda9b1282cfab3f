"""auto: run several methods and keep the classes of least information loss.

sift is always among them and nearly always wins; the others are there for the tables where it does not. Methods that
cannot reach the policy, or that do not make generalized releases, drop out.

- Guarantee: that of the method chosen, which `found` names.
- Cost: that of all methods together; above `others_up_to` rows only sift and mondrian run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods._search.schedule import Effort
from polyveil.methods.base import Method, Options, Task
from polyveil.partition import Partition
from polyveil.policy.schema import MethodChoice

ALWAYS = ("sift", "mondrian")
OTHERS = ("fcm", "pca", "fragment", "swap", "kaca")
"""Methods that keep every model; those of buckets publish no generalized tables of their own."""


class AutoOptions(Options):
    """Options of `auto`."""

    effort: Effort | Annotated[float, Field(gt=0, le=1_000_000)] = Field(
        default="balanced", description="how long sift may search: fast, balanced, thorough, or a number of seconds"
    )
    others_up_to: int = Field(
        default=50_000, ge=0, description="the slower methods are tried as well on tables of up to this many rows"
    )


class Auto(Method[AutoOptions]):
    """The best of several methods."""

    name = "auto"
    title = "auto: tries several methods on this table and keeps the release with the least detail lost"
    paper = "this package"
    guarantee = "Every requirement is met in every group."
    cost = "The time of all methods that are tried."
    options_type = AutoOptions

    def partition(self, task: Task) -> Partition:
        from polyveil.methods import METHODS  # the registry imports this module by name

        names = [*ALWAYS, *(OTHERS if task.table.rows <= self.options.others_up_to else ())]
        best: tuple[float, Partition] | None = None
        refused: Unsatisfiable | None = None
        for name in names:
            if name not in METHODS:
                continue
            try:
                found = self._run(name, task)
            except (PolicyError, Unsatisfiable) as error:
                refused = error if name == "sift" and isinstance(error, Unsatisfiable) else refused
                continue
            loss = measure_loss(task.table, found.class_of_row).information_loss
            if best is None or loss < best[0]:
                best = loss, replace(found, found={**found.found, "method": name})
        if best is None:
            raise refused or Unsatisfiable("No method reaches the policy", None)
        return best[1]

    def _run(self, name: str, task: Task) -> Partition:
        from polyveil.methods import make_method

        options = {"effort": self.options.effort} if name == "sift" else {}
        return make_method(MethodChoice(name=name, **options)).partition(task)
