"""What the methods share that first build classes of a given size and then merge: the size, and the search for it.

wang2018 takes one row from each of k strata, so classes have k rows, and merges those that are not t-close. With a
tight t and a small k nearly every class fails and merging collapses the table (k = 2, t = 0.1 on Adult: classes of
hundreds of rows). The number of strata g >= k is therefore free here:

- `strata: k`    the papers' behaviour, g = k;
- `strata: 12`   a given g;
- `strata: auto` the g with the least information loss at the demands of the policy (of nearly equal ones, that with
  the most classes). `seed_order: best` then tries both orders of seeds at that g and at g = k.

The search tries g = k and then about 1.4 times as many again and again, until classes need hardly any merging - from
there on more strata only make classes larger - and then looks closer around the best. Large tables are searched on a
random sample of rows: how many rows make a class close does not depend on how many classes there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from polyveil.arrays import Codes, IntArray
from polyveil.errors import Fault, PolicyError, Unsatisfiable
from polyveil.measure.boxes import class_boxes
from polyveil.measure.loss import mean_costs, width
from polyveil.methods._kernels.boxes import code_matrix
from polyveil.methods._kernels.distance import QuasiMetric, quasi_metric
from polyveil.methods._kernels.judge import JudgeSpec, compile_constraints, sensitive_matrix, violation_classes
from polyveil.methods._kernels.reachable import reachable_basis, trivially_close, unreachable, with_suppressed
from polyveil.methods._kernels.row_index import plant, tuple_order
from polyveil.methods._strata.generate import SeedOrder, generate, seed_sequence
from polyveil.methods._strata.merge import MergeRule, merge
from polyveil.methods._strata.printed import ensure_closeness_as_printed, generate_as_printed
from polyveil.methods.as_printed import PaperOptions, in_force
from polyveil.methods.base import Method, OptionsT, Task
from polyveil.models import attributes_of
from polyveil.partition import Partition, partition_of
from polyveil.table.coded import CodedTable

SEARCH_ROWS = 40_000
"""A larger table is searched on a sample of this many rows."""

GROWTH = 1.4
FEW_FAILING = 0.02
NEAR_THE_LEAST = 0.02
PATIENCE = 3
MOST_PATIENCE = 6
"""Steps without a better loss after which the search ends: few failing classes, or in any case."""


class StrataOptions(PaperOptions):
    """Options of every method that builds classes of a size g and merges those that fail."""

    strata: Literal["auto", "k"] | Annotated[int, Field(ge=1)] = Field(
        default="auto",
        description="rows per group before merging, one from each stratum: auto (least loss), k, or a number",
    )
    merge: MergeRule = Field(
        default="best",
        description="partner of a failing group: best (of the near ones, the most helpful) or nearest (the paper)",
    )
    partners: int = Field(default=16, ge=1, le=1000, description="how many near groups `merge: best` looks at")
    seed_order: SeedOrder | Literal["best"] = Field(
        default="best",
        description="first rows of groups: random (the paper), those farthest from the centre first, or the better of "
        "the two",
    )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table made ready for building classes: computed once, used for every g tried."""

    table: CodedTable
    judge: JudgeSpec
    codes: Codes
    sensitive: Codes
    metric: QuasiMetric
    place: IntArray  # of each distinct quasi-identifier tuple in the k-d order

    @property
    def place_of_row(self) -> IntArray:
        return self.place[self.table.quasi_tuples.of_row]


def prepare(table: CodedTable, judge: JudgeSpec) -> Prepared:
    """Prepare a table."""
    metric = quasi_metric(table)
    place = tuple_order(table.quasi_tuples.codes, metric)
    return Prepared(table, judge, code_matrix(table), sensitive_matrix(table), metric, place)


@dataclass(frozen=True, eq=False)
class Trial:
    """Classes built with g rows each and merged: how many failed before merging, and the loss after it."""

    g: int
    labels: IntArray
    failing_share: float
    loss: float

    @property
    def classes(self) -> int:
        return int(self.labels.max(initial=-1)) + 1


Build = Callable[[int, SeedOrder, np.random.Generator], IntArray]
"""Classes of about g rows, numbered from 0 without gaps, before merging."""


