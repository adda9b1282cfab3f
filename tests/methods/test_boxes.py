"""The compiled loss of a range of codes equals the domain's own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.methods._kernels.boxes import SET, kind_of, quasi_spec, range_loss
from tables import random_table


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), nulls=st.booleans())
def test_range_loss_equals_the_domains_loss(seed: int, nulls: bool) -> None:
    table = random_table(seed, nulls=nulls)
    spec = quasi_spec(table)
    for a, column in enumerate(table.quasi):
        if kind_of(column) == SET:
            continue
        for low in range(column.domain.size):
            for high in range(low, column.domain.size):
                assert range_loss(spec, a, low, high) == float(column.domain.loss(low, high))
