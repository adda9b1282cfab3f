"""Models that no kernel can search with: a method keeps the others, and classes that fail these are then merged.

A model from outside the package may have no form as primitive constraints. Merging never weakens a monotone model, so
what the method has reached stays, and in the end there is one class, which the pipeline has found to hold before it
starts. It costs more detail than a search would; a model that can state constraints should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.arrays import BoolArray, IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.measure import population_sizes
from polyveil.methods._repair.merging import Failing, merge_failing
from polyveil.methods.base import Method, Task
from polyveil.models import AnyColumns, Model, codes_of, from_classes
from polyveil.models.constraints import OnlyByModel
from polyveil.partition import Partition, partition_of


def partition(method: Method[Any], task: Task) -> Partition:
    """The method's classes; those that break a model without constraints are merged until none does."""
    others = tuple(model for model in task.models if only_by_model(model, task))
    by_columns = method.recodes_columns and any(isinstance(model, AnyColumns) for model in others)
    if not others or method.judges_by_model or by_columns:
        return method.partition(task)
    searched = replace(task, models=tuple(model for model in task.models if model not in others))
    found = method.partition(searched)
    unfit = [model for model in others if found.slices or not model.monotone]
    if unfit:
        why = "publishes slices of its own" if found.slices else "would have to merge groups, which can weaken it"
        rule = f"the method {method.name} cannot keep {{}}: it has no form as constraints, and the method {why}"
        raise PolicyError([Fault(each.place, rule.format(each.title), "Use another method") for each in unfit])
    labels = merge_failing(task.table, found.class_of_row, _judge(task, others))
    return replace(partition_of(labels), found=found.found)


def only_by_model(model: Model, task: Task) -> bool:
    """Whether no kernel can judge the model."""
    return any(isinstance(item, OnlyByModel) for item in model.constraints(task.attributes))


def _judge(task: Task, models: Sequence[Model]) -> Failing:
    codes = codes_of(task.table)

    def failing(rows: IntArray, labels: IntArray) -> BoolArray:
        statistics = from_classes(labels, {name: found[rows] for name, found in codes.items()}, task.attributes)
        if task.register is not None:
            people = population_sizes(task.register.table.take(rows), labels, task.register.population)
            statistics = replace(statistics, population=people)
        return np.any([~model.passes(model.measure_all(statistics)) for model in models], axis=0)

    return failing
