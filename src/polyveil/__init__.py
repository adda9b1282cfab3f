"""polyveil: publish tables with several sensitive columns safely.

    import polyveil

    release = polyveil.anonymize(frame, policy)   # a polars, pandas or pyarrow frame, or a path
    release.table, release.privacy, release.loss
    release.save("release")                       # written, verified from the files, then published

    from polyveil.verification import verify
    verify("release").holds

Names are loaded when they are first used, so importing polyveil is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polyveil.version import __version__

if TYPE_CHECKING:
    from polyveil.pipeline import anonymize
    from polyveil.policy import Policy
    from polyveil.releases import Release
    from polyveil.table import Table, read
    from polyveil.verification import Verification


_HOMES = {
    "anonymize": "polyveil.pipeline",
    "Policy": "polyveil.policy",
    "Release": "polyveil.releases",
    "Table": "polyveil.table",
    "read": "polyveil.table",
    "Verification": "polyveil.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'polyveil' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


__all__ = ["Policy", "Release", "Table", "Verification", "__version__", "anonymize", "read"]
