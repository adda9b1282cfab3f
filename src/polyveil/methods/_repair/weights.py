"""Guarantees with sampling weights: a method searches without them, and classes that fail them are then merged.

What the weights of the whole table say depends on all classes, because each is published with its mean weight. Classes
are judged against the table as it is weighted before a round of merges, and again with the weights after it, until none
fails; one class of all rows is its own reference. A risk by weights is searched as the k that it needs at the mean
weight of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.methods._repair.merging import merge_failing
from polyveil.methods.base import Task
from polyveil.models import Attribute, ClassStatistics, KAnonymity, Model, codes_of, from_classes
from polyveil.models.people import from_people, people_of
from polyveil.models.risk import least_size
from polyveil.models.weighted import WeightedRisk, weighted_whole
from polyveil.partition import Partition, partition_of
from polyveil.table.weights import class_weights


def without_weights(task: Task) -> Task:
    """The task that a method searches with: no model of it is about weights."""
    ours = _weighted(task)
    if not ours or task.table.sampling is None:
        return task
    fraction = 1.0 / max(float(task.table.sampling.mean()), 1.0)
    sizes = [KAnonymity(least_size(m.threshold, fraction)) for m in ours if isinstance(m, WeightedRisk)]
    return replace(task, models=(*(model for model in task.models if model not in ours), *sizes))


def mended(task: Task, found: Partition) -> Partition:
    """The classes, merged until those guarantees hold that are about weights; themselves if they do."""
    models, weights = _weighted(task), task.table.sampling
    if not models or weights is None:
        return found
    labels, counting = found.class_of_row, _Counting(task, weights)
    while True:
        judged = counting.against(labels, models)
        merged = merge_failing(task.table, labels, lambda rows, own, at=judged: _fail(models, at.count(rows, own)))  # type: ignore[misc]
        if merged.max(initial=-1) == labels.max(initial=-1):
            return found if labels is found.class_of_row else replace(partition_of(labels), found=found.found)
        labels = merged


def _weighted(task: Task) -> tuple[Model, ...]:
    return tuple(model for model in task.models if model.weighted)


def _fail(models: Sequence[Model], statistics: ClassStatistics) -> BoolArray:
    return np.any([~model.passes(model.measure_all(statistics)) for model in models], axis=0)


class _Counting:
    """Counts classes of some rows with their weights, in people where they have several rows."""

    def __init__(self, task: Task, weights: FloatArray) -> None:
        self.codes, self.weights = codes_of(task.table), weights
        self.attributes: Mapping[str, Attribute] = task.attributes
        person = task.table.person
        self.people = None if person is None else people_of(person, self.codes, task.attributes)

    def count(self, rows: IntArray, labels: IntArray) -> ClassStatistics:
        codes = {name: found[rows] for name, found in self.codes.items()}
        sampling = class_weights(self.weights[rows], labels)
        if self.people is None:
            return replace(from_classes(labels, codes, self.attributes), sampling=sampling)
        return replace(from_people(labels, codes, self.attributes, self.people.take(rows)), sampling=sampling)

    def against(self, labels: IntArray, models: Sequence[Model]) -> _Counting:
        """The same with all rows as they are weighted now as the reference."""
        kept = np.flatnonzero(labels >= 0)
        all_rows = self.count(kept, labels[kept])
        weights = class_weights(self.weights, labels)
        new = object.__new__(_Counting)
        new.codes, new.weights, new.people = self.codes, self.weights, self.people
        new.attributes, shared = dict(self.attributes), {} if self.people is None else dict(self.people.shared)
        for model in (model for model in models if model.attribute is not None):
            blocks = all_rows.blocks(model.attribute, model.unit)
            for block, part in zip(blocks, (new.attributes, shared), strict=False):
                about = block.attribute
                part[about.name] = replace(about, weighted=weighted_whole(block, weights))
        if self.people is not None:
            new.people = replace(self.people, shared=shared)
        return new
