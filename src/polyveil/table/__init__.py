"""Tables: reading them, binding a policy to them, coding them."""

from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn, Tuples
from polyveil.table.domain import Domain, OrderedDomain, TreeDomain
from polyveil.table.source import Table, read

__all__ = [
    "CodedTable",
    "Domain",
    "OrderedDomain",
    "QuasiColumn",
    "SensitiveColumn",
    "Table",
    "TreeDomain",
    "Tuples",
    "read",
]
