"""A starter policy: what the profile of a table suggests, as YAML with the reasons beside it, ready to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from polyveil.policy.schema import DEFAULT_METHOD, Role
from polyveil.policy.to_yaml import WIDTH, entry, scalar
from polyveil.table.profiling.column import ColumnProfile

DEFAULT_K = 5
DEFAULT_T = 0.2
# Sets of more values than this say little, and fill a page.
_LARGEST_SET = 100
_ISO_DATE = "%Y-%m-%d"
_HEAD = """\
# A first policy{source}: suggestions from the names and values of the columns, not decisions.
# Check every role: identifier is dropped, quasi generalized, sensitive protected, insensitive published as it is.
"""


def starter_policy(
    profiles: Sequence[ColumnProfile], *, source: str = "", k: int = DEFAULT_K, t: float = DEFAULT_T
) -> str:
    """YAML text of a policy for the profiled columns; it loads as it is. `source` names the table in a comment.

    Closeness `t` is asked for where sensitive columns are suggested, k-anonymity always.
    """
    chosen = _with_something_to_protect(profiles)
    names = [profile.name for profile in chosen]
    pad = min(max((len(scalar(name)) for name in names), default=0) + 1, 24)
    lines = [_HEAD.format(source=f" for {_one_line(source)}" if source else "") + "version: 1", "columns:"]
    for profile in chosen:
        lines += _explained(entry(profile.name, _column(profile), indent=2, pad=pad), _comment(profile))
    roles = {profile.role for profile in chosen}
    lines += _privacy(k, t if "sensitive" in roles else None, "person" if "person" in roles else "row")
    return "\n".join([*lines, *entry("method", {"name": DEFAULT_METHOD})]) + "\n"


def _explained(lines: list[str], comment: str) -> list[str]:
    """A comment at the end of a single line where it fits, above it otherwise."""
    if len(lines) == 1 and len(lines[0]) + len(comment) + 4 <= WIDTH:
        return [f"{lines[0]}  # {comment}"]
    return [f"  # {comment}", *lines]


def _privacy(k: int, t: float | None, unit: str) -> list[str]:
    lines = [f"# k: every {unit} looks like at least {k - 1} others."]
    if t is None:
        return [*lines, *entry("privacy", {"k": k})]
    lines.append(f"# t: in every group of such rows, sensitive values are spread as in the whole table, up to {t:g}.")
    return [*lines, *entry("privacy", {"k": k, "t": t})]


def _with_something_to_protect(profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """A policy needs a quasi-identifier or a sensitive column; where none is suggested, the likeliest become quasi."""
    if any(profile.role in ("quasi", "sensitive") for profile in profiles):
        return list(profiles)
    harmless = [profile.name for profile in profiles if profile.role == "insensitive"]
    shared = min(profiles, key=lambda profile: profile.unique_share, default=None)
    promoted = harmless or ([shared.name] if shared else [])
    reason = "No column was suggested as quasi or sensitive, and a policy needs one."
    role: Role = "quasi"
    return [
        replace(profile, role=role, reason=reason, hierarchy=None) if profile.name in promoted else profile
        for profile in profiles
    ]


def _column(profile: ColumnProfile) -> dict[str, Any]:
    """One column in the notation of the policy file."""
    data: dict[str, Any] = {"role": profile.role}
    if profile.role in ("quasi", "sensitive"):
        rule = dict(profile.hierarchy) if profile.hierarchy else None
        ordered = rule is not None and "order" in rule
        data["type"] = "ordinal" if ordered else "categorical" if profile.type == "ordinal" else profile.type
        if rule is not None:
            data["hierarchy"] = rule
        elif profile.role == "quasi" and data["type"] == "categorical" and profile.distinct <= _LARGEST_SET:
            data["recode"] = "set"
        if data["type"] == "date" and profile.date_format not in (None, _ISO_DATE):
            data["date_format"] = profile.date_format
    markers = _text_markers(profile)
    if markers and profile.role not in ("identifier", "person"):
        data["missing"] = markers
    return data


def _text_markers(profile: ColumnProfile) -> list[str]:
    """Markers such as `?`. Numbers such as 999 may be what they seem, so they are only mentioned."""
    return [hint.marker for hint in profile.missing_hints if not _is_number(hint.marker)]


def _comment(profile: ColumnProfile) -> str:
    """The reason for the role, and what the steward should look at."""
    parts = [_one_line(profile.reason)]
    if profile.role not in ("identifier", "person"):
        rows = {hint.marker: hint.rows for hint in profile.missing_hints}
        read = ", ".join(f"{scalar(marker)} in {rows[marker]:,} rows" for marker in _text_markers(profile))
        doubtful = ", ".join(f"{marker} in {rows[marker]:,} rows" for marker in rows if _is_number(marker))
        parts += [f"Read as missing: {read}."] if read else []
        parts += [f"May mean missing: {doubtful}."] if doubtful else []
    return " ".join(part for part in parts if part)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)  # NaN is a word, not a number
    except ValueError:
        return False


def _one_line(text: str) -> str:
    """Text that cannot end a comment."""
    return "".join(mark if mark.isprintable() else " " for mark in text)
