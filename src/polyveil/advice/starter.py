"""A starter policy: what the profile of a table suggests, as YAML with the reasons beside it, ready to be edited."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from polyveil.policy.patterns import fits
from polyveil.policy.schema import DEFAULT_METHOD, Role
from polyveil.policy.to_yaml import WIDTH, entry, scalar
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.relations import prefix_of

DEFAULT_K = 5
DEFAULT_T = 0.2
WIDE = 30
"""A table with more columns gets a policy in groups: patterns, and everything undecided left out."""
MOST_SECONDS = 120
"""The longest search that a first policy asks for: whoever tries polyveil out waits no longer for a first release."""
WIDE_ROWS_PER_SECOND, LEAST_WIDE_SECONDS = 500, 5
"""How long the search may take for a wide table: in proportion to its rows, within limits. With too few seconds a large
table is not divided at all, and everything in it is generalized completely."""
LARGE, USUAL_COLUMNS, ROWS_PER_SECOND, LEAST_SECONDS = 100_000, 8, 5_000, 60
"""A table with more rows gets seconds as well, in proportion to its rows: without them the search takes minutes. More
quasi-identifiers or sensitive columns than usual count like as many times the rows."""
MANY_SENSITIVE, MANY_T = 20, 0.4
"""From more sensitive columns on a first policy asks for this t: each of them makes the groups larger."""
MANY = (
    "{number} sensitive columns are many: in every group, each of them must be spread as in the whole table. That "
    "costs much detail, so t is {t:g} here, not {strict:g} as for few columns. Leave out what your readers do not need "
    "(role: drop), then ask for more where a disclosure would do most harm ({{role: sensitive, t: {strict:g}}}). "
    "polyveil advise measures what each t costs."
)
EFFORT = (
    "effort: seconds to search, so that a first release of a table of this size comes soon. More seconds lose less "
    "detail; effort: balanced searches as long as it takes, which may be many minutes."
)
MANY_QUASI = 12
"""With more quasi-identifiers, a first policy for a wide table leaves those out that are only likely ones."""
MANY_KNOWN = (
    "{number} quasi-identifiers are many: each of them makes all of them coarser. Leave out what your readers do not "
    "need (role: drop)."
)
# Sets of more values than this say little, and fill a page.
_LARGEST_SET = 100
_MOST_NAMED = 12
_ISO_DATE = "%Y-%m-%d"
_HEAD = """\
# A first policy{source}: suggestions from the names and values of the columns, not decisions.
# Check every role: identifier is dropped, quasi generalized, sensitive protected, insensitive published as it is.
"""


def starter_policy(
    profiles: Sequence[ColumnProfile], *, source: str = "", rows: int = 0, k: int = DEFAULT_K, t: float = DEFAULT_T
) -> str:
    """YAML text of a policy for the profiled columns; it loads as it is. `source` names the table in a comment.

    A wide or a large table is given seconds to search, more of them the more `rows` it has.

    Closeness `t` is asked for where sensitive columns are suggested, k-anonymity always. What the profile is unsure
    about is left out of the release until the steward decides, unless it is only generalized.
    """
    chosen = _with_fewer_quasi([_until_decided(profile, len(profiles) > WIDE) for profile in profiles])
    chosen = _with_something_to_protect(chosen)
    lines = [_HEAD.format(source=f" for {_one_line(source)}" if source else "") + "version: 1"]
    if any(_column(profile).get("recode") for profile in chosen):
        lines.append(
            "defaults: {quasi: {recode: set}}  # categories without a hierarchy are released as sets of values"
        )
    lines.append("columns:")
    roles = [profile.role for profile in chosen]
    sensitive = roles.count("sensitive")
    many = sensitive > MANY_SENSITIVE and t == DEFAULT_T
    t = MANY_T if many else t
    lines += _grouped(chosen) if len(chosen) > WIDE else _one_by_one(chosen)
    if many:
        lines += _wrapped(MANY.format(number=sensitive, t=t, strict=DEFAULT_T), "#", "#")
    if roles.count("quasi") > MANY_QUASI and len(chosen) > WIDE:
        lines += _wrapped(MANY_KNOWN.format(number=roles.count("quasi")), "#", "#")
    lines += _privacy(k, t if sensitive else None, "person" if "person" in roles else "row")
    method: dict[str, Any] = {"name": DEFAULT_METHOD}
    seconds = _seconds(rows, len(chosen), roles.count("quasi"), sensitive)
    if seconds is not None:
        lines += _wrapped(EFFORT, "#", "#")
        method["effort"] = seconds
    return "\n".join([*lines, *entry("method", method)]) + "\n"


def _seconds(rows: int, columns: int, quasi: int, sensitive: int) -> int | None:
    """How long to search a table; None if the method's own effort takes no longer than people like to wait."""
    if columns > WIDE:
        return min(max(round(rows / WIDE_ROWS_PER_SECOND), LEAST_WIDE_SECONDS), MOST_SECONDS)
    work = rows * max(quasi / USUAL_COLUMNS, 1.0) * max(sensitive / USUAL_COLUMNS, 1.0)
    return min(max(round(work / ROWS_PER_SECOND), LEAST_SECONDS), MOST_SECONDS) if work > LARGE else None


