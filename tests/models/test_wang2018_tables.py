"""Tables 1 to 4 of wang2018: what the paper says of them, measured.

Fig. 1, the hierarchy of diseases, is not in the text we have; the tree of Li et al. (2007), which the paper builds on,
has all six diseases and stands in for it. 0.33-closeness of Table 4 holds there (0.296) and in a tree of one level less
(0.278); it would not hold with equal distances (0.444), so a hierarchy is what the authors must have used.
"""

from __future__ import annotations

import numpy as np
import pytest

from model_examples import attribute
from polyveil.models import ClassStatistics, DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness, from_classes
from polyveil.models.ground import GroundDistance, equal, hierarchical
from polyveil.policy.hierarchy import from_tree

LI_2007 = from_tree(
    {
        "respiratory": {"respiratory infection": ["Flu", "Pneumonia", "Bronchitis"]},
        "digestive": {"stomach": ["Stomach cancer"], "colon": ["Colitis", "Colon cancer"]},
    }
)
TWO_LEVELS = from_tree(
    {"respiratory": ["Flu", "Pneumonia", "Bronchitis"], "digestive": ["Stomach cancer", "Colitis", "Colon cancer"]}
)
DISEASE = {
    **dict.fromkeys((1, 2, 3), "Pneumonia"),
    4: "Flu",
    5: "Colon cancer",
    6: "Bronchitis",
    7: "Colitis",
    8: "Colon cancer",
    9: "Stomach cancer",
}
# Released (zipcode, age) of each patient, as printed.
TABLE_2 = {
    **dict.fromkeys((1, 2, 3), ("475**", "2*")),
    **dict.fromkeys((4, 5, 6), ("476**", "3*")),
    **dict.fromkeys((7, 8, 9), ("477**", ">=45")),
}
TABLE_3 = {
    **dict.fromkeys((1, 5, 7), ("47***", "[20, 45]")),
    **dict.fromkeys((3, 4, 6), ("47***", "[20, 35]")),
    **dict.fromkeys((2, 8, 9), ("47***", "[25, 50]")),
}
TABLE_4 = {
    **dict.fromkeys((1, 5, 7), ("47***", "[20, 45]")),
    **dict.fromkeys((3, 6, 8), ("47***", "[20, 50]")),
    **dict.fromkeys((2, 4, 9), ("47***", "[25, 50]")),
}


def statistics(release: dict[int, tuple[str, str]], ground: GroundDistance | None = None) -> ClassStatistics:
    leaves = LI_2007.leaves
    codes = np.array([leaves.index(DISEASE[patient]) for patient in sorted(DISEASE)])
    cells = sorted(set(release.values()))
    class_of_row = np.array([cells.index(release[patient]) for patient in sorted(DISEASE)])
    about = attribute(np.bincount(codes, minlength=6).tolist(), ground or hierarchical(LI_2007))
    return from_classes(class_of_row, {"x": codes}, {"x": about})


@pytest.mark.parametrize("release", [TABLE_2, TABLE_3, TABLE_4], ids=["table 2", "table 3", "table 4"])
def test_every_printed_release_is_3_anonymous(release: dict[int, tuple[str, str]]) -> None:
    assert KAnonymity(3).judge(statistics(release)).value == 3.0


def test_table_2_discloses_pneumonia() -> None:
    assert DistinctDiversity(2, "x").judge(statistics(TABLE_2)).value == 1.0


@pytest.mark.parametrize("release", [TABLE_3, TABLE_4], ids=["table 3", "table 4"])
def test_tables_3_and_4_are_3_diverse(release: dict[int, tuple[str, str]]) -> None:
    assert DistinctDiversity(3, "x").judge(statistics(release)).holds
    assert FrequencyDiversity(3, "x").judge(statistics(release)).holds


def test_table_4_satisfies_033_closeness() -> None:
    """By hand in ninths: the leaves, the middle level and the systems differ by 6+6+4, 6+2+2, 8+6+2; times 1/6."""
    model = TCloseness(0.33, "x")
    found = sorted(model.measure_all(statistics(TABLE_4)))
    assert found == pytest.approx([10 / 54, 16 / 54, 16 / 54], abs=1e-15)
    assert model.judge(statistics(TABLE_4)).holds
    assert model.judge(statistics(TABLE_4, hierarchical(TWO_LEVELS))).value == pytest.approx(10 / 36, abs=1e-15)


def test_table_4_needs_the_hierarchy() -> None:
    assert TCloseness(0.33, "x").judge(statistics(TABLE_4, equal(6))).value == pytest.approx(4 / 9, abs=1e-15)


def test_table_3_is_diverse_but_not_close() -> None:
    """Its second class has three diseases, all of them respiratory: 24/54."""
    verdict = TCloseness(0.33, "x").judge(statistics(TABLE_3))
    assert verdict.value == pytest.approx(24 / 54, abs=1e-15)
    assert not verdict.holds
