"""From a policy and a coded table to models: which guarantees are asked for, and what they need to know."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polyveil.arrays import IntArray
from polyveil.errors import Fault, PolicyError
from polyveil.models.base import Model
from polyveil.models.ground import GroundDistance, divergence, equal, hierarchical, ordered
from polyveil.models.joint import joint_attribute, joint_name
from polyveil.models.registry import MODELS
from polyveil.models.statistics import Attribute
from polyveil.policy.schema import Policy
from polyveil.table.coded import CodedTable, SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain


def models_for(policy: Policy, attributes: Mapping[str, Attribute]) -> tuple[Model, ...]:
    """Every model the policy asks for: about the groups, then column by column, then about columns together."""
    kinds = list(MODELS.values())
    wide = [model for kind in kinds for model in kind.for_table(policy)]
    named = [name for name in policy.having("sensitive") if name in attributes]
    # A distance that the policy leaves open was found from the data; statements name it.
    column = {
        name: policy.columns[name].model_copy(update={"distance": attributes[name].ground.distance}) for name in named
    }
    of_columns = [kind.for_column(name, column[name], policy.privacy) for name in named for kind in kinds]
    return (
        *(model for model in wide if model.attribute is None),
        *(model for model in of_columns if model is not None),
        *(model for model in wide if model.attribute is not None),
    )


def probes_for(attributes: Mapping[str, Attribute]) -> tuple[Model, ...]:
    """Every model that can be measured on some attributes, whether or not it is asked for."""
    return tuple(model for kind in MODELS.values() for model in kind.probes(attributes))


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
