"""Columns that are judged together, as the verifier sees them: combinations counted from the released rows alone."""

from __future__ import annotations

from collections.abc import Mapping

from polyveil.arrays import IntArray
from polyveil.models import Attribute, joint_attribute, joint_name
from polyveil.policy import Policy
from polyveil.table.coded import distinct


def with_joint(
    policy: Policy, codes: Mapping[str, IntArray], attributes: Mapping[str, Attribute]
) -> tuple[dict[str, IntArray], dict[str, Attribute]]:
    """Codes and attributes, and those of every combination of columns the policy asks to be close together."""
    all_codes, all_attributes = dict(codes), dict(attributes)
    for joint in policy.privacy.joint:
        parts = [attributes[name] for name in joint.columns]
        rows = len(codes[joint.columns[0]])
        tuples = distinct([codes[name] for name in joint.columns], [about.size for about in parts], rows)
        name = joint_name(joint.columns)
        all_codes[name], all_attributes[name] = tuples.of_row, joint_attribute(parts, tuples.codes, tuples.counts)
    return all_codes, all_attributes
