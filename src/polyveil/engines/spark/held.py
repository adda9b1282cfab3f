"""Rows that several steps read: kept by Spark, or in a table if it keeps nothing (serverless compute)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyveil.engines.spark.faults import refusal
from polyveil.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STAGED = "polyveil_staged_"
_UNSUPPORTED = ("NOT_SUPPORTED_WITH_SERVERLESS", "UNSUPPORTED_OPERATION", "NOT_IMPLEMENTED")


@dataclass(frozen=True, eq=False)
class Held:
    """The rows as they are read again, and the table that holds them, if there is one."""

    frame: DataFrame
    table: str | None = None

    def let_go(self) -> None:
        """Spark forgets them."""
        if self.table is None:
            self.frame.unpersist()
        else:
            self.frame.sparkSession.sql(f"DROP TABLE IF EXISTS {self.table}")


def held(frame: DataFrame) -> Held:
    """Rows that are computed once. A part that is lost with its executor is computed again, with the same result."""
    from pyspark import StorageLevel
    from pyspark.errors import PySparkException

    try:
        return Held(frame.persist(StorageLevel.DISK_ONLY))
    except PySparkException as error:
        if not (error.getCondition() or "").startswith(_UNSUPPORTED):
            raise
    spark, table = frame.sparkSession, f"{STAGED}{secrets.token_hex(8)}"
    try:
        frame.write.mode("error").saveAsTable(table)
    except PySparkException as error:
        words = refusal(error)
        if words is None:
            raise
        schema = f"{spark.catalog.currentCatalog()}.{spark.catalog.currentDatabase()}"
        remedy = f"Let the session use a schema in which it may create tables (USE catalog.schema); now it is {schema}"
        raise InputError(f"rows between two steps cannot be kept in a table: {words}. {remedy}") from None
    return Held(spark.table(table), table)
