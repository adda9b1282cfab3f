"""Verification: independently re-checks a release from its files.

It shares the policy, the models' plain judgement and file reading with the rest of polyveil; neither the methods that
made the classes nor the code that wrote them. Classes are what a reader sees: rows with equal quasi-identifier cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from polyveil.errors import InputError
from polyveil.policy import Policy, PolicyLike, fitted, from_public, load_policy
from polyveil.policy.schema import Column
from polyveil.table.databases import is_url
from polyveil.table.stores import is_store, local_copy
from polyveil.verification.claims import promise_name
from polyveil.verification.closed import check_closed
from polyveil.verification.columns import compare_declarations, describe_columns
from polyveil.verification.database import StoredRelease, read_stored
from polyveil.verification.domains import check_domains
from polyveil.verification.files import check_folder, check_form, read_manifest, read_tables
from polyveil.verification.findings import Finding, Verification, fails, not_checked
from polyveil.verification.forms import FORMS
from polyveil.verification.people import PER_GROUP
from polyveil.verification.population import COUNTED, check_population
from polyveil.verification.relational import qualified
from polyveil.verification.relational_source import check_tables_of_source
from polyveil.verification.signature import check_beside
from polyveil.verification.source import check_source
from polyveil.verification.steady import read_steadily
from polyveil.verification.text import check_cells, formula_findings

_ABOUT_CELLS = (
    "role",
    "type",
    "hierarchy",
    "recode",
    "weight",
    "missing",
    "date_format",
    "publish",
    "replace",
    "shift",
)
"""What a column says of its cells, which is the release's to say; the rest are guarantees."""


