"""A Parquet file of another writer: what its footer and pages hold beside rows, as far as a reader of Parquet can tell.

The file of this version is compared byte by byte. Of another, the pages must lie one after the other without a gap, a
statistic must be that of its rows, and a dictionary must have the values of its rows alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_MAGIC = 4
_TRAILER = 8
"""A file begins with four bytes, and ends with the length of its footer and the same four."""


def hidden_in(file: Path | pa.Buffer, *, gapless: bool) -> str | None:
    """What the file has beside its rows, in words; None if nothing is found.

    `gapless`: its writer leaves no bytes between the pages of a column and those of the next.
    """
    size = file.stat().st_size if isinstance(file, Path) else file.size
    with pq.ParquetFile(_source(file)) as plain:
        footer = plain.metadata
        texts = [field.name for field in plain.schema_arrow if pa.types.is_string(field.type)]
        if gapless and not _is_gapless(footer, size):
            return "bytes between its pages"
        if not all(_are_own_statistics(plain, group) for group in range(footer.num_row_groups)):
            return "statistics that are not those of its rows"
    with pq.ParquetFile(_source(file), read_dictionary=texts) as encoded:
        groups = range(footer.num_row_groups) if texts else ()
        if not all(_uses_dictionaries(encoded.read_row_group(group, columns=texts)) for group in groups):
            return "a dictionary of values that no row has"
    return None


def _source(file: Path | pa.Buffer) -> Any:
    return file if isinstance(file, Path) else pa.BufferReader(file)


def _chunks(footer: Any) -> list[Any]:
    return [footer.row_group(i).column(j) for i in range(footer.num_row_groups) for j in range(footer.num_columns)]


def _is_gapless(footer: Any, size: int) -> bool:
    """Pages from the first byte on, each where the one before it ends; then indexes, if any, and the footer."""
    end = _MAGIC
    chunks = _chunks(footer)
    for chunk in chunks:
        first = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
        if first != end:
            return False
        end += chunk.total_compressed_size
    indexed = any(chunk.has_column_index or chunk.has_offset_index for chunk in chunks)
    rest = size - _TRAILER - footer.serialized_size
    return bool(end <= rest if indexed else end == rest)


def _are_own_statistics(reader: Any, group: int) -> bool:
    chunks = reader.metadata.row_group(group)
    if not any(chunks.column(j).is_stats_set for j in range(chunks.num_columns)):
        return True
    rows = reader.read_row_group(group)
    for j, cells in enumerate(rows.columns):
        stated = chunks.column(j).statistics
        if stated is None:
            continue
        if stated.has_null_count and stated.null_count != cells.null_count:
            return False
        if stated.has_distinct_count and stated.distinct_count != pc.count_distinct(cells).as_py():
            return False
        if stated.has_min_max:
            ends = pc.min_max(cells).as_py()
            if (ends["min"], ends["max"]) != (stated.min, stated.max):
                return False
    return True


def _uses_dictionaries(rows: pa.Table) -> bool:
    """Whether every value of every dictionary is that of a row."""
    for cells in rows.columns:
        for chunk in cells.chunks if pa.types.is_dictionary(cells.type) else ():
            if len(chunk.indices.unique().drop_null()) != len(chunk.dictionary):
                return False
    return True
