"""Promises every registered model keeps: order and names of rows, classes and values do not matter; merging is safe."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_examples import attribute, classes, one_of_each, tables
from polyveil.models import MODELS as ALL_MODELS
from polyveil.models import AnyColumns, Attribute, JointCloseness, Model, from_classes
from polyveil.models.ground import equal
from polyveil.models.risk import RegisterRisk

OTHERS = (JointCloseness, AnyColumns, RegisterRisk)
MODELS = {key: model for key, model in ALL_MODELS.items() if model not in OTHERS and not model.weighted}
"""These have tests of their own: class statistics alone do not tell what they measure."""
Table = tuple[np.ndarray, np.ndarray, Attribute]
THRESHOLDS = st.floats(0.0, 1.0)
EXAMPLES = {type(model).key: i for i, model in enumerate(one_of_each(0.5, 2))}


def values(model: Model, class_of_row: np.ndarray, codes: np.ndarray, about: Attribute) -> np.ndarray:
    return model.measure_all(from_classes(class_of_row, {"x": codes}, {"x": about}))


def test_the_suite_covers_every_registered_model() -> None:
    assert set(EXAMPLES) == set(MODELS)


@pytest.mark.parametrize("key", MODELS)
def test_a_model_describes_itself_in_words(key: str) -> None:
    model = one_of_each(0.5, 2)[EXAMPLES[key]]
    assert MODELS[key] is type(model)
    assert all(len(text) > 10 for text in (model.title, model.source, model.helps_against, model.leaves_open))
    assert model.attribute is None or "x" in model.statement()
    assert model.parameter in {"k", "risk", "l", "t", "p", "alpha", "beta", "delta"}


@pytest.mark.parametrize("key", MODELS)
def test_the_whole_table_as_one_class_is_as_good_as_it_gets(key: str) -> None:
    """Merging everything gives the best class there is: no smaller class measures better than it does."""
    model = one_of_each(0.5, 2)[EXAMPLES[key]]
    about = attribute([6, 3, 1], levels=[0, 1, 2])
    whole = model.measure_all(classes([[6, 3, 1]], about))[0]
    parts = model.measure_all(classes([[3, 3, 0], [3, 0, 1]], about))
    assert whole >= parts.min() if model.direction == "at least" else whole <= parts.max()


@pytest.mark.parametrize("key", MODELS)
@settings(max_examples=25)
@given(table=tables(), threshold=THRESHOLDS, least=st.integers(1, 3), seed=st.integers(0, 99))
def test_the_order_of_rows_and_classes_does_not_matter(
    key: str,
    table: Table,
    threshold: float,
    least: int,
    seed: int,
) -> None:
    class_of_row, codes, about = table
    model = one_of_each(threshold, least)[EXAMPLES[key]]
    rng = np.random.default_rng(seed)
    rows, renamed = rng.permutation(len(codes)), rng.permutation(class_of_row.max() + 1)
    straight = values(model, class_of_row, codes, about)
    shuffled = values(model, renamed[class_of_row[rows]], codes[rows], about)
    # Sums of floats in another order may differ in the last bit.
    np.testing.assert_allclose(shuffled[renamed], straight, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("key", MODELS)
@settings(max_examples=25)
@given(table=tables(), threshold=THRESHOLDS, least=st.integers(1, 3), seed=st.integers(0, 99))
def test_the_names_of_nominal_values_do_not_matter(
    key: str,
    table: Table,
    threshold: float,
    least: int,
    seed: int,
) -> None:
    class_of_row, codes, about = table
    model = one_of_each(threshold, least)[EXAMPLES[key]]
    renamed = np.random.default_rng(seed).permutation(about.size)
    nominal = about.ground if not about.ground.is_emd else equal(about.size)
    before = attribute(about.whole.tolist(), nominal, about.levels.tolist())
    back = np.argsort(renamed)
    after = attribute(about.whole[back].tolist(), nominal, about.levels[back].tolist())
    np.testing.assert_allclose(
        values(model, class_of_row, renamed[codes], after), values(model, class_of_row, codes, before), atol=1e-12
    )


@pytest.mark.parametrize("key", [key for key, model in MODELS.items() if model.monotone])
@settings(max_examples=60)
@given(table=tables(), threshold=THRESHOLDS, least=st.integers(1, 3))
def test_merging_two_classes_never_weakens_a_monotone_model(
    key: str,
    table: Table,
    threshold: float,
    least: int,
) -> None:
    class_of_row, codes, about = table
    model = one_of_each(threshold, least)[EXAMPLES[key]]
    straight = values(model, class_of_row, codes, about)
    if len(straight) < 2:
        return
    merged = values(model, np.maximum(class_of_row - 1, 0), codes, about)[0]
    if model.direction == "at least":
        assert merged >= straight[:2].min() - 1e-12
    else:
        assert merged <= straight[:2].max() + 1e-12
    if model.passes(straight[:2]).all():
        assert model.passes(np.array([merged])).all()


@pytest.mark.parametrize("key", MODELS)
@settings(max_examples=25)
@given(table=tables(), threshold=THRESHOLDS, least=st.integers(1, 3))
def test_a_verdict_says_what_was_measured(key: str, table: Table, threshold: float, least: int) -> None:
    class_of_row, codes, about = table
    model = one_of_each(threshold, least)[EXAMPLES[key]]
    statistics = from_classes(class_of_row, {"x": codes}, {"x": about})
    found = model.measure_all(statistics)
    verdict = model.judge(statistics)
    assert not np.isnan(found).any()
    failing = np.count_nonzero(~model.passes(found))
    assert verdict.holds == (failing == 0)
    if model.per_group:
        assert verdict.failing_classes == failing
        assert verdict.worst_class is not None
        assert verdict.value == found[verdict.worst_class]
    else:  # all classes together: none of them is the worst
        assert (verdict.failing_classes, verdict.worst_class) == (0, None)
        assert (found == verdict.value).all()
    assert (verdict.model, verdict.parameter) == (key, model.parameter)
