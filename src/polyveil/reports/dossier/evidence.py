"""The evidence behind a dossier: every figure of a verified release with the check that stands behind it.

One file serves all dossiers of a release. It has the checksum of the release's manifest, which has the checksums of all
files, so it belongs to that release and to no other. Only figures that need the original table can not be made again
from the release; they say so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from polyveil.errors import InputError, VerificationFailed
from polyveil.measure import measure_risk
from polyveil.policy import PolicyLike
from polyveil.policy.schema import Column
from polyveil.progress import SILENT, Progress
from polyveil.reports.dossier.facts import NOTHING, WITH_ORIGINAL, Fact, FactTable
from polyveil.reports.dossier.with_original import measured_with
from polyveil.reports.facts import Facts, claims_in_people, gather
from polyveil.reports.markup import number, percent
from polyveil.reports.sections import GUESSES, guess_rows
from polyveil.reports.stored import with_report
from polyveil.table.databases import is_url
from polyveil.table.stores import is_store
from polyveil.verification import ReleaseLike, Verification, load_release, verify
from polyveil.verification.files import manifest_bytes
from polyveil.verification.people import PER_GROUP
from polyveil.verification.signature import check_file
from polyveil.version import __version__

FORMAT = "polyveil-evidence"
THRESHOLD = 0.09
"""The probability of re-identification that EMA and Health Canada recommend as a limit."""
CHECKS_IN_ROWS = "Checks (of a single guarantee: in rows)"
"""The caption where guarantees count people: the same guarantee has other figures in rows."""


@dataclass(frozen=True)
class Evidence:
    """All figures of a release; `release` is the checksum of its manifest."""

    release: str
    files: Mapping[str, str]
    facts: Mapping[str, Fact]
    tables: Mapping[str, FactTable] = field(default_factory=dict)
    polyveil: str = __version__

    def to_json(self) -> str:
        """The evidence file; equal evidence gives equal bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    @property
    def with_original(self) -> bool:
        """Whether some figures were measured with the original table."""
        return any(fact.check.startswith(WITH_ORIGINAL) for fact in self.facts.values())

    @property
    def checksum(self) -> str:
        """SHA-256 of the evidence file."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def gather_evidence(
    release: ReleaseLike,
    original: Any = None,
    *,
    policy: PolicyLike | None = None,
    trials: int = 2000,
    reading: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Evidence:
    """Verify the release and collect its figures; with the original table also the risk before, and attacks."""
    found = verify(release)
    if _is_folder(release):
        found = with_report(found, str(release))
    if found.failures:
        seen = "\n".join(f"  - {finding.check}: {finding.message}" for finding in found.failures)
        raise VerificationFailed(
            f"the release does not pass verification, so there is no dossier. `polyveil verify` says:\n{seen}"
        )
    manifest, tables, _ = load_release(release)
    known = gather(manifest, tables)
    facts = _of_verification(found) | _of_release(known, found) | _of_risk(known, found) | _about(known)
    shown = _tables(known, found)
    if original is not None:
        more, tables_of = measured_with(
            original, release, known, policy=policy, trials=trials, reading=reading or {}, progress=progress
        )
        facts, shown = facts | more, shown | tables_of
    files = {name: each["sha256"] for name, each in manifest["files"].items() if "sha256" in each}
    return Evidence(_checksum(release, manifest), files, facts, shown)


def read_evidence(path: Path, release: ReleaseLike) -> Evidence:
    """The evidence in a file; refused unless it is of this release, and says what the release says today."""
    check_file(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("format") != FORMAT:
            raise InputError(f"{path} is not an evidence file. Leave --evidence out to make one")
        facts = {name: Fact(**each) for name, each in data.pop("facts").items()}
        tables = {
            name: FactTable(each["caption"], tuple(each["headers"]), tuple(map(tuple, each["rows"])), each["check"])
            for name, each in data.pop("tables").items()
        }
        found = Evidence(facts=facts, tables=tables, **data)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}). Check its name") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not an evidence file. Leave --evidence out to make one") from None
    today = gather_evidence(release)
    if found.release != today.release:
        raise InputError(f"{path} is the evidence of another release. Leave --evidence out to make a new one")
    own = {name: fact for name, fact in found.facts.items() if not fact.check.startswith(WITH_ORIGINAL)}
    listed = {name: table for name, table in found.tables.items() if not table.check.startswith(WITH_ORIGINAL)}
    if (own, listed) != (today.facts, today.tables):
        raise InputError(f"{path} does not say what the release says. It was changed, or made by another version")
    return found


def _checksum(release: ReleaseLike, manifest: Mapping[str, Any]) -> str:
    stored = manifest_bytes(Path(str(release))) if _is_folder(release) else None
    return hashlib.sha256(stored or json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _is_folder(release: ReleaseLike) -> bool:
    return isinstance(release, str | Path) and not is_url(release) and not is_store(release)


def _of_verification(found: Verification) -> dict[str, Fact]:
    held = [finding for finding in found.findings if finding.outcome == "holds"]
    open_checks = [finding.check for finding in found.findings if finding.outcome == "not checked"]
    signed = next((finding.message for finding in found.findings if finding.check == "signature"), "not signed")
    return {
        "checks_held": Fact(number(len(held)), "verify"),
        "checks_all": Fact(number(len(found.findings)), "verify"),
        "checks_open": Fact(", ".join(open_checks) or "none", "verify"),
        "signature": Fact(signed, "verify: signature"),
    }


def _of_release(known: Facts, found: Verification) -> dict[str, Fact]:
    manifest, policy = known.manifest, known.policy
    counted = {role: len(policy.having(role)) for role in ("quasi", "sensitive", "insensitive")}
    loss = next((finding.outcome for finding in found.findings if finding.check.startswith("loss")), "holds")
    identifiers = number(manifest["policy"].get("identifiers", 0))
    people = manifest.get("people")
    if people is not None:
        identifiers += ", and the column that says whom a row is about"
    facts = {
        "version": Fact(str(manifest["polyveil"]), "manifest: polyveil"),
        "method": Fact(str(manifest["method"]["name"]), "manifest: method"),
        "form": Fact(known.form, "verify: manifest"),
        "rows_input": Fact(number(manifest["rows"]), "verify: rows"),
        "rows_left_out": Fact(number(manifest["suppressed"]), "verify: rows"),
        "rows_released": Fact(number(manifest["rows"] - manifest["suppressed"]), "verify: rows"),
        "identifiers": Fact(identifiers, "manifest: policy.identifiers"),
        **{name: Fact(number(count), "verify: manifest") for name, count in counted.items()},
        "groups": Fact(number(manifest["classes"]), "verify: figures"),
        "detail_lost": Fact(
            percent(manifest["loss"]["normalized_loss"]), "verify: loss" + ", not checked" * (loss != "holds")
        ),
        "guarantees": Fact(number(len(manifest["claims"])), "verify: claims"),
    }
    return facts if people is None else facts | {"people": Fact(number(people["released"]), _people_check(found))}


def _of_risk(known: Facts, found: Verification) -> dict[str, Fact]:
    """From the group sizes that a reader counts in the files; in people where the guarantees count people.

    Of people, the manifest tells how many there are, and the smallest group.
    """
    sizes, people = known.statistics.sizes, known.manifest.get("people")
    risk = measure_risk(sizes, limit=THRESHOLD).prosecutor
    highest, average, above = risk.highest, risk.average, float(risk.above_limit)
    least, mean, unit, check = int(sizes.min()), float(sizes.mean()), "rows", "verify: figures"
    countable = True
    if people is not None:
        unit, check = "people", _people_check(found)
        least, mean = people["class_size"]["min"], people["class_size"]["mean"]
        highest, average = 1.0 / least, 1.0 / mean
        above, countable = 0.0, highest <= THRESHOLD
    facts = {
        "threshold": Fact(percent(THRESHOLD), "recommended by EMA and Health Canada"),
        "unit": Fact(unit, "verify: manifest"),
        "smallest": Fact(f"{number(least)} {unit}", check),
        "mean_size": Fact(f"{mean:.1f}", check),
        "highest_risk": Fact(percent(highest), check),
        "average_risk": Fact(percent(average), check),
        "unique_rows": Fact(number(int((sizes == 1).sum())), "verify: figures"),
    }
    return facts | {"above_threshold": Fact(percent(above), check)} if countable else facts


def _people_check(found: Verification) -> str:
    """Only a release with a key per person shows whose rows belong together."""
    open_checks = {finding.check for finding in found.findings if finding.outcome == "not checked"}
    return "verify: people" + ", not counted from the files" * (PER_GROUP in open_checks)


def _about(known: Facts) -> dict[str, Fact]:
    """The publisher's words: names without a full stop, sentences with one."""
    about = known.policy.about
    names = {name: getattr(about, name) for name in ("title", "controller")}
    said = {name: getattr(about, name) for name in ("purpose", "recipients", "reasons")}
    found = {name: text.rstrip(".") for name, text in names.items() if text}
    found |= {name: text if text.endswith((".", "!", "?")) else f"{text}." for name, text in said.items() if text}
    return {name: Fact(text, "about: the publisher's own words") for name, text in found.items()}


