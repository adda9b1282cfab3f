"""What a manifest tells that no table confirms: each in its one way and within bounds, so that no message fits in.

Domains of columns and texts of the policy; options of the method and figures in people have files of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np

from polyveil.policy import Policy
from polyveil.policy.rules import Order, Tree
from polyveil.policy.schema import About, Column
from polyveil.verification.attributes import declared_attributes, filled_in, kind_of
from polyveil.verification.findings import Finding, fails, unchecked
from polyveil.verification.text import number_label_of
from polyveil.verification.versions import is_former

_COUNTED = [["kind", "values", "missing"]]
_PLAIN = [["kind", "missing"]]
_OF_RANGES = [["kind", "missing", "low", "high"], *_PLAIN]
"""The keys of a quasi-identifier's domain; a number's or date's ends are left out where cells hide them."""


def check_told(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """Findings about all that is told; none if it is told as releases tell it."""
    found = [*_check_quasi(manifest, policy), *_check_sensitive(manifest, policy), *_check_words(policy)]
    if "rows_left_out" in manifest.get("people", {}):
        words = "how many rows were left out so that nobody has too many is the publisher's number: no file confirms it"
        found.append(unchecked("rows over the limit", words))
    return found


def _check_words(policy: Policy) -> list[Finding]:
    """What a policy says of how cells were read and weighed is named as what no file confirms."""
    said: list[Any] = [policy.missing, *((c.missing, c.date_format, c.weight != 1) for c in policy.columns.values())]
    found = []
    if policy.about != About():
        words = "what the policy says about the release is the publisher's own words: no file confirms them"
        found.append(unchecked("about", words))
    if any(part for some in said for part in some):
        words = "markers of missing cells, date formats and weights are the publisher's words: no file confirms them"
        found.append(unchecked("declarations", words))
    return found


def _check_quasi(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    stated: Mapping[str, Mapping[str, Any]] = manifest["quasi"]
    if list(stated) != list(policy.having("quasi")):
        return [fails("domains", "the manifest does not describe the policy's quasi-identifiers in their order")]
    wrong = [name for name, about in stated.items() if not _is_domain(about, policy.columns[name], manifest)]
    return [fails(f"domain of {name}", f"the manifest does not describe {name} as releases do") for name in wrong]


def _is_domain(about: Mapping[str, Any], column: Column, manifest: Mapping[str, Any]) -> bool:
    kind = about["kind"]
    if list(about) not in _keys_of(kind, column, former=is_former(manifest)):
        return False
    if "values" in about:
        leaves = column.hierarchy.build().leaf_count if isinstance(column.hierarchy, Tree) else 0
        return bool(about["values"] <= max(manifest["rows"], leaves, 1) + 1)
    ends = [about[end] for end in ("low", "high") if end in about]
    return all(_is_label(kind, end) for end in ends) and (not ends or _place(kind, ends[0]) <= _place(kind, ends[1]))


def _keys_of(kind: str, column: Column, *, former: bool) -> list[list[str]]:
    """How many values there are is told only if cells or policy show it; version 0.1 told it of all categories."""
    if kind == "set" or (kind == "categorical" and (former or isinstance(column.hierarchy, Tree))):
        return _COUNTED
    return _OF_RANGES if kind in ("numeric", "date") else _PLAIN


def _place(kind: str, label: str) -> Any:
    return float(label) if kind == "numeric" else label


def _is_label(kind: str, text: Any) -> bool:
    """Whether a number or a date is written in its own text."""
    try:
        if kind == "numeric":
            return bool(np.isfinite(float(text))) and number_label_of(text) == text
        return kind != "date" or dt.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def _check_sensitive(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """Values are listed in the order of their domain and in their own text.

    A value that no row has is published only where the policy's hierarchy or order names it already.
    """
    if list(manifest["sensitive"]) != list(policy.having("sensitive")):
        return [fails("domains", "the manifest does not describe the policy's sensitive columns in their order")]
    findings = []
    for name, known in declared_attributes(manifest, policy).items():
        about = manifest["sensitive"][name]
        column = filled_in(policy.columns[name], about)
        values, counts = about["values"], about["counts"]
        places = [known.code[value] for value in values]
        free = not isinstance(column.hierarchy, Tree | Order)
        nobodys = any(count == 0 for count in (counts[: len(values)] if free else ()))
        plain = all(_is_label(kind_of(column), value) for value in values)
        levelled = {value for some in column.levels.values() for value in some}
        if column.publish is not None and not all(column.publish.is_published(value) for value in values):
            words = f"{name} has values that are not rounded or grouped as the policy says"
            findings.append(fails(f"published {name}", words))
        elif places != sorted(places) or nobodys or not plain or not levelled <= set(known.code):
            words = f"the manifest lists values of {name} that no row has, or not in their order and own text"
            findings.append(fails(f"domain of {name}", words))
    return findings
