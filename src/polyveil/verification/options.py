"""The options of every method as the verifier knows them: their names, their defaults, and which values they may have.

The list is separate from the methods' own declarations on purpose, as that of the forms is; a test compares the two.
What a manifest says of a method's options then follows from its policy, and no message fits in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from polyveil.policy import Policy
from polyveil.verification.findings import Finding, fails, unchecked
from polyveil.verification.shape import MOST_ROWS, is_word

MOST_NUMBERS = 4096
"""Edges that a policy can give for the bins of one column."""
MOST_LEVELS = 100
"""Levels of a hierarchy."""

Allowed = Callable[[Any, Policy], bool]
Option = tuple[Any, Allowed]
"""The default of an option, and whether a value may stand in a manifest."""


def _either(*kinds: Allowed) -> Allowed:
    return lambda value, policy: any(kind(value, policy) for kind in kinds)


def _one_of(*known: Any) -> Allowed:
    return lambda value, _: any(value is one or (isinstance(value, str) and value == one) for one in known)


def _whole(least: int, most: int = MOST_ROWS) -> Allowed:
    return lambda value, _: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _above_0(most: float = math.inf) -> Allowed:
    return lambda value, _: isinstance(value, float) and 0 < value <= most and math.isfinite(value)


def _is_slices(value: Any, policy: Policy) -> bool:
    if not isinstance(value, list) or not all(isinstance(part, list) and part for part in value):
        return False
    return sorted(name for part in value for name in part) == sorted(policy.having("sensitive"))


def _is_edges(value: Any, policy: Policy) -> bool:
    if not isinstance(value, Mapping) or not set(value) <= set(policy.having("sensitive")):
        return False
    return all(
        isinstance(part, list)
        and len(part) <= MOST_NUMBERS
        and all(isinstance(edge, float) and math.isfinite(edge) for edge in part)
        for part in value.values()
    )


_PAPER: dict[str, Option] = {"as_printed": (False, _one_of(True, False))}
_EFFORT = {"effort": ("balanced", _either(_one_of("fast", "balanced", "thorough"), _above_0(1_000_000)))}
_STRATA = {
    **_PAPER,
    "strata": ("auto", _either(_one_of("auto", "k"), _whole(1))),
    "merge": ("best", _one_of("best", "nearest")),
    "partners": (16, _whole(1, 1000)),
    "seed_order": ("best", _one_of("random", "farthest", "best")),
}
_BUCKETS = {
    **_PAPER,
    "ties": ("random", _one_of("random", "largest-capacity", "rarest-value", "closest-quasi")),
    "residual": ("least-loss", _one_of("first", "least-loss")),
    "leave_out": ("fewest", _one_of("last", "fewest")),
    "restarts": (1, _whole(1, 10_000)),
    "strict_paper": (False, _one_of(True, False)),
    "candidates": (64, _whole(1)),
}
_FRAGMENT: dict[str, Option] = {
    "bound": ("tight", _one_of("paper", "tight")),
    "rounding": ("balanced", _one_of("balanced", "exact")),
    "slack": (None, _either(_one_of(None), _above_0())),
    "bins": (64, _whole(2, 4096)),
    "binning": ("frequency", _one_of("frequency", "width")),
    "edges": ({}, _is_edges),
    "most_fragments": (4096, _whole(1)),
}
_SLOMS = {
    "slices": ("auto", _either(_one_of("auto"), _whole(1), _is_slices)),
    "priority": ("best", _one_of("mbf", "msdcf", "mmdcf", "best")),
    "levels": (True, _one_of(True, False)),
    "bins": (10, _whole(2)),
    "withhold": ("rows", _one_of("rows", "values")),
}
OPTIONS: dict[str, dict[str, Option]] = {
    "sift": _EFFORT,
    "auto": {**_EFFORT, "others_up_to": (50_000, _whole(0))},
    "mondrian": {"cut": ("strict", _one_of("strict", "relaxed"))},
    "fcm": {**_STRATA, "polish": (5, _whole(0, 100))},
    "pca": _STRATA,
    "fragment": {**_STRATA, **_FRAGMENT},
    "swap": {**_STRATA, "candidates": (64, _whole(0))},
    "kaca": _PAPER,
    "lattice": {"most_nodes": (5_000, _whole(1, 1_000_000))},
    **dict.fromkeys(("mbf", "msdcf", "mmdcf", "mbf-mslf", "msdcf-mslf", "mmdcf-mslf"), _BUCKETS),
    "sloms": {**_BUCKETS, **_SLOMS},
}
"""Method -> its options in their order."""

_COUNTS = {
    "blocks": set(OPTIONS),  # Spark divides a table into blocks for any method
    "strata": {"fcm", "pca", "fragment", "swap"},
    "fragments": {"fragment"},
    "bounds": {"fragment"},
    "stopped_at_limit": {"fragment"},
    "trivially_close": {"fcm", "pca", "fragment", "swap"},
    "restarts": {name for name in OPTIONS if name.startswith("m") and name != "mondrian"},
    "residual_rows": {name for name in OPTIONS if name.startswith("m") and name != "mondrian"},
    "slices": {"sloms"},
    "method": {"auto"},
    "levels": {"lattice"},
    "optimal": {"lattice"},
}
"""What a method can say it found -> the methods that say it."""


def check_options(manifest: Mapping[str, Any], policy: Policy, *, former: bool) -> list[Finding]:
    """The method, its options and what it found follow from the policy; `former`: options may have had other defaults.

    A method of an installed package is not known here. Then only what is plain passes, and the finding says so.
    """
    stated, chosen = manifest["method"], policy.method
    if stated["name"] != chosen.name:
        return [fails("method", "the manifest's method is not that of its policy")]
    given = json.loads(json.dumps(chosen.options))
    if chosen.name not in OPTIONS:
        return _check_unknown(stated, given, set(policy.columns))
    known, told = OPTIONS[chosen.name], stated["parameters"]
    expected = {name: given.get(name, default) for name, (default, _) in known.items()}
    if not set(given) <= set(known) or not set(told) <= set(known) or not (former or list(told) == list(known)):
        return [fails("method", f"the manifest has options that {chosen.name} does not have, or not all it has")]
    wrong = [
        name
        for name, value in told.items()
        if not known[name][1](value, policy) or (value != expected[name] and not (former and name not in given))
    ]
    if wrong:
        return [fails("method", f"the manifest's options of {chosen.name} are not those of its policy")]
    return _check_found(manifest, policy)


def _check_found(manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """What the method says it found: only what it can find, in numbers that the table allows."""
    found, name = manifest["method"]["found"], policy.method.name
    by = found.get("method", name)
    beyond = {key for key in found if key in _COUNTS and not {name, by} & _COUNTS[key]}
    sensitive = list(policy.having("sensitive"))
    rows = max(manifest["rows"], 1)
    numbers = [found.get(key) or 0 for key in ("blocks", "strata", "fragments", "residual_rows")]
    restarts = manifest["method"]["parameters"].get("restarts", 1)
    possible = (
        by in OPTIONS
        and found.get("refined") == (policy.method.refine if "refined" in found else None)
        and all(number <= rows for number in numbers)
        and (found.get("restarts") or 0) <= restarts
        and all(0 <= bound <= rows and bound == round(bound, 6) for bound in found.get("bounds", {}).values())
        and list(found.get("levels", {})) in ([], list(policy.having("quasi")))
        and all(0 <= level <= MOST_LEVELS for level in found.get("levels", {}).values())
        and list(found.get("bounds", {})) == [each for each in sensitive if each in found.get("bounds", {})]
        and found.get("trivially_close", []) == [each for each in sensitive if each in found.get("trivially_close", [])]
    )
    if beyond or not possible:
        return [fails("method", f"the manifest says that {name} found what it cannot find")]
    slices = [part["attributes"] for part in manifest.get("linked", {}).get("slices", ())]
    if "slices" in found and slices and sorted(map(sorted, found["slices"])) != sorted(map(sorted, slices)):
        return [fails("method", "the manifest says that the method found other slices than it publishes")]
    return []


def _check_unknown(stated: Mapping[str, Any], given: Mapping[str, Any], columns: set[str]) -> list[Finding]:
    parameters = stated["parameters"]
    if not _is_plain(parameters, columns) or any(parameters.get(key) != value for key, value in given.items()):
        return [fails("method", "the method has options that are neither numbers, words nor columns")]
    message = f"{stated['name']} is no method of this version, so its options and what it found are not checked"
    return [unchecked("method", message)]


def _is_plain(value: Any, columns: set[str], depth: int = 3) -> bool:
    """Numbers, words, names of columns, and lists and parts of these."""
    if isinstance(value, Mapping):
        named = all(is_word(key) or key in columns for key in value)
        return named and _is_plain(list(value.values()), columns, depth)
    if isinstance(value, list):
        return (
            depth > 0 and len(value) <= max(60, len(columns)) and all(_is_plain(v, columns, depth - 1) for v in value)
        )
    if isinstance(value, str):
        return is_word(value) or value in columns
    return value is None or (isinstance(value, int | float) and abs(value) <= MOST_ROWS)
