"""What a release form is: it turns a method's partition into the tables that are published, and describes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import Fault
from polyveil.methods.base import Method
from polyveil.models import Attribute, ClassStatistics, Model
from polyveil.partition import Partition
from polyveil.policy import Policy
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable

Slices = tuple[tuple[str, ...], ...]
"""The sensitive columns of each sensitive table."""


class Form(ABC):
    """A release form. `name` is what a policy calls it, `options` the keys of `release` that it takes beside the
    common ones; any other key of these is a fault of the policy."""

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()

    def fill_in(self, policy: Policy, method: Method[Any]) -> dict[str, Any]:
        """The options that the policy leaves open, as the form and the method fill them."""
        return {}

    def faults(self, policy: Policy, method: Method[Any]) -> list[Fault]:
        """What the policy, its options filled in, asks for and this form cannot give."""
        return []

    def slices(self, policy: Policy) -> Slices:
        """The sensitive columns of each sensitive table, unless the method decides that; none in a single table."""
        return ()

    def layout(self, policy: Policy, slices: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        """Per sensitive table its name and columns; none in a single table."""
        return []

    @abstractmethod
    def arrange(self, bound: Bound, table: CodedTable, partition: Partition, rng: np.random.Generator) -> Partition:
        """The partition as it is published; `bound.policy` has its options filled in."""

    @abstractmethod
    def statistics(
        self,
        policy: Policy,
        partition: Partition,
        codes: Mapping[str, IntArray],
        attributes: Mapping[str, Attribute],
    ) -> ClassStatistics:
        """What the models judge: people per class and value, as a reader of the tables can count them."""

    @abstractmethod
    def tables(self, bound: Bound, table: CodedTable, partition: Partition) -> dict[str, pl.DataFrame]:
        """The tables to publish by name, each with its rows in a random order of its own."""

    def describe(
        self,
        manifest: dict[str, Any],
        policy: Policy,
        partition: Partition,
        statistics: ClassStatistics,
        models: Sequence[Model],
    ) -> dict[str, Any]:
        """The manifest with what only this form has to say."""
        return manifest
