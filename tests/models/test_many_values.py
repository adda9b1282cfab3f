"""The distance for attributes of thousands of values equals the plain one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model_examples import attribute, tables
from polyveil.models import Attribute, TCloseness, closeness, from_classes, many_values
from polyveil.models.ground import ordered


@settings(max_examples=200)
@given(tables(values=8, rows=30), st.data())
def test_sparse_equals_dense(table: tuple[np.ndarray, np.ndarray, Attribute], data: st.DataObject) -> None:
    class_of_row, codes, about = table
    if not about.ground.is_emd:
        return
    if data.draw(st.booleans(), label="other reference"):
        other = data.draw(st.lists(st.integers(0, 4), min_size=about.size, max_size=about.size))
        about = about.against(np.array(other))
    block = from_classes(class_of_row, {"x": codes}, {"x": about}).block("x")
    np.testing.assert_allclose(many_values.earth_mover(block), closeness.earth_mover(block), atol=1e-12)


def test_twenty_thousand_values_take_the_sparse_way_and_agree() -> None:
    rng = np.random.default_rng(1)
    codes = rng.permutation(20_000)
    class_of_row = np.arange(20_000) % 100
    for ground in (ordered(20_000), ordered(19_999, has_null=True)):
        about = attribute([1] * 20_000, ground)
        block = from_classes(class_of_row, {"x": codes}, {"x": about}).block("x")
        assert many_values.worthwhile(block)
        np.testing.assert_allclose(TCloseness(0.1, "x").measure(block), closeness.earth_mover(block), atol=1e-11)