def linked_starter(tables: Mapping[str, Sequence[ColumnProfile]], *, k: int = DEFAULT_K) -> str:
    """YAML text of a policy for several tables about the same people, the first of which has one row per person.

    The person's key is the column that all tables share and whose name says so; otherwise the steward names it.
    """
    shared = set.intersection(*({profile.name for profile in profiles} for profiles in tables.values()))
    key = next((name for name in sorted(shared, key=lambda each: (len(each), each)) if "id" in name.lower()), None)
    lines = [_HEAD.format(source=f" for {', '.join(map(_one_line, tables))}") + "version: 1"]
    lines += [
        "# Tables about the same people; the first has one row per person.",
        *entry("tables", {name: {} for name in tables}),
    ]
    lines.append("columns:")
    if key is None:
        lines.append("  # Give the person's key of every table the role person.")
    for table, profiles in tables.items():
        for profile in profiles:
            role = "person" if profile.name == key else "identifier" if profile.role == "person" else profile.role
            found = _until_decided(replace(profile, name=f"{table}.{profile.name}", role=role), wide=True)
            if role == "person":
                lines += entry(found.name, {"role": role}, indent=2)
            elif found.role in ("quasi", "sensitive", "insensitive"):
                lines += _explained(entry(found.name, _column(found), indent=2), _comment(found))
    lines.append("other_columns: drop  # left out until you give them a role above")
    return "\n".join([*lines, *_privacy(k, None, "person"), *entry("method", {"name": DEFAULT_METHOD})]) + "\n"


def _until_decided(profile: ColumnProfile, wide: bool) -> ColumnProfile:
    """Left out if it is not sure what it is: nothing unsure is published as it is, and in a wide table not at all."""
    generalized = profile.role in ("quasi", "identifier", "person", "drop")
    unsure = profile.asked if profile.role == "insensitive" else profile.confidence == "low"
    if not unsure or (generalized and not wide):
        return profile
    known = " ".join(said for said in re.split(r"(?<=[.!?]) ", profile.reason) if "until you decide" not in said)
    reason = f"Left out until you decide ({profile.role}?): {known}"
    return replace(profile, role="drop", reason=reason, hierarchy=None)


