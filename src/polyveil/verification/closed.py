"""What a manifest says beside its figures: only known keys, and each in the one way that follows from the policy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from polyveil.policy import Policy, public
from polyveil.policy.look_alikes import look_alike
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.options import check_options
from polyveil.verification.shape import unknown_keys
from polyveil.verification.told import check_told
from polyveil.verification.versions import check_version, is_former

MOST_IDENTIFIERS = 100_000
_MOST_UNDERSCORES = 8
"""A group column avoids the names of the input's columns by underscores; a release does not show all of these."""


def check_closed(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """Findings about everything in the manifest that the tables do not decide."""
    findings = unknown_keys(manifest)
    if not _is_canonical(manifest["policy"], policy):
        findings.append(fails("policy", "the manifest's policy is not written as a release publishes it"))
    if ("unit" in manifest["policy"]) != ("people" in manifest):
        findings.append(fails("people", "figures in people belong to a policy that names whom a row is about"))
    if ("rows_left_out" in manifest.get("people", {})) != (policy.privacy.rows_per_person is not None):
        findings.append(fails("people", "rows left out of people are counted if the policy limits rows_per_person"))
    if "people" in manifest and manifest["form"] not in ("generalized", "relational"):
        findings.append(fails("people", f"a {manifest['form']} release cannot keep the rows of a person together"))
    tables = manifest.get("relational", {}).get("tables", {})
    most = {"rows": max([manifest["rows"], *(table["rows"] for table in tables.values())])}
    findings += check_version(manifest, policy) + check_options(manifest, policy, former=is_former(manifest))
    findings += check_told({**manifest, **most}, policy)
    groups = [about["group"] for about in manifest.get("linked", {}).get("slices", ())]
    if look_alike([*policy.columns, *groups]):
        findings.append(fails("columns", "two columns have names that a reader cannot tell apart"))
    if "linked" in manifest:
        findings += _check_layout(manifest["linked"]["slices"], policy)
    if any(finding.outcome == "fails" for finding in findings):
        return findings
    return [*findings, holds("manifest", "the manifest has exactly the keys of its form")]


def _is_canonical(stated: Mapping[str, Any], policy: Policy) -> bool:
    """Keys, their order and every value as `public` writes them; beside the policy, only a number of identifiers."""
    identifiers = stated.get("identifiers")
    if isinstance(identifiers, bool) or not isinstance(identifiers, int) or not 0 <= identifiers <= MOST_IDENTIFIERS:
        return False
    expected = {**public(policy), "identifiers": identifiers}
    if "unit" in stated:
        expected["unit"] = "person"
    return json.dumps(stated) == json.dumps(expected)


def _check_layout(slices: Sequence[Mapping[str, Any]], policy: Policy) -> list[Finding]:
    """Tables, group columns and count columns have the names that the form gives them."""
    single = policy.release.form == "anatomized"
    for i, about in enumerate(slices, start=1):
        names = [(about["group"], "group" if single else f"group_{i}")]
        names += [(about["count"], "count")] if "count" in about else []
        named = all(_is_free(name, wanted, policy) for name, wanted in names)
        if about["table"] != f"sensitive_{i}" or not named or ("count" in about) != policy.release.counts:
            return [fails("slices", "the sensitive tables or their group columns are not named as the form names them")]
    return []


def _is_free(name: str, wanted: str, policy: Policy) -> bool:
    return bool(re.fullmatch(f"{wanted}_{{0,{_MOST_UNDERSCORES}}}", name)) and name not in policy.columns
