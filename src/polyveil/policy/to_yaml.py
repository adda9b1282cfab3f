"""Writing a policy: as plain data without what is default anyway, and as YAML that reads back to the same policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyveil.policy.rules import RULE_KEYS, File, Rule, Tree
from polyveil.policy.schema import Column, Policy

WIDTH = 120
# Text that every YAML reader takes for the same text: it starts with a letter and holds no punctuation of YAML's.
_SAFE = re.compile(r"[^\W\d_](?:[\w .+/()<>=%*$-]*[\w.+/()<>=%*$-])?")
_READ_AS_VALUES = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"])


def to_dict(policy: Policy) -> dict[str, Any]:
    """The policy as plain data; `Policy.from_dict` reads it back. Keys that have their default are left out."""
    data: dict[str, Any] = {"version": policy.version}
    about = policy.about.model_dump(exclude_defaults=True)
    if about:
        data["about"] = about
    if policy.tables:
        data["tables"] = {name: table.model_dump(exclude_defaults=True) for name, table in policy.tables.items()}
    data["columns"] = {name: column_dict(column) for name, column in policy.columns.items()}
    sections = {
        "privacy": policy.privacy.model_dump(exclude_defaults=True),
        "method": {"name": policy.method.name, **policy.method.model_dump(exclude_defaults=True)},
        "release": policy.release.model_dump(exclude_defaults=True),
        "missing": list(policy.missing),
        "other_columns": "drop" if policy.other_columns == "drop" else None,
    }
    data |= {name: part for name, part in sections.items() if part}
    # Lists of edges and the like are shared with the policy otherwise, which must not change.
    return {name: _copied(part) for name, part in data.items()}


def column_dict(column: Column) -> dict[str, Any]:
    """One column as plain data, its hierarchy in the shortest notation."""
    data: dict[str, Any] = {"role": column.role, **column.model_dump(exclude_defaults=True, exclude={"hierarchy"})}
    if column.hierarchy is not None:
        data["hierarchy"] = rule_data(column.hierarchy)
    return {key: _copied(data[key]) for key in Column.model_fields if key in data}


def rule_data(rule: Rule) -> Any:
    """A file's name, a bare tree, or the rule with its key."""
    data = rule.model_dump(exclude_defaults=True)
    if isinstance(rule, File) and rule.delimiter is None:
        return rule.csv
    if isinstance(rule, Tree) and "root" not in data and rule.tree and not _looks_like_a_rule(rule.tree):
        return data["tree"]
    return data


def _looks_like_a_rule(tree: Any) -> bool:
    return isinstance(tree, Mapping) and any(key in tree for key in RULE_KEYS)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value


def to_yaml(policy: Policy) -> str:
    """The policy as YAML, one line per column where it fits; reading it back gives an equal policy."""
    data = to_dict(policy)
    columns = data.pop("columns")
    lines = [f"version: {data.pop('version')}"]
    for name in ("about", "tables"):
        if name in data:
            lines += entry(name, data.pop(name))
    lines.append("columns:")
    width = min(max((len(scalar(name)) for name in columns), default=0) + 1, 24)
    for name, column in columns.items():
        lines += entry(name, column, indent=2, pad=width)
    for name, part in data.items():
        lines += entry(name, part)
    return "\n".join(lines) + "\n"


def entry(key: str | int, value: Any, indent: int = 0, pad: int = 0) -> list[str]:
    """`key: value` on one line where it fits, in block style otherwise."""
    head = " " * indent + _key(key, f"\n{' ' * indent}:")
    one_line = flow(value, WIDTH)
    start = f"{head.ljust(indent + pad)} "
    if one_line is not None and len(start) + len(one_line) <= WIDTH:
        return [f"{start}{one_line}"]
    return [head, *_block(value, indent + 2)]


def _block(value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from entry(key, item, indent)
    elif isinstance(value, Sequence) and not isinstance(value, str) and not any(isinstance(i, Mapping) for i in value):
        yield from _wrapped([flow(item) or "" for item in value], indent)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            first, *others = _block(item, 0) if isinstance(item, Mapping) and item else [flow(item) or ""]
            yield " " * indent + f"- {first}"
            yield from (" " * (indent + 2) + other for other in others)
    else:
        yield " " * indent + (flow(value) or "")


def _wrapped(items: list[str], indent: int) -> Iterator[str]:
    """A list over several lines."""
    line = " " * indent + "["
    for number, item in enumerate(items):
        piece = item + ("]" if number == len(items) - 1 else ",")
        if len(line) + len(piece) + 1 > WIDTH and line.strip() != "[":
            yield line.rstrip()
            line = " " * (indent + 1)
        line += piece + " "
    yield line.rstrip()


def flow(value: Any, most: int | None = None) -> str | None:
    """A value in flow style; None as soon as it is known to be longer than `most`."""
    if isinstance(value, Mapping):
        parts: Iterator[str | None] = (_pair(key, item, most) for key, item in value.items())
        ends = "{}"
    elif isinstance(value, list | tuple):
        parts = (flow(item, most) for item in value)
        ends = "[]"
    else:
        return scalar(value)
    done: list[str] = []
    length = 2
    for part in parts:
        length += len(part) + 2 if part is not None else 0
        if part is None or (most is not None and length - 2 > most):
            return None
        done.append(part)
    return ends[0] + ", ".join(done) + ends[1]


def _pair(key: Any, item: Any, most: int | None) -> str | None:
    value = flow(item, most)
    return None if value is None else f"{_key(key, ' :')} {value}"


def _key(key: Any, end_of_long: str) -> str:
    """A key and its colon; keys beyond 1024 characters are marked with a question mark, as YAML asks."""
    text = scalar(key)
    return f"{text}:" if len(text) < 1000 else f"? {text}{end_of_long}"


def scalar(value: Any) -> str:
    """A scalar that reads back as itself; text gets quotes wherever some reader could take it for something else."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if _SAFE.fullmatch(value) and value.lower() not in _READ_AS_VALUES:
        return str(value)
    return '"' + "".join(_escaped(mark) for mark in value) + '"'


def _float(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)


def _escaped(mark: str) -> str:
    if mark in '"\\':
        return "\\" + mark
    if mark.isprintable():
        return mark
    code = ord(mark)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
