"""What columns tell about each other: copies under another name, questions asked of some only, names alike."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.roles import UNKNOWN, UNKNOWN_NUMBER
from polyveil.table.profiling.vocabulary_files import Meaning
from polyveil.table.source import Table

SAMPLE = 5_000
WIDE = 20
"""From this many columns on, what the columns around an unknown one are says what it likely is."""
_NEIGHBOURS = 3
UNKNOWN_AMONG_SENSITIVE = (
    "No hint from the name or the values. Columns like it are mostly sensitive, so it is taken as sensitive until you "
    "decide."
)
_YES_NO = 2
"""Answers of yes and no that no word explains are three times as often private as known to others."""
_SIBLINGS = 3
_MOST = 0.6
_MOST_GATES = 60


def related(table: Table, profiles: Sequence[ColumnProfile], topics: Mapping[str, Meaning]) -> list[ColumnProfile]:
    """The profiles with what other columns say about them; only roles that nothing else suggested may change."""
    sample = table.frame.head(SAMPLE) if table.height > SAMPLE else table.frame
    found = _like_siblings(profiles, topics)
    found = _copies(table, sample, found)
    found = _skipped(sample, found)
    return _like_neighbours(found)


def _like_siblings(profiles: Sequence[ColumnProfile], topics: Mapping[str, Meaning]) -> list[ColumnProfile]:
    """A column whose name begins like those of known ones is likely about the same."""
    groups: dict[str, list[ColumnProfile]] = defaultdict(list)
    for about in profiles:
        if prefix := prefix_of(about.name):
            groups[prefix].append(about)
    changed = {}
    for prefix, group in groups.items():
        known = [about for about in group if about.topic in topics and about.confidence == "high"]
        if len(known) < _SIBLINGS:
            continue
        topic, times = Counter(about.topic for about in known).most_common(1)[0]
        if times < _MOST * len(known) or topics[topic].role == "insensitive":
            continue
        for about in group:
            if about.confidence == "low" and not about.topic:
                reason = f"Named like {times} columns ({prefix}...) on {topics[topic].subject}."
                changed[about.name] = _given(about, topics[topic], reason)
    return [changed.get(about.name, about) for about in profiles]


def _given(about: ColumnProfile, meaning: Meaning, reason: str) -> ColumnProfile:
    role = "quasi" if meaning.role == "identifier" else meaning.role
    return replace(about, role=role, reason=reason, confidence="medium", topic=meaning.topic)


def prefix_of(name: str) -> str:
    """How a name begins: `lab_hdl` and `lab_ldl` alike, `LBXTC` and `LBXGH` alike; empty if it has no such part."""
    split = re.match(r"^([A-Za-z][A-Za-z0-9]*?)[_.\- ]", name)
    if split:
        return split.group(0)
    code = re.match(r"^([A-Z]{3})[A-Z0-9]{2,}$", name) or re.match(r"^([a-zA-Z]{1,4})\d{2,}[a-zA-Z]?$", name)
    return code.group(1) if code else ""


def _copies(table: Table, sample: pl.DataFrame, profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """Columns that divide the rows in the same way: the same fact under two names."""
    alike: dict[tuple[int, int], list[ColumnProfile]] = defaultdict(list)
    for about in profiles:
        if 2 <= about.distinct <= max(2, table.height // 2):
            alike[about.distinct, about.missing].append(about)
    noticed: dict[str, ColumnProfile] = {}
    for group in alike.values():
        for place, about in enumerate(group):
            for other in group[:place]:
                if about.name in noticed or not _same_rows(sample, about.name, other.name):
                    continue
                noticed[about.name] = other
    return [_like_copy(about, noticed[about.name]) if about.name in noticed else about for about in profiles]


def _same_rows(sample: pl.DataFrame, one: str, other: str) -> bool:
    counts = sample.select(
        one=pl.col(one).n_unique(), other=pl.col(other).n_unique(), both=pl.struct(one, other).n_unique()
    ).row(0)
    return bool(counts[0] > 1 and counts[0] == counts[1] == counts[2])


def _like_copy(about: ColumnProfile, other: ColumnProfile) -> ColumnProfile:
    noticed = (*about.evidence, f"Tells the same as {other.name}.")
    if about.confidence == "low" and other.confidence != "low" and other.role in ("quasi", "sensitive"):
        return replace(
            about, role=other.role, reason=noticed[-1], confidence="medium", topic=other.topic, evidence=about.evidence
        )
    return replace(about, evidence=noticed)


def _skipped(sample: pl.DataFrame, profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """Questions that only some were asked: a column is empty exactly where another one has certain answers."""
    rows = sample.height
    gates = [about.name for about in profiles if 2 <= about.distinct <= 12 and about.role != "identifier"][:_MOST_GATES]
    masks: dict[bytes, list[str]] = defaultdict(list)
    for about in profiles:
        if 0.02 * rows < sample[about.name].null_count() < 0.98 * rows:
            masks[sample[about.name].is_null().to_numpy().tobytes()].append(about.name)
    gate_of: dict[str, str] = {}
    for names in list(masks.values())[:_MOST_GATES]:
        empty = sample[names[0]].is_null()
        for gate in gates:
            if gate in names or sample[gate].null_count() > 0.02 * rows:
                continue
            share = pl.DataFrame({"gate": sample[gate], "empty": empty}).group_by("gate").agg(pl.col("empty").mean())
            if share["empty"].is_in([0.0, 1.0]).all():
                gate_of |= dict.fromkeys(names, gate)
                break
    by_name = {about.name: about for about in profiles}
    return [_asked_after(about, by_name[gate_of[about.name]]) if about.name in gate_of else about for about in profiles]


def _asked_after(about: ColumnProfile, gate: ColumnProfile) -> ColumnProfile:
    reason = f"Empty exactly where {gate.name} has certain answers."
    if gate.role == "sensitive" and gate.confidence != "low" and about.confidence == "low":
        told = f"{reason} So it tells that answer as well."
        return replace(about, role="sensitive", reason=told, confidence="medium", topic=gate.topic)
    return replace(about, evidence=(*about.evidence, reason))


def _like_neighbours(profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """In a wide table, columns about one thing lie together: an unknown one is likely like those around it."""
    if len(profiles) < WIDE:
        return list(profiles)
    known = [about.confidence == "high" and about.role in ("quasi", "sensitive") for about in profiles]
    changed = []
    for place, about in enumerate(profiles):
        if about.confidence == "low" and about.reason == UNKNOWN:
            before = [i for i in range(place - 1, -1, -1) if known[i]][:_NEIGHBOURS]
            after = [i for i in range(place + 1, len(profiles)) if known[i]][:_NEIGHBOURS]
            roles = [profiles[i].role for i in (*before, *after)]
            if about.type == "numeric" and about.distinct > WIDE:
                about = replace(about, role="sensitive", reason=UNKNOWN_NUMBER, topic="number")
            elif about.distinct <= _YES_NO or roles.count("sensitive") > len(roles) / 2:
                about = replace(about, role="sensitive", reason=UNKNOWN_AMONG_SENSITIVE, topic="answer")
        changed.append(about)
    return changed
