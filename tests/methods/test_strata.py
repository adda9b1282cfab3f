"""The number of strata: what may be asked, and that the search finds a good one."""

from __future__ import annotations

import numpy as np
import pytest

from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.measure import measure_loss
from polyveil.methods import Task, make_method
from polyveil.methods._strata.base import Trial, equal_sizes, least_loss, most_classes_of_the_best, strata_asked
from polyveil.models import FrequencyDiversity, KAnonymity, Model, TCloseness, attributes_of
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.table.coded import CodedTable, SensitiveColumn
from tables import random_table

STRATIFYING = ("fcm", "pca", "fragment", "swap")


def task_of(table: CodedTable, k: int | None, t: float, **privacy: float) -> Task:
    models: list[Model] = [KAnonymity(k)] if k else []
    models += [TCloseness(t, column.name) for column in table.sensitive]
    asked = Privacy(k=k, t=t, **privacy)
    return Task(table, tuple(models), attributes_of(table), asked, np.random.default_rng(0))


@pytest.mark.parametrize(("loss_at", "best"), [(lambda g: abs(g - 17.2), 17), (lambda g: abs(g - 3.1), 3)])
def test_the_search_finds_the_least_of_a_smooth_loss(loss_at, best: int) -> None:
    def evaluate(g: int) -> Trial:
        return Trial(g, np.zeros(1, dtype=np.int64), 1.0 if g < 30 else 0.0, loss_at(g))

    found = least_loss(evaluate, 2, 1000, task_of(random_table(0, 10), 2, 0.5))
    assert abs(found.g - best) <= 1


def test_the_search_never_goes_below_k_and_never_above_the_table() -> None:
    tried = []

    def evaluate(g: int) -> Trial:
        tried.append(g)
        return Trial(g, np.zeros(1, dtype=np.int64), 1.0, 1.0 / g)

    least_loss(evaluate, 7, 50, task_of(random_table(0, 10), 2, 0.5))
    assert min(tried) == 7
    assert max(tried) <= 50


@pytest.mark.parametrize("name", STRATIFYING)
@pytest.mark.parametrize(
    ("strata", "k", "words"),
    [(61, 2, "60 rows"), (3, 5, "fewer than k = 5"), ("k", None, "privacy.k")],
)
def test_strata_that_make_no_sense_are_refused(name: str, strata: int | str, k: int | None, words: str) -> None:
    method = make_method(MethodChoice(name=name, strata=strata))
    with pytest.raises(PolicyError, match=words):
        method.partition(task_of(random_table(0, 60), k, 0.4))


@pytest.mark.parametrize("strata", [0, -3, "many", 2.5])
def test_strata_must_be_auto_k_or_a_number(strata: object) -> None:
    with pytest.raises(PolicyError, match=r"method\.strata"):
        make_method(MethodChoice(name="fcm", strata=strata))


@pytest.mark.parametrize("name", STRATIFYING)
def test_strata_auto_loses_no_more_than_strata_k(name: str) -> None:
    from polyveil.measure import measure_loss

    table = random_table(6, 400, nulls=False)
    losses = {}
    for strata in ("auto", "k"):
        partition = make_method(MethodChoice(name=name, strata=strata)).partition(task_of(table, 2, 0.2))
        losses[strata] = measure_loss(table, partition.class_of_row).information_loss
        assert partition.found["strata"] >= 2
    assert losses["auto"] <= losses["k"] * 1.02 + 1e-9


@pytest.mark.parametrize("name", STRATIFYING)
def test_a_large_table_is_searched_on_a_sample(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = make_method(MethodChoice(name=name))
    monkeypatch.setattr(type(method), "search_rows", 100)
    table = random_table(9, 500)
    task = task_of(table, 3, 0.3)
    partition = method.partition(task)
    assert partition.suppressed == 0
    assert np.bincount(partition.class_of_row).min() >= 3


@pytest.mark.parametrize("name", STRATIFYING)
def test_a_sensitive_attribute_with_one_value_is_trivially_close_and_named(name: str) -> None:
    table = random_table(3, 80)
    first = table.sensitive[0]
    constant = SensitiveColumn(first.name, first.domain, first.codes * 0, first.distance, first.levels)
    table = CodedTable(table.rows, table.quasi, (constant, *table.sensitive[1:]))
    partition = make_method(MethodChoice(name=name)).partition(task_of(table, 2, 0.3))
    assert partition.found["trivially_close"] == [first.name]
    alone = CodedTable(table.rows, table.quasi, (constant,))
    assert make_method(MethodChoice(name=name)).partition(task_of(alone, 2, 0.0)).suppressed == 0


@pytest.mark.parametrize("name", STRATIFYING)
def test_what_the_whole_table_breaks_is_unsatisfiable_and_named(name: str) -> None:
    table = random_table(3, 50)
    models = (FrequencyDiversity(40, "illness"),)
    task = Task(table, models, attributes_of(table), Privacy(l=40), np.random.default_rng(0))
    with pytest.raises(Unsatisfiable, match="illness"):
        make_method(MethodChoice(name=name)).partition(task)


@pytest.mark.parametrize("name", STRATIFYING)
def test_rows_are_suppressed_only_where_needed_and_only_as_many_as_allowed(name: str) -> None:
    table = random_table(3, 100, nulls=False)
    counts = np.sort(table.sensitive[0].counts)
    wanted = 100 // int(counts[-1]) + 1  # just out of reach for the whole table
    models = (FrequencyDiversity(wanted, "illness"),)
    allowed = Privacy(l=wanted, suppression_limit=0.5)
    task = Task(table, models, attributes_of(table), allowed, np.random.default_rng(0))
    partition = make_method(MethodChoice(name=name)).partition(task)
    assert 0 < partition.suppressed <= 50
    forbidden = Task(table, models, attributes_of(table), Privacy(l=wanted), np.random.default_rng(0))
    with pytest.raises(Unsatisfiable):
        make_method(MethodChoice(name=name)).partition(forbidden)


def test_of_nearly_equal_losses_the_one_with_the_most_classes_is_taken() -> None:
    trials = [Trial(2, np.arange(3), 1.0, 3.00), Trial(3, np.arange(9), 1.0, 3.05), Trial(4, np.arange(12), 1.0, 3.2)]
    assert most_classes_of_the_best(trials).g == 3


def test_strata_asked_takes_k_from_the_policy() -> None:
    assert strata_asked("k", task_of(random_table(0, 10), 4, 0.5), 10) == 4
    assert strata_asked(10, task_of(random_table(0, 10), 4, 0.5), 10) == 10


def test_equal_sizes_differ_by_one_row() -> None:
    assert equal_sizes(11, 4).tolist() == [3, 3, 3, 2]


@pytest.mark.parametrize("name", ["fcm", "pca", "swap"])
@pytest.mark.parametrize("seed", range(3))
def test_auto_loses_no_more_than_k_strata_with_either_order_of_seeds(name: str, seed: int) -> None:
    table = random_table(seed, 80)

    def loss(**options: object) -> float:
        found = make_method(MethodChoice.model_validate({"name": name, **options})).partition(task_of(table, 4, 0.5))
        return measure_loss(table, found.class_of_row).information_loss

    by_hand = [loss(strata="k", seed_order=order) for order in ("random", "farthest")]
    assert loss() <= min(by_hand) * 1.02 + 1e-9, "of nearly equal trials the one with the most groups is kept"
