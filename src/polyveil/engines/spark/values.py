"""First pass: the distinct values of every coded column with their counts, and the policy bound to them.

Spark counts values where the rows are; the driver gets each distinct value once and binds the policy to these by the
same code that binds a table in memory. A domain, a code and a label therefore mean the same on both engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from polyveil.arrays import IntArray
from polyveil.engines.spark.without_data import items_without_data
from polyveil.errors import Fault, InputError, PolicyError
from polyveil.models.people import Everybody
from polyveil.policy import Policy
from polyveil.policy.schema import Distance
from polyveil.releases.generalized import published
from polyveil.table.bind import column_faults, size_faults, stated
from polyveil.table.bind_column import bind_column, codes_of
from polyveil.table.bound import Bound, BoundColumn
from polyveil.table.coded import CodedTable, QuasiColumn, SensitiveColumn
from polyveil.table.domain import Domain, TreeDomain
from polyveil.table.source import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_VALUES = 2_000_000
"""Distinct values of one column that the driver and every worker can hold."""
COMPACT = 200_000
NO_CODES = np.zeros(0, dtype=np.int64)
_PLAIN = ("string", "varchar", "char", "tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "date")
_PLAIN_PREFIXES = ("decimal", "timestamp", "varchar", "char")


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A coded column: its raw distinct values as they stand in the source, the code of each, and rows per code."""

    bound: BoundColumn
    raw: pa.Array
    codes: IntArray
    counts: IntArray

    @property
    def domain(self) -> Domain:
        return self.bound.domain

    def published(self) -> pl.Series:
        """What is published for each code (of a sensitive column)."""
        _, first = np.unique(self.codes, return_index=True)
        cells = published(self.bound.cells)
        present = self.codes[first]
        first_row = np.full(self.domain.size, -1, dtype=np.int64)
        first_row[present] = first
        return cells.gather(pl.Series([None if row < 0 else int(row) for row in first_row], dtype=pl.UInt32))


@dataclass(frozen=True, eq=False)
class CountedColumn(SensitiveColumn):
    """A sensitive column without rows: its counts were taken by Spark."""

    whole: IntArray

    @property
    def counts(self) -> IntArray:
        return self.whole


def with_counts(column: SensitiveColumn, counts: IntArray) -> CountedColumn:
    """The column of rows of which only the counts are known; only their values make a distance."""
    domain = column.domain
    if isinstance(domain, TreeDomain):
        domain = replace(domain, hierarchy=domain.hierarchy.used_by(counts > 0))
    return CountedColumn(column.name, domain, NO_CODES, column.distance, column.levels, counts)


@dataclass(frozen=True, eq=False)
class Values:
    """A policy bound to a Spark table: rows, and all coded columns with their values."""

    policy: Policy
    rows: int
    quasi: tuple[ValueColumn, ...]
    sensitive: tuple[ValueColumn, ...]
    everybody: Everybody | None = None
    """All people, if a person has several rows."""

    @property
    def bound(self) -> Bound:
        """As the rest of polyveil knows a bound policy; cells are distinct values here."""
        quasi, sensitive = (tuple(c.bound for c in some) for some in (self.quasi, self.sensitive))
        return Bound(self.policy, self.rows, quasi, sensitive, pl.DataFrame())

    @property
    def table(self) -> CodedTable:
        """The columns and their domains with the whole table's counts, but without rows."""
        return self.coded([NO_CODES] * len(self.quasi), [NO_CODES] * len(self.sensitive), self.rows)

    def coded(
        self, quasi: list[IntArray], sensitive: list[IntArray], rows: int, person: IntArray | None = None
    ) -> CodedTable:
        """A coded table of some rows below the whole table's domains."""
        return CodedTable(
            rows=rows,
            person=person,
            quasi=tuple(
                QuasiColumn(c.bound.name, c.domain, codes, c.bound.column.weight)
                for c, codes in zip(self.quasi, quasi, strict=True)
            ),
            sensitive=tuple(
                _sensitive(c, codes, c.bound.distance) for c, codes in zip(self.sensitive, sensitive, strict=True)
            ),
        )


def _sensitive(column: ValueColumn, codes: IntArray, distance: Distance) -> SensitiveColumn:
    levels = column.bound.levels()
    if not len(codes):
        return CountedColumn(column.bound.name, column.domain, codes, distance, levels, column.counts)
    return SensitiveColumn(column.bound.name, column.domain, codes, distance, levels)


def bind_values(frame: DataFrame, policy: Policy, more: Sequence[Fault] = ()) -> Values:
    """Count and bind, or raise PolicyError with everything that does not fit; `more` was found before."""
    faults = column_faults(policy, frame.columns)
    coded = [name for name in (*policy.having("quasi"), *policy.having("sensitive")) if name in frame.columns]
    types = dict(frame.dtypes)
    _refuse_nested({name: types[name] for name in (*coded, *policy.having("insensitive")) if name in types})
    if faults or not coded:
        raise PolicyError(faults or [Fault("columns", "no column is quasi or sensitive", "Give roles")], _FIT)
    counted = value_counts(frame.select(*(quoted(name) for name in coded)))
    rows = max((int(pc.sum(counts).as_py() or 0) for _, counts in counted.values()), default=0)
    faults = [*size_faults(policy, rows), *more]
    bound: dict[str, ValueColumn] = {}
    for name in coded if rows else []:
        raw, counts = counted[name]
        found = _bind(name, policy, raw, counts)
        if isinstance(found, ValueColumn):
            bound[name] = found
        else:
            faults.extend(found)
    if faults:
        raise PolicyError(faults, _FIT)
    quasi, sensitive = (tuple(bound[name] for name in policy.having(role)) for role in ("quasi", "sensitive"))
    return Values(stated(policy, {name: c.bound for name, c in bound.items()}), rows, quasi, sensitive)


