"""Keys of a policy that models from outside the package bring."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from polyveil.plugins import PluginError, installed
from polyveil.policy.guarantees import PolicyField
from polyveil.policy.schema import Column, Policy, Privacy

MODELS_GROUP = "polyveil.models"
"""The entry points of installed packages that add models."""
_ADDED: dict[str, PolicyField] = {}


class Declares(Protocol):
    """As much of a model as a policy needs to know."""

    @property
    def parameter(self) -> str: ...

    @property
    def field(self) -> PolicyField | None: ...


def add_key(model: Declares) -> None:
    """Let a policy ask for a model; adding the same field again changes nothing."""
    key, field = model.parameter, model.field
    if field is None or _ADDED.get(key) == field:
        return
    if key in Privacy.model_fields or key in Column.model_fields:
        raise PluginError(f"the policy already has a key {key!r}. Give the model another parameter")
    for part in (Column, Privacy):
        part.model_fields[key] = field.info()
        part.model_rebuild(force=True)
    Policy.model_rebuild(force=True)
    _ADDED[key] = field


@cache
def add_installed_keys() -> None:
    """The keys of all models that installed packages add; looked up once."""
    for _, model in installed(MODELS_GROUP):
        if hasattr(model, "parameter") and hasattr(model, "field"):
            add_key(model)
