"""A mean over all groups: every method reaches it, and it never costs more than the same limit for each group."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from polyveil.methods._repair.over_all import holds, merged, units
from polyveil.models.risk import AverageRisk, MarketerRisk
from tables import random_table

COLUMNS = {
    "age": {"role": "quasi", "type": "numeric"},
    "income": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi", "recode": "set"},
}
MAKES_CLASSES = ["sift", "mondrian", "fcm", "pca", "fragment", "swap", "kaca", "lattice", "auto"]


def people(rows: int = 400, seed: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": rng.gamma(2.0, 20.0, rows).astype(int),
            "town": rng.choice(list("abcdef"), rows),
        }
    )


def release(privacy: dict[str, Any], frame: pl.DataFrame | None = None, **method: Any) -> Any:
    columns = COLUMNS
    if method.get("name") in ("fcm", "pca", "swap"):
        columns = {"age": COLUMNS["age"], "income": {"role": "sensitive", "type": "numeric"}, "town": COLUMNS["town"]}
        privacy = {"t": 0.6, **privacy}
    asked = {"columns": columns, "privacy": privacy, "method": method or {"name": "sift", "effort": "fast"}}
    return polyveil.anonymize(people() if frame is None else frame, asked, seed=3)


@pytest.mark.parametrize("name", MAKES_CLASSES)
def test_every_method_that_makes_classes_keeps_a_mean(name: str) -> None:
    asked = {"risk": {"average": 0.2, "strict_k": 3}}
    method = {"name": name, **({"effort": "fast"} if name in ("sift", "auto") else {})}
    found = release(asked, **method)
    claims = {claim["model"]: claim["measured"] for claim in found.manifest["claims"]}
    assert claims["average-risk"] <= 0.2 + 1e-9
    assert claims["strict-k"] >= 3
    assert found.verification.holds
    every = release({"k": 5}, **method)
    assert found.loss["information_loss"] <= every.loss["information_loss"] + 1e-9


def test_a_mean_costs_less_than_the_same_limit_for_every_group() -> None:
    mean, every = release({"risk": {"average": 0.2, "strict_k": 3}}), release({"risk": {"max": 0.2}})
    assert mean.loss["information_loss"] < 0.98 * every.loss["information_loss"]


def test_the_sizes_of_groups_use_what_the_mean_allows() -> None:
    found = release({"risk": {"average": 0.1, "strict_k": 3}})
    assert found.manifest["class_size"]["min"] < 10
    assert found.manifest["classes"] <= 0.1 * 400
    assert found.manifest["classes"] > 0.085 * 400


def test_refining_keeps_the_mean() -> None:
    asked = {"risk": {"average": 0.2, "strict_k": 3}}
    plain, better = release(asked, name="mondrian"), release(asked, name="mondrian", refine="fast")
    assert better.verification.holds
    assert better.loss["information_loss"] <= plain.loss["information_loss"]


def test_people_are_counted_where_they_have_several_rows() -> None:
    frame = people(120).with_columns(who=pl.Series(np.repeat(np.arange(60), 2)))
    asked = {
        "columns": {**COLUMNS, "who": {"role": "person"}},
        "privacy": {"risk": {"average": 0.25, "strict_k": 2}},
        "method": {"name": "sift", "effort": "fast"},
    }
    found = polyveil.anonymize(frame, asked, seed=1)
    claims = {claim["model"]: claim["measured"] for claim in found.manifest["people"]["claims"]}
    assert claims["average-risk"] == pytest.approx(found.manifest["classes"] / 60)
    assert claims["average-risk"] <= 0.25
    assert claims["strict-k"] >= 2


def test_keys_that_show_the_number_of_rows_keep_people_apart() -> None:
    frame = people(180).with_columns(who=pl.Series([*np.repeat(np.arange(60), 2), *np.arange(60, 120)]))
    asked = {
        "columns": {**COLUMNS, "who": {"role": "person"}},
        "privacy": {"risk": {"average": 0.2, "strict_k": 2}},
        "method": {"name": "mondrian"},
        "release": {"person": "pseudonym"},
    }
    found = polyveil.anonymize(frame, asked, seed=1)
    assert found.verification.holds
    assert any(each.check == "risk" and "people" in each.message for each in found.verification.findings)


def test_rows_may_be_left_out() -> None:
    found = release({"risk": {"average": 0.1, "strict_k": 3}, "suppression_limit": 0.1}, name="lattice")
    assert found.verification.holds


@pytest.mark.parametrize(
    "model", [AverageRisk(0.25), AverageRisk(0.5), MarketerRisk(0.1, 0.3), MarketerRisk(0.02, 0.05)]
)
def test_merging_ends_as_soon_as_the_mean_holds(model: AverageRisk) -> None:
    table = random_table(seed=4, rows=60)
    alone = np.arange(60)
    labels = merged(table, alone, [model])
    sizes = units(table, labels)
    assert holds(table, labels, [model])
    assert labels.max() + 1 == len(sizes)
    assert sizes.sum() == 60
    if isinstance(model, MarketerRisk):
        assert model.too_much(sizes) == 0
    else:
        assert len(sizes) == int(model.threshold * 60)


def test_a_sample_of_a_large_population_needs_little() -> None:
    """One person in a hundred is in the table: even somebody alone is named with a chance below 9 %."""
    found = release({"risk": {"max": 0.09, "attacker": "journalist", "population": {"fraction": 0.01}}})
    assert found.loss["information_loss"] == 0
    mean = release({"risk": {"average": 0.03, "attacker": "marketer", "population": {"fraction": 0.01}}})
    assert 0 < mean.loss["information_loss"] < 0.5 * release({"k": 2}).loss["information_loss"]
    assert mean.verification.holds
