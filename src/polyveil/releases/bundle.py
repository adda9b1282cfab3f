"""The bundle on disk: written whole beside its place, verified there, then moved in with one rename."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError

MANIFEST = "manifest.json"


def write_bundle(
    path: Path,
    tables: Mapping[str, pl.DataFrame],
    manifest: Mapping[str, Any],
    *,
    file_format: str = "parquet",
    overwrite: bool = False,
    extra: Mapping[str, str] | None = None,
    accept: Callable[[Path], object] = lambda _: None,
) -> None:
    """Write tables, extra text files and the manifest to `path`, whole or not at all.

    `accept` looks at the finished folder before it is moved into place and raises to refuse it.
    """

    def fill(stage: Path) -> dict[str, Any]:
        for name, frame in tables.items():
            _write_table(frame, stage / f"{name}.{file_format}")
        for name, text in (extra or {}).items():
            (stage / name).write_text(text, encoding="utf-8")
        return {file.name: _describe(file, tables) for file in sorted(stage.iterdir())}

    write_whole(path, manifest, fill, overwrite=overwrite, accept=accept)


def write_whole(
    path: Path,
    manifest: Mapping[str, Any],
    fill: Callable[[Path], dict[str, Any]],
    *,
    overwrite: bool,
    accept: Callable[[Path], object],
) -> dict[str, Any]:
    """A folder that `fill` writes files into, with its manifest, under its name once `accept` has not refused it.

    `fill` gives what the manifest says of each file, and so does this.
    """
    check_target(path, overwrite=overwrite)
    with staging(path) as stage:
        files = fill(stage)
        write_manifest(stage, {**manifest, "files": files})
        accept(stage)
        sync(stage)
        move_into_place(stage, path)
    return files


def check_target(path: Path, *, overwrite: bool = False) -> None:
    """Refuse early what would fail late: an existing folder, a missing or unwritable parent."""
    if path.exists() and not overwrite:
        raise InputError(
            f"{path} exists already; a release is never mixed with other files. Name a new folder, or use --overwrite"
        )
    if path.exists() and not (path / MANIFEST).is_file():
        raise InputError(f"{path} is not a release (it has no {MANIFEST}), so it is not replaced. Name a new folder")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{parent} does not exist or is not a folder. Create it, or name another place")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{parent} is not writable. Change its permissions, or name another place for the release")


@contextmanager
def staging(path: Path) -> Iterator[Path]:
    """A hidden sibling folder that is gone afterwards, whatever happens short of a kill."""
    parent = path.absolute().parent
    _remove_abandoned(parent, path.name)
    stage = parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.partial"
    try:
        stage.mkdir(mode=0o755)
        yield stage
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(
                f"the disk that holds {parent} is full. Nothing was written; free space or name another place"
            ) from None
        raise InputError(f"the release cannot be written to {parent} ({error.strerror}). Nothing was written") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _remove_abandoned(parent: Path, name: str) -> None:
    """Clear what a killed run of the same release left behind; running ones are left alone."""
    for stage in parent.glob(f".{name}.*.partial"):
        pid = stage.name.removeprefix(f".{name}.").split(".")[0]
        if pid.isdigit() and not Path("/proc", pid).exists() and Path("/proc").is_dir():
            shutil.rmtree(stage, ignore_errors=True)


def _write_table(frame: pl.DataFrame, file: Path) -> None:
    if file.suffix == ".csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file, compression="zstd")


def write_manifest(stage: Path, manifest: Mapping[str, Any]) -> None:
    """The manifest, complete with its list of files, as it stands in every bundle."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
    (stage / MANIFEST).write_text(text + "\n", encoding="utf-8")


def fingerprint(file: Path) -> dict[str, Any]:
    """What the manifest says of every file."""
    return {"sha256": sha256_of(file), "bytes": file.stat().st_size}


def _describe(file: Path, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    about = fingerprint(file)
    if file.stem in tables:
        about |= {"rows": tables[file.stem].height, "columns": tables[file.stem].columns}
    return about


def sha256_of(file: Path) -> str:
    """The file's checksum, read in pieces."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync(folder: Path) -> None:
    """Make sure everything is on the disk before the folder gets its name."""
    for entry in [*folder.rglob("*"), folder]:
        descriptor = os.open(entry, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move_into_place(stage: Path, path: Path) -> None:
    """Give the finished folder its name in one step; an older bundle of that name goes."""
    if path.exists() and _exchange(stage, path):
        return  # the older bundle now has the stage's name and goes with it
    if not path.exists():
        stage.rename(path)
        return
    # Without an atomic exchange the older bundle keeps its content under a visible name until the new one stands.
    aside = path.with_name(f"{path.name}.previous-{secrets.token_hex(4)}")
    path.rename(aside)
    try:
        stage.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names in one step (Linux renameat2 with RENAME_EXCHANGE); False where that does not exist."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        at_cwd, exchange = -100, 2
        return bool(libc.renameat2(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), exchange) == 0)
    return False
