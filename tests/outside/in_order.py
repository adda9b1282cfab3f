"""A method as another package would add it: one file. It asks the models themselves, so it keeps any of them."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyveil.methods import Method, Options, Task
from polyveil.models import codes_of, from_classes
from polyveil.partition import Partition, partition_of


class InOrderOptions(Options):
    """Options of `in-order`."""

    size: int = Field(default=4, ge=1, description="rows of a group to begin with")


class InOrder(Method[InOrderOptions]):
    """Rows sorted by their quasi-identifiers and cut into groups, which double until every model holds."""

    name = "in-order"
    title = "Cut the sorted rows into groups of equal size"
    paper = "an example"
    guarantee = "Every requirement is met in every group."
    cost = "O(n log n)."
    options_type = InOrderOptions
    judges_by_model = True

    def partition(self, task: Task) -> Partition:
        table = task.table
        every = (*table.quasi, *table.sensitive)
        order = np.lexsort([column.codes for column in reversed(every)])
        size = self.options.size
        while True:
            groups = max(table.rows // size, 1)
            labels = np.empty(table.rows, dtype=np.int64)
            labels[order] = np.minimum(np.arange(table.rows) // size, groups - 1)
            statistics = from_classes(labels, codes_of(table), task.attributes)
            if groups == 1 or all(model.judge(statistics).holds for model in task.models):
                return partition_of(labels)
            size *= 2
