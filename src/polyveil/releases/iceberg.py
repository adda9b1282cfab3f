"""Releases as Iceberg tables of a catalog that pyiceberg knows: `iceberg://catalog.namespace`.

Catalogs and their keys are set as pyiceberg takes them: in the environment (`PYICEBERG_CATALOG__NAME__URI`) or in
`.pyiceberg.yaml`. A catalog says which state of a table is current, so deleted rows never come back.
"""

from __future__ import annotations

import errno
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import polars as pl
import pyarrow as pa

from polyveil.errors import InputError, UnreadableTable
from polyveil.table.databases.described import DescribedColumn
from polyveil.table.databases.marked import WRITER, MarkedSession
from polyveil.table.databases.names import Query, TableName, Wanted
from polyveil.table.databases.place import Place
from polyveil.table.lakes import as_asked, snapshot_of
from polyveil.verification.parquet import hidden_in

_RELEASED = ("boolean", "long", "double", "string", "date", "time", "timestamp", "timestamptz")
_REFUSALS = (PermissionError, ConnectionError, TimeoutError, ImportError, MemoryError, NotImplementedError)
_REFUSALS_BY_NAME = {
    "pyiceberg.RESTError",
    "pyiceberg.DynamoDbError",
    "pyiceberg.SignError",
    "pyiceberg.NotInstalledError",
    "pyiceberg.WaitingForLockException",
    "pyiceberg.CommitFailedException",
    "pyiceberg.TableAlreadyExistsError",
    "pyiceberg.NamespaceAlreadyExistsError",
    "requests.RequestException",
    "botocore.BotoCoreError",
    "botocore.ClientError",
    "sqlalchemy.SQLAlchemyError",
}
_OF_STORES = re.compile(
    r"AWS|curl|HTTP|network|connect|timed? ?out|permission|denied|credential|Azure|google|HDFS", re.I
)
_OF_SUMMARY = re.compile(r"(added|total)-[a-z-]+=\d+")
_OF_WRITERS = re.compile(r"(/data/[\w-]+\.parquet|/metadata/[\w-]+(\.metadata\.json|\.avro))")
_OF_NAMESPACES = {"exists", "location", "owner"}
_KEYS = "Set PYICEBERG_CATALOG__{}__URI (and what else it needs), or name it in .pyiceberg.yaml"


