"""The models, by key: polyveil's own, those added by `register`, and those of installed packages."""

from __future__ import annotations

from typing import Any, TypeVar

from polyveil.models.anonymity import AlphaAnonymity, KAnonymity
from polyveil.models.any_columns import AnyColumns
from polyveil.models.base import Model
from polyveil.models.closeness import TCloseness
from polyveil.models.disclosure import BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from polyveil.models.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    LevelDiversity,
    PSensitivity,
    RecursiveDiversity,
)
from polyveil.models.joint import JointCloseness
from polyveil.models.risk import (
    AverageRisk,
    JournalistRisk,
    MarketerRisk,
    PopulationUniqueness,
    ProsecutorRisk,
    RegisterRisk,
    StrictSize,
)
from polyveil.models.weighted import WeightedCloseness, WeightedRisk
from polyveil.plugins import Registry
from polyveil.policy.added_keys import MODELS_GROUP, add_key
from polyveil.policy.schema import Privacy

_OWN: tuple[type[Model], ...] = (
    KAnonymity,
    AnyColumns,
    ProsecutorRisk,
    JournalistRisk,
    RegisterRisk,
    WeightedRisk,
    AverageRisk,
    MarketerRisk,
    StrictSize,
    PopulationUniqueness,
    DistinctDiversity,
    FrequencyDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    LevelDiversity,
    TCloseness,
    WeightedCloseness,
    PSensitivity,
    AlphaAnonymity,
    BasicBetaLikeness,
    EnhancedBetaLikeness,
    DeltaDisclosure,
    JointCloseness,
)
_WORDS = ("key", "parameter", "title", "source", "helps_against", "leaves_open", "direction", "monotone")
ModelT = TypeVar("ModelT", bound=type[Model])


def _unfit(name: str, model: Any) -> str:
    """What is wrong with a model from outside; its policy key is added if nothing is."""
    if not (isinstance(model, type) and issubclass(model, Model)):
        return "it is not a class that extends polyveil.models.Model"
    missing = [word for word in _WORDS if not hasattr(model, word)]
    if missing:
        return f"it does not say its {', '.join(missing)}"
    if model.key != name:
        return f"it calls itself {model.key!r}; use the same name"
    if model.field is None and model.parameter not in Privacy.model_fields:
        return f"the policy has no key {model.parameter!r}; declare it with field = PolicyField(...)"
    add_key(model)
    return ""


MODELS: Registry[type[Model]] = Registry(MODELS_GROUP, {model.key: model for model in _OWN}, _unfit)
"""Every model, by its key."""


def register(model: ModelT) -> ModelT:
    """Add a model for this process, for example in a notebook; installed packages use an entry point instead."""
    MODELS.add(getattr(model, "key", ""), model)
    return model
