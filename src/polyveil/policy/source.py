"""Policy files as nodes that remember their line and the text as it was written.

YAML 1.2 still reads 007 as seven, 1e3 as a thousand and null as nothing; as category values all three are text. So the
parser's events are kept as nodes, and the loader decides by place which scalars are text and which are values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from polyveil.policy.broken import BrokenRule, Path

MAX_BYTES = 10_000_000
MAX_DEPTH = 120
# Aliases repeat what was written once; this bounds what a small file can grow to ("billion laughs").
MAX_REPEATED = 100_000

_STRING_TAG = "tag:yaml.org,2002:str"


class Unreadable(BrokenRule):
    """The text is no YAML that a policy may use; nothing after the line can be trusted."""

    def __init__(self, line: int, rule: str, remedy: str) -> None:
        self.line = line
        super().__init__(rule, remedy)


@dataclass(slots=True)
class Node:
    """A scalar (`text`), a list (`items`) or a mapping (`keys` and `items` in parallel)."""

    line: int
    text: str | None = None
    plain: bool = False
    """Written without quotes, so that YAML's rules for numbers, true and null apply where a value is wanted."""
    items: list[Node] = field(default_factory=list)
    keys: list[Node] | None = None
    size: int = 1
    depth: int = 1
    _places: dict[str, int] | None = None

    @property
    def is_scalar(self) -> bool:
        return self.text is not None

    @property
    def is_empty(self) -> bool:
        """Nothing was written where a value could stand."""
        return self.plain and self.text == ""

    def find(self, name: str) -> tuple[Node, Node] | None:
        """The first entry of a mapping with this key."""
        keys = self.keys or []
        if self._places is None:
            self._places = {}
            for place, key in enumerate(keys):
                if key.text is not None:
                    self._places.setdefault(key.text, place)
        place = self._places.get(name, -1)
        return (keys[place], self.items[place]) if place >= 0 else None

    def entries(self) -> Iterator[tuple[Node, Node]]:
        return zip(self.keys or [], self.items, strict=True)


def read_nodes(text: str) -> Node | None:
    """The one document of a YAML text, or None if it is empty."""
    builder = _Builder()
    for event in _events(text):
        if isinstance(event, DocumentStartEvent):
            if builder.root is not None:
                raise Unreadable(
                    _line(event), "a policy is one YAML document", "Remove the second --- and all after it"
                )
        elif isinstance(event, SequenceEndEvent | MappingEndEvent):
            builder.close()
        elif isinstance(event, AliasEvent | ScalarEvent | SequenceStartEvent | MappingStartEvent):
            builder.add(event)
    return builder.root


def _events(text: str) -> Iterator[Event]:
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except Unreadable:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = re.sub(r"\s+", " ", error.problem or error.context or "it cannot be parsed")
        raise Unreadable(line, f"this is not YAML: {problem}", _syntax_remedy(problem)) from None
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0) or 0) + 1
        raise Unreadable(line, "the file contains a control character", "Remove it, or write it as an escape") from None
    except (ValueError, OverflowError):
        raise Unreadable(1, "an escape names a character that does not exist", "Correct the \\U escape") from None


_SPECIAL_START = ("cannot start any token", "keys are not allowed", "entries are not allowed", "expected alphabetic")


def _syntax_remedy(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "Put a text with a colon in quotes, and check the indentation"
    if "tab" in problem or "\\t" in problem or "'\t'" in problem:
        return "Indent with spaces, not tabs"
    if any(part in problem for part in _SPECIAL_START):
        return "Put a text that starts with a special character such as ? - * & % @ in quotes"
    return "Check brackets, quotes and indentation at and above this line"


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    """Puts events together without recursion, so that deep nesting is a fault and not a crash."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.open: list[Node] = []
        self.names: dict[str, Node] = {}
        self.repeated = 0

    def add(self, event: Any) -> None:
        line = _line(event)
        if isinstance(event, AliasEvent):
            self._place(self._alias(event, line))
            return
        if event.tag not in (None, _STRING_TAG):
            raise Unreadable(
                line, "a policy cannot contain YAML tags (!...)", "Remove the tag, or put the text in quotes"
            )
        if isinstance(event, ScalarEvent):
            plain = bool(event.implicit[0]) and event.tag is None
            node = Node(line, text=event.value, plain=plain)
        else:
            node = Node(line, keys=[] if isinstance(event, MappingStartEvent) else None)
        if event.anchor is not None:
            # Known at once, so that an alias to it from inside is told apart from an unknown one.
            self.names[event.anchor] = node
        if isinstance(event, ScalarEvent):
            self._place(node)
            return
        if len(self.open) >= MAX_DEPTH:
            raise Unreadable(line, f"a policy nests at most {MAX_DEPTH} levels", "Write it flatter")
        self.open.append(node)

    def close(self) -> None:
        node = self.open.pop()
        node.size = 1 + sum(item.size for item in node.items) + len(node.keys or ())
        node.depth = 1 + max((item.depth for item in node.items), default=0)
        self._place(node)

    def _alias(self, event: Any, line: int) -> Node:
        node = self.names.get(event.anchor)
        if node is None or any(node is other for other in self.open):
            rule = "an alias (*name) has no anchor (&name) before it" if node is None else "an alias repeats itself"
            raise Unreadable(line, rule, "Write the part out")
        self.repeated += node.size
        if self.repeated > MAX_REPEATED or node.depth + len(self.open) > MAX_DEPTH:
            raise Unreadable(line, f"aliases repeat more than {MAX_REPEATED} parts", "Write the policy without aliases")
        return node

    def _place(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        above = self.open[-1]
        if above.keys is not None and len(above.keys) == len(above.items):
            above.keys.append(node)
        else:
            above.items.append(node)


_NULL = re.compile(r"|~|null|Null|NULL")
_TRUE, _FALSE = re.compile(r"true|True|TRUE"), re.compile(r"false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}


def is_null(node: Node) -> bool:
    """Whether YAML 1.2 reads the node as null."""
    return node.plain and node.text is not None and _NULL.fullmatch(node.text) is not None


def resolve(node: Node) -> Any:
    """A scalar's value by YAML 1.2's core schema."""
    text = node.text or ""
    if not node.plain:
        return text
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return _TRUE.fullmatch(text) is not None
    if _INT.fullmatch(text) and len(text) <= 300:
        return int(text)
    if _BASED.fullmatch(text) and len(text) <= 300:
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    special = _SPECIAL.get(text.lower())
    return float(special) if special else text


def line_at(root: Node, path: Path) -> int:
    """The line of a part, or of the nearest part above it that was written."""
    line, node = root.line, root
    for step in path:
        if node.keys is not None:
            found = node.find(str(step))
            if found is None and step == "tree":
                continue  # a tree may be written without its key
            if found is None:
                break
            line, node = found[0].line, found[1]
        elif step == "tree" and not node.is_scalar:
            continue
        elif isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            line = node.line
        else:
            break
    return line
