"""What only the steward can decide, as a short list of questions about groups of columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyveil.policy.schema import Role
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.vocabulary_files import Meaning

PER_COLUMNS = 15 / 200
"""At most so many questions per column of the table."""
LEAST = 4
_MANY = {
    "": "columns without any hint",
    "number": "numbers without any hint",
    "answer": "answers without any hint",
    "constant": "columns with one value and missing cells",
}


@dataclass(frozen=True)
class Decision:
    """A question about some columns, which have the suggested role until it is answered."""

    question: str
    role: Role
    columns: tuple[str, ...]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"question": self.question, "role": self.role, "columns": list(self.columns), "reason": self.reason}


def decisions_of(profiles: Sequence[ColumnProfile], topics: Mapping[str, Meaning]) -> tuple[Decision, ...]:
    """The questions, largest group first; small groups are joined if there would be more than a person reads."""
    groups: dict[tuple[str, Role], list[ColumnProfile]] = defaultdict(list)
    for about in profiles:
        if about.asked:
            groups[about.topic if about.topic in topics or about.topic in _MANY else "", about.role].append(about)
    most = max(LEAST, int(len(profiles) * PER_COLUMNS))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    if len(ordered) <= most:
        return tuple(_decision(topic, role, group, topics) for (topic, role), group in ordered)
    joined: dict[Role, list[ColumnProfile]] = defaultdict(list)
    kept = max(0, most - len({role for (_, role), _ in ordered}))
    for (_, role), group in ordered[kept:]:
        joined[role] += group
    rest = [_decision("other", role, group, topics) for role, group in joined.items()]
    return (*(_decision(topic, role, group, topics) for (topic, role), group in ordered[:kept]), *rest)


def _decision(topic: str, role: Role, group: Sequence[ColumnProfile], topics: Mapping[str, Meaning]) -> Decision:
    names = tuple(about.name for about in group)
    if len(group) == 1:
        return Decision(f"{names[0]}: {role}?", role, names, group[0].reason)
    many = topics[topic].many if topic in topics else _MANY.get(topic, "other columns")
    return Decision(f"{len(group)} {many}: {role}?", role, names, group[0].reason)
