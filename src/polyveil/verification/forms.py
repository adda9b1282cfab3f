"""The forms the verifier knows, each with its own check. The list is separate from that of `polyveil.releases` on
purpose: a form that somebody can write is not yet one that is checked, and what the verifier does not know it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from polyveil.plugins import Registry
from polyveil.policy import Policy
from polyveil.verification.findings import Verification
from polyveil.verification.generalized import verify_generalized
from polyveil.verification.linked import verify_linked
from polyveil.verification.relational import verify_relational

Check = Callable[[Mapping[str, Any], Policy, Mapping[str, pl.DataFrame]], Verification]
"""From the manifest, the public policy and the tables to the findings."""


def _wrong(name: str, check: Any) -> str:
    return "" if callable(check) else "it is not a function of manifest, policy and tables"


FORMS: Registry[Check] = Registry(
    "polyveil.form_checks",
    {
        "generalized": verify_generalized,
        "anatomized": verify_linked,
        "sliced": verify_linked,
        "relational": verify_relational,
    },
    _wrong,
)
"""Form name -> check. Installed packages add theirs through the entry point group `polyveil.form_checks`."""