class InMemory(Protocol):
    """A release that was not written yet: its manifest, and its tables as polars frames."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def frames(self) -> Mapping[str, pl.DataFrame]: ...


ReleaseLike = InMemory | StoredRelease | Path | str
"""A release in memory, in a folder, or in a database."""

Content = tuple[Mapping[str, Any], Mapping[str, pl.DataFrame], list[Finding]]
"""Manifest, tables, and what is known before these are looked into."""


def verify(
    release: ReleaseLike,
    *,
    policy: PolicyLike | None = None,
    signer: Path | str | None = None,
    source: Any = None,
    person: str | None = None,
    row_map: Path | str | None = None,
    population: Any = None,
) -> Verification:
    """Independently re-check a release from its files: the files, every guarantee, every figure of its manifest.

    Parameters
    ----------
    release : path, address or Release
        The folder of a release, here or in an object store, its database with ``?schema=NAME``, or one in memory.
    policy : Policy, dict or path, optional
        Requirements of your own. The release is checked against its own guarantees and against these as well.
    signer : path, optional
        Public key of whoever must have signed the release.
    source : path, frame, Table or database address, optional
        The table the release was made from, to check how many people each group has.
    person : str, optional
        The column of `source` that says whom a row is about; by default the one whose name says so.
    row_map : path, optional
        The private row map of the release, to count the people of `source` exactly.
    population : path, frame, Table or database address, optional
        The table of the population, one row per person, that the release's risk was limited by.

    Returns
    -------
    Verification
        One finding per check. `holds` is True only if no check failed and every guarantee was checked.

    Raises
    ------
    InputError
        What was given is no release, or its manifest cannot be read.
    PolicyError
        `policy` has faults.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> release = polyveil.anonymize(people, policy)
    >>> polyveil.verify(release).outcome
    'holds'
    >>> stricter = {**policy, "privacy": {"k": 3}}
    >>> polyveil.verify(release, policy=stricter).failures[0].check
    'asked: k-anonymity'
    """
    if is_store(release):
        with local_copy(release) as folder:
            return verify(
                folder,
                policy=policy,
                signer=signer,
                source=source,
                person=person,
                row_map=row_map,
                population=population,
            )
    manifest, tables, findings = _load(release, signer)
    content = verify_tables(manifest, tables)
    asked = () if policy is None else _asked(load_policy(policy), manifest, tables)
    named = qualified(manifest, tables) if "relational" in manifest else tables
    columns = describe_columns(manifest, from_public(manifest["policy"]), content.verdicts, named)
    found = (*findings, *content.findings, *asked)
    if source is not None and content.verdicts and "relational" in manifest:
        meant = None if policy is None else load_policy(policy)
        counted = check_tables_of_source(manifest, tables, source, meant, row_map)
        found = (*(finding for finding in found if not finding.check.startswith(PER_GROUP)), *counted)
    elif source is not None and content.verdicts:
        counted = check_source(manifest, from_public(manifest["policy"]), tables["table"], source, person, row_map)
        found = (*(finding for finding in found if finding.check != PER_GROUP), *counted)
    if population is not None and content.verdicts and "table" in tables:
        by_table = check_population(from_public(manifest["policy"]), tables["table"], population)
        found = (*(finding for finding in found if finding.check != COUNTED), *by_table)
    return Verification(found, content.verdicts, columns)


def load_release(release: ReleaseLike) -> Content:
    """Manifest and tables of a release, and what its files show before they are looked into."""
    if is_store(release):
        with local_copy(release) as folder:
            return load_release(folder)
    if isinstance(release, str | Path) and not is_url(release):
        folder = Path(release)
        return read_steadily(lambda: _folder(folder), folder)
    return _no_folder(release)


def _load(release: ReleaseLike, signer: Path | str | None) -> Content:
    """The same with what a folder has beside the tables and their manifest: the signature, and the report."""
    if isinstance(release, str | Path) and not is_url(release):
        folder = Path(release)

        def read() -> Content:
            manifest, tables, findings = _folder(folder)
            return manifest, tables, [*findings, *check_beside(folder, signer)]

        return read_steadily(read, folder)
    manifest, tables, findings = _no_folder(release)
    unsigned = [] if signer is None else [fails("signature", "only a release folder is signed, and this is none")]
    return manifest, tables, [*findings, *unsigned]


def _folder(folder: Path) -> Content:
    manifest = read_manifest(folder)
    findings = check_folder(folder, manifest)
    tables, unreadable = read_tables(folder, manifest)
    return manifest, tables, [*findings, *unreadable]


def _no_folder(release: ReleaseLike) -> Content:
    """A release in a database, or in memory."""
    if isinstance(release, StoredRelease) or is_url(release):
        return read_stored(release)
    if isinstance(release, Path | str) or not hasattr(release, "frames"):
        raise InputError(
            f"a {type(release).__name__} is no release that can be read here. Give the folder of a release, "
            "its database address, or what polyveil.anonymize returned"
        )
    return release.manifest, release.frames, []


def _asked(asked: Policy, manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> tuple[Finding, ...]:
    """The release held against the guarantees of another policy; cells mean what the release says they mean."""
    stated = from_public(manifest["policy"])
    asked = fitted(asked, list(stated.columns))
    differing = compare_declarations(asked, stated, unit=manifest["policy"].get("unit", "row"))
    if differing:
        return tuple(replace(finding, check=f"asked: {finding.check}") for finding in differing)
    columns = {name: _with_guarantees(column, asked.columns.get(name)) for name, column in stated.columns.items()}
    merged = stated.model_copy(update={"columns": columns, "privacy": asked.privacy})
    content = FORMS[manifest["form"]](manifest, merged, tables)
    names = ("suppression", *(promise_name(verdict) for verdict in content.verdicts))
    found = [finding for finding in content.findings if finding.check.startswith(names)]
    if not content.verdicts:
        found.append(not_checked("requirements", "the release could not be measured against the policy, see above"))
    return tuple(replace(finding, check=f"asked: {finding.check}") for finding in found)


def _with_guarantees(stated: Column, asked: Column | None) -> Column:
    source = asked or Column(role=stated.role)
    return stated.model_copy(
        update={name: getattr(source, name) for name in Column.model_fields if name not in _ABOUT_CELLS}
    )


def verify_tables(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Verification:
    """Check tables against the manifest that describes them."""
    policy = from_public(manifest["policy"])
    strange = check_form(manifest, policy)
    if strange:
        return Verification(tuple(strange))
    content = FORMS[manifest["form"]](manifest, policy, tables)
    if "relational" in manifest:
        tables = qualified(manifest, tables)
    closed = check_closed(manifest, policy) + check_cells(manifest, policy, tables)
    closed += check_domains(manifest, policy, tables)
    if policy.release.file_format == "csv":
        closed += formula_findings(tables)
    return Verification((*closed, *content.findings), content.verdicts)


__all__ = ["Finding", "ReleaseLike", "StoredRelease", "Verification", "load_release", "verify", "verify_tables"]
