"""sift: hand-checked classes, and what its options promise. The conformance suite checks it with every model."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.methods.mondrian import Mondrian, MondrianOptions
from polyveil.methods.sift import Sift, SiftOptions
from polyveil.models import FrequencyDiversity, KAnonymity, Model, TCloseness, attributes_of, codes_of, from_classes
from polyveil.partition import Partition
from polyveil.policy.hierarchy import flat
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.progress import Progress
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain
from tables import random_table


def task_for(table: CodedTable, *models: Model, seed: int = 0, limit: float = 0.0) -> Task:
    k = next((int(model.threshold) for model in models if isinstance(model, KAnonymity)), None)
    privacy = Privacy(k=k, suppression_limit=limit)
    return Task(table, models, attributes_of(table), privacy, np.random.default_rng(seed))


def close(table: CodedTable, k: int, t: float) -> tuple[Model, ...]:
    return (KAnonymity(k), *(TCloseness(t, column.name) for column in table.sensitive))


def sift(task: Task, effort: str | float = "fast") -> Partition:
    return Sift(SiftOptions(effort=effort)).partition(task)


def loss(table: CodedTable, partition: Partition) -> float:
    return measure_loss(table, partition.class_of_row).information_loss


def holds(task: Task, partition: Partition) -> bool:
    statistics = from_classes(partition.class_of_row, codes_of(task.table), task.attributes)
    return all(model.judge(statistics).holds for model in task.models)


def by_hand(ages: list[int], illnesses: list[int]) -> CodedTable:
    """Rows with an age of 0, 10, 20 or 30 and one of two illnesses."""
    numbers = OrderedDomain("numeric", np.array([0.0, 10.0, 20.0, 30.0]), ("0", "10", "20", "30"))
    domain = TreeDomain(flat(["flu", "ulcer"]))
    quasi = QuasiColumn("age", numbers, np.array(ages))
    secret = SensitiveColumn("illness", domain, np.array(illnesses), "equal", np.ones(2, dtype=np.int64))
    return CodedTable(len(ages), (quasi,), (secret,))


def test_rows_that_look_alike_stay_together_and_cost_nothing() -> None:
    table = by_hand([0, 0, 1, 1, 3, 3], [0, 0, 0, 1, 1, 1])
    found = sift(task_for(table, KAnonymity(2)))
    one, two, three = (found.class_of_row[[2 * i, 2 * i + 1]] for i in range(3))
    assert one[0] == one[1] != two[0] == two[1] != three[0] == three[1] != one[0]
    assert loss(table, found) == 0


def test_a_class_gives_up_what_it_has_too_much_of() -> None:
    # Ages 0 and 10 are neighbours. t = 0 with one flu for every ulcer: each class must have as many of one as of the
    # other. The best is {0: flu, 10: ulcer} twice at a third each, {20, 20} at nothing; all ages as one class cost 2/3.
    table = by_hand([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 0, 1])
    found = sift(task_for(table, *close(table, 2, 0.0)))
    assert holds(task_for(table, *close(table, 2, 0.0)), found)
    assert loss(table, found) == pytest.approx((4 * 1 / 3) / 6)


@pytest.mark.parametrize(("k", "t"), [(2, 0.5), (5, 0.4), (5, 0.3)])
def test_it_loses_no_more_than_mondrian(k: int, t: float) -> None:
    table = random_table(7, rows=300)
    task = task_for(table, *close(table, k, t))
    plain = Mondrian(MondrianOptions()).partition(task)
    assert loss(table, sift(task)) <= loss(table, plain)


def test_asking_for_less_does_not_cost_more() -> None:
    table = random_table(3, rows=60, sensitive=1)
    losses = [loss(table, sift(task_for(table, *close(table, 4, t)), "balanced")) for t in (0.2, 0.35, 0.5)]
    assert losses[1] <= 1.01 * losses[0]
    assert losses[2] <= 1.01 * losses[1]
    smaller = loss(table, sift(task_for(table, *close(table, 2, 0.35)), "balanced"))
    assert smaller <= 1.01 * losses[1]


def test_a_seed_reproduces_the_classes() -> None:
    table = random_table(5, rows=200)
    one, two = (sift(task_for(table, *close(table, 3, 0.4), seed=9)) for _ in range(2))
    assert (one.class_of_row == two.class_of_row).all()


def test_more_effort_loses_less() -> None:
    table = random_table(11, rows=150)
    task = task_for(table, *close(table, 3, 0.35))
    assert loss(table, sift(task, "balanced")) <= loss(table, sift(task, "fast"))


class Watching(Progress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def advance(self, done: float, note: str = "") -> None:
        assert 0 <= done <= 1
        self.notes.append(note)


def test_progress_shows_the_loss_falling() -> None:
    table = random_table(2, rows=150)
    watching = Watching()
    task = replace(task_for(table, *close(table, 3, 0.4)), progress=watching)
    found = sift(task, "balanced")
    time_left = r"about \d+ (?:s|min|h) left, "
    told = [re.fullmatch(rf"(?:{time_left})?(\d+\.\d\d) % lost so far", note) for note in watching.notes]
    losses = [float(found[1]) for found in told if found is not None]
    assert len(losses) == len(watching.notes)
    assert all(re.match(time_left, note) for note in watching.notes[1:])  # the first groups are told of at once
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(100 * loss(table, found) / len(table.quasi), abs=0.01)


class Impatient(Progress):
    """Stops the search as soon as it tells of progress, as a user does who wants what it has."""

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Iterator[None]:
        self.stop = stop
        yield

    def advance(self, done: float, note: str = "") -> None:
        self.stop()


def test_a_search_that_is_stopped_gives_the_best_so_far() -> None:
    table = random_table(2, rows=300)
    task = task_for(table, *close(table, 3, 0.4))
    start = time.process_time()
    found = sift(replace(task, progress=Impatient()), "thorough")
    assert time.process_time() - start < 20  # the whole search takes minutes
    assert holds(task, found)
    assert loss(table, found) < len(table.quasi)


def test_a_time_budget_is_kept_and_the_release_holds() -> None:
    table = random_table(4, rows=300)
    task = task_for(table, *close(table, 3, 0.4))
    sift(task, 0.1)
    start = time.monotonic()
    found = sift(task, 0.5)
    assert holds(task, found)
    assert time.monotonic() - start < 60


def test_nothing_is_suppressed_unless_it_must_and_may_be() -> None:
    table = by_hand([0, 1, 2, 3, 0, 1, 2, 3], [0, 0, 0, 0, 0, 0, 1, 1])
    diverse = FrequencyDiversity(2, "illness")
    with pytest.raises(Unsatisfiable):
        sift(task_for(table, KAnonymity(2), diverse))
    task = task_for(table, KAnonymity(2), diverse, limit=0.5)
    found = sift(task)
    assert found.suppressed == 4
    assert sift(task_for(table, KAnonymity(2), limit=0.5)).suppressed == 0


def test_weights_say_what_must_stay_precise() -> None:
    table = random_table(8, rows=300, sensitive=1)
    heavy = replace(table, quasi=(replace(table.quasi[0], weight=20.0), *table.quasi[1:]))
    plain = measure_loss(table, sift(task_for(table, KAnonymity(6))).class_of_row).by_attribute["age"]
    weighed = measure_loss(table, sift(task_for(heavy, KAnonymity(6))).class_of_row).by_attribute["age"]
    assert weighed < plain


@pytest.mark.parametrize("effort", ["slow", 0, -1.0])
def test_an_unknown_effort_is_refused(effort: object) -> None:
    with pytest.raises(PolicyError):
        make_method(MethodChoice(name="sift", effort=effort))


def test_auto_keeps_the_best_method() -> None:
    table = random_table(6, rows=120)
    task = task_for(table, *close(table, 3, 0.4))
    found = make_method(MethodChoice(name="auto", effort="fast")).partition(task)
    assert holds(task, found)
    assert found.found["method"] == "sift" or loss(table, found) < loss(table, sift(task))


@pytest.mark.parametrize(("effort", "warned"), [(1e-6, True), ("fast", False)])
def test_a_search_that_ends_before_the_first_division_says_so(effort: float | str, warned: bool) -> None:
    people = pl.DataFrame({"age": [*range(20, 80)] * 5, "illness": ["flu", "cold", "asthma"] * 100})
    columns = {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "sift", "effort": effort}}
    release = polyveil.anonymize(people, policy, seed=1)
    assert (release.manifest["classes"] == 1) == warned
    assert [note for note in release.to_dict()["notes"] if "more seconds" in note and "method.effort" in note] == list(
        release.notes
    )
    assert bool(release.notes) == warned
