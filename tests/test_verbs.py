"""The package as callers see it: verbs at the top, tables and policies in every form, frames of the same kind."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import polyveil

VERBS = ("read", "profile", "check", "anonymize", "verify", "attack", "advise", "compare", "report", "bound", "analyze")
PUBLIC = {
    *VERBS,
    *("PolyveilError", "InputError", "PolicyError", "Unsatisfiable", "VerificationFailed"),
    *(
        "Policy",
        "Table",
        "Profile",
        "Checkup",
        "Release",
        "Verification",
        "AttackReport",
        "Advice",
        "Comparison",
        "LossBound",
        "Analyses",
    ),
    "__version__",
}
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")
POLICY: dict[str, Any] = {
    "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
    "privacy": {"k": 2},
    "method": {"name": "mondrian"},
}
PEOPLE = pl.DataFrame({"age": [30, 31, 52, 53] * 2, "disease": ["flu", "asthma", "flu", "asthma"] * 2})
KINDS: dict[str, tuple[Callable[[pl.DataFrame], Any], type]] = {
    "polars": (lambda frame: frame, pl.DataFrame),
    "lazy": (lambda frame: frame.lazy(), pl.DataFrame),
    "pandas": (lambda frame: frame.to_pandas(), pd.DataFrame),
    "arrow": (lambda frame: frame.to_arrow(), pa.Table),
}


def policies(folder: Path) -> dict[str, Any]:
    """The same policy in each way a caller may have it."""
    file = folder / "policy.yaml"
    file.write_text(polyveil.Policy.from_dict(POLICY).to_yaml())
    return {"dict": POLICY, "object": polyveil.Policy.from_dict(POLICY), "path": file, "text path": str(file)}


def test_dir_shows_the_public_names_and_nothing_else_whatever_is_imported() -> None:
    code = """
import json, pkgutil, polyveil
before = dir(polyveil)
import polyveil.verification, polyveil.attacks, polyveil.reports, polyveil.cli, polyveil.checkup, polyveil.pipeline
callables = [name for name in before if callable(getattr(polyveil, name))]
print(json.dumps([before, dir(polyveil), callables]))
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    before, after, callables = json.loads(answer.stdout)
    assert before == after == sorted(PUBLIC)
    assert {*callables, "__version__"} == PUBLIC


def test_no_part_has_the_name_of_a_public_one() -> None:
    parts = {module.name for module in pkgutil.iter_modules(polyveil.__path__)}
    assert not parts & PUBLIC


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_documented_with_an_example_that_runs(verb: str) -> None:
    function = getattr(polyveil, verb)
    text = inspect.getdoc(function) or ""
    for section in SECTIONS:
        assert f"{section}\n{'-' * len(section)}" in text
    described = text.split("Parameters\n")[1].split("Returns\n")[0]
    assert [name for name in inspect.signature(function).parameters if name not in described] == []
    found = doctest.DocTestFinder(recurse=False).find(function, verb, globs={})
    assert sum(len(test.examples) for test in found) >= 2
    for test in found:
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("way", ["dict", "object", "path", "text path"])
def test_a_policy_may_come_in_every_way_everywhere(tmp_path: Path, way: str) -> None:
    policy = policies(tmp_path)[way]
    release = polyveil.anonymize(PEOPLE, policy, seed=1)
    assert polyveil.check(release.table, policy).outcome == "holds"
    assert polyveil.verify(release, policy=policy).outcome == "holds"
    assert polyveil.attack(release, PEOPLE, policy=policy).outcome == "holds"


def test_advise_and_compare_take_plain_data_as_policy() -> None:
    assert polyveil.compare(PEOPLE, POLICY, methods="mondrian", jobs=1, limit=300).outcome == "holds"
    advice = polyveil.advise(PEOPLE, POLICY, methods=[], k_grid=[2], jobs=1, limit=300)
    assert advice.to_frame().columns == ["parameter", "value", "method", "detail_lost", "least_class"]


def test_what_is_no_policy_is_refused_by_its_kind() -> None:
    with pytest.raises(polyveil.InputError, match="cannot be read from a list"):
        polyveil.check(PEOPLE, ["age"])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_frames_come_back_as_the_kind_that_went_in(kind: str) -> None:
    make, expected = KINDS[kind]
    source = make(PEOPLE)
    release = polyveil.anonymize(source, POLICY, seed=1)
    assert isinstance(release.table, expected)
    assert all(isinstance(table, expected) for table in release.tables.values())
    results = [
        release,
        polyveil.profile(source),
        polyveil.check(source, POLICY),
        polyveil.attack(release, source),
    ]
    assert all(isinstance(result.to_frame(), expected) for result in results)
    assert polyveil.verify(release).holds
    # The released cells are the same ones, whatever carries them.
    assert sorted(pl.DataFrame(release.table)["age"].unique()) == sorted(release.frames["table"]["age"].unique())


def test_a_release_goes_into_verify_attack_and_report_as_its_folder_does(tmp_path: Path) -> None:
    release = polyveil.anonymize(PEOPLE, POLICY, seed=1, out=tmp_path / "release")
    for form in (release, tmp_path / "release", str(tmp_path / "release")):
        assert polyveil.verify(form).holds
        assert polyveil.attack(form, PEOPLE).holds
    page = polyveil.report(release, out=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page == polyveil.report(tmp_path / "release")
    assert "<iframe" in page._repr_html_()
    with pytest.raises(polyveil.InputError, match="a dict is no release"):
        polyveil.verify({})  # type: ignore[arg-type]


def test_a_stricter_policy_than_the_releases_own_fails_its_verification() -> None:
    release = polyveil.anonymize(PEOPLE, POLICY, seed=1)
    reached = release.privacy["k"]
    found = polyveil.verify(release, policy={**POLICY, "privacy": {"k": reached + 1}})
    assert [failure.check for failure in found.failures] == ["asked: k-anonymity"]
    assert polyveil.verify(release, policy={**POLICY, "privacy": {"k": reached}}).holds
    everybody_alike = polyveil.verify(release, policy={**POLICY, "privacy": {"k": reached, "l": 2}})
    assert [failure.check for failure in everybody_alike.failures] == ["asked: frequency-l-diversity of disease"]
    other = {"columns": {"age": {"role": "sensitive"}}, "privacy": {"t": 0.5}}
    assert any("age" in failure.message for failure in polyveil.verify(release, policy=other).failures)


def test_a_copy_of_a_release_carries_no_original_data() -> None:
    release = polyveil.anonymize(PEOPLE, POLICY, seed=1)
    assert release.original is not None
    assert pickle.loads(pickle.dumps(release)).original is None
