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
from polyveil.models.from_policy import attribute_of, attributes_of, codes_of, joint_attributes_of, models_for
from polyveil.models.joint import JointAttribute, JointCloseness, joint_attribute, joint_name
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
"""Every privacy model about class sizes or one sensitive attribute, by its key."""

JOINT_MODELS: dict[str, type[Model]] = {JointCloseness.key: JointCloseness}
"""Models about several sensitive attributes together."""

__all__ = [
    "JOINT_MODELS",
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
    "JointAttribute",
    "JointCloseness",
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
    "codes_of",
    "from_classes",
    "joint_attribute",
    "joint_attributes_of",
    "joint_name",
    "models_for",
]
