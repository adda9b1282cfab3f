"""The report as PDF: printed by the machine's own browser, or refused with what to do instead."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import polyveil
from conftest import require
from polyveil.errors import InputError
from polyveil.reports import pdf


@pytest.fixture(scope="module")
def release() -> polyveil.Release:
    people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    return polyveil.anonymize(people, policy)


def test_a_pdf_is_printed_where_there_is_a_browser(release: polyveil.Release, tmp_path: Path) -> None:
    try:
        pdf.find_browser()
    except InputError as missing:
        require(False, str(missing))
    page = polyveil.report(release, out=tmp_path / "report.pdf")
    printed = (tmp_path / "report.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
    assert page.startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.pdf"]


def test_without_a_browser_it_says_what_to_do(
    release: polyveil.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "BROWSERS", ())
    with pytest.raises(InputError, match="print it as PDF from any browser"):
        polyveil.report(release, out=tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_fails_leaves_nothing(
    release: polyveil.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "BROWSERS", ("false",))
    with pytest.raises(InputError, match="could not print the report"):
        polyveil.report(release, out=tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report.docx", "report"])
def test_other_files_are_refused_before_they_are_written(release: polyveil.Release, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"written as \.html or \.pdf"):
        polyveil.report(release, out=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
