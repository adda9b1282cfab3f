"""Collecting everything wrong with a policy: each fault with its place, the rule it breaks and a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError

from polyveil.errors import Fault, listed
from polyveil.policy.broken import BrokenRule, Path, PolicyFinding
from polyveil.policy.risk import Population, Risk
from polyveil.policy.rules import RULE_KEYS, EqualIntervals, Intervals, Rule
from polyveil.policy.schema import About, Column, Joint, MethodChoice, Privacy, ReleaseChoice
from polyveil.policy.source import Node, line_at

_SECTIONS: dict[str, type[BaseModel]] = {
    "a column": Column,
    "privacy": Privacy,
    "release": ReleaseChoice,
    "about": About,
}
# Below `hierarchy` are category values, which no message repeats; these keys are safe to name.
_RULE_WORDS = frozenset(
    [*RULE_KEYS, "side", "char", "root", "delimiter", "parent", "child", *EqualIntervals.model_fields]
)
_FOR_ROLE = (("for_quasi",), ("for_sensitive",))
_UNION_TAGS = frozenset({"equal", "given"})
_LONGEST_ECHO = 40


class Faults:
    """The faults found so far, and which keys were given but cannot be used: no second fault follows from those."""

    def __init__(self, root: Node | None = None) -> None:
        self.root = root
        self._lost: dict[Path, set[str]] = {}
        self._found: dict[Fault, int] = {}

    def add(self, path: Path, rule: str, remedy: str) -> None:
        self.add_at(line_at(self.root, path) if self.root else 0, path, rule, remedy)

    def add_at(self, line: int, path: Path, rule: str, remedy: str) -> None:
        place = place_name(path)
        fault = Fault(f"line {line}, {place}" if line else place, rule, remedy)
        self._found.setdefault(fault, line)

    def extend(self, findings: Iterable[PolicyFinding]) -> None:
        for finding in findings:
            self.add(*finding)

    def lose(self, path: Path) -> None:
        self._lost.setdefault(path[:-1], set()).add(str(path[-1]))

    def lost_below(self, path: Path) -> set[str]:
        """The keys of a part that cannot be used."""
        return set(self._lost.get(path, ()))

    def sorted(self) -> list[Fault]:
        """In the order of the file."""
        return sorted(self._found, key=lambda fault: self._found[fault])

    def __bool__(self) -> bool:
        return bool(self._found)


def place_name(path: Path) -> str:
    """`columns.age.role`; a name that is not a plain word is in quotes; category values are left out."""
    text = ""
    for step in _without_values(path):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if re.fullmatch(r"[\w-]+", step) else repr(step)
            text += f".{name}" if text else name
    return text or "the policy"


def as_column(path: Path) -> Path:
    """The path as if it led to a key of a column itself: not to a default, nor to a setting for one role."""
    if path[:1] == ("defaults",):
        return ("columns", *path[1:])
    return (*path[:2], *path[3:]) if path[:1] == ("columns",) and path[2:3] in _FOR_ROLE else path


def _without_values(path: Path) -> Path:
    """The path down to where category values begin: below a tree, an order, or a bare tree."""
    path = as_column(path)
    if len(path) <= 3 or path[0] != "columns" or path[2] != "hierarchy":
        return path
    depth = {"tree": 3, "intervals": 5}.get(str(path[3]), 4)
    return tuple(step for i, step in enumerate(path[:depth]) if i < 3 or step in _RULE_WORDS)


def findings_of(error: ValidationError, path: Path, model: type[BaseModel]) -> list[PolicyFinding]:
    """Pydantic's errors in a steward's words; a key that is there but misspelt is not missing as well."""
    errors: list[dict[str, Any]] = [dict(item) for item in error.errors(include_url=False)]
    unknown = [item["loc"] for item in errors if item["type"] == "extra_forbidden"]
    misspelt = {(*loc[:-1], _nearest(str(loc[-1]), _known(_owner(model, loc)))) for loc in unknown}
    kept = [item for item in errors if item["type"] != "missing" or item["loc"] not in misspelt]
    refine = [item for item in kept if model is MethodChoice and item["loc"][0] == "refine"]
    found = [_finding(item, path, model) for item in kept if item not in refine]
    if refine:  # a word or a number: pydantic says why it is neither
        rule = f"refine must be fast, balanced, thorough or a number of seconds above 0{_echo(refine[0]['input'])}"
        found.append(PolicyFinding((*path, "refine"), rule, f"Change refine: {_about(model, 'refine')}"))
    return found


def _finding(error: dict[str, Any], path: Path, model: type[BaseModel]) -> PolicyFinding:
    steps = tuple(step for step in error["loc"] if step not in _UNION_TAGS)
    broken = error.get("ctx", {}).get("error")
    if isinstance(broken, BrokenRule):
        return PolicyFinding((*path, *steps, *broken.path), broken.rule, broken.remedy)
    owner = _owner(model, steps)
    key = next((str(step) for step in reversed(steps) if isinstance(step, str)), "")
    rule, remedy = _in_words(error, key, owner)
    return PolicyFinding((*path, *steps), rule, remedy)


def _owner(model: type[BaseModel], steps: Sequence[str | int]) -> type[BaseModel]:
    """The model whose key is wrong: the interval rule, joint closeness and risk have one inside."""
    if len(steps) > 1 and model is Intervals:
        return EqualIntervals
    if len(steps) > 1 and model is Privacy and steps[0] == "risk":
        return Risk if len(steps) == 2 else Population
    return Joint if len(steps) > 2 and model is Privacy and steps[0] == "joint" else model


def _in_words(error: dict[str, Any], key: str, model: type[BaseModel]) -> tuple[str, str]:
    kind = error["type"]
    if kind == "extra_forbidden":
        return unknown_key(key, model)
    if kind == "invalid_key":
        return "a key must be text", "Write every key as text"
    if kind == "missing":
        return f"{key} is missing", f"Add {key}: {_about(model, key)}"
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", error.get("ctx", {}).get("expected", ""))
        return f"{key} must be one of {listed(choices, 'or')}{_echo(error['input'])}", suggestion(
            error["input"], choices
        )
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        return f"{key} must be {_range(model, key)}{_echo(error['input'])}", f"Change {key}: {_about(model, key)}"
    if kind in ("int_type", "float_type", "finite_number", "int_from_float", "int_parsing_size"):
        wanted = _range(model, key)
        quoted = isinstance(error["input"], str) and re.fullmatch(r"[-+.0-9eE]+", error["input"])
        return (
            f"{key} must be {wanted}",
            f"Write {key} without quotes" if quoted else f"Write {wanted}: {_about(model, key)}",
        )
    if kind.startswith("string_") or (kind in ("too_short", "too_long") and isinstance(error["input"], str)):
        single = "one character" if kind.endswith("too_long") else "a text"
        return f"{key} must be {single}", f"Write {single} after {key}:"
    if kind == "model_type":
        return f"each entry of {key} must be a mapping", f"Write {key}: [{{key: value}}]"
    if kind in ("list_type", "tuple_type", "too_short"):
        least = error.get("ctx", {}).get("min_length", 1)
        entries = "two entries" if least == 2 else "one entry"
        return f"{key} must be a list with at least {entries}", f"Write {key}: [...], {_about(model, key)}"
    message = str(error["msg"])
    return f"{key} cannot be used: {message[:1].lower()}{message[1:]}", f"Change {key}: {_about(model, key)}"


def unknown_key(key: str, model: type[BaseModel]) -> tuple[str, str]:
    """An unknown key: what was probably meant, or which keys there are."""
    known = _known(model)
    near = suggestion(key, known)
    if issubclass(model, Rule):
        # The key may be the name of a group of values, so it is not repeated.
        remedy = f"{near}. If it is the name of a group, write the tree as tree: {{...}}"
        return "unknown key in this hierarchy rule", near if near.startswith("Did") else remedy
    rule = f"Unknown key {short(key)!r}"
    elsewhere = [name for name, section in _SECTIONS.items() if section is not model and key in section.model_fields]
    if near.startswith("Did you mean") or not elsewhere:
        return rule, near
    return rule, f"It belongs to {listed(elsewhere, 'or')}. Keys here: {listed(known, most=20)}"


def _known(model: type[BaseModel]) -> list[str]:
    return [name for name in model.model_fields if name != "folder"]


def _nearest(given: str, choices: Sequence[str]) -> str | None:
    lower = {choice.lower(): choice for choice in choices}
    words = re.findall(r"[a-z]+", given.lower())
    meant = "identifier" if words == ["id"] else words[0] if words else ""  # t-closeness means t
    if given.lower().startswith(("quasi", "qi")) and "quasi" in lower:
        return "quasi"  # no slip of the pen may make an identifier of it, which deletes the column
    if meant in lower:
        return lower[meant]
    near = get_close_matches(given.lower(), list(lower), n=1, cutoff=0.6)
    return lower[near[0]] if near else None


def suggestion(given: Any, choices: Sequence[str]) -> str:
    """`Did you mean 'sensitive'?`, or the choices."""
    near = _nearest(given, choices) if isinstance(given, str) else None
    if near is not None:
        return f"Did you mean {near!r}?"
    return f"Choose from {listed(choices, most=20)}"


def short(text: str) -> str:
    """A key, short enough for a message."""
    return text if len(text) <= _LONGEST_ECHO else text[:_LONGEST_ECHO] + "..."


def _echo(given: Any) -> str:
    """The value, where it is a setting: numbers and short words."""
    if isinstance(given, bool) or given is None:
        return f", not {str(given).lower()}"
    if isinstance(given, str):
        return f", not {short(given)!r}"
    return f", not {given}" if isinstance(given, int | float) and abs(given) < 1e15 else ""


def _about(model: type[BaseModel], key: str) -> str:
    field = model.model_fields.get(key)
    return (field.description if field else None) or "see the documentation of the policy file"


def _range(model: type[BaseModel], key: str) -> str:
    """`a whole number of at least 2`, `a number above 0 and at most 1`, from the declared bounds."""
    field = model.model_fields.get(key)
    if field is None:
        return "a number"
    noun = "a whole number" if re.search(r"\bint\b|Whole", str(field.annotation)) else "a number"
    bounds = []
    for bound in field.metadata:
        if isinstance(bound, Ge):
            bounds.append(f"of at least {bound.ge}")
        elif isinstance(bound, Gt):
            bounds.append(f"above {bound.gt}")
        elif isinstance(bound, Le):
            bounds.append(f"at most {bound.le}")
        elif isinstance(bound, Lt):
            bounds.append(f"below {bound.lt}")
    return " ".join([noun, " and ".join(bounds)]).strip()
