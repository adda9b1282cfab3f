"""The report of a release that exists already, rebuilt from its files, its database tables or memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from polyveil.errors import InputError, VerificationFailed
from polyveil.policy import PolicyLike
from polyveil.reports import build
from polyveil.reports.language import speaking
from polyveil.reports.page import Section
from polyveil.reports.pdf import find_browser, to_pdf
from polyveil.reports.steward import steward_sections
from polyveil.reports.writing import check_page_target, write_page
from polyveil.table.databases import is_url
from polyveil.table.stores import is_store, local_copy
from polyveil.verification import Finding, ReleaseLike, Verification, load_release, verify
from polyveil.verification.files import REPORT
from polyveil.verification.findings import fails, unchecked
from polyveil.version import __version__


class ReportPage(str):
    """The text of an HTML page, which a notebook shows as the page it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # allow-same-origin is not given: the page needs no script, and gets none.
        frame = 'style="width: 100%; height: 40em; border: 1px solid #8888; background: Canvas" sandbox'
        return f'<iframe title="Release report" {frame} srcdoc="{escape(self)}"></iframe>'


def report(
    release: ReleaseLike,
    *,
    out: Path | str | None = None,
    original: Any = None,
    policy: PolicyLike | None = None,
    row_map: Path | str | None = None,
    overwrite: bool = False,
    reading: Mapping[str, Any] | None = None,
    analyses: Any = None,
    language: str = "en",
) -> ReportPage:
    """Make the page that tells a reader what a release guarantees, what it cost and what it does not cover.

    Parameters
    ----------
    release : path, database address or Release
        The release; it is verified first.
    out : path, optional
        The file to write, beside returning the page: .html, or .pdf if Chromium, Chrome or Edge is on this machine.
    original : path, frame, Table or database address, optional
        The table the release was made from. Adds what simulated adversaries reach; such a page is not for publication.
    policy : Policy, dict or path, optional
        With `original`: the policy of the release. It names the column that says whom a row is about, which a release
        does not, so that people with several rows can be attacked.
    row_map : path, optional
        With `original`: the release's row_map.parquet. Adds what the release is still good for.
    overwrite : bool
        Replace an older file of that name.
    reading : dict, optional
        Options of `polyveil.read` for `original`.
    analyses : list of dict or path, optional
        With `original`: analyses as `polyveil.analyze` takes them. Adds their results on both tables.
    language : {"en", "de"}
        The language of the page: English or German.

    Returns
    -------
    ReportPage
        The HTML text, a `str`: one page that loads nothing. A notebook shows it as a page.

    Raises
    ------
    VerificationFailed
        The release does not hold, so a report would mislead.
    InputError
        The release or the table cannot be read, or the file cannot be written.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> page = polyveil.report(polyveil.anonymize(people, policy))
    >>> "<title>Release report</title>" in page
    True
    """
    target = None if out is None else Path(out)
    if target is not None:
        check_page_target(target, overwrite=overwrite)
        if target.suffix.lower() not in FORMATS:
            raise InputError(f"{target.name}: a report is written as .html or .pdf; only a dossier can be .docx")
        if _is_pdf(target):
            find_browser()
    for option, given in (("policy", policy), ("row-map", row_map), ("analyses", analyses)):
        if given is not None and original is None:
            raise InputError(f"--{option} needs the original table as well. Add --original")
    with speaking(language):
        more: Sequence[Section] = ()
        if original is not None:
            path = None if row_map is None else Path(row_map)
            more = steward_sections(release, original, policy=policy, row_map=path, reading=reading, analyses=analyses)
        page = ReportPage(_verified_page(release, more))
    if target is not None:
        write_page(target, to_pdf(page) if _is_pdf(target) else page)
    return page


FORMATS = (".html", ".htm", ".pdf")


def _is_pdf(target: Path) -> bool:
    return target.suffix.lower() == ".pdf"


def _verified_page(release: ReleaseLike, more: Sequence[Section]) -> str:
    """A release that does not verify gets no page."""
    found = verify(release)
    if found.failures:
        seen = "\n".join(f"  - {finding.check}: {finding.message}" for finding in found.failures)
        raise VerificationFailed(
            f"the release does not pass verification, so there is no report. `polyveil verify` says:\n{seen}"
        )
    manifest, tables, _ = load_release(release)
    return build(manifest, tables, more=more)


def with_report(found: Verification, place: Path | str) -> Verification:
    """The verification with a finding on report.html: made again from the tables and compared, or not checked.

    A page of another version of polyveil cannot be made again.
    """
    if is_store(place):
        with local_copy(place) as folder:
            return with_report(found, folder)
    folder = Path(place)
    if is_url(place) or not (folder / REPORT).is_file():
        return found
    others = tuple(finding for finding in found.findings if finding.check != "report")
    return replace(found, findings=(*others, _judge_report(folder, fails_before=bool(found.failures))))


def _judge_report(folder: Path, *, fails_before: bool) -> Finding:
    if fails_before:
        return unchecked("report", f"{REPORT} is not compared with tables that do not hold")
    manifest, tables, _ = load_release(folder)
    if manifest["polyveil"] != __version__:
        made_by = f"{REPORT} was made by polyveil {manifest['polyveil']}, and this is {__version__}"
        return unchecked("report", f"{made_by}: only the version that made it can compare it with the tables")
    if (folder / REPORT).read_bytes() == build(manifest, tables).encode():
        return Finding("report", "holds", f"{REPORT} is what this release makes of itself", note=True)
    return fails("report", f"{REPORT} is not the page that this release makes of itself")
