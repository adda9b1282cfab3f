"""Re-identification risk, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from polyveil.errors import InputError
from polyveil.measure import class_boxes, measure_risk, population_sizes
from polyveil.table.coded import CodedTable
from tables import random_table

SIZES = np.array([1, 4, 5])


def test_the_prosecutor_names_one_row_of_the_smallest_class() -> None:
    risk = measure_risk(SIZES)
    assert risk.prosecutor.highest == 1.0
    assert risk.prosecutor.average == pytest.approx(3 / 10), "classes over rows"
    assert risk.prosecutor.above_limit == pytest.approx(5 / 10), "1/5 is not above 0.2"


def test_without_a_register_everybody_is_the_prosecutor() -> None:
    risk = measure_risk(SIZES)
    assert risk.journalist == risk.prosecutor
    assert risk.marketer == risk.prosecutor.average
    assert not risk.population


def test_a_register_hides_rows_among_the_population() -> None:
    risk = measure_risk(SIZES, np.array([10, 4, 50]))
    assert risk.journalist.highest == 0.25
    assert risk.marketer == pytest.approx((1 / 10 + 4 / 4 + 5 / 50) / 10)
    assert risk.prosecutor.highest == 1.0
    assert risk.to_dict()["population"] is True


def test_a_register_with_fewer_people_than_rows_counts_as_the_rows() -> None:
    assert measure_risk(SIZES, np.array([0, 2, 50])).journalist.highest == 1.0


def test_a_release_without_rows_has_no_risk() -> None:
    assert measure_risk(np.zeros(0, dtype=np.int64)).prosecutor.highest == 0.0


def test_people_are_counted_in_the_cells_that_are_released() -> None:
    """Every kind of cell, nulls included, against a loop over classes and people."""
    population = random_table(5, rows=200)
    sample = population.take(np.arange(0, 200, 3))
    class_of_row = np.unique(np.random.default_rng(0).integers(0, 12, sample.rows), return_inverse=True)[1]
    class_of_row[:3] = -1
    class_of_row = np.unique(class_of_row, return_inverse=True)[1] - 1
    found = population_sizes(sample, class_of_row, population)
    boxes = class_boxes(sample, class_of_row)
    assert (found >= boxes.sizes).all()
    for number in range(boxes.classes):
        members = class_of_row == number
        inside = np.ones(population.rows, dtype=bool)
        age, region, town = population.quasi
        own = sample.quasi[0].codes[members]
        if not (age.domain.null_code in own and len(set(own.tolist())) > 1):
            inside &= (age.codes >= own.min()) & (age.codes <= own.max())
        own = sample.quasi[1].codes[members]
        tree = region.domain.hierarchy  # type: ignore[union-attr]
        node = int(tree.common_ancestor(own.min(), own.max()))
        inside &= (region.codes >= tree.start[node]) & (region.codes < tree.stop[node])
        inside &= np.isin(town.codes, sample.quasi[2].codes[members])
        assert found[number] == inside.sum()


def test_a_population_coded_otherwise_is_refused() -> None:
    table = random_table(1)
    other = CodedTable(table.rows, table.quasi[:2], table.sensitive)
    with pytest.raises(InputError, match="same policy"):
        population_sizes(table, np.zeros(table.rows, dtype=np.int64), other)
