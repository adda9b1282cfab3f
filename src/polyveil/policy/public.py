"""The policy as a release publishes it: self-contained, and without what would tell more than the release does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from polyveil.errors import Fault, PolicyError
from polyveil.policy.hierarchy import HierarchyFault
from polyveil.policy.load import from_dict
from polyveil.policy.risk import PUBLISHED_TABLE
from polyveil.policy.rules import File, Tree
from polyveil.policy.schema import Column, Policy
from polyveil.policy.to_yaml import column_dict, rule_data, to_dict

_NOT_PUBLISHED = ("identifier", "drop", "person")
# A seed lets a reader replay the choices a method made by chance.
_PRIVATE_OPTIONS = frozenset({"seed"})


def public(policy: Policy) -> dict[str, Any]:
    """The policy for a manifest, ready for JSON: hierarchy files become trees, identifiers only a count.

    `unit: person` says that a column names whom a row is about, so that guarantees count people.

    The names of removed identifiers, the folder and a seed are left out; settings of `privacy` are all written out.
    """
    data = to_dict(policy)
    data["columns"] = {
        name: _public_column(name, column, policy)
        for name, column in policy.columns.items()
        if column.role not in _NOT_PUBLISHED
        or (column.role == "person" and policy.release.person == "pseudonym")
        or name in policy.pseudonyms
    }
    if policy.tables:  # where they came from is not told
        data["tables"] = {name: {} for name in policy.tables}
    data["identifiers"] = len(policy.having("identifier")) - len(policy.pseudonyms)
    if policy.person is not None:
        data["unit"] = "person"
    data["privacy"] = policy.privacy.model_dump(exclude_none=True)
    if policy.privacy.risk is not None and policy.privacy.risk.by_table:
        data["privacy"]["risk"]["population"] = {"table": PUBLISHED_TABLE}
    if data.get("release", {}).get("format") == "parquet":  # which is what its absence says
        data["release"] = {key: value for key, value in data["release"].items() if key != "format"}
    data["method"] = {key: value for key, value in data["method"].items() if key not in _PRIVATE_OPTIONS}
    return {key: _for_json(part) for key, part in data.items()}


def from_public(data: Mapping[str, Any]) -> Policy:
    """Read a published policy back; of identifiers it has those with pseudonyms only, and it needs no files."""
    return from_dict({key: value for key, value in data.items() if key not in ("identifiers", "unit")}, files="none")


def _public_column(name: str, column: Column, policy: Policy) -> dict[str, Any]:
    data = column_dict(column)
    if isinstance(column.hierarchy, File):
        try:
            tree = column.hierarchy.build(policy.folder)
        except HierarchyFault as fault:  # it was sound when the policy was loaded
            raise PolicyError([Fault(f"columns.{name}.hierarchy", fault.rule, fault.remedy)]) from None
        data["hierarchy"] = rule_data(Tree(tree=tree.to_nested(), root=tree.root))
    return data


def _for_json(value: Any) -> Any:
    """Keys as text and infinite edges by name, so that JSON gives back what it was given."""
    if isinstance(value, Mapping):
        return {str(key): _for_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
