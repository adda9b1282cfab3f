"""What a catalog of Spark over PostgreSQL refuses: the server's own words reach Spark, and one line says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polyveil
from databases.servers import Database, Server
from polyveil.errors import InputError
from verification.forgeries.forger import people, policy

JAR = Path("/usr/share/java/postgresql.jar")
READER, SECRET = "reader", "quiet-word"
CATALOG = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"


@pytest.fixture
def catalog(schemas: Any, server: Server, postgresql: Database) -> Iterator[Any]:
    """A catalog `pg` for somebody who may log in, and may do nothing in the schema `health`."""
    if not JAR.exists():
        pytest.skip("the driver of Java is not installed (Debian: apt-get install libpostgresql-jdbc-java)")
    schemas.sql(f"ADD JAR {JAR}")
    postgresql.run(
        f"DROP ROLE IF EXISTS {READER}",
        f"CREATE ROLE {READER} LOGIN PASSWORD '{SECRET}'",
        "CREATE SCHEMA health",
        "CREATE TABLE health.people AS SELECT 1 AS age",
    )
    settings = {
        "": CATALOG,
        ".url": f"jdbc:postgresql://{server.address}/postgres",
        ".driver": "org.postgresql.Driver",
        ".user": READER,
        ".password": SECRET,
    }
    for name, value in settings.items():
        schemas.conf.set(f"spark.sql.catalog.pg{name}", value)
    yield schemas
    for name in settings:
        schemas.conf.unset(f"spark.sql.catalog.pg{name}")


def said(refused: Any) -> str:
    words = str(refused.value)
    assert "\n" not in words
    assert SECRET not in words
    return words


def test_what_a_server_behind_a_catalog_refuses_is_said_with_what_to_grant(catalog: Any) -> None:
    """`permission denied for schema` to read, `permission denied for database` to make a schema."""
    asked = policy("generalized", "parquet")
    with pytest.raises(InputError) as refused:
        polyveil.anonymize("spark://pg.health.people", asked)
    assert "not allowed there. Grant its account reading" in said(refused)
    release = polyveil.anonymize(people(), asked, seed=1)
    with pytest.raises(InputError) as refused:
        release.save("spark://pg.release_2026")
    assert "CREATE SCHEMA and CREATE TABLE" in said(refused)


def test_a_driver_that_spark_was_not_started_with_is_named(catalog: Any) -> None:
    catalog.conf.set("spark.sql.catalog.bare", CATALOG)
    catalog.conf.set("spark.sql.catalog.bare.url", "jdbc:postgresql://127.0.0.1:9/postgres")
    catalog.conf.set("spark.sql.catalog.bare.driver", "org.postgresql.NoDriver")
    with pytest.raises(InputError) as refused:
        polyveil.read("spark://bare.health.people")
    assert "no code for org.postgresql.NoDriver. Start it with the package org.postgresql:postgresql" in said(refused)
    for name in ("", ".url", ".driver"):
        catalog.conf.unset(f"spark.sql.catalog.bare{name}")
