"""The shipped checks pass what keeps its promises, and name the promise that something breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from outside.in_order import InOrder
from outside.rare_cap import RareCap
from outside.top_two import TopTwo
from polyveil.arrays import FloatArray
from polyveil.errors import PolicyError
from polyveil.methods import METHODS, Task, make_method
from polyveil.methods import partition as partition_rows
from polyveil.methods._kernels.judge import compile_in_order
from polyveil.models import MODELS, Attribute, Block, FrequencyDiversity, KAnonymity, Model, attributes_of
from polyveil.models.constraints import Constraint, OnlyByModel
from polyveil.partition import Partition, partition_of
from polyveil.plugins import PluginError
from polyveil.policy.schema import MethodChoice, Privacy
from polyveil.testing import PromiseBroken, check_method, check_model
from tables import random_table


def test_what_comes_from_outside_keeps_the_promises() -> None:
    check_model(TopTwo)
    check_model(RareCap)
    check_method(InOrder)
    check_method(InOrder, size=7)
    assert "in-order" not in METHODS
    assert "top-two" not in MODELS


@pytest.mark.parametrize("name", ["mondrian", "kaca", "mbf", "sloms"])
def test_methods_of_the_package_pass(name: str) -> None:
    check_method(METHODS[name])


@pytest.mark.parametrize(
    ("key", "threshold", "settings"),
    [
        ("k-anonymity", None, {}),
        ("t-closeness", 0.6, {}),
        ("entropy-l-diversity", 2, {"diversity": "entropy"}),
        ("basic-beta-likeness", 5.0, {"beta_kind": "basic"}),
    ],
)
def test_models_of_the_package_pass(key: str, threshold: float | None, settings: dict[str, str]) -> None:
    check_model(MODELS[key], threshold, **settings)


class OneRowEach(InOrder):
    name = "one-row-each"

    def partition(self, task: Task) -> Partition:
        return partition_of(np.arange(task.table.rows))


class ByChance(InOrder):
    name = "by-chance"

    def partition(self, task: Task) -> Partition:
        return partition_of(np.random.default_rng().permutation(task.table.rows) // 20)


class Crash(InOrder):
    name = "crash"

    def partition(self, task: Task) -> Partition:
        raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("method", "words"),
    [(OneRowEach, "refuses every demand"), (ByChance, "same seed gives different"), (Crash, "ZeroDivisionError: oops")],
)
def test_a_method_that_breaks_a_promise_is_told_which(method: type[InOrder], words: str) -> None:
    with pytest.raises(PromiseBroken, match=words):
        check_method(method)


class Position(TopTwo):
    """Depends on the codes of values."""

    def measure(self, block: Block) -> FloatArray:
        return block.greatest(block.code * 0.3)


class Mean(TopTwo):
    """Weaker after merging, though it says it is not."""

    def measure(self, block: Block) -> FloatArray:
        return block.sizes / 100.0


class NoNumber(TopTwo):
    def measure(self, block: Block) -> FloatArray:
        return np.full(block.classes, np.nan)


@pytest.mark.parametrize(
    ("model", "words"),
    [(Position, "names of values matter"), (Mean, "merging two groups weakens it"), (NoNumber, "not a number")],
)
def test_a_model_that_breaks_a_promise_is_told_which(model: type[TopTwo], words: str) -> None:
    with pytest.raises(PromiseBroken, match=words):
        check_model(model)


def test_what_is_no_model_or_taken_is_refused() -> None:
    with pytest.raises(PluginError, match="already a 'k-anonymity'"):
        MODELS.add("k-anonymity", TopTwo)
    with pytest.raises(PluginError, match="not a class that extends"):
        MODELS.add("x", int)  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="calls itself 'top-two'"):
        MODELS.add("x", TopTwo)


class Fickle(TopTwo):
    """Neither expressible nor monotone."""

    monotone = False


def task(*models: Model) -> Task:
    table = random_table(5, 80)
    return Task(table, models, attributes_of(table), Privacy(k=2), np.random.default_rng(1))


@pytest.mark.parametrize("name", ["mondrian", "fcm", "swap", "fragment"])
def test_no_kernel_ignores_a_demand_that_it_does_not_know(name: str) -> None:
    assert TopTwo(0.9, "illness").constraints({}) == (OnlyByModel(TopTwo.title),)
    with pytest.raises(PolicyError, match="cap on the two most common values"):
        make_method(MethodChoice(name=name)).partition(task(KAnonymity(2), TopTwo(0.9, "illness")))


@dataclass(frozen=True)
class Unheard:
    """A constraint that no kernel has heard of."""

    attribute: str


class OfItsOwn(TopTwo):
    def constraints(self, attributes: Mapping[str, Attribute]) -> tuple[Constraint, ...]:
        return (Unheard(self.attribute),)  # type: ignore[return-value]


def test_a_constraint_of_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(PolicyError, match=r"columns\.illness\.sigma.*\(Unheard\)"):
        compile_in_order([OfItsOwn(0.9, "illness")], attributes_of(random_table(5)), ["illness"])


def test_a_bucket_method_refuses_what_does_not_follow_from_caps() -> None:
    models = (FrequencyDiversity(1, "illness"), TopTwo(0.9, "illness"))
    with pytest.raises(PolicyError, match=r"columns\.illness\.sigma.*cap on the two most common"):
        make_method(MethodChoice(name="mbf")).partition(task(*models))


def test_a_demand_that_can_be_neither_searched_nor_merged_for_names_model_and_method() -> None:
    with pytest.raises(PolicyError, match="the method mondrian cannot keep cap on the two most common values"):
        partition_rows(make_method(MethodChoice(name="mondrian")), task(KAnonymity(2), Fickle(0.9, "illness")))
