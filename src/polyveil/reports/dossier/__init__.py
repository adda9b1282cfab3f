"""Dossiers for those who accept a release: facts from one evidence file, and marked blanks for what people judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyveil.errors import InputError
from polyveil.policy import PolicyLike
from polyveil.progress import SILENT, Progress
from polyveil.reports.dossier.document import KINDS, Document, make_document
from polyveil.reports.dossier.docx import to_docx
from polyveil.reports.dossier.evidence import Evidence, gather_evidence, read_evidence
from polyveil.reports.dossier.html import to_html
from polyveil.reports.pdf import find_browser, to_pdf
from polyveil.reports.writing import check_page_target, write_page
from polyveil.verification import ReleaseLike

FORMATS = (".html", ".pdf", ".docx")


def write_dossier(
    release: ReleaseLike,
    kind: str,
    out: Path,
    *,
    original: Any = None,
    policy: PolicyLike | None = None,
    evidence: Path | None = None,
    overwrite: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Path:
    """Write a dossier, and its evidence beside it unless it is given; returns the evidence file."""
    beside = out.with_suffix(".evidence.json")
    _check(kind, out, evidence, beside, original, overwrite=overwrite)
    if policy is not None and original is None:
        raise InputError("--policy needs the original table as well. Add --original")
    if evidence is not None:
        found = read_evidence(evidence, release)
    else:
        found = gather_evidence(release, original, policy=policy, reading=reading, progress=progress)
        write_page(beside, found.to_json())
    write_page(out, _written(make_document(kind, found), out.suffix.lower()))
    return evidence or beside


def _check(kind: str, out: Path, evidence: Path | None, beside: Path, original: Any, *, overwrite: bool) -> None:
    """Refuse early what would fail late."""
    if kind not in KINDS:
        raise InputError(f"there is no dossier {kind!r}. Known: {', '.join(KINDS)}")
    if out.suffix.lower() not in FORMATS:
        raise InputError(f"{out.name}: a dossier is written as {', '.join(FORMATS)}. Name such a file with --out")
    if evidence is not None and original is not None:
        raise InputError("--evidence has its figures already. Leave --original out, or --evidence to measure again")
    check_page_target(out, overwrite=overwrite)
    if evidence is None:
        check_page_target(beside, overwrite=overwrite)
    if out.suffix.lower() == ".pdf":
        find_browser()


def _written(document: Document, suffix: str) -> str | bytes:
    if suffix == ".docx":
        return to_docx(document)
    page = to_html(document)
    return to_pdf(page) if suffix == ".pdf" else page


__all__ = ["KINDS", "Document", "Evidence", "gather_evidence", "make_document", "to_docx", "to_html", "write_dossier"]
