"""What the steward declares: columns and their roles, hierarchies, the guarantees asked for."""

from polyveil.policy.broken import BrokenRule
from polyveil.policy.fit import fitted
from polyveil.policy.hierarchy import Hierarchy, HierarchyFault
from polyveil.policy.load import PolicyLike, check, from_dict, from_file, from_text, load_policy, to_yaml
from polyveil.policy.public import from_public, public
from polyveil.policy.rules import DateParts, File, Intervals, Mask, Order, Pairs, Rule, Tree
from polyveil.policy.schema import Column, MethodChoice, Policy, Privacy, ReleaseChoice
from polyveil.policy.to_yaml import to_dict

__all__ = [
    "BrokenRule",
    "Column",
    "DateParts",
    "File",
    "Hierarchy",
    "HierarchyFault",
    "Intervals",
    "Mask",
    "MethodChoice",
    "Order",
    "Pairs",
    "Policy",
    "PolicyLike",
    "Privacy",
    "ReleaseChoice",
    "Rule",
    "Tree",
    "check",
    "fitted",
    "from_dict",
    "from_file",
    "from_public",
    "from_text",
    "load_policy",
    "public",
    "to_dict",
    "to_yaml",
]
