"""Taking files in: never more bytes than allowed, packed or unpacked, and nothing outside its folder."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from polyveil.errors import InputError
from polyveil.table.csv.content import member_of
from polyveil.table.excel_file import size_of_workbook
from polyveil.table.source import EXCEL_SUFFIXES, PARQUET_SUFFIXES, STATISTICAL_SUFFIXES
from polyveil.table.statistical_file import size_in_memory

CHUNK = 1 << 20
CELL = 16
"""Bytes that a cell takes in memory, whatever it holds."""
_BUNDLE_FILE = re.compile(r"[\w-]+\.(json|parquet|csv|html|yaml)")
LINKED_POLICY = "policy.yaml"
"""In a packed folder of linked tables, the policy."""
_MOST_FILES = 100


def copy_limited(content: BinaryIO, path: Path, limit: int) -> None:
    """Write an upload to a file, or refuse it once it is too large."""
    taken = 0
    with path.open("xb") as target:
        while piece := content.read(CHUNK):
            taken += len(piece)
            if taken > limit:
                raise InputError(f"the file has more than {limit // 10**6} MB. Start with a larger --max-upload")
            target.write(piece)


def check_unpacked(path: Path, limit: int) -> None:
    """A small file may stand for an enormous table: reckon what it takes in memory before anything is read into it."""
    if path.suffix in PARQUET_SUFFIXES:
        size = _size_of_parquet(path, limit)
    elif path.suffix in EXCEL_SUFFIXES:
        size = size_of_workbook(path, limit)
    elif path.suffix in STATISTICAL_SUFFIXES:
        size = size_in_memory(path)
    else:
        size = _size_of_text(path, limit)
    if size > limit:
        raise InputError(f"in memory, the table takes more than {limit // 10**6} MB. Start with a larger --max-upload")


def _size_of_text(path: Path, limit: int) -> int:
    """Bytes of the text and of its cells, counted by whatever may separate them; stops once there are too many."""
    size = 0
    try:
        with _text_of(path) as stream:
            while size <= limit and (piece := stream.read(CHUNK)):
                size += len(piece) + CELL * max(piece.count(mark) for mark in b",;\t|\n")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        raise InputError("the packed file is damaged or protected. Pack it again") from None
    return size


@contextmanager
def _text_of(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(member_of(path, archive, None)) as stream:
            yield stream
    else:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as plain:
            yield plain


def _size_of_parquet(path: Path, limit: int) -> int:
    """Bytes of the cells when every repeated text is written out; stops once there are too many."""
    import pyarrow.lib
    import pyarrow.parquet as pq

    try:
        about = pq.read_metadata(path)
        schema = about.schema.to_arrow_schema()
        size = int(about.num_rows * about.num_columns * CELL)
        texts = [field.name for field in schema if _is_text(field.type)]
        if size > limit or not texts:
            return size
        file = pq.ParquetFile(path, read_dictionary=texts)
        for group in range(about.num_row_groups):
            for name in texts:
                if size > limit:
                    return size
                size += _written_out(file.read_row_group(group, columns=[name]).column(0))
    except (pyarrow.lib.ArrowException, OSError):
        raise InputError("the file is not Parquet, or it is damaged") from None
    return size


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )


def _written_out(column: Any) -> int:
    """Bytes of a column of texts, each as often as it occurs."""
    import pyarrow.compute as pc

    lengths = [pc.binary_length(piece.dictionary).take(piece.indices) for piece in column.chunks]
    return sum(int(pc.sum(each, min_count=0).as_py()) for each in lengths)


def unpack_bundle(packed: Path, target: Path, limit: int) -> None:
    """The files of a zipped bundle, flat; nothing is written outside `target`, and no more than `limit` bytes."""
    no_bundle = InputError(
        "the file is not a packed release folder. Give the zip file that was downloaded from a finished run, or linked "
        f"tables packed with their {LINKED_POLICY}"
    )
    too_large = InputError(f"unpacked, the file has more than {limit // 10**6} MB, more than the workbench accepts")
    target.mkdir(mode=0o700)
    size = 0
    try:
        with zipfile.ZipFile(packed) as archive:
            files = [member for member in archive.infolist() if not member.is_dir()]
            if len(files) > _MOST_FILES or not any(
                Path(member.filename).name in ("manifest.json", LINKED_POLICY) for member in files
            ):
                raise no_bundle
            for member in files:
                # Only the last part of a name counts, so that no name leads out of the folder.
                name = member.filename.replace("\\", "/").rsplit("/", 1)[-1]
                if not _BUNDLE_FILE.fullmatch(name):
                    raise no_bundle
                with archive.open(member) as source, (target / name).open("xb") as written:
                    while piece := source.read(CHUNK):
                        size += len(piece)
                        if size > limit:
                            raise too_large
                        written.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError):
        raise no_bundle from None
