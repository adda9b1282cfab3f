"""Privacy models: each judges class statistics, says in plain words what it demands, helps against and leaves open."""

from polyveil.models.anonymity import AlphaAnonymity, KAnonymity
from polyveil.models.any_columns import AnyColumns
from polyveil.models.base import TOLERANCE, FormField, Model, SensitiveModel, Verdict
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
from polyveil.models.from_policy import (
    attribute_of,
    attributes_of,
    codes_of,
    joint_attributes_of,
    models_for,
    probes_for,
)
from polyveil.models.joint import JointAttribute, JointCloseness, joint_attribute, joint_name
from polyveil.models.registry import MODELS, register
from polyveil.models.statistics import Attribute, Block, ClassStatistics, Sparse, from_classes, one_class
from polyveil.policy.guarantees import PolicyField

__all__ = [
    "MODELS",
    "TOLERANCE",
    "AlphaAnonymity",
    "AnyColumns",
    "Attribute",
    "BasicBetaLikeness",
    "Block",
    "ClassStatistics",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "FormField",
    "FrequencyDiversity",
    "JointAttribute",
    "JointCloseness",
    "KAnonymity",
    "LevelDiversity",
    "Model",
    "PSensitivity",
    "PolicyField",
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
    "one_class",
    "probes_for",
    "register",
]
