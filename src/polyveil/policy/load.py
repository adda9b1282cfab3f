"""Loading a policy from a file, a text or plain data: one policy, or every fault at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from polyveil.errors import Fault, InputError, PolicyError, listed
from polyveil.policy.added_keys import add_installed_keys
from polyveil.policy.broken import BrokenRule
from polyveil.policy.broken import Path as Place
from polyveil.policy.checks import ColumnDraft, check_column, check_levels, check_privacy, check_shifts
from polyveil.policy.faults import Faults, findings_of, place_name, short, suggestion, unknown_key
from polyveil.policy.include import FILE_KEYS, with_defaults, with_included
from polyveil.policy.linked import check_tables, table_of
from polyveil.policy.plain_data import plain_data
from polyveil.policy.risk import PUBLISHED_TABLE
from polyveil.policy.rules import File, Order, Pairs, Rule, Tree, parse_rule, rule_class
from polyveil.policy.scalars import categories, is_unicode
from polyveil.policy.schema import (
    About,
    Column,
    LinkedTable,
    MethodChoice,
    Policy,
    Privacy,
    ReleaseChoice,
    Role,
    role_of,
)
from polyveil.policy.source import MAX_BYTES, Unreadable, read_nodes
from polyveil.policy.to_yaml import to_yaml

__all__ = ["PolicyLike", "check", "from_dict", "from_file", "from_text", "load_policy", "to_yaml"]

PolicyLike = Policy | Mapping[str, Any] | Path | str
"""A policy as people have it: an object, plain data, or the path of a YAML file."""
Model = TypeVar("Model", bound=BaseModel)
VERSION = 1
Files = Literal["anywhere", "beside", "none"]
"""Which hierarchy files a policy may name: any, only those in its folder, or none."""
_MAX_OPTION_DEPTH = 20


def from_file(path: Path | str) -> Policy:
    """Read a policy file; hierarchy files are looked up beside it."""
    path = Path(path)
    return from_text(_read(path), folder=path.parent, source=str(path))


def from_text(text: str, *, folder: Path | str = ".", source: str = "the policy", files: Files = "anywhere") -> Policy:
    """Read a policy from YAML text."""
    try:
        root = read_nodes(text.removeprefix("\ufeff"))
    except Unreadable as problem:
        raise PolicyError([Fault(f"line {problem.line}", problem.rule, problem.remedy)], source) from None
    faults = Faults(root)
    if root is None:
        faults.add((), "it is empty", "Write columns: and privacy:, or start from `polyveil inspect DATA`")
        raise PolicyError(faults.sorted(), source)
    return _build(plain_data(root, faults), faults, Path(folder), source, files)


def from_dict(data: Mapping[str, Any], *, folder: Path | str = ".", files: Files = "anywhere") -> Policy:
    """Build from plain data; a key with the value None is as if absent."""
    return _build(data, Faults(), Path(folder), "the policy", files)


def load_policy(policy: PolicyLike) -> Policy:
    """The policy, whichever way it comes; raises PolicyError with every fault."""
    if isinstance(policy, Policy):
        faults = check(policy)
        if faults:
            raise PolicyError(faults)
        return policy
    if isinstance(policy, Mapping):
        return from_dict(policy)
    if isinstance(policy, str | Path):
        return from_file(policy)
    raise InputError(
        f"a policy cannot be read from a {type(policy).__name__}. Give a Policy, a dict, or the path of a YAML file"
    )


def check(policy: Policy) -> tuple[Fault, ...]:
    """What is wrong with a policy that was put together in Python, part by part."""
    faults = Faults()
    sketches = {name: ColumnDraft(column) for name, column in policy.columns.items()}
    _check(faults, sketches, policy.privacy, frozenset(), policy.folder, policy.tables, complete=True)
    return tuple(faults.sorted())


def _read(path: Path) -> str:
    def refuse(rule: str, remedy: str, place: str = "the file") -> PolicyError:
        return PolicyError([Fault(place, rule, remedy)], str(path))

    try:
        if not path.exists():
            raise refuse("it does not exist", "Check the name, or write a first one with `polyveil inspect DATA`")
        if not path.is_file():
            raise refuse("it is not a file", "Give the path of a YAML file")
        if path.stat().st_size > MAX_BYTES:
            raise refuse(f"a policy file has at most {MAX_BYTES // 10**6} MB", "Keep large hierarchies in CSV files")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise refuse("it is not UTF-8", "Save the file as UTF-8", f"line {line}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise refuse(f"it cannot be read ({reason})", "Check its name and permissions") from None


def _build(data: Any, faults: Faults, folder: Path, source: str, files: Files) -> Policy:
    add_installed_keys()
    if not isinstance(data, Mapping):
        faults.add(
            (), "a policy must be a mapping with columns: and privacy:", "Start with columns:, one line per column"
        )
        raise PolicyError(faults.sorted(), source)
    data = with_included(data, folder, faults, _included, lambda path: _why_not_read(folder, path, files))
    _check_sections(data, faults)
    about, _ = _section(data, "about", About, faults)
    tables = _tables(data.get("tables"), faults)
    sketches, complete = _columns(data.get("columns"), _defaults(data, faults), faults)
    privacy, lost = _section(data, "privacy", Privacy, faults)
    method, _ = _section(data, "method", MethodChoice, faults)
    release, _ = _section(data, "release", ReleaseChoice, faults)
    missing = _missing(data, faults)
    if sketches or complete:
        _refuse_files(faults, sketches, folder, files)
        _check(faults, sketches, privacy, lost, folder, tables, complete=complete)
    people = None if privacy.risk is None or privacy.risk.population is None else privacy.risk.population.table
    beside = files == "beside" and people is not None and _is_beside(folder, people)
    if files != "anywhere" and not beside and people not in (None, PUBLISHED_TABLE if files == "none" else None):
        rule = "no file of a population can be read here"
        faults.add(("privacy", "risk", "population"), rule, "Upload the table, or use the command line or Python")
    others = _other_columns(data, faults)
    if faults:
        raise PolicyError(faults.sorted(), source)
    columns = {name: sketch.column for name, sketch in sketches.items()}
    return Policy(
        about=about,
        tables=tables,
        columns=columns,
        privacy=privacy,
        method=method,
        release=release,
        missing=missing,
        other_columns=others,
        folder=folder,
    )


def _tables(data: Any, faults: Faults) -> dict[str, LinkedTable]:
    """The linked tables; what cannot be read is a fault."""
    if data is None:
        return {}
    if not isinstance(data, Mapping) or not all(isinstance(name, str) and is_unicode(name) for name in data):
        faults.add(("tables",), "tables must be a mapping", "Write tables: {person: {}, visits: {source: visits.csv}}")
        return {}
    found = {}
    for name, part in data.items():
        if part is not None and not isinstance(part, Mapping | LinkedTable):
            faults.add(("tables", name), "a table must be a mapping", f"Write {name}: {{}} or {name}: {{source: FILE}}")
            continue
        path: Place = ("tables", name)
        given = part if isinstance(part, LinkedTable) else None
        table, _ = (given, set()) if given else _valid(dict(part or {}), path, LinkedTable, faults, set())
        found[name] = table or LinkedTable()
    return found


def _check_sections(data: Mapping[Any, Any], faults: Faults) -> None:
    for key in data:
        if not isinstance(key, str):
            faults.add((), "a key at the top is not text", suggestion(None, _sections()))
        elif key not in _sections():
            faults.add((key,), *unknown_key(key, Policy))
    version = data.get("version")
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version != VERSION):
        newer = isinstance(version, int) and version > VERSION
        remedy = "Read it with a newer polyveil" if newer else f"Write version: {VERSION}"
        faults.add(("version",), f"this polyveil reads policies of version {VERSION}", remedy)


def _sections() -> list[str]:
    return [*(name for name in Policy.model_fields if name != "folder"), *FILE_KEYS]


def _columns(data: Any, defaults: Mapping[str, Any], faults: Faults) -> tuple[dict[str, ColumnDraft], bool]:
    """The columns as far as they can be read, and whether the role of each is known."""
    if "columns" in faults.lost_below(()):
        return {}, False
    if not isinstance(data, Mapping) or not data:
        remedy = "Write columns: and below it each column with its role, as in age: {role: quasi}"
        faults.add(("columns",), "the policy lists no columns", remedy)
        return {}, False
    sketches = {}
    complete = not faults.lost_below(("columns",))
    for name, part in data.items():
        if not isinstance(name, str) or not is_unicode(name):
            faults.add(("columns",), "the name of a column must be text", "Write the name as in the table's header")
            complete = False
            continue
        sketch = _column(name, with_defaults(part, defaults) if isinstance(part, Mapping) else part, faults)
        if sketch is not None:
            sketches[name] = sketch
        complete = complete and sketch is not None
    return sketches, complete


def _defaults(data: Mapping[Any, Any], faults: Faults) -> dict[str, Any]:
    """What columns of a role have in common, as far as it can be read."""
    given = data.get("defaults")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        faults.add(
            ("defaults",), "defaults must map roles to keys of a column", "Write defaults: {quasi: {recode: set}}"
        )
        return {}
    found: dict[str, Any] = {}
    for key, part in given.items():
        role = role_of(key)
        if role not in get_args(Role):
            faults.add(("defaults", str(key)), f"Unknown role {short(str(key))!r}", suggestion(key, get_args(Role)))
        elif not isinstance(part, Mapping) or "role" in part:
            faults.add(
                ("defaults", role), "the defaults of a role must be keys of a column", "Write them as {key: value}"
            )
        else:
            below = Faults()
            sketch = _column(role, {**part, "role": role}, below)
            below.extend(check_column(role, sketch) if sketch is not None else ())
            for fault in below.sorted():
                faults.add(("defaults", role), f"{fault.place.rpartition('.')[2]}: {fault.rule}", fault.remedy)
            found[role] = part if not below else {}
    return found


def _other_columns(data: Mapping[Any, Any], faults: Faults) -> Literal["error", "drop"]:
    given = data.get("other_columns")
    if given not in (None, "error", "drop"):
        remedy = "Write drop to leave them out, or error to be told about them"
        faults.add(("other_columns",), "other_columns must be drop or error", remedy)
    return "drop" if given == "drop" else "error"


def _included(path: Path, faults: Faults) -> Any:
    """The plain data of an included file; its faults name the file."""
    try:
        root = read_nodes(_read(path).removeprefix("\ufeff"))
    except Unreadable as problem:
        faults.add(("include",), f"{path.name}, line {problem.line}: {problem.rule}", problem.remedy)
        return None
    except PolicyError as error:
        faults.add(("include",), f"{path.name}: {error.faults[0].rule}", error.faults[0].remedy)
        return None
    inside = Faults(root)
    data = {} if root is None else plain_data(root, inside)
    for fault in inside.sorted():
        faults.add(("include",), f"{path.name}, {fault.place}: {fault.rule}", fault.remedy)
    return data


def _why_not_read(folder: Path, path: Path, files: Files) -> str | None:
    """Why an included file may not be read: a policy from elsewhere must not open files of this machine."""
    if files == "none":
        return "no file can be read here"
    return (
        None
        if files == "anywhere" or _is_beside(folder, str(path.absolute()))
        else "included files must be in the folder of the policy"
    )


def _column(name: str, data: Any, faults: Faults) -> ColumnDraft | None:
    path: Place = ("columns", name)
    if isinstance(data, Column):
        return ColumnDraft(data)
    if not isinstance(data, Mapping):
        role = role_of(data) if isinstance(data, str) and role_of(data) in get_args(Role) else "quasi"
        faults.add(path, "a column must be a mapping", f"Write {place_name((name,))}: {{role: {role}}}")
        return None
    part = dict(data)
    lost = faults.lost_below(path)
    if part.get("hierarchy") is not None:
        part["hierarchy"] = _rule(part["hierarchy"], (*path, "hierarchy"), faults)
        if part["hierarchy"] is None:
            lost.add("hierarchy")
    column, more = _valid(part, path, Column, faults, lost)
    return ColumnDraft(column, frozenset(lost | more)) if column is not None else None


def _rule(value: Any, path: Place, faults: Faults) -> Rule | None:
    try:
        rule: Rule = parse_rule(value)
    except ValidationError as error:
        faults.extend(findings_of(error, path, rule_class(value)))
    except BrokenRule as broken:
        faults.add((*path, *broken.path), broken.rule, broken.remedy)
    else:
        return rule
    return None


def _section(data: Mapping[Any, Any], key: str, model: type[Model], faults: Faults) -> tuple[Model, frozenset[str]]:
    """A section and the keys of it that are lost; a section that is absent is the default one."""
    part = data.get(key)
    if isinstance(part, model):
        return part, frozenset()
    if part is not None and not isinstance(part, Mapping):
        remedy = "Write method: {name: mondrian}" if key == "method" else f"Write {key}: {{key: value}}"
        faults.add((key,), f"{key} must be a mapping", remedy)
        return model(), frozenset(model.model_fields)
    if model is MethodChoice:
        _check_options(part or {}, faults)
    lost = set(model.model_fields) if key in faults.lost_below(()) else faults.lost_below((key,))
    section, more = _valid(dict(part or {}), (key,), model, faults, lost)
    return section if section is not None else model(), frozenset(lost | more)


def _valid(
    part: dict[Any, Any], path: Place, model: type[Model], faults: Faults, lost: set[str]
) -> tuple[Model | None, set[str]]:
    """The part without its faulty keys, and those keys; None if what is left is not enough."""
    usable = {key: value for key, value in part.items() if value is not None or key not in model.model_fields}
    for key in [key for key in usable if not isinstance(key, str) or not is_unicode(key)]:
        faults.add(path, "a key is not text", suggestion(None, list(model.model_fields)))
        del usable[key]
    try:
        return model.model_validate(usable), set()
    except ValidationError as error:
        findings = findings_of(error, path, model)
    wrong = {str(finding.path[len(path)]) for finding in findings}
    faults.extend(finding for finding in findings if finding.path[len(path)] not in lost)
    try:
        return model.model_validate({key: value for key, value in usable.items() if key not in wrong}), wrong
    except ValidationError:
        return None, wrong


def _check_options(part: Mapping[Any, Any], faults: Faults) -> None:
    for key, value in part.items():
        if isinstance(key, str) and key != "name" and not _is_plain(value, _MAX_OPTION_DEPTH):
            remedy = "Give numbers, text, true or false, lists or mappings of these"
            faults.add(("method", key), "an option of a method must be plain data", remedy)


def _is_plain(value: Any, depth: int) -> bool:
    if depth < 0:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item, depth - 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, str):
        return is_unicode(value)
    return value is None or (isinstance(value, bool | int | float) and value == value)  # NaN is not itself


def _missing(data: Mapping[Any, Any], faults: Faults) -> tuple[str, ...]:
    try:
        return categories(data.get("missing"))
    except BrokenRule as broken:
        faults.add(("missing",), broken.rule, broken.remedy)
    return ()


def _check(
    faults: Faults,
    sketches: Mapping[str, ColumnDraft],
    privacy: Privacy,
    lost: frozenset[str],
    folder: Path,
    tables: Mapping[str, LinkedTable],
    *,
    complete: bool,
) -> None:
    for name, sketch in sketches.items():
        faults.extend(check_column(name, sketch))
        known = _known_values(name, sketch.column, folder, faults)
        if "levels" not in sketch.lost:
            faults.extend(check_levels(name, sketch.column, known))
    if complete and all(sketch.column.role not in ("quasi", "sensitive") for sketch in sketches.values()):
        remedy = "Give the role quasi to columns that others may know, and the role sensitive to columns to protect"
        faults.add(("columns",), "no column is quasi or sensitive, so there is nothing to protect", remedy)
    else:
        faults.extend(check_privacy(privacy, lost, sketches, complete))
    if tables:
        faults.extend(check_tables(tables, sketches, privacy))
    faults.extend(check_shifts({name: sketch.column for name, sketch in sketches.items()}))
    people = [name for name, sketch in sketches.items() if sketch.column.role == "person"]
    if len(people) > (len({table_of(name) for name in people}) if tables else 1):
        remedy = f"Keep {people[0]} or another, and give the rest the role identifier"
        faults.add(("columns",), f"{len(people)} columns have the role person: {listed(people)}", remedy)


def _refuse_files(faults: Faults, sketches: dict[str, ColumnDraft], folder: Path, files: Files) -> None:
    """Put aside hierarchy files that may not be read: a policy from elsewhere must not open files of this machine."""
    for name, sketch in list(sketches.items()):
        rule = sketch.column.hierarchy
        file = rule.csv if isinstance(rule, File) else rule.pairs if isinstance(rule, Pairs) and rule.in_file else None
        if file is None or files == "anywhere" or (files == "beside" and _is_beside(folder, file)):
            continue
        where = (
            "hierarchy files must be in the folder of the policy" if files == "beside" else "no file can be read here"
        )
        faults.add(("columns", name, "hierarchy"), where, "Write the hierarchy into the policy, or import it")
        plain = sketch.column.model_copy(update={"hierarchy": None})
        sketches[name] = ColumnDraft(plain, sketch.lost | {"hierarchy"})


def _is_beside(folder: Path, name: str) -> bool:
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _known_values(name: str, column: Column, folder: Path, faults: Faults) -> frozenset[str] | None:
    """The values of a hierarchy that does not depend on the data; building it is how its faults are found."""
    rule = column.hierarchy
    path: Place = ("columns", name, "hierarchy")
    if isinstance(rule, Order):
        return frozenset(rule.order)
    try:
        if isinstance(rule, File):
            leaves = rule.build(folder).leaves
        elif isinstance(rule, Tree):
            leaves = rule.build().leaves
        else:
            return None
    except BrokenRule as broken:
        inside = ("tree",) if isinstance(rule, Tree) else ()
        faults.add((*path, *inside, *broken.path), broken.rule, broken.remedy)
        return None
    return frozenset(leaf for leaf in leaves if leaf is not None)
