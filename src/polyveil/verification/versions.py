"""Which version wrote a release. What an earlier version wrote differently is read only in a release that is wholly so.

A release of version 0.1 does not say what its counts are of (`counts_of`). Its sentences, its declarations without type
or distance and the options of that time are read as they were written; nothing else of it is taken on trust, and the
verifier says what it could not check. A release that has what only later versions write has none of these liberties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, unchecked
from polyveil.version import __version__

EARLIER = ("0.1.0",)
"""Versions whose releases had no `counts_of`."""


def is_former(manifest: Mapping[str, Any]) -> bool:
    """Whether a release is written as version 0.1 wrote releases."""
    return "counts_of" not in manifest


def check_version(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """The version fits what it wrote; a version that is not this one is named, because no file shows which it was."""
    version = manifest["polyveil"]
    if is_former(manifest):
        if "people" in manifest or version not in EARLIER:
            return [fails("version", f"version {version} did not write releases like this one")]
        message = "an earlier version wrote this release: bytes beside rows and the ends of domains are not checked"
        return [unchecked("version", message)]
    undeclared = [
        name
        for name, column in policy.columns.items()
        if (column.role in ("quasi", "sensitive") and column.type is None)
        or (column.role == "sensitive" and column.distance is None)
    ]
    if undeclared:
        return [fails("policy", "the public policy leaves the type or distance of a column open")]
    if version == __version__:
        return []
    return [unchecked("version", f"the release says that version {version} wrote it; this is version {__version__}")]
