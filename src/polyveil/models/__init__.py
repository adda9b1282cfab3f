"""Privacy models: each judges class statistics, says in plain words what it demands, helps against and leaves open."""

from polyveil.models.anonymity import AlphaAnonymity, KAnonymity
from polyveil.models.base import TOLERANCE, Model, Outcome, SensitiveModel, Verdict
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
from polyveil.models.request import attribute_of, attributes_of, models_for
from polyveil.models.statistics import Attribute, Block, ClassStatistics, Sparse, from_classes

MODELS: dict[str, type[Model]] = {
    model.key: model
    for model in (
        KAnonymity,
        AlphaAnonymity,
        DistinctDiversity,
        FrequencyDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        LevelDiversity,
        PSensitivity,
        TCloseness,
        DeltaDisclosure,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
    )
}
"""Every privacy model by its key."""

__all__ = [
    "MODELS",
    "TOLERANCE",
    "AlphaAnonymity",
    "Attribute",
    "BasicBetaLikeness",
    "Block",
    "ClassStatistics",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "FrequencyDiversity",
    "KAnonymity",
    "LevelDiversity",
    "Model",
    "Outcome",
    "PSensitivity",
    "RecursiveDiversity",
    "SensitiveModel",
    "Sparse",
    "TCloseness",
    "Verdict",
    "attribute_of",
    "attributes_of",
    "from_classes",
    "models_for",
]
