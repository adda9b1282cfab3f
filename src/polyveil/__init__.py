"""polyveil: publish tables with several sensitive columns safely.

    import polyveil

    polyveil.profile("patients.csv")                            # what each column looks like
    release = polyveil.anonymize("patients.csv", "policy.yaml")  # or a polars, pandas or pyarrow frame, and a dict
    release.table, release.privacy, release.loss
    release.save("release")                                     # written, verified from the files, then published
    polyveil.verify("release").holds

Names are loaded when they are first used, so importing polyveil is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polyveil.version import __version__

if TYPE_CHECKING:
    from polyveil.advice.advice import Advice, advise
    from polyveil.advice.compare import Comparison, compare
    from polyveil.analyses import Analyses, analyze
    from polyveil.attacks import AttackReport, attack
    from polyveil.bounds import LossBound, bound
    from polyveil.checkup import Checkup, check
    from polyveil.errors import InputError, PolicyError, PolyveilError, Unsatisfiable, VerificationFailed
    from polyveil.pipeline import anonymize
    from polyveil.policy import Policy
    from polyveil.releases import Release
    from polyveil.reports.stored import report
    from polyveil.table import Table, read
    from polyveil.table.profiling.profile import Profile, profile
    from polyveil.verification import Verification, verify

_HOMES = {
    "polyveil.advice.advice": ("Advice", "advise"),
    "polyveil.advice.compare": ("Comparison", "compare"),
    "polyveil.analyses": ("Analyses", "analyze"),
    "polyveil.attacks": ("AttackReport", "attack"),
    "polyveil.bounds": ("LossBound", "bound"),
    "polyveil.checkup": ("Checkup", "check"),
    "polyveil.errors": ("InputError", "PolicyError", "PolyveilError", "Unsatisfiable", "VerificationFailed"),
    "polyveil.pipeline": ("anonymize",),
    "polyveil.policy": ("Policy",),
    "polyveil.releases": ("Release",),
    "polyveil.reports.stored": ("report",),
    "polyveil.table": ("Table", "read"),
    "polyveil.table.profiling.profile": ("Profile", "profile"),
    "polyveil.verification": ("Verification", "verify"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'polyveil' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    """The public names; parts that happen to be imported are not among them."""
    return sorted(__all__)


__all__ = [
    "Advice",
    "Analyses",
    "AttackReport",
    "Checkup",
    "Comparison",
    "InputError",
    "LossBound",
    "Policy",
    "PolicyError",
    "PolyveilError",
    "Profile",
    "Release",
    "Table",
    "Unsatisfiable",
    "Verification",
    "VerificationFailed",
    "__version__",
    "advise",
    "analyze",
    "anonymize",
    "attack",
    "bound",
    "check",
    "compare",
    "profile",
    "read",
    "report",
    "verify",
]