_FIT = "the policy does not fit the table: it"


def _refuse_nested(types: Mapping[str, str]) -> None:
    for name, kind in types.items():
        if kind not in _PLAIN and not kind.startswith(_PLAIN_PREFIXES):
            raise InputError(
                f"the column {name} has the type {kind.split('<')[0]}, which is no plain value. Flatten it"
            )


def _bind(name: str, policy: Policy, raw: pa.Array, counts: pa.Array) -> ValueColumn | list[Fault]:
    column = policy.columns[name]
    cells = pl.Series(name, pl.from_arrow(raw))
    bound = bind_column(name, column, policy, Table(cells.to_frame(), "the table", first_line=None))
    if not isinstance(bound, BoundColumn):
        return [replace(fault, rule=_about_values(fault.rule)) for fault in bound]
    codes = codes_of(bound.domain, bound.cells)
    weights = np.asarray(counts, dtype=np.int64)
    whole = np.zeros(bound.domain.size, dtype=np.int64)
    np.add.at(whole, codes, weights)
    return ValueColumn(bound, raw, codes, whole)


def _about_values(rule: str) -> str:
    """The binder speaks of cells and rows; here each cell it saw was a distinct value, and rows have no number."""
    return rule.split("; the first")[0].replace(" cells are", " distinct values are")


def quoted(name: str) -> str:
    """A column's name as Spark reads it literally."""
    return "`" + name.replace("`", "``") + "`"


def value_counts(frame: DataFrame) -> dict[str, tuple[pa.Array, pa.Array]]:
    """Per column its distinct values (in the source's own type) and how many rows have each; one pass over the rows.

    The driver takes no more than it could use: some values beyond the most of every column, and a column has too many.
    """
    from pyspark.sql import functions as sf

    names = frame.columns
    parts = frame.mapInArrow(_count_part, "position int, value string, rows bigint, kind binary")
    counted = parts.groupBy("position", "value", "kind").agg(sf.sum("rows").alias("rows"))
    most = len(names) * (MOST_VALUES + 1)  # a type for each column besides its values
    table = counted.limit(most + 1).toArrow()
    found = {}
    for position, name in enumerate(names):
        own = pc.equal(table["position"], position)
        values = table.filter(own).drop_columns("position")
        if values.num_rows > MOST_VALUES + 1:
            raise InputError(
                f"the column {name} has more than {MOST_VALUES} distinct values, which is the most a column may have "
                "here. Round its values, or give it the role identifier or insensitive"
            )
        table = table.filter(pc.invert(own))  # one column after the other, so that no value is held twice for long
        found[name] = _one_column(values)
    return found


def _one_column(table: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Values in a fixed order, so that nothing depends on the order in which Spark delivers them."""
    if not table.num_rows:
        return pa.array([], pa.string()), pa.array([], pa.int64())
    is_type = pc.is_valid(table["kind"])
    kind = pa.ipc.read_schema(pa.py_buffer(table.filter(is_type)["kind"][0].as_py())).field(0).type
    table = table.filter(pc.invert(is_type)).combine_chunks().sort_by([("value", "ascending")])
    return pc.cast(table["value"].combine_chunks(), kind), table["rows"].combine_chunks()


def _count_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from items_without_data(_counted(batches))


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Values of one partition, counted; they travel as text that gives back the same value, each column's type once."""
    seen: dict[int, pa.Table] = {}
    kinds: dict[int, bytes] = {}
    for batch in batches:
        for position, column in enumerate(batch.columns):
            kinds.setdefault(position, pa.schema([pa.field("value", column.type)]).serialize().to_pybytes())
            found = pc.value_counts(column)
            more = pa.table({"value": pc.cast(found.field(0), pa.string()), "rows": found.field(1)})
            before = seen.get(position)
            seen[position] = more if before is None else pa.concat_tables([before, more])
            if seen[position].num_rows > COMPACT:
                seen[position] = _added_up(seen[position])
    for position, table in seen.items():
        kind = pa.table(
            {"value": pa.nulls(1, pa.string()), "rows": [0], "kind": pa.array([kinds[position]], pa.binary())}
        )
        added = _added_up(table)
        values = added.append_column("kind", pa.nulls(added.num_rows, pa.binary()))
        for part in (*kind.to_batches(), *values.to_batches(max_chunksize=50_000)):
            where = pa.array(np.full(part.num_rows, position, dtype=np.int32))
            yield pa.RecordBatch.from_arrays([where, *part.columns], names=["position", "value", "rows", "kind"])


def _added_up(table: pa.Table) -> pa.Table:
    added = table.group_by("value").aggregate([("rows", "sum")])
    return pa.table({"value": added["value"], "rows": added["rows_sum"]})
