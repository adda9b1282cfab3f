"""From a policy and a coded table to models: which guarantees are asked for, and what they need to know."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.models.anonymity import AlphaAnonymity, GroupAnonymity, KAnonymity, LinkedAnonymity
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
from polyveil.models.ground import GroundDistance, divergence, equal, hierarchical, ordered
from polyveil.models.joint import JointCloseness, joint_attribute, joint_name
from polyveil.models.statistics import Attribute
from polyveil.policy.schema import Column, Policy, Privacy
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain


def models_for(policy: Policy, attributes: Mapping[str, Attribute]) -> tuple[Model, ...]:
    """Every model the policy asks for, k first, then column by column; a column's own value wins over `privacy`."""
    asked: list[Model] = [_anonymity(policy, policy.privacy.k)] if policy.privacy.k is not None else []
    for name, column in policy.columns.items():
        if column.role == "sensitive" and name in attributes:
            asked += _diversity(name, column, policy.privacy)
            asked += _others(name, column, policy.privacy)
    asked += [JointCloseness(joint.t, joint_name(joint.columns)) for joint in policy.privacy.joint]
    return tuple(asked)


def _anonymity(policy: Policy, k: int) -> KAnonymity:
    """What k is about depends on the form."""
    if policy.release.form in (None, "generalized"):
        return KAnonymity(k)
    return GroupAnonymity(k) if policy.release.generalize == "none" else LinkedAnonymity(k)


def _diversity(name: str, column: Column, privacy: Privacy) -> list[Model]:
    wanted = privacy.l if column.l is None else column.l
    if wanted is None:
        return []
    if isinstance(wanted, dict):
        return [LevelDiversity(wanted, name)]
    match privacy.diversity:
        case "distinct":
            return [DistinctDiversity(wanted, name)]
        case "entropy":
            return [EntropyDiversity(wanted, name)]
        case "recursive":
            return [RecursiveDiversity(privacy.c, name, wanted)]
        case "frequency":
            return [FrequencyDiversity(wanted, name)]


def _others(name: str, column: Column, privacy: Privacy) -> list[Model]:
    models: list[Model] = []
    t = privacy.t if column.t is None else column.t
    alpha = privacy.alpha if column.alpha is None else column.alpha
    beta = privacy.beta if column.beta is None else column.beta
    delta = privacy.delta if column.delta is None else column.delta
    if t is not None:
        models.append(TCloseness(t, name))
    if privacy.p is not None:
        models.append(PSensitivity(privacy.p, name))
    if alpha is not None:
        models.append(AlphaAnonymity(alpha, name))
    if beta is not None:
        likeness = EnhancedBetaLikeness if privacy.beta_kind == "enhanced" else BasicBetaLikeness
        models.append(likeness(beta, name))
    if delta is not None:
        models.append(DeltaDisclosure(delta, name))
    return models


def attributes_of(table: CodedTable) -> dict[str, Attribute]:
    """All sensitive attributes of a coded table as models see them, with the table as the reference.

    Columns that are judged together follow as joint attributes.
    """
    single = {column.name: attribute_of(column) for column in table.sensitive}
    return {**single, **joint_attributes_of(table, single)}


def joint_attributes_of(table: CodedTable, single: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The combinations of columns that are judged together, with the table's rows as the reference."""
    return {
        joint_name(names): joint_attribute([single[name] for name in names], tuples.codes, tuples.counts)
        for names, tuples in zip(table.together, table.joint_tuples, strict=True)
    }


def codes_of(table: CodedTable) -> dict[str, IntArray]:
    """The codes of every attribute that `attributes_of` describes, one per row."""
    joint = {joint_name(names): t.of_row for names, t in zip(table.together, table.joint_tuples, strict=True)}
    return {**{column.name: column.codes for column in table.sensitive}, **joint}


def attribute_of(column: SensitiveColumn) -> Attribute:
    """A sensitive column as models see it: its rows are the reference distribution.

    Equal distance and the divergences need no structure and serve every column. Ordered distance needs an order
    (numbers, dates, ordered categories), hierarchical distance a hierarchy; anything else is a fault of the policy.
    """
    return Attribute(
        name=column.name,
        size=column.domain.size,
        whole=column.counts,
        ground=_ground(column),
        levels=np.asarray(column.levels, dtype=np.int64),
    )


def _ground(column: SensitiveColumn) -> GroundDistance:
    domain = column.domain
    match column.distance:
        case "ordered":
            if isinstance(domain, OrderedDomain):
                return ordered(len(domain.labels), domain.has_null, column.counts[: len(domain.labels)] > 0)
            raise _unfit(column, "its values have no order", "Declare it numeric, date or ordinal with its order")
        case "hierarchical":
            if isinstance(domain, TreeDomain):
                return hierarchical(domain.hierarchy)
            raise _unfit(
                column, "it is ordered and has no hierarchy", "Use distance: ordered, or declare it categorical"
            )
        case "equal":
            return equal(domain.size)
        case _:
            return divergence(column.distance)


def _unfit(column: SensitiveColumn, why: str, remedy: str) -> PolicyError:
    rule = f"distance {column.distance!r} does not fit this column: {why}"
    return PolicyError([Fault(f"columns.{column.name}.distance", rule, remedy)])
