"""Pseudonyms, keys of people and shifted dates: what the files of a release can show of them."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from polyveil.errors import listed
from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, holds, unchecked
from polyveil.verification.orders import SUSPICIOUS, column_findings
from polyveil.verification.text import KEY


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
    for name in (*policy.pseudonyms, *policy.having("person")):
        findings += check_random(name, frame)
    if policy.shifted:
        words = f"{listed(policy.shifted)}: the files do not show by how many days dates were shifted"
        findings.append(unchecked("shifted dates", words))
    return findings


def check_random(name: str, frame: pl.DataFrame) -> list[Finding]:
    """A finding if keys are no random numbers: a digit is favoured, or rows in their order stand by a column."""
    ordered = frame.unique(name, keep="any").sort(name)
    keys = ordered.get_column(name)
    if keys.dtype != pl.String or not keys.str.contains(KEY).fill_null(False).all():
        return []  # which is a finding already
    bits = np.unpackbits(np.frombuffer(bytes.fromhex("".join(keys)), dtype=np.uint8).reshape(-1, 8), axis=1)
    uneven = np.abs(bits.sum(axis=0) - len(keys) / 2) / max(math.sqrt(len(keys)) / 2, 1.0)
    if len(keys) and uneven.max() > SUSPICIOUS:
        return [fails(f"keys of {name}", "the keys are not random: some of their digits are hardly ever another")]
    if column_findings(name, ordered.drop(name)):
        return [fails(f"keys of {name}", "the keys are not random: in their order, rows are sorted or grouped")]
    return []


def _is_key_of_person(keys: pl.Series, policy: Policy, frame: pl.DataFrame) -> bool:
    if policy.person is None:
        return False
    person = frame.get_column(policy.person)
    pairs = pl.DataFrame([keys.alias("key"), person.alias("person")]).n_unique()
    return pairs == keys.n_unique() == person.n_unique()
