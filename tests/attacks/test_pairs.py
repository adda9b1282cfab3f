"""Each attack succeeds on a release that is open to it and falls to the promised bound on one that protects."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import polyveil
from attack_tables import BRANCHES, FAITHS, ILLNESSES, by_age, people, policy_of, release_of
from polyveil.attacks import Attack, attack
from polyveil.policy import Policy


def only(release: object, frame: pl.DataFrame, name: str, attribute: str | None = None, **options: object) -> Attack:
    return attack(release, frame, **options).named(name, attribute)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["prosecutor linkage", "journalist linkage", "marketer linkage"])
def test_linkage_names_everybody_in_raw_data_and_one_in_k_at_most_in_a_release(name: str) -> None:
    frame = people()
    raw = only(release_of(frame, policy_of(k=5), np.arange(600)), frame, name)
    assert (raw.success, raw.worst, raw.verdict) == (1.0, 1.0, "broken")
    kept = only(polyveil.anonymize(frame, policy_of(k=5)), frame, name)
    assert kept.success <= kept.bound == 0.2
    assert kept.worst is not None
    assert kept.worst <= 0.2
    assert kept.verdict == "within bound"
    assert kept.baseline == pytest.approx(1 / 600)


def test_homogeneity_is_certain_where_classes_are_k_anonymous_with_one_value() -> None:
    frame = people().sort("age").with_columns(illness=pl.Series(np.repeat(np.resize(ILLNESSES, 120), 5)))
    alike = release_of(frame, policy_of(k=5), by_age(frame, 5))
    open_to_it = only(alike, frame, "homogeneity", "illness")
    assert (open_to_it.success, open_to_it.worst, open_to_it.verdict) == (1.0, 1.0, "no promise")
    assert open_to_it.baseline < 0.15
    claimed = only(release_of(frame, policy_of(k=5, l=3), by_age(frame, 5)), frame, "homogeneity", "illness")
    assert claimed.verdict == "broken"
    kept = only(polyveil.anonymize(frame, policy_of(k=5, l=3)), frame, "homogeneity", "illness")
    assert kept.bound == pytest.approx(1 / 3)
    assert kept.success <= 1 / 3
    assert kept.worst is not None
    assert kept.worst <= 1 / 3 + 1e-9
    assert kept.verdict == "within bound"


def test_skewness_makes_a_rare_value_likely_where_classes_are_diverse_only() -> None:
    """One in fifty has the cancer; in the first classes it is every other person, and two values are there."""
    illness = np.resize(["flu", "asthma", "cold", "fear"], 600)
    illness[[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]] = "cancer"
    frame = people(age=np.arange(600), illness=illness)
    asked = {**policy_of(k=4, l=2), "privacy": {"k": 4, "l": 2, "diversity": "distinct"}}
    diverse = release_of(frame, asked, by_age(frame, 4))
    skewed = only(diverse, frame, "skewness", "illness")
    assert skewed.worst == 0.5
    assert skewed.note.endswith("0.480")
    close = Policy.from_dict(policy_of(k=4, t=0.3))
    assert only(diverse, frame, "skewness", "illness", policy=close).verdict == "broken"
    kept = only(polyveil.anonymize(frame, close), frame, "skewness", "illness")
    assert kept.verdict == "within bound"
    assert kept.bound is not None
    assert kept.success <= kept.high <= kept.bound


def test_similarity_knows_the_branch_where_the_values_differ_but_not_in_kind() -> None:
    of_branch = np.concatenate([np.resize(BRANCHES[name], 200) for name in BRANCHES])
    frame = people(age=np.arange(600), illness=of_branch)
    alike = release_of(frame, policy_of(k=6, l=3), np.arange(600) // 6 - (np.arange(600) // 6 == 100))
    open_to_it = only(alike, frame, "similarity", "illness")
    assert open_to_it.success > 0.98
    assert open_to_it.worst == 1.0
    assert open_to_it.baseline == pytest.approx(1 / 3, abs=0.01)
    assert only(alike, frame, "homogeneity", "illness").verdict == "within bound"
    close = Policy.from_dict(policy_of(k=6, t=0.2))
    assert only(alike, frame, "similarity", "illness", policy=close).verdict == "broken"
    kept = only(polyveil.anonymize(frame, close), frame, "similarity", "illness")
    assert kept.verdict == "within bound"
    assert kept.bound == pytest.approx(1 / 3 + 0.2, abs=0.01)
    assert kept.high <= kept.bound


def test_overlapping_classes_together_tell_more_than_any_one_of_them() -> None:
    """Illness follows age exactly. Every class keeps t, but a person of one age is covered by several classes, and what
    they have in common gives the age's illness away more often than any class does. A model of other people knows it
    even better: the attack is outside the guarantees, and no disclosure of a person."""
    of_branch = np.concatenate([np.resize(BRANCHES[name], 200) for name in BRANCHES])
    frame = people(age=np.arange(600), illness=of_branch)
    overlapping = Policy.from_dict({**policy_of(k=6, t=0.2), "method": {"name": "sift"}})
    release = polyveil.anonymize(frame, overlapping, seed=1)
    assert release.privacy["t"]["illness"] <= 0.2 + 1e-9
    report = attack(release, frame)
    assert report.named("similarity", "illness").verdict == "within bound"
    found = report.named("combining groups, similar values", "illness")
    assert found.bound is not None
    assert found.worst is not None
    assert found.worst <= found.bound < found.low
    assert found.baseline_population is not None
    assert found.baseline_population > 0.95
    assert found.verdict == "no promise"
    assert "a model of other people tells it too" in found.note
    assert found in report.general
    assert found not in report.unpromised


def test_background_knowledge_settles_it_where_two_values_are_left() -> None:
    frame = people().sort("age").with_columns(illness=pl.Series(np.resize(["flu", "ulcer"], 600)))
    two = release_of(frame, policy_of(k=4, l=2), by_age(frame, 4))
    open_to_it = only(two, frame, "background, 1 ruled out", "illness")
    assert (open_to_it.success, open_to_it.worst) == (1.0, 1.0)
    asked = policy_of(k=4)
    asked["columns"]["illness"]["l"] = 4
    four = Policy.from_dict(asked)
    assert only(two, frame, "background, 1 ruled out", "illness", policy=four).verdict == "broken"
    kept = only(polyveil.anonymize(people(), four), people(), "background, 1 ruled out", "illness")
    assert kept.bound == pytest.approx(1 / 3)  # one in four, one of the four ruled out
    assert kept.verdict == "within bound"
    assert kept.high <= 1 / 3


def test_one_sensitive_value_tells_another_where_only_each_column_is_close() -> None:
    """In every class of 8 the four faiths come twice and go with one illness each, another one in the next class."""
    rng = np.random.default_rng(1)
    classes = np.arange(800) // 8
    faith = np.tile(np.repeat(FAITHS, 2), 100)
    illness = np.concatenate([np.repeat(rng.permutation(ILLNESSES)[:4], 2) for _ in range(100)])
    frame = people(800, age=np.arange(800), faith=faith, illness=illness)
    separate = release_of(frame, policy_of(k=8), classes)
    open_to_it = only(separate, frame, "joint", "faith -> illness")
    assert open_to_it.success == 1.0
    assert open_to_it.baseline < 0.25
    assert open_to_it.verdict == "no promise"
    joint = Policy.from_dict(policy_of(k=8, joint=[{"columns": ["illness", "faith"], "t": 0.2}]))
    assert only(separate, frame, "joint", "faith -> illness", policy=joint).verdict == "broken"
    kept = only(polyveil.anonymize(frame, joint), frame, "joint", "faith -> illness")
    assert kept.verdict == "within bound"
    assert kept.bound is not None
    assert kept.high <= kept.bound < 0.6


def test_a_learner_remembers_the_people_of_raw_data_and_not_those_of_a_release() -> None:
    frame = people(1500)
    raw = only(release_of(frame, policy_of(k=5), np.arange(1500)), frame, "learned inference", "faith", trials=500)
    assert raw.success > 0.9
    assert raw.baseline < 0.35  # of people it has not seen it knows nothing
    kept = only(polyveil.anonymize(frame, policy_of(k=20)), frame, "learned inference", "faith", trials=500)
    assert kept.low <= kept.baseline + 0.05
    strangers = people(400, seed=9)
    told = only(
        polyveil.anonymize(frame, policy_of(k=20)), frame, "learned inference", "faith", heldout=strangers, trials=500
    )
    assert "people held out" in told.note
    assert told.baseline < 0.35


def test_two_releases_with_other_classes_together_name_people_and_equal_ones_do_not() -> None:
    frame = people(400)
    first = release_of(frame, policy_of(k=10, l=2), by_age(frame, 20))
    by_place = (frame["place"].rank("ordinal").to_numpy().astype(np.int64) - 1) // 20
    second = release_of(frame, policy_of(k=10, l=2), by_place)
    together = attack(first, frame, second=second)
    assert together.named("prosecutor linkage").verdict == "within bound"
    assert together.named("intersection").verdict == "broken"
    assert together.named("intersection").success > 2 / 20
    assert together.named("intersection", "illness").success > 1.2 * together.named("homogeneity", "illness").success
    again = release_of(frame, policy_of(k=10, l=2), by_age(frame, 20))
    same = attack(first, frame, second=again)
    assert same.named("intersection").verdict == "within bound"
    assert same.named("intersection").success == pytest.approx(1 / 20)


def test_rows_in_the_original_order_name_people_and_shuffled_rows_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people()
    shuffled = attack(polyveil.anonymize(frame, policy_of(k=5)), frame)
    for name in ("order of rows", "order within groups"):
        found = shuffled.named(name)
        assert found.verdict == "within bound"
        assert found.success < found.baseline + 0.1
    monkeypatch.setattr(sys.modules["polyveil.releases.generalized"], "random_order", np.arange)
    sorted_rows = polyveil.anonymize(frame, policy_of(k=5))
    in_order = attack(sorted_rows, frame)
    assert in_order.named("order of rows").success == 1.0
    assert in_order.named("order of rows").verdict == "broken"
    assert in_order.named("order within groups").verdict == "broken"


def test_of_each_kind_of_attack_the_first_is_told_and_whether_it_is_an_example() -> None:
    """Pairs of columns are attacked one by one, each by somebody who knows another column."""
    frame = people()
    found = attack(polyveil.anonymize(frame, policy_of(k=5)), frame, trials=50)
    kinds = {each.name: (each, differs) for each, differs in found.kinds()}
    assert list(kinds) == list(dict.fromkeys(each.name for each in found.attacks))
    assert kinds["joint"] == (found.named("joint"), True)
    assert kinds["prosecutor linkage"] == (found.named("prosecutor linkage"), False)


def test_tables_in_one_order_or_groups_of_one_number_link_slices_and_shuffled_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = people()
    asked = {**policy_of(l=3), "method": {"name": "mmdcf"}, "release": {"form": "sliced"}}
    shuffled = attack(polyveil.anonymize(frame, asked), frame)
    names = ("order across tables", "group ids across slices")
    assert [shuffled.named(name).verdict for name in names] == ["within bound", "within bound"]
    monkeypatch.setattr(sys.modules["polyveil.releases.linked"], "random_order", np.arange)
    monkeypatch.setattr("polyveil.pipeline.refuse_unless", lambda _: None)  # the verifier would see the order as well
    in_order = attack(polyveil.anonymize(frame, asked), frame)
    assert [in_order.named(name).verdict for name in names] == ["broken", "broken"]
    assert in_order.named("order across tables").success > 0.99
    assert in_order.named("group ids across slices").success == 1.0


def test_people_left_out_are_known_by_what_remains() -> None:
    frame = people().with_columns(age=pl.Series([10_000, *range(1, 600)]))
    classes = np.concatenate([[-1], np.arange(599) // 5])
    classes[classes == 119] = 118
    asked = {**policy_of(k=5), "privacy": {"k": 5, "suppression_limit": 0.01}}
    found = only(release_of(frame, asked, classes), frame, "left out", "illness")
    assert (found.success, found.worst, found.trials) == (1.0, 1.0, 1)
    assert found.verdict == "no promise"
