"""Engines: where the steps of a release are taken. Tables in memory here; larger ones by Spark (`polyveil[spark]`)."""

from __future__ import annotations

from typing import Any

from polyveil.engines.base import Engine


def engine_for(source: Any, **options: Any) -> Engine[Any, Any, Any, Any, Any, Any]:
    """The engine for a kind of table: Spark for its DataFrames, this machine for everything else.

    `options` are those of the engine: of the reader here, `block_rows` on Spark.
    """
    if type(source).__module__.startswith("pyspark.sql"):
        from polyveil.engines.spark.engine import SparkEngine

        return SparkEngine(**options)
    from polyveil.engines.local import LocalEngine

    return LocalEngine(**options)


__all__ = ["Engine", "engine_for"]
