"""Additional information loss, worked by hand (Definition 14 of xiao2020, eq. (8) of han2013)."""

from __future__ import annotations

import numpy as np
import pytest

from paper_tables import HAN, HAN_COLUMNS, HAN_SLICES, LEVELS, XIAO, XIAO_COLUMNS, task_of
from polyveil.measure.additional_loss import additional_information_loss
from polyveil.models.linked import from_groups


def test_groups_of_the_least_size_lose_nothing() -> None:
    task = task_of(HAN, HAN_COLUMNS, {"l": 3})
    codes = {c.name: c.codes for c in task.table.sensitive}
    # Tables III and IV of han2013.
    groups = [np.array([0, 2, 1, 2, 0, 0, 2, 1, 1]), np.array([0, 1, 0, 1, 2, 2, 0, 1, 2])]
    statistics = from_groups(None, list(zip(HAN_SLICES, groups, strict=True)), codes, task.attributes)
    assert additional_information_loss(statistics, task.models, HAN_SLICES) == 0.0


def test_slices_are_averaged() -> None:
    """l = 2: groups of 3, 3, 3 lose 3 of 6; groups of 4, 5 lose 5 of 4; the mean is (1/2 + 5/4) / 2."""
    task = task_of(HAN, HAN_COLUMNS, {"l": 2})
    codes = {c.name: c.codes for c in task.table.sensitive}
    groups = [np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])]
    statistics = from_groups(None, list(zip(HAN_SLICES, groups, strict=True)), codes, task.attributes)
    found = additional_information_loss(statistics, task.models, HAN_SLICES)
    assert found == pytest.approx((1 / 2 + 5 / 4) / 2)


def test_a_group_needs_the_l_of_its_highest_level() -> None:
    """{t2, t3, t4, t8} holds Cancer and HIV, so l_G = 3; {t1, t5} and {t6, t7, t9} hold level 1 at most: l_G = 2."""
    task = task_of(XIAO, XIAO_COLUMNS, {"l": LEVELS})
    codes = {c.name: c.codes for c in task.table.sensitive}
    groups = np.array([1, 0, 0, 0, 1, 2, 2, 0, 2])
    names = [["physician", "disease"]]
    statistics = from_groups(None, [(names[0], groups)], codes, task.attributes)
    # Sizes 4, 2, 3 against 3, 2, 2.
    assert additional_information_loss(statistics, task.models, names) == pytest.approx(2 / 7)


def test_without_an_l_there_is_no_least_size() -> None:
    task = task_of(XIAO, XIAO_COLUMNS, {"k": 2})
    codes = {c.name: c.codes for c in task.table.sensitive}
    names = [["physician", "disease"]]
    statistics = from_groups(None, [(names[0], np.zeros(9, dtype=np.int64))], codes, task.attributes)
    assert additional_information_loss(statistics, task.models, names) is None
