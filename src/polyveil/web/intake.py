"""Taking files in: never more bytes than allowed, packed or unpacked, and nothing outside its folder."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from polyveil.errors import InputError

CHUNK = 1 << 20
_BUNDLE_FILE = re.compile(r"[\w-]+\.(json|parquet|csv|html)")
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
    """A small packed file may stand for an enormous table: count before anything is read into memory."""
    too_large = InputError(f"unpacked, the file has more than {limit // 10**6} MB, more than the workbench accepts")
    if path.suffix == ".gz":
        size = 0
        try:
            with gzip.open(path) as stream:
                while piece := stream.read(CHUNK):
                    size += len(piece)
                    if size > limit:
                        raise too_large
        except (OSError, EOFError, zlib.error):
            raise InputError("the packed file is damaged. Pack it again") from None
    elif path.suffix in (".parquet", ".pq"):
        import pyarrow.lib
        import pyarrow.parquet as pq

        try:
            about = pq.read_metadata(path)
        except (pyarrow.lib.ArrowException, OSError):
            raise InputError("the file is not Parquet, or it is damaged") from None
        packed = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if max(packed, about.num_rows * about.num_columns) > limit:
            raise too_large


def unpack_bundle(packed: Path, target: Path, limit: int) -> None:
    """The files of a zipped bundle, flat; nothing is written outside `target`, and no more than `limit` bytes."""
    no_bundle = InputError(
        "the file is not a packed release folder. Give the zip file that was downloaded from a finished run"
    )
    too_large = InputError(f"unpacked, the file has more than {limit // 10**6} MB, more than the workbench accepts")
    target.mkdir(mode=0o700)
    size = 0
    try:
        with zipfile.ZipFile(packed) as archive:
            files = [member for member in archive.infolist() if not member.is_dir()]
            if len(files) > _MOST_FILES or not any(Path(member.filename).name == "manifest.json" for member in files):
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
