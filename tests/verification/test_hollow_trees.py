"""No tree and no unused value makes a distance smaller: chains, repeated tops, empty branches, missing cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.errors import Unsatisfiable
from polyveil.methods._strata.embedding import coordinates
from polyveil.models import attributes_of
from polyveil.models.ground import hierarchical
from polyveil.models.space import value_space
from polyveil.pipeline import anonymize
from polyveil.policy import Hierarchy, Policy, from_public
from polyveil.policy.hierarchy import from_tree
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read
from polyveil.verification.attributes import declared_attributes

PLAIN: dict[str, Any] = {"a": {"a1": None, "a2": None}, "b": {"b1": None, "b2": None}}


def between(tree: Hierarchy) -> dict[tuple[str, str], float]:
    """The distance of every two values."""
    space = value_space(hierarchical(tree), tree.leaf_count)
    codes = {str(label): np.array([code]) for code, label in enumerate(tree.leaves)}
    return {(u, v): float(space.between(codes[u], codes[v])[0]) for u, v in combinations(sorted(codes), 2)}


@st.composite
def nested(draw: st.DrawFn, depth: int = 3, name: str = "n") -> dict[str, Any]:
    """Trees in which every group has at least two children."""
    count = draw(st.integers(2, 3))
    return {
        f"{name}{i}": draw(nested(depth=depth - 1, name=f"{name}{i}")) if depth and draw(st.booleans()) else None
        for i in range(count)
    }


@st.composite
def padded(draw: st.DrawFn, tree: dict[str, Any]) -> dict[str, Any]:
    """The same tree with groups of a single child anywhere: at the top, in the middle, above a value."""
    found: dict[str, Any] = {}
    for label, below in tree.items():
        inside = draw(padded(below)) if below else None
        chain: dict[str, Any] = {label: inside}
        for step in range(draw(st.integers(0, 2))):
            chain = {f"{label}-{step}": chain}
        found |= chain
    for step in range(draw(st.integers(0, 2))):
        found = {f"top{len(found)}-{step}-{min(found)}": found}
    return found


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_groups_with_a_single_child_change_no_distance(data: st.DataObject) -> None:
    tree = data.draw(nested())
    with_chains = data.draw(padded(tree))
    assert between(from_tree(with_chains)) == pytest.approx(between(from_tree(tree)))
    missing = from_tree(with_chains).with_null()
    assert between(missing) == pytest.approx(between(from_tree(tree).with_null()))
    assert all(value == pytest.approx(1.0) for pair, value in between(missing).items() if "None" in pair)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_values_that_nobody_has_change_no_distance(data: st.DataObject) -> None:
    """Distances of the values in use are those of the tree in which only they stand."""
    tree = from_tree(data.draw(padded(data.draw(nested()))))
    present = np.array(data.draw(st.lists(st.booleans(), min_size=tree.leaf_count, max_size=tree.leaf_count)))
    if present.sum() < 2:
        return
    alone = {str(label) for label, is_there in zip(tree.leaves, present, strict=True) if is_there}

    def without(below: dict[str, Any]) -> dict[str, Any]:
        kept = {k: without(v) if v else None for k, v in below.items() if v or k in alone}
        return {k: v for k, v in kept.items() if v or k in alone}

    expected = between(from_tree(without(tree.to_nested())))
    found = between(tree.used_by(present))
    assert {pair: found[pair] for pair in expected} == pytest.approx(expected)


def test_normalized_heights_by_hand() -> None:
    tree = from_tree({"Any": {"a": {"a1": None, "a2": None}, "b": {"B": {"b1": None}}}})
    assert dict(zip(tree.labels, tree.height.tolist(), strict=True)) == {
        "*": 2, "Any": 2, "a": 1, "a1": 0, "a2": 0, "b": 0, "B": 0, "b1": 0,
    }  # fmt: skip
    assert tree.is_stretched
    assert not from_tree(PLAIN).is_stretched
    assert not from_tree({"a": {"a1": None, "a2": None}, "b": {"b1": None}}).is_stretched


HOLLOW = {
    "repeated top": "a1;a;Any;Everything;*\na2;a;Any;Everything;*\nb1;b;Any;Everything;*\nb2;b;Any;Everything;*\n",
    "chains at the bottom": "a1;A1;AA1;a;*\na2;A2;AA2;a;*\nb1;B1;BB1;b;*\nb2;B2;BB2;b;*\n",
    "an empty deep branch": "a1;a;*\na2;a;*\nb1;b;*\nb2;b;*\nx1;x2;x3;x4;x5;x6;*\ny1;x2;x3;x4;x5;x6;*\n"
    "z1;x3;x4;x5;x6;*\nw1;x4;x5;x6;*\nv1;x5;x6;*\nu1;x6;*\n",
}


def people(rows: int = 80) -> pl.DataFrame:
    """Half of the ages have values of one branch, half of the other."""
    return pl.DataFrame(
        {
            "age": [i // 2 for i in range(rows)],
            "disease": [("a1", "a2", "b1", "b2")[(i * 4) // rows] for i in range(rows)],
        }
    )


def policy_of(folder: Path, text: str, **more: Any) -> Policy:
    (folder / "disease.csv").write_text(text)
    return Policy.from_dict(
        {
            "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive", "hierarchy": "disease.csv", **more}},
            "privacy": {"k": 2, "t": 0.1},
        },
        folder=folder,
    )


@pytest.mark.parametrize("kind", HOLLOW)
def test_method_manifest_and_verifier_measure_with_the_same_normalized_tree(tmp_path: Path, kind: str) -> None:
    policy = policy_of(tmp_path, HOLLOW[kind])
    release = anonymize(people(), policy, seed=1)
    plain = policy.model_copy(update={"columns": {**policy.columns, "disease": policy.columns["disease"].model_copy()}})
    coded = encode(bind(plain, read(people())))
    declared = declared_attributes(release.manifest, from_public(release.manifest["policy"]))["disease"]
    for ground in (attributes_of(coded)["disease"].ground, declared.attribute.ground):
        space = value_space(ground, coded.sensitive[0].domain.size)
        code = {label: np.array([i]) for i, label in enumerate(coded.sensitive[0].domain.labels)}
        assert space.between(code["a1"], code["a2"]) == pytest.approx([0.5])
        assert space.between(code["a1"], code["b2"]) == pytest.approx([1.0])
    points = coordinates(coded.sensitive[0])
    names = list(coded.sensitive[0].domain.labels)
    apart = np.linalg.norm(points[names.index("a1")] - points[names.index("b1")])
    assert apart == pytest.approx(1.0)
    # No class is one branch alone, which was 0.1 away when chains counted.
    shares = release.table.group_by("age").agg(pl.col("disease").str.starts_with("a").mean())
    assert shares["disease"].is_between(0.3, 0.7).all()
    assert any("disease was normalized" in note for note in release.notes)


def test_a_plain_tree_needs_no_note(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, "a1;a;*\na2;a;*\nb1;b;*\nb2;b;*\n")
    assert anonymize(people(), policy, seed=1).notes == ()


def test_a_missing_cell_does_not_deepen_a_chain(tmp_path: Path) -> None:
    frame = people().with_columns(pl.when(pl.col("age") == 0).then(None).otherwise(pl.col("disease")).alias("disease"))
    policy = policy_of(tmp_path, HOLLOW["repeated top"])
    ground = attributes_of(encode(bind(policy, read(frame))))["disease"].ground
    space = value_space(ground, 5)
    assert space.between(np.array([0]), np.array([3])) == pytest.approx([1.0])
    assert space.between(np.array([0]), np.array([4])) == pytest.approx([1.0])


def test_a_hollow_tree_cannot_make_an_unreachable_t_reachable(tmp_path: Path) -> None:
    """With 79 of 80 rows in classes of one branch, t = 0.1 was certified; now it needs large classes or is refused."""
    frame = people().with_columns(pl.Series("age", [0] * 40 + [1] * 40, dtype=pl.Int64))
    policy = policy_of(tmp_path, HOLLOW["repeated top"])
    try:
        release = anonymize(frame, policy, seed=1)
    except Unsatisfiable:
        return
    assert release.manifest["classes"] == 1


def test_the_published_label_is_the_most_specific_one(tmp_path: Path) -> None:
    policy = Policy.from_dict(
        {
            "columns": {
                "town": {
                    "role": "quasi",
                    "hierarchy": {"tree": {"Any": {"All": {"n": {"x": None, "y": None}, "z": None}}}},
                },
                "salary": {"role": "sensitive"},
            },
            "privacy": {"k": 2},
        }
    )
    release = anonymize(pl.DataFrame({"town": ["x", "y", "z", "z"], "salary": [1, 2, 3, 4]}), policy, seed=1)
    assert set(release.table["town"]) <= {"n", "z", "All"}


def test_loss_by_leaves_is_that_of_the_plain_tree() -> None:
    plain, chained = from_tree(PLAIN), from_tree({"top": {"more": PLAIN}})
    low, high = np.array([0, 0, 0]), np.array([0, 1, 3])
    for one, other in zip(
        plain.loss_of_nodes()[plain.common_ancestor(low, high)],
        chained.loss_of_nodes()[chained.common_ancestor(low, high)],
        strict=True,
    ):
        assert Fraction(one).limit_denominator(100) == Fraction(other).limit_denominator(100)
