"""Refining: less loss from any method's classes, with every guarantee kept.

Rows move to the class where they cost least, rows of different classes change places, neighbouring classes are pooled
and built anew - each only where the total loss falls and every model still holds in both classes (see `search`). What
the method suppressed stays suppressed. Where classes must stay as a paper makes them, do not refine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyveil.methods._kernels.judge import compile_constraints
from polyveil.methods._kernels.reachable import Basis, basis_without, with_suppressed
from polyveil.methods._search.clock import Clock
from polyveil.methods._search.schedule import Effort, search, seconds_of
from polyveil.methods._search.space import make_space
from polyveil.methods.base import Task
from polyveil.methods.sift import report_loss
from polyveil.partition import Partition, partition_of


def refine(task: Task, partition: Partition, effort: Effort | float = "fast") -> Partition:
    """The same rows in classes of no more loss; the partition itself where nothing is gained, or where it is sliced."""
    kept = np.flatnonzero(partition.class_of_row >= 0)
    if partition.slices or len(kept) == 0:
        return partition
    basis = basis_of(task, kept)
    space, rows = make_space(basis.table, basis.judge)
    labels = partition.class_of_row[kept].astype(np.int32)
    with Clock(seconds_of(effort)) as clock, task.progress.stoppable(clock.end):
        tell = report_loss(task, effort, clock)
        found, _ = search(space, rows, labels, effort, task.rng, tell, heat=False, clock=clock)
    refined = partition_of(with_suppressed(found.astype(np.int64), basis, task.table.rows))
    return replace(refined, found={**partition.found, "refined": effort})


def basis_of(task: Task, kept: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Basis:
    """The rows that are kept, and the judge of their classes."""
    if len(kept) < task.table.rows:
        return basis_without(task, kept)
    return Basis(kept, task.table, compile_constraints(task.models, task.attributes, task.table))
