"""JSON schemas of a policy file and of a release's manifest, for editors and for programs that read releases.

    from polyveil.schemas import manifest_schema, policy_schema

Both come from the models that polyveil itself reads with: a key that a schema does not have is refused there as well.
A schema sees one value at a time; what two values must agree on is checked by `polyveil.check` and `polyveil.verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyveil.policy import Policy
from polyveil.policy.include import FOR_ROLE
from polyveil.verification.shape import ManifestShape

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_HIERARCHY = {"type": ["string", "object", "array", "null"]}  # a file, a rule, or a tree of any shape
_CATEGORY = {"type": ["string", "number"]}  # YAML reads unquoted digits as numbers; they are taken as text


def policy_schema() -> dict[str, Any]:
    """The schema of a policy as it is written in YAML or JSON.

    Examples
    --------
    >>> from polyveil.schemas import policy_schema
    >>> policy_schema()["anyOf"]
    [{'required': ['columns']}, {'required': ['include']}]
    """
    schema = _written_out()
    column = schema["$defs"]["Column"]
    schema["$defs"]["ColumnKeys"] = {
        **column,
        "properties": dict(column["properties"]),
        "required": [],
        "title": "Keys",
    }
    keys = {"$ref": "#/$defs/ColumnKeys"}
    column["properties"] |= {
        key: {**keys, "description": f"used only for {role} columns"} for key, role in FOR_ROLE.items()
    }
    files = {"type": ["string", "array"], "items": _CATEGORY}
    schema["properties"] |= {
        "include": {**files, "description": "other policy files, whose parts serve here as well"},
        "defaults": {
            "type": "object",
            "additionalProperties": keys,
            "description": "role -> keys that columns of this role have unless they say otherwise",
        },
    }
    schema.pop("required")
    schema["anyOf"] = [{"required": ["columns"]}, {"required": ["include"]}]
    return schema


def _written_out() -> dict[str, Any]:
    """The schema of a policy in which every column has all its keys."""
    schema = _as_written(Policy.model_json_schema())
    schema["properties"].pop("folder")
    return {"$schema": DIALECT, "$id": "urn:polyveil:policy:1", **schema, "title": "A polyveil policy"}


def manifest_schema() -> dict[str, Any]:
    """The schema of `manifest.json` in a release folder: exactly its keys, no others.

    Examples
    --------
    >>> from polyveil.schemas import manifest_schema
    >>> manifest_schema()["additionalProperties"]
    False
    """
    schema = _closed(ManifestShape.model_json_schema())
    policy = _written_out()
    policy["properties"].pop("other_columns")
    schema["$defs"] = {**schema.get("$defs", {}), **policy.pop("$defs")}
    inner = {key: policy[key] for key in ("type", "properties", "required", "additionalProperties")}
    inner["properties"] = {**inner["properties"], "identifiers": {"type": "integer", "minimum": 0}}
    schema["properties"]["policy"] = {**inner, "required": [*inner["required"], "identifiers"]}
    return {"$schema": DIALECT, "$id": "urn:polyveil:manifest:1", **schema, "title": "The manifest of a release"}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {"policy": policy_schema, "manifest": manifest_schema}
"""Name -> how to make the schema."""


def _as_written(part: Any) -> Any:
    """Bounds by their names in JSON Schema; hierarchies and category names in every notation a policy takes."""
    if isinstance(part, list):
        return [_as_written(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {_BOUNDS.get(key, key): _as_written(value) for key, value in part.items()}
    properties = found.get("properties", {})
    if isinstance(properties.get("hierarchy"), dict):
        properties["hierarchy"] = {**_HIERARCHY, "description": properties["hierarchy"].get("description", "")}
    if found.get("type") == "array" and found.get("items") == {"type": "string"}:
        found["items"] = _CATEGORY
    return found


def _closed(part: Any) -> Any:
    """Every object with named keys has those and no others."""
    if isinstance(part, list):
        return [_closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {key: _closed(value) for key, value in part.items()}
    if isinstance(found.get("properties"), dict) and found.get("type") == "object":
        found["additionalProperties"] = False
    return found
