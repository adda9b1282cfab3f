"""From written nodes to plain data: text stays as written where categories stand, numbers become numbers elsewhere."""

from __future__ import annotations

from typing import Any

from polyveil.policy.broken import Path
from polyveil.policy.faults import Faults, as_column
from polyveil.policy.source import Node, is_null, resolve


def plain_data(node: Node, faults: Faults, path: Path = ()) -> Any:
    """Dicts (keys are always text), lists and scalars; keys written twice or without a value are faults."""
    if _is_question_mark(node, path):
        return "?"
    if node.keys is not None:
        return _mapping(node, faults, path)
    if not node.is_scalar:
        return [plain_data(item, faults, (*path, i)) for i, item in enumerate(node.items)]
    if not _holds_text(path):
        return resolve(node)
    if _in_tree(path) and is_null(node) and not isinstance(path[-1], int):
        return None  # `Europe: ` or `Europe: null`: a value with nothing below it
    if node.is_empty and isinstance(path[-1], int):
        faults.add(path, "an entry of the list is empty", "Remove it; for the empty text write ''")
    return node.text


def _is_question_mark(node: Node, path: Path) -> bool:
    """`[?]` is a key without text or value to YAML; in a list of texts it is the marker many tables use."""
    if not node.keys or not _holds_text(path) or not isinstance(path[-1], int):
        return False
    return len(node.keys) == 1 and node.keys[0].is_empty and node.items[0].is_empty


def _mapping(node: Node, faults: Faults, path: Path) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, item in node.entries():
        if key.text is None:
            faults.add(path, "a key is a list or a mapping", "Write a plain text before the colon")
            continue
        if key.plain and key.text == "<<" and not _in_tree((*path, key.text)):
            faults.add((*path, key.text), "merge keys (<<) are not read", "Write the keys out")
            continue
        below = (*path, key.text)
        if key.text in data or key.text in faults.lost_below(path):
            rule = "a group or value appears twice" if _in_tree(below) else "the key appears twice"
            faults.add_at(key.line, below, rule, "Keep one of the two")
            continue
        if _needs_value(below) and (item.is_empty or (is_null(item) and below[-1] != "missing")):
            faults.add(below, "the key has no value", "Write a value after the colon, or remove the key")
            faults.lose(below)
            continue
        data[key.text] = plain_data(item, faults, below)
    return data


def _holds_text(path: Path) -> bool:
    """Whether scalars at this path are text as written: category values, markers, names, formats."""
    if path[:1] in (("missing",), ("include",)):
        return True
    path = as_column(path)
    if path[:2] == ("privacy", "joint"):
        return len(path) > 3 and path[3] == "columns"
    if path[:1] != ("columns",) or len(path) < 3:
        return False
    if path[2] == "hierarchy":
        return len(path) < 4 or path[3] not in ("mask", "intervals")
    return path[2] in ("missing", "date_format") or (path[2] == "levels" and len(path) > 3)


def _in_tree(path: Path) -> bool:
    path = as_column(path)
    return len(path) > 3 and path[0] == "columns" and path[2] == "hierarchy"


def _needs_value(path: Path) -> bool:
    """Sections, columns and their keys: an empty one was probably meant to say something."""
    if path[0] == "columns":
        return len(path) <= 3
    return len(path) == 1 or (len(path) == 2 and path[0] != "method")
