"""`polyveil report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress


def report(
    release: Annotated[str, typer.Argument(help="The release folder, or its database with ?schema=NAME, as in --out.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write, .html or .pdf; a dossier also .docx.")
    ] = Path("report.html"),
    original: Annotated[
        str | None,
        typer.Option(help="The table the release was made from. Adds attacks; for the steward only."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", help="With --original: the policy. It names the column that says whom a row is about."
        ),
    ] = None,
    row_map: Annotated[
        Path | None,
        typer.Option(help="With --original: the row_map.parquet of the release. Adds how useful the release is."),
    ] = None,
    analyses: Annotated[
        Path | None,
        typer.Option(help="With --original: a YAML file of analyses, as for `polyveil analyze`. Adds their results."),
    ] = None,
    language: Annotated[str, typer.Option(help="The language of the page: en (English) or de (German).")] = "en",
    dossier: Annotated[
        str | None,
        typer.Option(help="Write a dossier for a reviewer instead: ema, hipaa, iso27559, nist or gdpr."),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(help="With --dossier: the evidence file of an earlier dossier of this release."),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(help="With --dossier: sign its evidence with this private key, as the release.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an older file of that name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Write a page that explains what a release guarantees, how much detail it lost and what it does not cover.

    `polyveil anonymize` adds the same page to the release folder; this command makes it again from the files of any
    release. The page is one file, loads nothing from elsewhere, and contains nothing that the release does not contain.
    With --original it also shows how far simulated attacks get, and must not be published. A .pdf file is printed by
    Chromium, Chrome or Edge, if one of them is on this machine.

    A dossier takes its figures from one evidence file, FILE.evidence.json, which is written beside it and belongs to
    this release by the checksum of its manifest. Every sentence with a figure names the check behind it; judgements are
    marked blanks. Other dossiers of the release can use the same file with --evidence.
    """
    with reported_errors(as_json=as_json):
        from polyveil.errors import InputError
        from polyveil.reports.stored import report as run

        if dossier is not None:
            given = {"original": original, "policy": policy, "evidence": evidence, "overwrite": overwrite}
            _write_dossier(release, dossier, out, given, sign, as_json=as_json)
            return
        if evidence is not None or sign is not None:
            raise InputError("--evidence and --sign go with --dossier")
        run(
            release,
            out=out,
            original=original,
            policy=policy,
            row_map=row_map,
            overwrite=overwrite,
            analyses=analyses,
            language=language,
        )
        print_json({"report": str(out)}) if as_json else typer.echo(out)


def _write_dossier(
    release: str, kind: str, out: Path, given: Mapping[str, Any], sign: Path | None, *, as_json: bool
) -> None:
    from polyveil.releases.signing import read_private_key, sign_file
    from polyveil.reports.dossier import write_dossier

    key = None if sign is None else read_private_key(sign)
    with shown_progress(quiet=as_json) as progress:
        used = write_dossier(release, kind, out, **given, progress=progress)
    if key is not None:
        sign_file(used, key)
    print_json({"dossier": str(out), "evidence": str(used)}) if as_json else typer.echo(f"{out}\n{used}")