class StratifiedMethod(Method[OptionsT]):
    """A method that says how to build classes of g rows; the search for g and the merging are here."""

    options: Any
    search_rows: ClassVar[int] = SEARCH_ROWS

    @abstractmethod
    def builder(self, ready: Prepared, task: Task) -> Build:
        """Prepare what does not depend on g and return the function that builds classes."""

    def fixed_size(self, ready: Prepared, task: Task) -> int | None:
        """The rows per class where the method leaves no choice."""
        return None

    def found(self, ready: Prepared, task: Task) -> dict[str, Any]:
        """What else the method found by itself, to be reported."""
        return {}

    merging: ClassVar[Literal["none", "once", "again"]] = "once"
    """How often, as printed, a class that fails is merged: never, once (Pseudocode 2), or until all hold."""

    def partition(self, task: Task) -> Partition:
        if self.options.as_printed:
            return self._as_printed(task)
        basis = reachable_basis(task)
        ready = prepare(basis.table, basis.judge)
        secret = int(task.rng.integers(2**62))
        least, most = strata_range(task, basis.table.rows)
        asked = self.fixed_size(ready, task) or self.options.strata
        if asked == "auto":
            trial = self._search(ready, task, secret, least, most)
        else:
            g = strata_asked(asked, task, basis.table.rows)
            build = self.builder(ready, task)
            trial = min((self.trial(ready, build, g, order, secret) for order in self._orders), key=_loss)
        if violation_classes(ready.judge, trial.labels, ready.sensitive).any():
            raise unreachable(task)
        found: dict[str, Any] = {"strata": trial.g, **self.found(ready, task)}
        constant = trivially_close([c.name for c in basis.table.sensitive], task.attributes)
        if constant:
            found["trivially_close"] = constant
        return partition_of(with_suppressed(trial.labels, basis, task.table.rows), **found)

    @property
    def _orders(self) -> tuple[SeedOrder, ...]:
        asked: SeedOrder | Literal["best"] = self.options.seed_order
        return ("farthest", "random") if asked == "best" else (asked,)

    def printed_classes(self, task: Task) -> IntArray:
        """The class of each row exactly as the paper prints it, whether or not the classes hold (-1: left over)."""
        return type(self)(in_force(self.name, self.options))._printed(task)

    def _printed(self, task: Task) -> IntArray:
        ready = prepare(task.table, compile_constraints(task.models, task.attributes, task.table))
        g = self.fixed_size(ready, task) or strata_asked("k", task, task.table.rows)
        labels = self.builder(ready, task)(g, self._orders[0], task.rng)
        if self.merging == "none":
            return labels
        return ensure_closeness_as_printed(
            labels, ready.codes, ready.sensitive, ready.judge, ready.metric, again=self.merging == "again"
        )

    def _as_printed(self, task: Task) -> Partition:
        labels = self.printed_classes(task)
        judge = compile_constraints(task.models, task.attributes, task.table)
        failing = int(np.count_nonzero(violation_classes(judge, labels, sensitive_matrix(task.table))))
        left = int((labels < 0).sum())
        if failing or left > task.suppressible:
            raise Unsatisfiable(
                f"{self.name} as printed gives {int(labels.max(initial=-1)) + 1} groups, of which {failing} do not "
                f"meet the requirements, and leaves out {left} rows",
                "leave out `as_printed`: merging then goes on until every group meets them",
            )
        return partition_of(labels)

    def trial(self, ready: Prepared, build: Build, g: int, order: SeedOrder, secret: int) -> Trial:
        """Build with g rows per class, merge, measure. Equal (g, order, secret) give equal classes."""
        labels = build(g, order, np.random.default_rng([secret, g]))
        built = int(labels.max(initial=-1)) + 1
        labels, failing = merge(
            labels,
            ready.codes,
            ready.sensitive,
            ready.judge,
            ready.metric,
            ready.place_of_row,
            self.options.merge,
            self.options.partners,
        )
        loss = sum(mean_costs(ready.table, class_boxes(ready.table, labels), width).values())
        return Trial(g, labels, failing / max(built, 1), loss)

    def _search(self, ready: Prepared, task: Task, secret: int, least: int, most: int) -> Trial:
        rows = ready.table.rows
        if rows <= self.search_rows:
            return self._least(ready, task, secret, least, most)
        chosen = np.sort(np.random.default_rng(secret).choice(rows, self.search_rows, replace=False))
        sample = ready.table.take(chosen)
        judge = compile_constraints(task.models, attributes_of(sample), sample)
        best = self._least(prepare(sample, judge), task, secret, least, min(most, self.search_rows))
        build = self.builder(ready, task)
        return min((self.trial(ready, build, best.g, order, secret) for order in self._orders), key=_loss)

    def _least(self, ready: Prepared, task: Task, secret: int, least: int, most: int) -> Trial:
        """The search with the first order of seeds; then the others, at the best g and at the least one."""
        build, (first, *others) = self.builder(ready, task), self._orders
        best = least_loss(lambda g: self.trial(ready, build, g, first, secret), least, most, task)
        more = [self.trial(ready, build, g, order, secret) for order in others for g in sorted({best.g, least})]
        return min([best, *more], key=_loss)


