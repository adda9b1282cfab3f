"""Results: three outcomes, no truth value, one sentence, a table, HTML; and what they say in the cases that misled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.advice.compare import Comparison
from polyveil.attacks import AttackReport
from polyveil.cli import app
from polyveil.progress import NotebookProgress, Progress, shown
from polyveil.results import Result
from polyveil.verification.findings import Finding, Verification

POLICY: dict[str, Any] = {
    "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
    "privacy": {"k": 2},
    "method": {"name": "mondrian"},
}
PEOPLE = pl.DataFrame({"age": [30, 31, 52, 53] * 2, "disease": ["flu", "asthma", "flu", "asthma"] * 2})


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    release = polyveil.anonymize(PEOPLE, POLICY, seed=1)
    return {
        "release": release,
        "verification": polyveil.verify(release),
        "attacks": polyveil.attack(release, PEOPLE),
        "checkup": polyveil.check(PEOPLE, POLICY),
        "profile": polyveil.profile(PEOPLE),
        "comparison": polyveil.compare(PEOPLE, POLICY, methods="mondrian", jobs=1, limit=300),
        "advice": polyveil.advise(PEOPLE, POLICY, methods=[], k_grid=[2], jobs=1, limit=300),
    }


KINDS = ("release", "verification", "attacks", "checkup", "profile", "comparison", "advice")


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_has_the_one_shape(results: dict[str, Result], kind: str) -> None:
    result = results[kind]
    assert isinstance(result, Result)
    assert result.outcome in ("holds", "fails", "not checked")
    assert result.holds is (result.outcome == "holds")
    assert repr(result) == f"<{type(result).__name__}: {result.answer()}>"
    assert len(repr(result)) < 250
    assert "\n" not in repr(result)
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.to_frame().height > 0
    assert result._repr_html_().startswith('<div class="polyveil">')


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_has_no_truth_value_and_says_what_to_use(results: dict[str, Result], kind: str) -> None:
    with pytest.raises(TypeError, match=r"Use \.holds"):
        bool(results[kind])


def test_html_shows_cells_as_text_never_as_markup() -> None:
    frame = PEOPLE.rename({"disease": "<script>x</script>"})
    html = polyveil.profile(frame)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_nothing_tried_is_no_pass() -> None:
    for nothing in (AttackReport(()), Verification(()), Comparison((), 0, 0)):
        assert nothing.outcome == "not checked"
        assert nothing.holds is False


def test_a_check_that_could_not_be_made_is_no_pass() -> None:
    passed, open_check = Finding("rows", "holds", ""), Finding("k-anonymity", "not checked", "")
    assert Verification((passed,)).outcome == "holds"
    assert Verification((passed, open_check)).outcome == "not checked"
    assert Verification((passed, open_check, Finding("files", "fails", ""))).outcome == "fails"


def test_a_release_that_nobody_verified_says_so() -> None:
    release = polyveil.anonymize(PEOPLE, POLICY, seed=1)
    assert release.outcome == "holds"
    assert polyveil.Release(release.frames, release.manifest).outcome == "not checked"


def test_a_name_is_one_name_not_its_letters() -> None:
    checkup = polyveil.check(PEOPLE, quasi="age", sensitive="disease")
    assert checkup.quasi == ("age",)
    assert checkup.outcome == "not checked"
    assert checkup.to_dict()["holds"] is None


def test_a_column_named_quasi_and_sensitive_is_judged_as_both() -> None:
    same = pl.DataFrame({"age": [30] * 4, "d": ["flu"] * 4})
    found = polyveil.check(same, quasi=["age", "d"], sensitive="d", privacy={"k": 2, "l": 2})
    assert found.quasi == ("age", "d")
    assert [each.attribute for each in found.measurements if each.holds is False] == ["d"]
    mixed = pl.DataFrame({"age": [30] * 4, "d": ["flu", "cold"] * 2})
    assert polyveil.check(mixed, quasi="age", sensitive="d", privacy={"l": 2}).holds
    assert polyveil.check(mixed, quasi=["age", "d"], sensitive="d", privacy={"l": 2}).outcome == "fails"


def test_the_command_judges_a_column_as_both_and_names_the_value_that_is_certain(tmp_path: Path) -> None:
    pl.DataFrame({"age": [30] * 4, "d": ["flu"] * 4}).write_csv(tmp_path / "same.csv")
    asked = ["check", str(tmp_path / "same.csv"), "--quasi", "age,d", "--sensitive", "d"]
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert json.loads(told.stdout)["answer"] == "No: in 1 group (4 rows) everybody has the same d."
    assert CliRunner().invoke(app, [*asked, "--l", "2"]).exit_code == 1


def test_what_was_asked_may_hold_and_a_value_still_be_certain() -> None:
    certain = pl.DataFrame({"age": [30, 30, 52, 52], "d": ["flu", "flu", "flu", "cold"]})
    answer = polyveil.check(certain, quasi="age", sensitive="d", privacy={"k": 2}).answer()
    assert answer.startswith("Yes")
    assert answer.endswith("But in 1 group (2 rows) everybody has the same d.")


class Screen:
    """What a notebook shows: one output, replaced on every update."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, content: str, *, display_id: bool) -> Screen:
        assert display_id
        self.shown.append(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


def test_a_notebooks_bar_is_redrawn_in_place_and_leaves_nothing() -> None:
    screen = Screen()
    bar = NotebookProgress(screen.display, str)
    bar.stage("partition")
    bar.advance(1.0, "loss < 0.2")
    bar.close()
    assert 'value="1.000"' in screen.shown[-2]
    assert "loss &lt; 0.2" in screen.shown[-2]
    assert screen.shown[-1] == ""


def test_progress_true_draws_in_the_notebook_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    screen = Screen()
    ipython = types.ModuleType("IPython.display")
    ipython.display, ipython.HTML = screen.display, str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    polyveil.anonymize(PEOPLE, POLICY, progress=True)
    assert any("verify" in picture for picture in screen.shown)
    assert screen.shown[-1] == ""


def test_progress_may_be_a_listener_a_bar_or_nothing() -> None:
    mine = Progress()
    with shown(mine) as listening:
        assert listening is mine
    with shown(False) as listening:
        assert type(listening) is Progress
