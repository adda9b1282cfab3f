"""Engines: where the steps of a release are taken. Tables in memory here; larger ones by Spark (`polyveil[spark]`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polyveil.errors import InputError
from polyveil.policy import Policy

if TYPE_CHECKING:
    from polyveil.engines.base import Engine


def engine_for(source: Any, policy: Policy, **options: Any) -> Engine[Any, Any, Any, Any, Any, Any]:
    """The engine for a kind of table: Spark for its DataFrames and tables, this machine for everything else.

    `options` are those of the engine: of the reader here, `block_rows` on Spark.
    """
    if type(source).__module__.startswith("pyspark.sql") or (isinstance(source, str) and source.startswith("spark://")):
        from polyveil.engines.spark.engine import SparkEngine

        return SparkEngine(**options)
    if policy.tables:
        from polyveil.engines.relational import RelationalEngine

        return RelationalEngine(policy, **options)
    if isinstance(source, Mapping):
        raise InputError("several tables were given, and the policy has none. Name them in the policy with tables:")
    from polyveil.engines.local import LocalEngine

    return LocalEngine(**options)


__all__ = ["engine_for"]
