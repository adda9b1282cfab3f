"""`--engine`: where the work is done, and what the options of one engine mean to the other."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Engine(StrEnum):
    """The engines by name."""

    LOCAL = "local"
    SPARK = "spark"


CATALOG = "spark://"


def engine_of(engine: Engine, data: str) -> Engine:
    """Tables of Spark's catalogs are anonymized by Spark, whether it is asked for or not."""
    return Engine.SPARK if data.startswith(CATALOG) else engine


def place_in_catalog(data: str, out: str) -> str:
    """Where to publish: if the table is in a catalog, a name with a dot is one too, and a path has a slash."""
    is_name = data.startswith(CATALOG) and "." in out and "/" not in out and "\\" not in out
    return f"{CATALOG}{out}" if is_name else out


def session_of(engine: Engine, master: str | None) -> Any:
    """Spark's session, or None on this machine; a master without Spark is refused."""
    if engine is Engine.SPARK:
        from polyveil.engines.spark import session_for

        return session_for(master)
    if master is not None:
        from polyveil.errors import InputError

        raise InputError("--master is for Spark. Add --engine spark, or leave it out")
    return None


def source_of(
    engine: Engine, master: str | None, data: str, options: Mapping[str, Any], block_rows: int | None
) -> tuple[Any, dict[str, Any]]:
    """What to anonymize, and how to read it: the path as it is, or a Spark DataFrame."""
    from polyveil.errors import InputError

    given = {name: value for name, value in options.items() if value is not None}
    if engine is Engine.LOCAL:
        if block_rows is not None:
            raise InputError("--block-rows is for Spark. Add --engine spark, or leave it out")
        session_of(engine, master)
        return data, {name: value for name, value in given.items() if name != "private"}
    if "private" in given:
        raise InputError("--private does not work with Spark, because its rows have no numbers. Leave it out")
    as_of = given.pop("as_of", None)
    if given:
        option = next(iter(given)).replace("_", "-")
        raise InputError(f"--{option} does not work with Spark, which reads Parquet and its own tables. Leave it out")
    from polyveil.engines.spark.session import read_source

    frame = read_source(session_of(engine, master), data, as_of)
    return frame, {} if block_rows is None else {"block_rows": block_rows}
