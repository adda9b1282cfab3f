"""The one way a release is written: the text of a manifest and the bytes of a table. Anything else may carry a message.

Writers of releases use these functions, and the verifier writes again what it has read and compares. So a file holds
its rows and nothing beside them: no comment, no other quoting, no statistics, no dictionary of values no row has.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polyveil.verification.findings import Finding, fails, unchecked
from polyveil.verification.parquet import hidden_in

ROWS_PER_GROUP = 1 << 20
TYPES = (pl.Boolean, pl.Int64, pl.Float64, pl.String, pl.Date, pl.Time, pl.Datetime)
"""The types a published column can have (times in microseconds, without a zone or in UTC)."""
WRITER = re.compile(r"(\(python\) version )?[0-9.]{0,20}( \(build [0-9a-f]{40}\))?")
"""What follows a writer's name: its version, and with Spark the build."""
_ARROW, _SPARK, _POLARS = "parquet-cpp-arrow version ", "parquet-mr version ", "Polars "
_NOTES: dict[str, set[bytes]] = {
    _ARROW: set(),
    _SPARK: {b"org.apache.spark.version", b"org.apache.spark.sql.parquet.row.metadata"},
    _POLARS: {b"ARROW:schema"},
}
"""Who writes releases - this version; version 0.1 on Spark and without - and its notes in a file about the schema."""
_SPARK_FIELD = {"name", "type", "nullable", "metadata"}


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The manifest as it is written in every release."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_table(frame: pl.DataFrame, sink: IO[bytes], ending: str) -> None:
    """The table as a file with this ending: the same rows always give the same bytes."""
    if ending == ".csv":
        frame.write_csv(sink)
        return
    table = frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks()
    pq.write_table(
        table, sink, compression="zstd", row_group_size=ROWS_PER_GROUP, write_statistics=False, store_schema=False
    )


def check_types(name: str, frame: pl.DataFrame) -> list[Finding]:
    """Every column has a type that releases have, and numbers are written in one way."""
    strange = [column for column, kind in frame.schema.items() if not _publishable(kind)]
    if strange:
        return [fails("types", f"{name} has columns of a type no release has")]
    floats = frame.select(pl.col(pl.Float64))
    if any(_has_unusual_floats(cells) for cells in floats.get_columns()):
        return [fails("types", f"{name} has numbers that are not finite, or a zero with a sign")]
    return []


def _publishable(kind: pl.DataType) -> bool:
    if isinstance(kind, pl.Datetime):
        return kind.time_unit == "us" and kind.time_zone in (None, "UTC")
    return isinstance(kind, TYPES)


def _has_unusual_floats(cells: pl.Series) -> bool:
    numbers = cells.drop_nulls().to_numpy()
    return bool((~np.isfinite(numbers)).any() or np.signbit(numbers[numbers == 0]).any())


def check_bytes(name: str, file: Path, frame: pl.DataFrame, *, former: bool = False) -> list[Finding]:
    """The file is byte by byte what this program makes of its rows.

    Another version of the Parquet library may encode the same rows differently. Then footer and pages are checked as
    far as a reader can, and what else the bytes might hold is named as unchecked. Polars and Spark wrote `former` ones.
    """
    if file.suffix == ".csv":
        if _same_bytes(frame, file):
            return []
        return [fails("encoding", f"{name} is not written as releases are: quotes, spaces, line ends or more text")]
    with pq.ParquetFile(file) as reader:
        footer, schema = reader.metadata, reader.schema_arrow
    writer = _ARROW if not former else _SPARK if "/" in name else _POLARS
    try:
        findings = _check_footer(name, footer, schema, writer)
    except UnicodeDecodeError:
        findings = [fails("metadata", f"{name} has metadata that is not text")]
    if findings:
        return findings
    if footer.created_by == _own_writer():
        if _same_bytes(frame, file):
            return []
        return [fails("encoding", f"{name} has bytes that its rows do not account for")]
    hidden = hidden_in(file, gapless=writer != _POLARS)
    if hidden is not None:
        return [fails("encoding", f"{name} has {hidden}")]
    reason = "another program or version wrote it, so bytes beside its rows cannot be ruled out"
    return [unchecked("encoding", f"{name}: {reason}")]


def _same_bytes(frame: pl.DataFrame, file: Path) -> bool:
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").digest()
    sink = _Digest()
    write_table(frame, sink, file.suffix)
    return sink.digest.digest() == found


class _Digest(io.BytesIO):
    """A file that keeps the checksum of what is written to it."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._written = 0

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.digest.update(view)
        self._written += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        return self._written


def _own_writer() -> str:
    return f"parquet-cpp-arrow version {pa.cpp_build_info.version}"


def _check_footer(name: str, footer: Any, schema: pa.Schema, writer: str) -> list[Finding]:
    """Beside the schema no metadata but what the writer says of the schema; of ours, no statistics or indexes."""
    written_by = footer.created_by or ""
    notes = dict(footer.metadata or {})
    spark_schema = notes.get(b"org.apache.spark.sql.parquet.row.metadata")
    plain = spark_schema is None or _plain_spark_schema(spark_schema, schema.names)
    more = [
        set(part or {}) - {b"PARQUET:field_id"} for part in (*(field.metadata for field in schema), schema.metadata)
    ]
    allowed = _NOTES[writer]
    if (
        not written_by.startswith(writer)
        or not WRITER.fullmatch(written_by.removeprefix(writer))
        or not plain
        or not set().union(*more, notes) <= allowed
    ):
        return [fails("metadata", f"{name} has metadata beside its schema")]
    if not allowed and any(_says_more(chunk) for chunk in _chunks(footer)):
        return [fails("metadata", f"{name} has statistics, filters or indexes, which releases do not have")]
    return []


def _chunks(footer: Any) -> list[Any]:
    return [footer.row_group(i).column(j) for i in range(footer.num_row_groups) for j in range(footer.num_columns)]


def _says_more(chunk: Any) -> bool:
    return bool(chunk.is_stats_set or chunk.has_column_index or chunk.has_offset_index or chunk.bloom_filter_offset)


def _plain_spark_schema(note: bytes, names: list[str]) -> bool:
    """Spark repeats the schema as JSON; its fields may carry comments, which a release does not have."""
    try:
        schema = json.loads(note)
        fields = schema["fields"]
        plain = all(set(field) == _SPARK_FIELD and not field["metadata"] for field in fields)
        return set(schema) == {"type", "fields"} and plain and [field["name"] for field in fields] == names
    except (ValueError, KeyError, TypeError):
        return False