def _loss(trial: Trial) -> float:
    return trial.loss


def strata_range(task: Task, rows: int) -> tuple[int, int]:
    """The least and greatest g worth trying."""
    return min(max(task.k, 2), rows), rows


def strata_asked(asked: Literal["k"] | int, task: Task, rows: int) -> int:
    """The g of `strata: k` or `strata: N`; raises PolicyError if it makes no sense."""
    if asked == "k":
        if task.privacy.k is None:
            rule, remedy = "strata: k takes k from privacy.k, which is not given", "Give privacy.k, or a number"
            raise PolicyError([Fault("method.strata", rule, remedy)])
        return task.k
    if asked > rows:
        rule = f"{asked} strata are asked for, but there are {rows} rows to put into them"
        raise PolicyError([Fault("method.strata", rule, f"Ask for at most {rows}, or for auto")])
    if asked < task.k:
        rule = f"a group takes one row from each of the {asked} strata, which is fewer than k = {task.k}"
        raise PolicyError([Fault("method.strata", rule, f"Ask for at least {task.k}, or for auto")])
    return asked


def least_loss(evaluate: Callable[[int], Trial], least: int, most: int, task: Task) -> Trial:
    """The trial with the least loss found: a rising sequence of g, then closer looks around its best."""
    tried: dict[int, Trial] = {}
    whole = sum(column.weight for column in task.table.quasi) or 1.0

    def look(g: int) -> Trial:
        if g not in tried:
            tried[g] = evaluate(g)
            best = min(trial.loss for trial in tried.values())
            task.progress.advance(
                len(tried) / (len(tried) + 6.0), f"strata {g}, {100 * best / whole:.2f} % lost so far"
            )
        return tried[g]

    g, since_best, least_so_far = least, 0, np.inf
    while g <= most:
        trial = look(g)
        since_best = 0 if trial.loss < least_so_far else since_best + 1
        least_so_far = min(least_so_far, trial.loss)
        if trial.failing_share <= FEW_FAILING and since_best >= PATIENCE:
            break
        if since_best >= MOST_PATIENCE or (trial.failing_share == 0.0 and since_best >= 1):
            break
        g = max(g + 1, round(g * GROWTH))
    for _ in range(3):
        best = min(tried, key=lambda g: (tried[g].loss, g))
        below = max((g for g in tried if g < best), default=best)
        above = min((g for g in tried if g > best), default=best)
        look((below + best) // 2 if best - below > 1 else best)
        look((best + above + 1) // 2 if above - best > 1 else best)
    return most_classes_of_the_best(list(tried.values()))


def most_classes_of_the_best(trials: Sequence[Trial]) -> Trial:
    """Of the trials whose loss is within two hundredths of the least, the one with the most classes.

    Losses so near are chance; smaller classes leave a refinement more to work with.
    """
    least = min(trial.loss for trial in trials)
    near = [trial for trial in trials if trial.loss <= least * (1.0 + NEAR_THE_LEAST)]
    return max(near, key=lambda trial: (trial.classes, -trial.loss, -trial.g))


def classes_from_strata(
    ready: Prepared,
    stratum_of_row: IntArray,
    sizes: IntArray,
    classes: int,
    order: SeedOrder,
    rng: np.random.Generator,
    *,
    printed: bool = False,
) -> IntArray:
    """Plant a tree per stratum and generate the classes (Pseudocode 1; to the letter with `printed`)."""
    of_row = ready.table.quasi_tuples.of_row
    forest = plant(ready.codes, of_row, ready.place, stratum_of_row, len(sizes), ready.metric)
    seeds = seed_sequence(ready.table, order, rng)
    return generate_as_printed(forest, sizes, seeds) if printed else generate(forest, sizes, classes, seeds)


def equal_sizes(rows: int, strata: int) -> IntArray:
    """Sizes that differ by at most one."""
    sizes = np.full(strata, rows // strata, dtype=np.int64)
    sizes[: rows % strata] += 1
    return sizes
