"""Parts of a policy that come from elsewhere: other files (`include`), and defaults per role (`defaults`).

Both are resolved while a policy is loaded; the policy itself has every column with all its keys.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from polyveil.policy.broken import BrokenRule
from polyveil.policy.faults import Faults, short
from polyveil.policy.scalars import categories
from polyveil.policy.schema import Role, role_of

FILE_KEYS = ("include", "defaults")
"""Keys of a policy file that are resolved while it is loaded."""
FOR_ROLE = {"for_quasi": "quasi", "for_sensitive": "sensitive"}
"""Keys of a column whose settings are used only while the column has this role."""
MOST_NESTED = 5
Reader = Callable[[Path, Faults], Any]


def with_included(
    data: Mapping[Any, Any],
    folder: Path,
    faults: Faults,
    read: Reader,
    allowed: Callable[[Path], str | None],
    depth: int = 0,
) -> dict[Any, Any]:
    """The data laid over that of the files it includes: its own keys win, later files win over earlier ones.

    `read` gives the plain data of a file, `allowed` why a file may not be read.
    """
    own = dict(data)
    try:
        names = categories(own.pop("include", None))
    except BrokenRule:
        faults.add(("include",), "include must be a file name or a list of file names", "Write include: base.yaml")
        return own
    merged: dict[Any, Any] = {}
    for name in names:
        path = folder / name
        refused = allowed(path) or (
            f"files include each other more than {MOST_NESTED} deep" if depth >= MOST_NESTED else None
        )
        if refused:
            faults.add(("include",), refused, "Write the included part into the policy")
            continue
        found = read(path, faults)
        if found is None:
            continue
        if not isinstance(found, Mapping):
            faults.add(("include",), f"{short(name)!r} is not a mapping", "Include a file with columns:, privacy: ...")
            continue
        below = with_included(found, path.parent, faults, read, allowed, depth + 1)
        merged = laid_over(moved_to(below, path.parent, folder), merged)
    return laid_over(own, merged) if names else own


def moved_to(data: Mapping[Any, Any], there: Path, here: Path) -> dict[Any, Any]:
    """The data of a policy in one folder as a policy in another: hierarchy files keep their places."""
    columns = data.get("columns")
    if not isinstance(columns, Mapping) or there.resolve() == here.resolve():
        return dict(data)

    def place(name: str) -> str:
        return name if Path(name).is_absolute() else os.path.relpath((there / name).resolve(), here.resolve())

    def moved(column: Any) -> Any:
        rule = column.get("hierarchy") if isinstance(column, Mapping) else None
        if isinstance(rule, str):
            return {**column, "hierarchy": place(rule)}
        if isinstance(rule, Mapping) and isinstance(rule.get("csv"), str):
            return {**column, "hierarchy": {**rule, "csv": place(rule["csv"])}}
        return column

    return {**data, "columns": {name: moved(column) for name, column in columns.items()}}


def laid_over(own: Mapping[Any, Any], base: Mapping[Any, Any]) -> dict[Any, Any]:
    """Sections and columns of both; where both have one, its keys of both. A column with another role starts anew."""
    result = dict(base)
    for key, part in own.items():
        below = base.get(key)
        if key == "columns" and isinstance(part, Mapping) and isinstance(below, Mapping):
            # The policy's own patterns are looked at before included ones.
            rest = {name: column for name, column in below.items() if name not in part}
            result[key] = {name: _column_over(column, below.get(name)) for name, column in part.items()} | rest
        elif (
            key in ("privacy", "method", "release", "defaults")
            and isinstance(part, Mapping)
            and isinstance(below, Mapping)
        ):
            result[key] = {**below, **part}
        else:
            result[key] = part
    return result


def _column_over(own: Any, base: Any) -> Any:
    if not isinstance(own, Mapping) or not isinstance(base, Mapping):
        return own
    changed = "role" in own and role_of(own["role"]) != role_of(base.get("role"))
    return dict(own) if changed else {**base, **own}


def with_defaults(column: Mapping[Any, Any], defaults: Mapping[Any, Any]) -> dict[Any, Any]:
    """A column with what its role brings: its own settings for that role, then the policy's defaults for it.

    A default gives way to what the column says. Sets are for categories: a default `recode: set` serves columns of type
    categorical without a hierarchy.
    """
    role = role_of(column.get("role"))
    part = {key: value for key, value in column.items() if key not in FOR_ROLE}
    for key, wanted in FOR_ROLE.items():
        if wanted == role and isinstance(column.get(key), Mapping):
            part = {**column[key], **part}
    for key, value in (defaults.get(role) or {}).items() if role in get_args(Role) else ():
        if part.get(key) is None and not _unfit(key, part):
            part[key] = value
    return part


def _unfit(key: str, part: Mapping[Any, Any]) -> bool:
    if key == "recode":
        return part.get("hierarchy") is not None or part.get("type") != "categorical"
    return key == "hierarchy" and part.get("recode") == "set"
