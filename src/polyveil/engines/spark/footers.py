"""The footer of every part file: what each part says of itself, before Spark takes one schema for all of them.

Spark reads the parts of a table by one schema, without regard to case; a column that only one part has would not be
seen. So each part is asked for its columns, types and rows, as the verifier on one machine sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polyveil.frames import is_scalar
from polyveil.verification.findings import Finding, fails


def check_footers(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """Unreadable parts, columns and rows that are not those the manifest lists, parts of one table that differ."""
    findings: list[Finding] = []
    schemas: dict[str, pa.Schema] = {}
    for name, about in files.items():
        if not name.endswith(".parquet"):
            continue
        try:
            with pq.ParquetFile(folder / name) as part:
                schema, rows = part.schema_arrow.remove_metadata(), part.metadata.num_rows
        except (pa.ArrowException, OSError, ValueError):
            findings.append(fails("unreadable file", f"{name} cannot be read as parquet"))
            continue
        if not all(is_scalar(kind) for kind in pl.DataFrame(schema.empty_table()).dtypes):
            findings.append(fails("columns", f"{name} has columns of a type no release has"))
        if schema.names != about.get("columns"):
            findings.append(fails("columns", f"{name} does not have the columns the manifest lists"))
        if rows != about.get("rows"):
            findings.append(fails("rows", f"{name} has {rows} rows, the manifest says {about.get('rows')}"))
        table = name.split("/")[0]
        if not schemas.setdefault(table, schema).equals(schema):
            findings.append(fails("columns", f"the parts of {table} do not have the same columns"))
    return findings
