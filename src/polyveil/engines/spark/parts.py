"""The files of a release, one worker for each: written and checked by the rules of one machine.

A worker writes the rows of its partition by the one writer that releases have, so that whoever verifies the file can
write it again and compare. Of several attempts at a task, one is listed; the files of the others are removed.
"""

from __future__ import annotations

import io
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from polyveil.engines.spark.without_data import items_without_data
from polyveil.policy import Policy
from polyveil.releases.bundle import fingerprint
from polyveil.table.databases.exact import storable
from polyveil.verification.canonical import check_types, write_table
from polyveil.verification.classes import class_of_row
from polyveil.verification.files import ENDING_OF_PARTS, read_file, table_of
from polyveil.verification.findings import Finding, fails, holds
from polyveil.verification.linked import check_sensitive_rows
from polyveil.verification.orders import check_order, column_findings
from polyveil.verification.text import check_cells
from polyveil.verification.versions import is_former

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_TASKS = 1_000
SAMPLED_CELLS, SAMPLED_LETTERS = 50_000, 12
"""Cells of all parts together, and the letters of each, whose order over the parts is tested."""


@dataclass(frozen=True)
class PartWriter:
    """Writes the rows of one partition as one file of `folder`, and says what the manifest says of it."""

    folder: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._written(batches))

    def _written(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        held = [batch for batch in batches if batch.num_rows]
        context = TaskContext.get()
        if not held or context is None:
            return
        # A name of its own: of two attempts at a task, the one that Spark takes is the one whose file is listed.
        attempt = f"part-{context.partitionId():05d}-{secrets.token_hex(8)}{ENDING_OF_PARTS}"
        path = Path(self.folder) / attempt
        frame = storable(_frame(held))
        with path.open("wb") as sink:
            write_table(frame, sink, ENDING_OF_PARTS)
            sink.flush()
            os.fsync(sink.fileno())
        about = {**fingerprint(path), "rows": frame.height, "columns": frame.columns}
        yield pa.RecordBatch.from_pydict({"part": [attempt], "about": [json.dumps(about)]})


def _frame(batches: Iterable[pa.RecordBatch]) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(list(batches))))


def check_parts(folder: Path, manifest: Mapping[str, Any], policy: Policy, spark: SparkSession) -> list[Finding]:
    """All that files show without being compared: their bytes, types, cells, columns, and the order of their rows."""
    names = [name for name in manifest["files"] if name.endswith(ENDING_OF_PARTS)]
    widest = max((len(manifest["files"][name]["columns"]) for name in names), default=1)
    sampled = max(SAMPLED_CELLS // max(len(names) * widest, 1), 2)
    check = PartCheck(str(folder.absolute()), manifest, policy, sampled)
    asked = spark.createDataFrame([(name,) for name in names], "name string")
    spread = asked.repartition(min(max(len(names), 1), MOST_TASKS))
    found = spread.mapInArrow(check, "name string, line string, sample binary").toArrow().to_pylist()
    findings: list[Finding] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    for part in sorted(found, key=lambda part: str(part["name"])):
        findings += [Finding(*finding) for finding in json.loads(part["line"])]
        if part["sample"] is not None:
            tables.setdefault(table_of(part["name"]), []).append(pl.read_ipc(part["sample"]))
    for table, samples in tables.items():
        if any(sample.schema != samples[0].schema for sample in samples):
            findings.append(fails("columns", f"the parts of {table} do not have the same columns"))
        elif "tables" not in manifest:
            findings += column_findings(table, pl.concat(samples))
    if any(finding.outcome == "fails" for finding in findings):
        return findings
    return [*findings, holds("cells", "every cell is written in one way")]


@dataclass(frozen=True, eq=False)
class PartCheck:
    """Checks files of a release by name; gives findings, and rows spread over each file with the types of all."""

    folder: str
    manifest: Mapping[str, Any]
    policy: Policy
    sampled: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._checked(batches))

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name in (name for batch in batches for name in batch.column(0).to_pylist()):
            frame, findings = read_file(
                Path(self.folder), name, self.manifest["files"][name], former=is_former(self.manifest)
            )
            sample = None
            if frame is not None:
                if not any(finding.outcome == "fails" for finding in findings):
                    findings = [*findings, *self._content(name, frame)]
                sample = io.BytesIO()
                some = frame.gather_every(-(-frame.height // self.sampled) or 1)
                some.with_columns(pl.col(pl.String).str.slice(0, SAMPLED_LETTERS)).write_ipc(sample, compression="zstd")
            line = json.dumps([(f.check, f.outcome, f.message, f.note) for f in findings])
            stored = pa.array([None if sample is None else sample.getvalue()], pa.binary())
            yield pa.RecordBatch.from_arrays(
                [pa.array([name]), pa.array([line]), stored], names=["name", "line", "sample"]
            )

    def _content(self, name: str, frame: pl.DataFrame) -> list[Finding]:
        findings = _cell_findings(table_of(name), frame, self.manifest, self.policy)
        quasi = [each for each in self.policy.having("quasi") if each in frame.columns]
        if quasi and not any(finding.outcome == "fails" for finding in findings):
            findings += check_order(name, frame, class_of_row(frame, quasi))
        elif not quasi:
            findings += column_findings(name, frame)
        return [finding for finding in findings if finding.outcome != "holds"]


def _cell_findings(table: str, frame: pl.DataFrame, manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """What some rows of a table show: every cell in the one way it is written, and the ids of groups."""
    findings = check_cells(manifest, policy, {table: frame})
    for about in manifest.get("linked", {}).get("slices", ()):
        if about["table"] == table:
            findings += check_sensitive_rows(about, frame, manifest["rows"], typed=True)
        elif frame.schema.get(about["group"], pl.String()) != pl.String:
            findings.append(fails(f"groups of {about['table']}", "group ids are not text"))
    return findings


def check_rows(table: str, frame: DataFrame, manifest: Mapping[str, Any], policy: Policy) -> list[Finding]:
    """The cells of a table in a catalog, each partition by one worker. A catalog gives rows in no order."""

    def check(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            rows = _frame(held)
            zoned = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Datetime) and kind.time_zone]
            rows = rows.with_columns(pl.col(zoned).dt.convert_time_zone("UTC"))  # a session has a zone of its own
            found = check_types(table, rows) or _cell_findings(table, rows, manifest, policy)
            wrong = [(f.check, f.outcome, f.message, f.note) for f in found if f.outcome != "holds"]
            yield pa.RecordBatch.from_pydict({"line": [json.dumps(wrong)]})

    lines = frame.mapInArrow(lambda batches: items_without_data(check(batches)), "line string").distinct().collect()
    return [Finding(*finding) for (line,) in lines for finding in json.loads(line)]
