"""Statistics in people, worked by hand and against plain counting."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.models import Attribute, FrequencyDiversity, KAnonymity, TCloseness
from polyveil.models.ground import equal, ordered
from polyveil.models.people import FINE, PeopleStatistics, from_people, people_of, weight_of_rows


def statistics(classes: list[int], values: list[int], person: list[int], size: int, line: bool) -> PeopleStatistics:
    codes = {"d": np.array(values, dtype=np.int64)}
    ground = ordered(size, False) if line else equal(size)
    whole = np.bincount(codes["d"], minlength=size)
    attributes = {"d": Attribute("d", size, whole, ground, np.ones(size, dtype=np.int64))}
    people = people_of(np.array(person, dtype=np.int64), codes, attributes)
    return from_people(np.array(classes, dtype=np.int64), codes, attributes, people)


def test_three_people_of_whom_one_has_three_rows() -> None:
    # Class 0: Ann (flu, flu, ulcer), Bob (flu). Class 1: Cem (ulcer).
    found = statistics([0, 0, 0, 0, 1], [0, 0, 1, 0, 1], [0, 0, 0, 1, 2], 2, line=False)
    assert found.sizes.tolist() == [4, 1]
    assert KAnonymity(2).measure_all(found).tolist() == [2, 1]
    # Both people of class 0 have had flu, so flu is certain although one row of four says ulcer.
    assert FrequencyDiversity(2, "d").measure_all(found).tolist() == [1.0, 1.0]
    # People: flu 2/3 + 1 of 2 = 5/6 against (2/3 + 1 + 0)/3 = 5/9 overall; rows: 3/4 against 3/5.
    assert np.allclose(TCloseness(0.2, "d").measure_all(found), [5 / 6 - 5 / 9, 3 / 5])


def test_weights_of_a_person_add_up_and_differ_by_at_most_one() -> None:
    weights = weight_of_rows(np.repeat([3, 1, 2], [1, 7, 11]), FINE, np.zeros(19, dtype=np.int64))
    assert weights[0] == FINE
    assert weights[1:8].tolist() == [360] * 7
    assert weights[8:].sum() == FINE
    assert set(weights[8:].tolist()) == {229, 230}


tables = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40)


@given(tables, st.booleans())
@settings(max_examples=200, deadline=None)
def test_people_are_counted_as_a_plain_loop_counts_them(rows: list[tuple[int, int, int]], line: bool) -> None:
    rows = [(owner, value, 10 * owner + person) for owner, value, person in rows]  # a person lies in one class
    numbered = {label: i for i, label in enumerate(sorted({owner for owner, _, _ in rows}))}
    classes = [numbered[owner] for owner, _, _ in rows]
    found = statistics(classes, [value for _, value, _ in rows], [person for _, _, person in rows], 5, line)
    of_person: dict[int, list[int]] = defaultdict(list)
    class_of: dict[int, int] = {}
    for owner, (_, value, person) in zip(classes, rows, strict=True):
        of_person[person].append(value)
        class_of[person] = owner
    for c in range(len(numbered)):
        members = [person for person in of_person if class_of[person] == c]
        assert found.people[c] == len(members)
        having = [sum(value in of_person[person] for person in members) for value in range(5)]
        in_rows = [sum(of_person[person].count(value) for person in members) for value in range(5)]
        size = sum(in_rows)
        expected = min(len(members) / max(having), size / max(in_rows))
        assert np.isclose(FrequencyDiversity(2, "d").measure_all(found)[c], expected)
        worst = max(
            distance(line, shares(members, of_person), shares(list(of_person), of_person)),
            distance(
                line,
                [Fraction(n, size) for n in in_rows],
                [Fraction(sum(v == i for _, v, _ in rows), len(rows)) for i in range(5)],
            ),
        )
        assert (
            abs(TCloseness(0.2, "d").measure_all(found)[c] - float(worst))
            < 0.02 * (max(map(len, of_person.values())) > 10) + 1e-9
        )


def shares(members: list[int], of_person: dict[int, list[int]]) -> list[Fraction]:
    return [
        sum((Fraction(of_person[p].count(value), len(of_person[p])) for p in members), Fraction(0)) / len(members)
        for value in range(5)
    ]


def distance(line: bool, one: list[Fraction], two: list[Fraction]) -> Fraction:
    if not line:
        return sum((max(a - b, Fraction(0)) for a, b in zip(one, two, strict=True)), Fraction(0))
    moved = [sum(one[: i + 1], Fraction(0)) - sum(two[: i + 1], Fraction(0)) for i in range(4)]
    return sum((abs(part) for part in moved), Fraction(0)) / 4
