"""What a policy says about its release: on the first page of the report, and named by the verifier as unconfirmed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.errors import PolicyError
from polyveil.policy import Policy
from polyveil.reports.stored import with_report

PEOPLE = pl.DataFrame({"age": [30, 31, 52, 53] * 2, "disease": ["flu", "asthma", "flu", "asthma"] * 2})
ABOUT = {
    "title": "Patients 2025, for teaching",
    "purpose": "Exercises in epidemiology <b>only</b>",
    "controller": "City Hospital",
    "recipients": "students under contract",
    "contact": "data@hospital.example",
    "date": "2026-11-02",
    "reasons": "k = 2 because the class room has no network; see the board's paper of October.",
}


def policy(**about: Any) -> dict[str, Any]:
    columns = {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    return {"about": about, "columns": columns, "privacy": {"k": 2}}


def test_the_report_leads_with_it_and_ends_with_room_for_a_signature(tmp_path: Path) -> None:
    release = polyveil.anonymize(PEOPLE, policy(**ABOUT), out=tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text()
    assert f"<title>{ABOUT['title']}</title>" in page
    assert "Exercises in epidemiology &lt;b&gt;only&lt;/b&gt;" in page
    assert all(text in page for key, text in ABOUT.items() if key not in ("purpose", "reasons"))
    assert page.index("About this release") < page.index("Guarantees and how well") < page.index("signature</dt>")
    assert release.manifest["policy"]["about"] == ABOUT


def test_the_verifier_says_that_no_file_confirms_it(tmp_path: Path) -> None:
    polyveil.anonymize(PEOPLE, policy(**ABOUT), out=tmp_path / "release")
    found = with_report(polyveil.verify(tmp_path / "release"), tmp_path / "release")
    assert found.outcome == "holds"
    assert [finding.outcome for finding in found.findings if finding.check == "about"] == ["not checked"]
    assert [finding.outcome for finding in found.findings if finding.check == "report"] == ["holds"]


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    release = polyveil.anonymize(PEOPLE, policy(), out=tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text()
    assert "<title>Release report</title>" in page
    assert "About this release" not in page
    assert "Approval" not in page
    assert "about" not in release.manifest["policy"]
    assert "about" not in [finding.check for finding in polyveil.verify(tmp_path / "release").findings]


def test_it_reads_back_from_yaml() -> None:
    written = Policy.from_dict(policy(**{**ABOUT, "purpose": "two\n  lines", "date": dt.date(2026, 11, 2)}))
    assert written.about.purpose == "two lines"
    assert written.about.date == "2026-11-02"
    assert "about:" in written.to_yaml()
    assert Policy.from_dict(policy(**written.about.model_dump())) == written


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"title": "x" * 601}, "1 to 600 characters, not 601"),
        ({"title": ""}, "1 to 600 characters, not 0"),
        ({"title": "a\u202eb"}, "cannot be printed"),
        ({"titel": "x"}, "title"),
        ({"title": ["x"]}, "text"),
    ],
)
def test_what_cannot_be_shown_is_refused(about: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        Policy.from_dict(policy(**about))