class IcebergSession(MarkedSession):
    """A catalog, and one namespace of it that is written to. Without `commit`, what it wrote is dropped."""

    keeps_order = True

    def __init__(self, place: Place, *, writable: bool) -> None:
        from pyiceberg.catalog import load_catalog

        super().__init__(place)
        self.name, *rest = _parts(str(place.schema))
        if not rest:
            raise InputError(
                f"{place} is only a catalog. Write iceberg://catalog.namespace.table, or without the table"
            )
        self._as_of: str | int | None = None
        self._read: dict[str, pa.Table] = {}
        try:
            self.catalog = load_catalog(self.name)
        except ModuleNotFoundError:
            raise
        except Exception as error:  # what a catalog may raise is not known
            reason = type(error).__name__
            remedy = _KEYS.format(self.name.upper())
            raise InputError(f"the Iceberg catalog {self.name} cannot be opened ({reason}). {remedy}") from None

    def at(self, as_of: str | int) -> None:
        self._as_of = as_of

    def locate(self, wanted: Wanted) -> str:
        if isinstance(wanted, Query):
            raise InputError("a query is not taken for Iceberg tables. Leave --query out")
        if self.pending(wanted) is None:
            with self._faults(f"the table {wanted}"):
                found = self.catalog.table_exists(_path(wanted))
            if not found:
                words = "Check the name, and that you may read it"
                raise InputError(f"the Iceberg catalog {self.name} has no table {wanted}. {words}")
        return str(wanted)

    def describe(self, source: str, wanted: Wanted) -> list[DescribedColumn]:
        waiting = self.pending(wanted)
        rows = self._rows(wanted) if waiting is None else waiting.to_arrow()
        self._read[source] = rows
        return [DescribedColumn(f.name, str(f.type), None if _is_odd(f.type) else f.name) for f in rows.schema]

    def batches(self, source: str, columns: Sequence[DescribedColumn]) -> Iterator[pa.RecordBatch]:
        yield from self._read.pop(source).combine_chunks().to_batches()

    def tables(self) -> list[str]:
        with self._faults("its tables"):
            spaces = self.catalog.list_namespaces()
            return sorted(".".join((self.name, *name)) for space in spaces for name in self.catalog.list_tables(space))

    def has_schema(self, schema: str) -> bool:
        with self._faults(f"the namespace {schema}"):
            return bool(self.catalog.namespace_exists(_path(schema)))

    def names_in(self, schema: str) -> list[str]:
        with self._faults(f"the namespace {schema}"):
            found = [name[-1] for name in self.catalog.list_tables(_path(schema))]
            with suppress(NotImplementedError):  # a catalog without views
                found += [name[-1] for name in self.catalog.list_views(_path(schema))]
            return found

    def beside_tables(self, schema: str) -> list[str]:
        strange = set()
        names = set(self.names_in(schema)) - {self.marker}
        for name in sorted(names):
            try:
                with self._faults(f"the tables of {schema}"):
                    known = self.catalog.table_exists((*_path(schema), name))
                    strange |= _strange_in(self.catalog.load_table((*_path(schema), name))) if known else {"view"}
            except UnreadableTable:
                strange.add("files that cannot be read")
        return sorted(strange)

    def beside_schema(self, schema: str) -> list[str]:
        """Properties, which a catalog may set by itself, and everybody who may write to it."""
        keys: set[str] = set()
        with suppress(UnreadableTable), self._faults(f"the tables of {schema}"):  # of which `beside_tables` tells
            for name in self.catalog.list_tables(_path(schema)):
                keys |= set(self.catalog.load_table(name).properties)
            keys |= set(self.catalog.load_namespace_properties(_path(schema))) - _OF_NAMESPACES
        return [f"{len(keys)} properties that its catalog or anybody else may have set"] if keys else []

    def make_schema(self, schema: str) -> None:
        with self._faults(f"the namespace {schema}"):
            self.catalog.create_namespace(_path(schema))

    def remove_schema(self, schema: str) -> None:
        with self._faults(f"the namespace {schema}"):
            self.catalog.drop_namespace(_path(schema))

    def write(self, name: TableName, frame: Any) -> None:
        rows = pl.DataFrame(frame).to_arrow(compat_level=pl.CompatLevel.oldest())
        with self._faults(f"the table {name}"):
            table = self.catalog.create_table(_path(name), schema=rows.schema)
            if set(_files_in_folder(table)) - {table.metadata_location}:
                # Files of a killed writer, or of a table that was dropped without them or has another name now.
                self.catalog.purge_table(_path(name))
                free = f"{table.location()}-{secrets.token_hex(4)}"
                table = self.catalog.create_table(_path(name), schema=rows.schema, location=free)
            table.append(rows)

    def remove(self, name: TableName) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._faults(f"the table {name}"):
            try:
                table = self.catalog.load_table(_path(name))
                self.catalog.purge_table(_path(name))
            except NoSuchTableError:
                return
            for file in _files_in_folder(table):  # of a writer that was killed
                if _OF_WRITERS.fullmatch(file.removeprefix(table.location().rstrip("/"))):
                    table.io.delete(file)

    def writers(self, name: TableName) -> list[str]:
        return [str(one) for one in self._rows(name).column(WRITER).to_pylist()]

    def close(self) -> None:
        super().close()
        self.catalog.close()

    def _rows(self, name: Wanted) -> pa.Table:
        asked = None if self._as_of is None else as_asked(self._as_of)
        with self._faults(f"the table {name}"):
            table = self.catalog.load_table(_path(name))
            return table.scan(snapshot_id=None if asked is None else snapshot_of(table, asked)).to_arrow()

    @contextmanager
    def _faults(self, what: str) -> Iterator[None]:
        """What a catalog or its storage refuses, in one line without its words, which may hold addresses and keys."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            remedy = _remedy(type(error).__name__)
            if _is_refusal(error):
                raise InputError(f"{self.place}: {what} was refused ({type(error).__name__}). {remedy}") from None
            words = f"{self.place}: {what} cannot be read or written ({type(error).__name__}). {remedy}"
            raise UnreadableTable(words, "files of it are damaged or not there") from None


def _is_refusal(error: Exception) -> bool:
    """Whether a catalog, a network or a store refused, and not a file of the table that is not what it should be."""
    bases = {f"{base.__module__.split('.')[0]}.{base.__name__}" for base in type(error).__mro__}
    if isinstance(error, _REFUSALS) or not bases.isdisjoint(_REFUSALS_BY_NAME):
        return True
    of_machine = isinstance(error, OSError) and error.errno not in (None, errno.ENOENT)
    return of_machine or (isinstance(error, OSError) and _OF_STORES.search(str(error)) is not None)


def _remedy(name: str) -> str:
    if name in ("ForbiddenError", "UnauthorizedError", "AuthorizationExpiredError", "PermissionError", "OAuthError"):
        return "Grant this user reading, creating and dropping tables there, and writing to their storage"
    if name in ("TableAlreadyExistsError", "NamespaceAlreadyExistsError", "CommitFailedException"):
        return "Somebody else is just writing there. Name another namespace, or run again with --overwrite"
    if name in ("FileNotFoundError", "OSError"):
        return "Check that the catalog's warehouse exists, and that this user may read and write it"
    return "Check the catalog's settings, and that its server and its storage can be reached"


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("`") for part in name.split("."))


def _path(name: Wanted | str) -> tuple[str, ...]:
    """A name without that of the catalog."""
    if not isinstance(name, TableName):
        return _parts(str(name))[1:]
    return _parts(name.name)[1:] if name.schema is None else (*_parts(name.schema)[1:], name.name)


def _is_odd(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _strange_in(table: Any) -> set[str]:
    """What a table has beside its rows. Properties are named by `beside_schema`."""
    about, fields = table.metadata, table.schema().fields
    strange = {"comment"} if any(field.doc for field in fields) or "comment" in table.properties else set()
    strange |= set() if _has_no_history(about) else {"history"}
    strange |= set() if table.spec().is_unpartitioned() and len(about.partition_specs) == 1 else {"partition"}
    strange |= {"statistics"} if about.statistics or about.partition_statistics else set()
    notes = [note for one in about.snapshots if one.summary for note in one.summary.additional_properties.items()]
    strange |= {"note"} if any(not _OF_SUMMARY.fullmatch(f"{key}={value}") for key, value in notes) else set()
    strange |= {"note"} if not all(_says_nothing_else(table, file) for file in _metadata_files(table)) else set()
    named, data = _named_files(table)
    strange |= {"other files"} if set(_files_in_folder(table)) - named else set()
    strange |= set() if all(_is_plain(table, file) for file in data) else {"more in a file than its table has"}
    strange |= {"column of another type"} if any(str(field.field_type) not in _RELEASED for field in fields) else set()
    ordered = table.sort_order().fields or len(about.sort_orders) > 1
    return strange | ({"sort order"} if ordered else set())


def _has_no_history(about: Any) -> bool:
    own = {one.snapshot_id for one in about.snapshots}
    logged = {one.snapshot_id for one in about.snapshot_log}
    return len(own) == len(about.schemas) == 1 and set(about.refs) == {"main"} and logged <= own


def _metadata_files(table: Any) -> list[str]:
    return [table.metadata_location, *(one.metadata_file for one in table.metadata.metadata_log)]


def _says_nothing_else(table: Any, file: str) -> bool:
    """Whether a state of the table, the current one or that before its rows, has the keys of the format alone."""
    from pyiceberg.table.metadata import TableMetadataUtil

    with table.io.new_input(file).open() as stream:
        text = bytes(stream.read())
    try:
        state = TableMetadataUtil.parse_raw(text.decode())
    except ValueError:
        return False
    now = table.metadata
    known = [one for one in state.snapshots if one not in now.snapshots] or state.schemas != now.schemas
    return not known and _is_within(json.loads(text), json.loads(state.model_dump_json()))


def _is_within(written: Any, known: Any) -> bool:
    """Whether everything that is written is known as well; a key without a value may be left out."""
    if isinstance(written, dict) and isinstance(known, dict):
        return all(value is None or (key in known and _is_within(value, known[key])) for key, value in written.items())
    if isinstance(written, list) and isinstance(known, list):
        return len(written) == len(known) and all(map(_is_within, written, known))
    return bool(written == known)


def _files_in_folder(table: Any) -> list[str]:
    """The files in the folder of a table; none if other libraries than Arrow read them, which list differently."""
    from pyarrow.fs import FileSelector, FileType
    from pyiceberg.io.pyarrow import PyArrowFileIO

    if not isinstance(table.io, PyArrowFileIO):
        return []
    home = table.location().rstrip("/")
    scheme, host, folder = table.io.parse_location(home)
    every = FileSelector(folder, recursive=True, allow_not_found=True)
    found = table.io.fs_by_scheme(scheme, host).get_file_info(every)
    return [home + one.path[len(folder) :] for one in found if one.type != FileType.Directory]


def _named_files(table: Any) -> tuple[set[str], list[str]]:
    """The files that a table names, and which of them have its rows."""
    named, data = {table.metadata_location, *(one.metadata_file for one in table.metadata.metadata_log)}, []
    for snapshot in table.metadata.snapshots:
        named |= {snapshot.manifest_list}
        for manifest in snapshot.manifests(table.io):
            named |= {manifest.manifest_path}
            entries = manifest.fetch_manifest_entry(table.io, discard_deleted=False)
            data += [entry.data_file.file_path for entry in entries]
    return {*named, *data}, data


def _is_plain(table: Any, file: str) -> bool:
    """Whether a file of rows has the columns of its table, and nothing beside its rows that its table does not show."""
    import pyarrow.parquet as pq

    with table.io.new_input(file).open() as stream:
        content = pa.py_buffer(stream.read())
    with pq.ParquetFile(pa.BufferReader(content)) as reader:
        notes = set(reader.metadata.metadata or {}) - {b"ARROW:schema", b"iceberg.schema"}
        plain = not notes and reader.schema_arrow.names == [field.name for field in table.schema().fields]
    return plain and hidden_in(content, gapless=True) is None
