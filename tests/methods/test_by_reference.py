"""Named tuples by reference: kernels read the same fields, and nothing is kept or freed that should not be."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import TypingError

from polyveil.arrays import FloatArray, IntArray
from polyveil.methods._kernels.by_reference import by_reference
from polyveil.methods._kernels.compiled import njit


@by_reference
class Inner(NamedTuple):
    """Lies within another."""

    weights: FloatArray


@by_reference
class Outer(NamedTuple):
    """Arrays, a number, a truth value, and another tuple."""

    values: IntArray
    inner: Inner
    factor: int
    doubled: bool


@njit
def weight(inner: Inner, i: int) -> float:
    return inner.weights[i]


@njit
def total(outer: Outer) -> float:
    found = 0.0
    for i in range(len(outer.values)):
        found += outer.values[i] * outer.factor * weight(outer.inner, i) * (2 if outer.doubled else 1)
    return found


@njit
def writes(outer: Outer) -> float:
    outer.values[0] = 7
    return total(outer)


@njit
def reads_another(outer: Outer) -> float:
    return outer.absent  # type: ignore[attr-defined, no-any-return]


def example(*, doubled: bool = False) -> Outer:
    return Outer(np.arange(1, 4), Inner(np.array([0.5, 2.0, 10.0])), 3, doubled)


@pytest.mark.parametrize(("doubled", "by_hand"), [(False, 103.5), (True, 207.0)])
def test_fields_are_those_of_the_tuple(doubled: bool, by_hand: float) -> None:
    assert total(example(doubled=doubled)) == by_hand


def test_a_kernel_writes_to_the_arrays_of_the_tuple_itself() -> None:
    outer = example()
    assert writes(outer) == 112.5
    assert outer.values[0] == 7


def test_nothing_is_kept_after_a_call() -> None:
    outer = example()
    total(outer)
    before = sys.getrefcount(outer.values), sys.getrefcount(outer.inner.weights), sys.getrefcount(outer)
    for _ in range(100):
        total(outer)
    assert (sys.getrefcount(outer.values), sys.getrefcount(outer.inner.weights), sys.getrefcount(outer)) == before


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypingError, match="absent"):
        reads_another(example())
