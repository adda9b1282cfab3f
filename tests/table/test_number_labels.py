"""The texts of a column's numbers are made when they are asked for, and are what a tuple of them would be."""

from __future__ import annotations

import pickle

import numpy as np

from polyveil.policy.scalars import number_label
from polyveil.table.domain import NumberLabels, OrderedDomain

NUMBERS = np.array([-3.0, 0.0, 0.1, 2.5, 1e15, 1e300])


def test_labels_are_those_of_the_numbers_in_their_order() -> None:
    labels, texts = NumberLabels(NUMBERS), tuple(number_label(number) for number in NUMBERS)
    assert labels == texts
    assert list(labels[1:4]) == list(texts[1:4])
    assert labels[-1] == texts[-1]
    assert labels != texts[1:]
    assert texts.index("2.5") == labels.index("2.5")
    assert hash(labels) == hash(texts)
    assert not NumberLabels(NUMBERS[:0])
    assert "0.1" in labels
    assert pickle.loads(pickle.dumps(labels)) == texts


def test_a_domain_of_numbers_travels_as_numbers_alone() -> None:
    many = np.arange(100_000, dtype=np.float64)
    assert len(pickle.dumps(OrderedDomain("numeric", many, NumberLabels(many)))) < many.nbytes + 1000
