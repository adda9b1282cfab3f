"""The bundle on disk: written whole beside its place, verified there, then moved in with one rename."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from polyveil.errors import InputError
from polyveil.verification.canonical import manifest_text, write_table

MANIFEST = "manifest.json"

Identity = tuple[int, int, int]
"""Device and number of a folder, and when files were last added to it or taken away."""


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
    older = check_target(path, overwrite=overwrite)
    with staging(path) as stage:
        files = fill(stage)
        write_manifest(stage, {**manifest, "files": files})
        accept(stage)
        sync(stage)
        move_into_place(stage, path, older)
    return files


def check_target(path: Path, *, overwrite: bool = False) -> Identity | None:
    """Refuse early what would fail late: an existing folder, a missing or unwritable parent.

    Returns which folder may be replaced, None if there is none.
    """
    found = identity(path)
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
    return found if overwrite else None


def identity(path: Path) -> Identity | None:
    """Which folder has this name now: a folder keeps its identity when it is renamed. None if there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


@contextmanager
def staging(path: Path) -> Iterator[Path]:
    """A hidden sibling folder that is gone afterwards, whatever happens short of a kill."""
    parent = path.absolute().parent
    _remove_abandoned(parent, path.name)
    stage = parent / f".{path.name}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.partial"
    try:
        stage.mkdir(mode=0o755)
        yield stage
    except OSError as error:
        raise not_written(parent, error) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def not_written(parent: Path, error: OSError) -> InputError:
    """What a disk refuses, in one line."""
    if is_full(error):
        return InputError(
            f"the disk that holds {parent} is full. Nothing was written; free space or name another place"
        )
    why = error.strerror or type(error).__name__  # what a library raises itself has no text of the system's
    return InputError(f"the release cannot be written to {parent} ({why}). Nothing was written")


def _remove_abandoned(parent: Path, name: str) -> None:
    """Clear what a killed run of the same release left behind; running ones are left alone.

    Whether a process runs is known on its own machine only, so what another machine writes on a shared disk stays.
    """
    if not Path("/proc").is_dir():
        return
    for stage in parent.iterdir():
        found = re.fullmatch(rf"\.{re.escape(name)}\.{re.escape(_host())}\.(\d+)\.[0-9a-f]{{8}}\.partial", stage.name)
        if found and not Path("/proc", found[1]).exists():
            shutil.rmtree(stage, ignore_errors=True)


def _host() -> str:
    """The machine and its name space of process numbers: containers that share a disk have numbers of their own."""
    with suppress(OSError):
        return f"{_plain(socket.gethostname())}-{Path('/proc/self/ns/pid').stat().st_ino}"
    return _plain(socket.gethostname())


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", name)


def is_full(error: OSError) -> bool:
    """Whether a disk or a quota is full; libraries that write by themselves say so in words only."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or bool(
        re.search("no space left|quota exceeded", str(error), re.IGNORECASE)
    )


def _write_table(frame: pl.DataFrame, file: Path) -> None:
    with file.open("wb") as sink:
        write_table(frame, sink, file.suffix)


def write_manifest(stage: Path, manifest: Mapping[str, Any]) -> None:
    """The manifest, complete with its list of files, as it stands in every bundle."""
    (stage / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")


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


def move_into_place(stage: Path, path: Path, older: Identity | None) -> None:
    """Give the finished folder its name in one step, if `path` is still what it was: nothing, or the older bundle.

    An older bundle then goes. What somebody else has put there in the meantime stays, and this release is refused.
    """
    if older is None:
        _move_to_free_name(stage, path)
        return
    if identity(path) != older:
        raise _changed(path)
    if _exchange(stage, path):
        if identity(stage) == older:
            return  # the older bundle now has the stage's name and goes with it
        _exchange(stage, path)
        raise _changed(path)
    # Without an atomic exchange the older bundle keeps its content under a visible name until the new one stands.
    aside = path.with_name(f"{path.name}.previous-{secrets.token_hex(4)}")
    path.rename(aside)
    try:
        if identity(aside) != older:
            raise _changed(path)
        _move_to_free_name(stage, path)
    except (OSError, InputError):
        if not path.exists():
            aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _changed(path: Path) -> InputError:
    return InputError(
        f"{path} was changed by somebody else while this release was made. It was left as it is, and this release was "
        "not written. Look at it, then name another folder or run again with --overwrite"
    )


def _move_to_free_name(stage: Path, path: Path) -> None:
    """Rename to a name that nothing has; whatever appears there meanwhile stays."""
    no_replace = 1
    if _renamed(stage, path, no_replace):
        return
    try:
        path.mkdir()  # fails if something is there, also on disks that cannot do it in one step
    except FileExistsError:
        raise _changed(path) from None
    try:
        stage.rename(path)  # an empty folder, and no other, is replaced by a rename
    except OSError:
        with suppress(OSError):
            path.rmdir()  # ours, if it is still empty
        raise


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names in one step; False if the system or the disk cannot, or one of them is not there."""
    exchange = 2
    return _renamed(first, second, exchange)


def _renamed(first: Path, second: Path, flag: int) -> bool:
    """Rename with a flag (Linux renameat2); False if it was not done."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        at_cwd = -100
        return bool(libc.renameat2(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), flag) == 0)
    return False
