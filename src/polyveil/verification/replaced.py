"""Pseudonyms and shifted dates: what the files of a release can show of them."""

from __future__ import annotations

import polars as pl

from polyveil.errors import listed
from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, holds, unchecked


def check_pseudonyms(policy: Policy, frame: pl.DataFrame) -> list[Finding]:
    """No pseudonym links rows that the key of their person does not link; dates are said to be shifted, not shown."""
    findings = []
    for name in policy.pseudonyms:
        keys = frame.get_column(name)
        alone = keys.n_unique() == len(keys)
        if alone or _is_key_of_person(keys, policy, frame):
            findings.append(holds(f"pseudonyms of {name}", "no pseudonym tells that rows belong together"))
        else:
            words = "rows share a pseudonym, so that a reader sees which belong together"
            findings.append(fails(f"pseudonyms of {name}", words))
    if policy.shifted:
        words = f"{listed(policy.shifted)}: the files do not show by how many days dates were shifted"
        findings.append(unchecked("shifted dates", words))
    return findings


def _is_key_of_person(keys: pl.Series, policy: Policy, frame: pl.DataFrame) -> bool:
    if policy.person is None:
        return False
    person = frame.get_column(policy.person)
    pairs = pl.DataFrame([keys.alias("key"), person.alias("person")]).n_unique()
    return pairs == keys.n_unique() == person.n_unique()
