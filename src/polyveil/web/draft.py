"""A draft: the policy of a table while it is being put together. It is saved with every change and may have faults."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from polyveil.advice import starter_policy
from polyveil.errors import Fault, InputError, PolicyError
from polyveil.methods import make_method
from polyveil.policy import BrokenRule, File, Policy, Privacy, Tree, fitted, from_dict, from_public, from_text, to_dict
from polyveil.policy.checks import roles_of_keys
from polyveil.policy.faults import place_name
from polyveil.policy.guarantees import guarantee_keys, setting_keys
from polyveil.policy.hierarchy_file import read_hierarchy
from polyveil.policy.to_yaml import rule_data
from polyveil.releases.forms import resolve_form
from polyveil.table.profiling.column import ColumnProfile
from polyveil.web.store import write_json

FILE = "draft.json"
_DECIDED = "decided"
_STEPS = 100
"""Most changes that can be undone."""


class Draft:
    """A policy as plain data, in the notation of the policy file, kept in a table's folder.

    `decided` names the columns whose role a person chose. Every saved change can be undone while the workbench runs;
    `version` grows when the data is replaced or roles change, so that other pages of the table notice.
    """

    def __init__(self, folder: Path, data: dict[str, Any], decided: Iterable[str] = ()) -> None:
        self.folder = folder
        self.data = data
        self.decided = set(decided)
        self.version = 0
        self._saved = self._text()
        self._before: list[str] = []
        self._after: list[str] = []

    def _text(self) -> str:
        return json.dumps({**self.data, _DECIDED: sorted(self.decided)})

    def save(self) -> None:
        """Write it down; a reload or a restart finds it."""
        text = self._text()
        if text != self._saved:
            self._before = [*self._before[1 - _STEPS :], self._saved]
            self._after.clear()
            self._saved = text
        self._write()

    def _write(self) -> None:
        if self.folder.is_dir():
            write_json(self.folder / FILE, json.loads(self._saved))

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        return bool(self._after)

    def undo(self) -> None:
        """Back to before the last saved change, if there is one."""
        self._step(self._before, self._after)

    def redo(self) -> None:
        """Make the change again that was undone last, if there is one."""
        self._step(self._after, self._before)

    def _step(self, source: list[str], target: list[str]) -> None:
        if source:
            target.append(self._saved)
            self._saved = source.pop()
            self.data = json.loads(self._saved)
            self.decided = set(self.data.pop(_DECIDED))
            self.version += 1
            self._write()

    def replace(self, data: dict[str, Any]) -> None:
        """Another policy in the place of this one, all of it decided; it can be undone."""
        self.data = data
        self.decided = set(self.columns)
        self.version += 1
        self.save()

    def snapshot(self) -> Draft:
        """A copy as it was saved last, to be read in another thread."""
        data = json.loads(self._saved)
        return Draft(self.folder, data, data.pop(_DECIDED))

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.data["columns"]
        return found

    def section(self, name: str) -> dict[str, Any]:
        """`privacy`, `method` or `release`."""
        found: dict[str, Any] = self.data.setdefault(name, {})
        return found

    def having(self, role: str) -> list[str]:
        return [name for name, column in self.columns.items() if column.get("role") == role]

    def set_role(self, name: str, role: str) -> None:
        """Change a role; what the new role does not know goes, so that a click never makes a fault."""
        column = self.columns[name]
        column["role"] = role
        for key, roles in roles_of_keys().items():
            if role not in roles:
                column.pop(key, None)
        self._drop_orphans()

    def choose_roles(self, names: Iterable[str], role: str, profiles: Mapping[str, ColumnProfile]) -> None:
        """A person chose this role for these columns: one change, with the types that the profiles know."""
        for name in names:
            self.columns.setdefault(name, {})
            self.set_role(name, role)
            column, about = self.columns[name], profiles.get(name)
            # A role that generalizes or protects needs a type; the profile knows it.
            if role in ("quasi", "sensitive") and "type" not in column and about is not None:
                if about.hierarchy and role == "quasi":
                    column["hierarchy"] = dict(about.hierarchy)
                if about.type != "ordinal":
                    column["type"] = about.type
                if about.type == "date" and about.date_format:
                    column["date_format"] = about.date_format
            self.decided.add(name)
        self.version += 1
        self.save()

    def _drop_orphans(self) -> None:
        """Combinations of columns that are not sensitive any more, guarantees without a column to protect."""
        privacy, sensitive = self.section("privacy"), set(self.having("sensitive"))
        joint = [each for each in privacy.get("joint", []) if set(each["columns"]) <= sensitive]
        privacy["joint"] = joint
        if not joint:
            privacy.pop("joint")
        if not sensitive:
            for key in (*guarantee_keys(Privacy, "column"), *setting_keys(Privacy)):
                privacy.pop(key, None)

    def count_in(self, population: str) -> None:
        """Have the journalist's risk counted in a table of the population; what only a sample can limit goes."""
        risk = self.section("privacy").setdefault("risk", {})
        kept = {key: value for key, value in risk.items() if key == "max"} or {"max": 0.09}
        self.section("privacy")["risk"] = {**kept, "attacker": "journalist", "population": {"table": population}}
        self.save()

    def import_hierarchy(self, name: str, content: bytes, counts: Mapping[str, int]) -> None:
        """Take a hierarchy file for a column; raises PolicyError with its line where it is not one, or lacks values."""
        place = place_name(("columns", name, "hierarchy"))
        if self.columns.get(name, {}).get("role") not in ("quasi", "sensitive"):
            raise InputError("hierarchies are for quasi-identifiers and sensitive columns of the table")
        file = self.folder / f".hierarchy-{secrets.token_hex(8)}.csv"
        try:
            file.write_bytes(content)
            tree = read_hierarchy(file, "the file")
        except BrokenRule as broken:
            rule = broken.rule.replace("the hierarchy file 'the file'", "the file")
            raise PolicyError([Fault(place, rule, broken.remedy)]) from None
        finally:
            file.unlink(missing_ok=True)
        missing = [value for value in counts if value not in set(tree.leaves)]
        if missing:
            rule = f"missing from the file: {len(missing)} of the column's {len(counts)} values"
            raise PolicyError([Fault(place, rule, "Add a line for each, and import it again")])
        column = self.columns[name]
        column["hierarchy"] = rule_data(Tree(tree=tree.to_nested(), root=tree.root))
        column["type"] = "categorical"
        column.pop("recode", None)
        self.save()

    def check(self) -> tuple[Policy | None, Sequence[Fault]]:
        """The policy, or everything that is wrong with it."""
        try:
            policy = from_dict(self.data, folder=self.folder, files="beside")
            resolve_form(policy, make_method(policy.method))
        except PolicyError as error:
            return None, error.faults
        return policy, ()


