"""Rows left out and values withheld: what a reader of the whole release can compute of them keeps the guarantees."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyveil.errors import Unsatisfiable
from polyveil.models import attributes_of, models_for
from polyveil.partition import Partition
from polyveil.pipeline import anonymize
from polyveil.policy import Policy
from polyveil.releases import Release
from polyveil.releases.left_out import released_reference
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read
from polyveil.verification import Verification, verify_tables

METHODS = ("sloms", "mbf", "mmdcf-mslf", "sift", "mondrian")
FORM_OF = {"sloms": ("sliced",), "mbf": ("anatomized", "generalized", "sliced"), "mmdcf-mslf": ("anatomized",)}


def people(pay: str, illness: str) -> pl.DataFrame:
    return pl.DataFrame({"age": list(range(len(pay))), "pay": list(pay), "illness": list(illness)})


def policy_of(method: Mapping[str, Any], form: str | None = None, **privacy: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "pay": {"role": "sensitive"},
            "illness": {"role": "sensitive"},
        },
        "privacy": {"suppression_limit": 0.95, **privacy},
        "method": dict(method),
        **({"release": {"form": form}} if form else {}),
    }


def released_counts(release: Release, name: str) -> dict[str | None, int]:
    table = next(frame for frame in release.frames.values() if name in frame.columns)
    return dict(table[name].value_counts().iter_rows())


def computed_rest(release: Release, name: str) -> dict[str | None, int]:
    """What a reader computes of the rows without a released value, from the manifest and the tables alone."""
    about = release.manifest["sensitive"][name]
    stated = dict(zip(about["values"], about["counts"], strict=False))
    there = released_counts(release, name)
    return {value: count - there.get(value, 0) for value, count in stated.items() if count > there.get(value, 0)}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_reader_learns_nothing_of_rows_left_out_that_the_policy_forbids(data: st.DataObject) -> None:
    """By brute force: the share of any value in any group a reader can form, left-out rows included, is at most 1/l."""
    rows = data.draw(st.integers(6, 30))
    pay = data.draw(st.text("xxxxyz", min_size=rows, max_size=rows))
    illness = data.draw(st.text("aaabcd", min_size=rows, max_size=rows))
    method = data.draw(st.sampled_from(METHODS))
    form = data.draw(st.sampled_from(FORM_OF.get(method, ("generalized", "anatomized"))))
    l = data.draw(st.sampled_from([2, 3]))  # noqa: E741
    try:
        release = anonymize(people(pay, illness), policy_of({"name": method}, form, l=l), seed=1)
    except Unsatisfiable:
        return
    assert release.verify().holds
    for name in ("pay", "illness"):
        rest = computed_rest(release, name)
        assert max(rest.values(), default=0) * l <= sum(rest.values())
        table = next(frame for frame in release.frames.values() if name in frame.columns)
        by = [c for c in table.columns if c.startswith("group")] or ["age"]
        shares = table.group_by(*by, name).len().group_by(*by).agg(pl.col("len").max() / pl.col("len").sum())
        assert shares["len"].max() <= 1 / l + 1e-9  # type: ignore[operator]


def test_sloms_leaves_out_whole_rows_and_their_values_cannot_be_computed() -> None:
    frame = people("xxxxxyz", "abcabcd")
    method = {"name": "sloms", "slices": [["pay"], ["illness"]]}
    release = anonymize(frame, policy_of(method, k=2, l=3), seed=1)
    assert "NA" not in {*release.frames["quasi"]["group_1"], *release.frames["quasi"]["group_2"]}
    assert release.manifest["suppressed"] == 4
    assert release.manifest["counts_of"] == "released"
    assert computed_rest(release, "pay") == computed_rest(release, "illness") == {}
    assert release.verify().holds


def test_values_withheld_as_printed_are_said_to_be_covered_by_nothing() -> None:
    method = {"name": "sloms", "slices": [["pay"], ["illness"]], "withhold": "values"}
    release = anonymize(people("xxxxxyz", "abcabcd"), policy_of(method, k=2, l=3), seed=1)
    said = release.verify()
    assert not said.holds
    assert not said.failures
    [unsure] = [finding for finding in said.findings if finding.outcome == "not checked"]
    assert "4 rows" in unsure.message
    assert "no guarantee covers" in unsure.message
    assert release.manifest["counts_of"] == "released"
    assert release.manifest["method"]["parameters"]["withhold"] == "values"


def with_input_counts(release: Release, frame: pl.DataFrame) -> dict[str, Any]:
    """The manifest as an earlier version wrote it: with the counts of all input rows."""
    manifest = copy.deepcopy(dict(release.manifest))
    manifest["counts_of"] = "input"
    for name, about in manifest["sensitive"].items():
        counted = sorted(frame[name].value_counts().iter_rows())
        about["values"], about["counts"] = [value for value, _ in counted], [count for _, count in counted]
    return manifest


@pytest.mark.parametrize("form", ["generalized", "anatomized", "sliced"])
def test_the_inputs_counts_beside_rows_left_out_are_refused(form: str) -> None:
    frame = people("x" * 12 + "yyzz", "abcdabcdabcdabcd")
    release = anonymize(frame, policy_of({"name": "mbf"}, form, l=2), seed=1)
    assert release.manifest["suppressed"]
    failed = {finding.check for finding in verify_tables(with_input_counts(release, frame), release.frames).failures}
    assert "frequency-l-diversity of pay in the rows left out" in failed


def test_withheld_values_that_the_policy_does_not_name_are_refused() -> None:
    method = {"name": "sloms", "slices": [["pay"], ["illness"]], "withhold": "values"}
    release = anonymize(people("xxxxxyz", "abcabcd"), policy_of(method, k=2, l=3), seed=1)
    manifest = copy.deepcopy(dict(release.manifest))
    del manifest["policy"]["method"]["withhold"]
    assert "withheld values" in {finding.check for finding in verify_tables(manifest, release.frames).failures}


def by_hand(left: str, kept: str, **privacy: Any) -> Verification:
    """A generalized release of one class, with rows left out, as an earlier version would have written it."""
    frame = people(left + kept, ("ab" * 99)[: len(left + kept)])
    policy = {"columns": {"age": {"role": "quasi"}, "pay": {"role": "sensitive"}}, "privacy": {"k": 2}}
    release = anonymize(frame[len(left) :].select("age", "pay"), policy, seed=1)
    manifest = copy.deepcopy(dict(release.manifest))
    manifest["policy"]["privacy"] |= {"suppression_limit": 0.9, **privacy}
    counted = sorted(frame["pay"].value_counts().iter_rows())
    manifest["sensitive"]["pay"] |= {"values": [v for v, _ in counted], "counts": [c for _, c in counted]}
    manifest |= {"rows": frame.height, "suppressed": len(left)}
    return verify_tables(manifest, release.frames)


@pytest.mark.parametrize(
    ("left", "privacy", "expected"),
    [
        ("x", {}, {"k-anonymity"}),
        ("xxxx", {"l": 2}, {"frequency-l-diversity of pay"}),
        ("xxxx", {"l": 2, "diversity": "distinct"}, {"distinct-l-diversity of pay"}),
        ("xxxy", {"l": 2, "diversity": "entropy"}, {"entropy-l-diversity of pay"}),
        ("xxxx", {"t": 0.3}, {"t-closeness of pay"}),
        ("xxxx", {"alpha": 0.9}, {"alpha-k-anonymity of pay"}),
        ("xxxx", {"beta": 0.5}, {"enhanced-beta-likeness of pay"}),
        ("xxxx", {"delta": 3.0}, {"delta-disclosure of pay"}),
        ("xyxy", {"l": 2, "t": 0.3}, set()),
        ("xy", {}, set()),
    ],
)
def test_every_guarantee_is_judged_in_the_rows_left_out(left: str, privacy: dict[str, Any], expected: set[str]) -> None:
    said = by_hand(left, "xyxyxyxy", **privacy)
    found = {f.check.removesuffix(" in the rows left out") for f in said.failures if f.check.endswith("left out")}
    assert found == expected


def test_where_the_rows_left_out_keep_the_promise_the_inputs_counts_are_published() -> None:
    """KACA-like outliers: nothing but k is promised, and more than k rows are left out."""
    frame = people("xyxyxyxy", "abcdabcd")
    policy = Policy.from_dict(policy_of({"name": "sift"}, k=2, l=2))
    coded = encode(bind(policy, read(frame)))
    attributes = attributes_of(coded)
    models = models_for(policy, attributes)
    fair = Partition(np.array([-1, -1, -1, -1, 0, 0, 0, 0]))
    assert released_reference(coded, fair, models, attributes) is None
    alike = Partition(np.array([-1, 0, -1, 0, 0, 0, 0, 0]))
    reference = released_reference(coded, alike, models, attributes)
    assert reference is not None
    assert reference["pay"].whole.tolist() == [2, 4]
    assert released_reference(coded, Partition(np.zeros(8, dtype=np.int64)), models, attributes) is None


def left_out_of(frame: pl.DataFrame, asked: dict[str, Any], rows: int) -> Any:
    """Which counts may be published where the first rows are left out and the others are one group."""
    policy = Policy.from_dict(asked)
    bound = bind(policy, read(frame))
    table = encode(bound)
    attributes = attributes_of(table)
    partition = Partition(np.where(np.arange(frame.height) < rows, -1, 0))
    return released_reference(table, partition, models_for(policy, attributes), attributes)


@pytest.mark.parametrize(("who", "told"), [([0, 1, 2, 3], True), ([0, 0, 1, 1], False), ([0, 0, 0, 1], False)])
def test_people_left_out_are_judged_in_people(who: list[int], told: bool) -> None:
    """Four rows with two values each keep k = 3 and l = 2 in rows; two people with two rows each keep neither."""
    frame = people("aabbccddee" * 2, "xyxyxyxyxy" * 2).with_columns(pl.Series("who", [*who, *range(10, 26)]))
    asked = policy_of({"name": "mondrian"}, k=3, l=2)
    assert left_out_of(frame, asked | {"columns": {**asked["columns"], "who": {"role": "drop"}}}, 4) is None
    asked["columns"]["who"] = {"role": "person"}
    assert (left_out_of(frame, asked, 4) is None) == told


def test_the_counts_of_too_few_people_left_out_are_refused() -> None:
    """The verifier counts people too: the manifest says how many there are, and how many are released."""
    frame = people("abcdefgh" * 5, "xyxyxyxy" * 5).with_columns(pl.Series("who", range(40)))
    asked = policy_of({"name": "mondrian"}, k=3, l=2)
    asked["columns"]["who"] = {"role": "person"}
    release = anonymize(frame, asked)
    manifest = copy.deepcopy(dict(release.manifest))
    gone = {"pay": ["a", "b", "c", "d"], "illness": ["x", "y", "x", "y"]}
    for name, values in gone.items():
        about = manifest["sensitive"][name]
        for value in values:
            about["counts"][about["values"].index(value)] += 1
    manifest |= {"rows": 44, "suppressed": 4}
    for count, failing in ((44, False), (42, True)):
        manifest["people"]["count"] = count
        found = {finding.check for finding in verify_tables(manifest, release.frames).failures}
        assert ("k-anonymity in the people left out" in found) == failing
