"""Releases that polyveil 0.1 wrote, before its sentences were rewritten, still verify: every model, every form.

The tables are synthetic. They were written by the version of that time and are never written again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from polyveil.models import MODELS
from polyveil.reports.stored import with_report
from polyveil.verification import verify

BUNDLES = sorted((Path(__file__).parent / "bundles-0.1").iterdir())


def claims(bundle: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["claims"]
    return found


LATER = ("risk", "any")
"""Keys that policies of version 0.1 did not have."""


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_release_of_version_0_1_still_verifies(bundle: Path) -> None:
    result = verify(bundle)
    assert result.holds, result.findings


def test_the_report_of_an_old_release_is_not_compared_and_names_the_version_that_can() -> None:
    bundle = BUNDLES[0].parent / "with-report"
    result = with_report(verify(bundle), bundle)
    (report,) = [finding for finding in result.findings if finding.check == "report"]
    assert result.holds
    assert report.outcome == "not checked"
    assert "polyveil 0.1.0" in report.message


def test_these_releases_claim_every_model_of_that_time() -> None:
    of_that_time = {key for key, model in MODELS.items() if model.parameter not in LATER and not model.weighted}
    assert {claim["model"] for bundle in BUNDLES for claim in claims(bundle)} == of_that_time


def test_a_former_sentence_with_another_figure_is_still_a_false_claim(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(BUNDLES[0].parent / "distinct", bundle)
    text = (bundle / "manifest.json").read_text(encoding="utf-8")
    assert "every class has at least 2 different values of illness" in text
    changed = text.replace("at least 2 different values of illness", "at least 3 different values of illness")
    (bundle / "manifest.json").write_text(changed, encoding="utf-8")
    assert not verify(bundle).holds