def _with_fewer_quasi(profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """A wide table without its likely quasi-identifiers, if it has many: every further one costs detail in all."""
    quasi = [profile for profile in profiles if profile.role == "quasi"]
    if len(profiles) <= WIDE or len(quasi) <= MANY_QUASI:
        return list(profiles)
    reason = f"Left out until you decide (quasi?): one of {len(quasi)} columns that others may know; each costs detail."
    return [
        replace(profile, role="drop", reason=reason, hierarchy=None)
        if profile.role == "quasi" and profile.asked
        else profile
        for profile in profiles
    ]


def _one_by_one(chosen: Sequence[ColumnProfile]) -> list[str]:
    pad = min(max((len(scalar(profile.name)) for profile in chosen), default=0) + 1, 24)
    lines = []
    for profile in chosen:
        lines += _explained(entry(profile.name, _written(profile), indent=2, pad=pad), _comment(profile))
    return lines


def _grouped(chosen: Sequence[ColumnProfile]) -> list[str]:
    """Columns by role, those with names alike as one pattern; what is left out is named in comments only."""
    lines: list[str] = []
    titles: dict[Role, str] = {
        "person": "Whom a row is about.",
        "identifier": "Removed: they point to a person or a row.",
        "quasi": "Quasi-identifiers: others may know them, so they are generalized.",
        "sensitive": "Sensitive: published, and protected by t.",
        "insensitive": "Published as they are.",
        "weight": "Sampling weight: published as the mean of each group.",
    }
    for role, title in titles.items():
        group = [profile for profile in chosen if profile.role == role]
        if group:
            lines.append(f"  # {title}")
            for name, profile in _with_patterns(group, chosen):
                lines += entry(name, _written(profile), indent=2)
    lines.append("other_columns: drop  # left out until you give them a role above:")
    left: dict[str, list[str]] = defaultdict(list)
    for profile in chosen:
        if profile.role == "drop":
            left[_one_line(profile.reason)].append(profile.name)
    for reason, names in left.items():
        rest = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        lines += _wrapped(f"{', '.join(map(_one_line, names[:_MOST_NAMED]))}{rest}: {reason}")
    return lines


def _with_patterns(
    group: Sequence[ColumnProfile], everything: Sequence[ColumnProfile]
) -> list[tuple[str, ColumnProfile]]:
    """Name or pattern, and a column it stands for; a pattern only if all columns that fit it are written alike."""
    alike: dict[str, list[ColumnProfile]] = defaultdict(list)
    for profile in group:
        alike[prefix_of(profile.name) or profile.name].append(profile)
    found = []
    for prefix, members in alike.items():
        pattern = f"{prefix}*"
        covered = [profile for profile in everything if fits(pattern, profile.name)]
        if len(members) > 2 and all(_written(one) == _written(members[0]) for one in covered):
            found.append((pattern, members[0]))
        else:
            found += [(profile.name, profile) for profile in members]
    return found


def _wrapped(text: str, first: str = "#  ", later: str = "#    ") -> list[str]:
    """A comment over several lines."""
    lines, line = [], first
    for word in text.split(" "):
        if len(line) + len(word) + 1 > WIDTH and line != first:
            lines.append(line)
            line = later
        line += f" {word}"
    return [*lines, line]


def _explained(lines: list[str], comment: str) -> list[str]:
    """A comment at the end of a single line where it fits, above it otherwise."""
    if len(lines) == 1 and len(lines[0]) + len(comment) + 4 <= WIDTH:
        return [f"{lines[0]}  # {comment}"]
    return [*_wrapped(comment, "  #", "  #"), *lines]


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
    """One column in the notation of the policy file, with the defaults written out.

    Numbers need no intervals: ranges are found that fit the rows, and lose less than ranges given beforehand.
    """
    data: dict[str, Any] = {"role": profile.role}
    if profile.role in ("quasi", "sensitive"):
        rule = dict(profile.hierarchy) if profile.hierarchy and "intervals" not in profile.hierarchy else None
        ordered = rule is not None and "order" in rule
        data["type"] = "ordinal" if ordered else "categorical" if profile.type == "ordinal" else profile.type
        if rule is not None and ordered:
            data["hierarchy"] = rule
        elif rule is not None and profile.role == "quasi":
            data["for_quasi"] = {"hierarchy": rule}
        elif profile.role == "quasi" and data["type"] == "categorical" and profile.distinct <= _LARGEST_SET:
            data["recode"] = "set"
        if data["type"] == "date" and profile.date_format not in (None, _ISO_DATE):
            data["date_format"] = profile.date_format
    markers = _text_markers(profile)
    if markers and profile.role not in ("identifier", "person"):
        data["missing"] = markers
    return data


def _written(profile: ColumnProfile) -> dict[str, Any]:
    """The same without what the defaults say."""
    return {key: value for key, value in _column(profile).items() if key != "recode"}


def _text_markers(profile: ColumnProfile) -> list[str]:
    """Markers such as `?`, and numbers far from all others. A 9 may be what it seems, so it is only mentioned."""
    return [hint.marker for hint in profile.missing_hints if hint.sure or not _is_number(hint.marker)]


def _comment(profile: ColumnProfile) -> str:
    """The reason for the role, and what the steward should look at."""
    parts = [_one_line(profile.reason), *map(_one_line, profile.evidence)]
    if profile.role not in ("identifier", "person"):
        rows = {hint.marker: hint.rows for hint in profile.missing_hints}
        read = ", ".join(f"{scalar(marker)} in {rows[marker]:,} rows" for marker in _text_markers(profile))
        doubtful = ", ".join(
            f"{marker} in {rows[marker]:,} rows" for marker in rows if marker not in _text_markers(profile)
        )
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