def open_draft(folder: Path, profiles: Sequence[ColumnProfile], policy: str | None, rows: int) -> Draft:
    """The saved draft, or a first one: the example's own policy, else what the profile suggests."""
    with suppress(OSError, json.JSONDecodeError):
        saved = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if isinstance(saved, dict) and isinstance(saved.get("columns"), dict):
            return Draft(folder, saved, saved.pop(_DECIDED, ()))
    text = starter_policy(profiles, rows=rows) if policy is None else (folder / policy).read_text(encoding="utf-8")
    chosen = fitted(from_text(text, folder=folder, files="beside"), [profile.name for profile in profiles])
    draft = Draft(folder, self_contained(chosen), chosen.columns if policy else ())
    draft.save()
    return draft


def self_contained(policy: Policy) -> dict[str, Any]:
    """Plain data in which hierarchy files have become trees, so that it can be edited and taken anywhere."""
    data = to_dict(policy)
    for name, column in policy.columns.items():
        if isinstance(column.hierarchy, File):
            tree = column.hierarchy.build(policy.folder)
            data["columns"][name]["hierarchy"] = rule_data(Tree(tree=tree.to_nested(), root=tree.root))
    return data


def read_policy(content: bytes, columns: Sequence[str], folder: Path) -> dict[str, Any]:
    """A saved policy file, or the policy in a bundle's manifest, as a draft for a table with these columns.

    A manifest does not name the identifiers that were dropped: columns it does not know become identifiers again.
    Raises PolicyError with every fault and its line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PolicyError(
            [Fault("the file", "it is not UTF-8 text", "Open a policy file or a manifest.json")]
        ) from None
    manifest = _manifest(text)
    if manifest is None:
        try:
            return self_contained(fitted(from_text(text, folder=folder, files="beside"), columns))
        except BrokenRule as broken:
            raise PolicyError([Fault("the file", broken.rule, broken.remedy)]) from None
    data = to_dict(from_public(manifest["policy"]))
    ordered = {name: data["columns"].get(name, {"role": "identifier"}) for name in columns}
    return {**data, "columns": {**ordered, **{k: v for k, v in data["columns"].items() if k not in ordered}}}


def _manifest(text: str) -> Mapping[str, Any] | None:
    with suppress(json.JSONDecodeError, RecursionError):
        data = json.loads(text)
        if isinstance(data, dict) and data.get("format") == "polyveil-release" and isinstance(data.get("policy"), dict):
            return data
    return None
