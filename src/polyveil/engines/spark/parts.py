"""The files of a release, one worker for each: written and checked by the rules of one machine.

A worker writes the rows of its partition by the one writer that releases have, so that whoever verifies the file can
write it again and compare. Of several attempts at a task, one is listed; the files of the others are removed.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from polyveil.engines.spark.gathered import SCHEMA, Line, TableCounter, as_batch, packed
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
    in_order: Callable[[Iterable[pa.RecordBatch]], pa.Table | None] | None = None
    """Puts what a partition has into the order in which it is written."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._written(batches))

    def _written(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        held = [batch for batch in batches if batch.num_rows]
        context = TaskContext.get()
        if not held:
            return
        # A name of its own: of two attempts at a task, the one that Spark takes is the one whose file is listed.
        number = context.partitionId() if context else 0
        attempt = f"part-{number:05d}-{secrets.token_hex(8)}{ENDING_OF_PARTS}"
        path = Path(self.folder) / attempt
        rows = None if self.in_order is None else self.in_order(held)
        frame = storable(_frame(held) if rows is None else pl.DataFrame(pl.from_arrow(rows)))
        with path.open("wb") as sink:
            write_table(frame, sink, ENDING_OF_PARTS)
            sink.flush()
            os.fsync(sink.fileno())
        about = {**fingerprint(path), "rows": frame.height, "columns": frame.columns}
        yield pa.RecordBatch.from_pydict({"part": [attempt], "about": [json.dumps(about)]})


def _frame(batches: Iterable[pa.RecordBatch]) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(list(batches))))


@dataclass(frozen=True, eq=False)
class PartCheck:
    """Checks files of a release by name, and makes lines of their rows.

    Lines are findings, rows spread over each file with the types of all, and what `counter` makes of faultless rows.
    """

    folder: str
    manifest: Mapping[str, Any]
    policy: Policy
    sampled: int
    counter: TableCounter | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._checked(batches))

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name in (name for batch in batches for name in batch.column(0).to_pylist()):
            about = self.manifest["files"][name]
            if self.counter is not None and self.counter.only_classes:
                yield as_batch(self.counter.lines(pl.read_parquet(Path(self.folder) / name)))
                continue
            frame, findings = read_file(Path(self.folder), name, about, former=is_former(self.manifest))
            if frame is not None and not _any_fails(findings):
                findings = [*findings, *self._content(name, frame)]
            yield as_batch([_line_of(name, findings)])
            if frame is not None:
                yield as_batch([Line(0, "sample", name, packed(self._sample(frame)))])
                if self.counter is not None and not _any_fails(findings):
                    yield as_batch(self.counter.lines(frame))

    def _sample(self, frame: pl.DataFrame) -> pl.DataFrame:
        some = frame.gather_every(-(-frame.height // self.sampled) or 1)
        return some.with_columns(pl.col(pl.String).str.slice(0, SAMPLED_LETTERS))

    def _content(self, name: str, frame: pl.DataFrame) -> list[Finding]:
        findings = _cell_findings(table_of(name), frame, self.manifest, self.policy)
        quasi = [each for each in self.policy.having("quasi") if each in frame.columns]
        if quasi and not _any_fails(findings):
            findings += check_order(name, frame, class_of_row(frame, quasi))
        elif not quasi:
            findings += column_findings(name, frame)
        return [finding for finding in findings if finding.outcome != "holds"]


@dataclass(frozen=True, eq=False)
class RowCheck:
    """The same for the rows of one partition of a table, which has no files and no order; `typed` rows are checked."""

    table: str
    manifest: Mapping[str, Any]
    policy: Policy
    counter: TableCounter | None = None
    typed: bool = True

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from items_without_data(self._checked(batches))

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        rows = _frame(held)
        zoned = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Datetime) and kind.time_zone]
        rows = rows.with_columns(pl.col(zoned).dt.convert_time_zone("UTC"))  # a session has a zone of its own
        wrong: list[Finding] = []
        if self.typed and not (self.counter and self.counter.only_classes):
            found = check_types(self.table, rows) or _cell_findings(self.table, rows, self.manifest, self.policy)
            wrong = [finding for finding in found if finding.outcome != "holds"]
            yield as_batch([_line_of(self.table, wrong)])
        if self.counter is not None and not _any_fails(wrong):
            yield as_batch(self.counter.lines(rows))


def _line_of(name: str, findings: Iterable[Finding]) -> Line:
    said = json.dumps([(f.check, f.outcome, f.message, f.note) for f in findings])
    return Line(0, "findings", name, said.encode())


def _any_fails(findings: Iterable[Finding]) -> bool:
    return any(finding.outcome == "fails" for finding in findings)


def part_check(
    folder: Path, manifest: Mapping[str, Any], policy: Policy, spark: SparkSession, counter: TableCounter | None = None
) -> tuple[DataFrame, PartCheck]:
    """The names of all parts, some for each task, and what checks them."""
    names = [name for name in manifest["files"] if name.endswith(ENDING_OF_PARTS)]
    widest = max((len(manifest["files"][name]["columns"]) for name in names), default=1)
    sampled = max(SAMPLED_CELLS // max(len(names) * widest, 1), 2)
    asked = spark.createDataFrame(pa.table({"name": pa.array(names, pa.string())}))
    spread = asked.repartition(min(max(len(names), 1), MOST_TASKS))
    return spread, PartCheck(str(folder.absolute()), manifest, policy, sampled, counter)


def check_parts(folder: Path, manifest: Mapping[str, Any], policy: Policy, spark: SparkSession) -> list[Finding]:
    """All that files show without being compared: their bytes, types, cells, columns, and the order of their rows."""
    spread, check = part_check(folder, manifest, policy, spark)
    found = spread.mapInArrow(check, SCHEMA).toArrow().to_pylist()
    by_kind: dict[str, list[tuple[str, bytes]]] = {}
    for line in found:
        by_kind.setdefault(line["kind"], []).append((line["name"], line["data"]))
    return findings_of_parts(manifest, by_kind)


def findings_of_parts(manifest: Mapping[str, Any], lines: Mapping[str, Iterable[tuple[str, bytes]]]) -> list[Finding]:
    """What was found in single parts, and what their samples show together."""
    findings = findings_of_rows(lines)
    tables: dict[str, list[pl.DataFrame]] = {}
    for name, sample in sorted(lines.get("sample", ())):
        tables.setdefault(table_of(name), []).append(pl.read_ipc(sample))
    for table, samples in tables.items():
        if any(sample.schema != samples[0].schema for sample in samples):
            findings.append(fails("columns", f"the parts of {table} do not have the same columns"))
        elif "tables" not in manifest:
            findings += column_findings(table, pl.concat(samples))
    return findings if _any_fails(findings) else [*findings, holds("cells", "every cell is written in one way")]


def findings_of_rows(lines: Mapping[str, Iterable[tuple[str, bytes]]]) -> list[Finding]:
    """What was found in single parts, said once."""
    said = dict.fromkeys(data for _, data in sorted(lines.get("findings", ())))
    return [Finding(*finding) for data in said for finding in json.loads(data)]


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
    found = frame.mapInArrow(RowCheck(table, manifest, policy), SCHEMA).select("data").distinct().collect()
    return findings_of_rows({"findings": [("", bytes(row["data"])) for row in found]})