def _tables(known: Facts, found: Verification) -> dict[str, FactTable]:
    claims = [
        (
            claim["statement"],
            number(claim["threshold"]),
            NOTHING if claim["measured"] is None else number(round(claim["measured"], 6)),
            claim["helps_against"],
        )
        for claim in claims_in_people(known.manifest)
    ]
    lost = known.manifest["loss"]["by_attribute"]
    marks = {each["name"]: "; ".join(each["marks"]) for each in found.columns}
    columns = [
        (
            name,
            column.role,
            technique(column, exact=known.exact_quasi),
            percent(lost[name]) if name in lost else NOTHING,
            marks.get(name, ""),
        )
        for name, column in known.policy.columns.items()
    ]
    seen = any(marks.values())
    names = ("column", "role", "technique", "detail lost", "to be looked at")
    in_people = "people" in known.manifest
    findings = [(each.check, each.outcome, each.message) for each in found.findings]
    limits = list(dict.fromkeys(claim["leaves_open"] for claim in known.manifest["claims"] if claim["leaves_open"]))
    return {
        "guarantees": FactTable(
            "Guarantees",
            ("guarantee", "required", "weakest group", "protects against"),
            tuple(claims),
            _people_check(found) if in_people else "verify: claims",
        ),
        "columns": FactTable(
            "Columns and techniques",
            names if seen else names[:-1],
            tuple(row if seen else row[:-1] for row in columns),
            "verify: manifest, loss",
        ),
        "guesses": FactTable(
            "Guessing a sensitive value",
            (*GUESSES[:-1], "released rows whose value is certain") if in_people else GUESSES,
            tuple(guess_rows(known)),
            "verify: figures",
        ),
        "checks": FactTable(
            CHECKS_IN_ROWS if in_people else "Checks",
            ("check", "outcome", "what was seen"),
            tuple(findings),
            "verify",
        ),
        "limits": FactTable(
            "What the guarantees do not cover", ("limit",), tuple((text,) for text in limits), "verify: claims"
        ),
    }


def technique(column: Column, *, exact: bool = False) -> str:
    """What was done to a column, in a few words."""
    if column.role == "quasi":
        rule = type(column.hierarchy).__name__.lower() if column.hierarchy is not None else ""
        if exact:
            return "published unchanged, separated from the sensitive columns"
        if column.recode == "set":
            return "generalized to sets of values"
        if rule == "mask":
            return "generalized by masking the last characters"
        if rule and rule != "order":
            return "generalized by a hierarchy"
        if rule or column.type in ("numeric", "date", "ordinal"):
            return "generalized to ranges"
        return "in each group kept as it is, or hidden"
    if column.role == "identifier":
        return "replaced by random keys" if column.replace else "removed"
    if column.role == "person":
        return "removed, or replaced by random keys"
    if column.role == "weight":
        return "replaced by the mean of each group, in three digits"
    parts = ["published as it is"]
    if column.publish is not None:
        parts = ["published rounded or in intervals"]
    if column.shift is not None:
        parts = [f"dates moved by up to {column.shift.days} days per person"]
    if column.role == "sensitive":
        parts.append("protected by the guarantees")
    return ", ".join(parts)
