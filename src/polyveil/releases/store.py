"""A release in an object store: made here, copied there with its manifest last, and read back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from polyveil.errors import InputError
from polyveil.releases.bundle import MANIFEST, sha256_of
from polyveil.table.stores import Store, open_store, said_plainly

WRITING = ".polyveil-writing"
"""An object that stands beside those of a release as long as it is being written."""


def write_to_store(address: str, write: Callable[[Path], object], *, overwrite: bool = False) -> None:
    """Publish the release that `write` makes in a folder: whole, or with no manifest, which is no release."""
    with tempfile.TemporaryDirectory(prefix="polyveil-") as folder:
        made = Path(folder) / "release"
        write(made)
        put_release(made, address, overwrite=overwrite)


def check_store(address: str, *, overwrite: bool = False) -> None:
    """Refuse early what would fail late: no store, no right to write, something else in that place."""
    store = open_store(address)
    with said_plainly(store.address):
        if WRITING in _replaceable(store, overwrite):
            return
        with store.files.open_output_stream(f"{store.path}/{WRITING}") as sink:
            sink.write(b"")
        store.delete(f"{store.path}/{WRITING}")


def _replaceable(store: Store, overwrite: bool) -> dict[str, str]:
    """The objects of the older release, or of an unfinished one, that may be replaced."""
    found = store.objects()
    if store.is_object(store.path):
        raise InputError(f"{store.address} is an object, not a folder. Name a new place")
    if found and MANIFEST not in found and WRITING not in found:
        raise InputError(
            f"{store.address} is no release (it has no {MANIFEST}), so it is not replaced. Name a new place"
        )
    if found and not overwrite:
        raise InputError(
            f"{store.address} exists already, or is just being written; a release is never mixed with other files. "
            "Name a new place, or use --overwrite"
        )
    return found


def put_release(folder: Path, address: str, *, overwrite: bool = False) -> None:
    """Copy a finished release folder to its place, its manifest last; there is no release there until then.

    Two that write to one place at once may spoil each other: what stands there in the end is read back, and whoever
    does not find their own release says so. What is then left has no manifest, or is the other's release.
    """
    store = open_store(address)
    names = sorted(file.name for file in folder.iterdir() if file.name != MANIFEST)
    with said_plainly(store.address, ". Nothing was published"):
        older = _replaceable(store, overwrite)
        store.delete(store.manifest)
        with store.files.open_output_stream(f"{store.path}/{WRITING}") as sink:
            sink.write(b"")
        for name, path in older.items():
            if name not in names and name != WRITING:
                store.delete(path)
        for name in names:
            store.put(folder / name, f"{store.path}/{name}")
        store.delete(f"{store.path}/{WRITING}")
        store.put(folder / MANIFEST, store.manifest)
        _read_back(store, folder, [*names, MANIFEST])


def _read_back(store: Store, folder: Path, names: list[str]) -> None:
    ours = {name: sha256_of(folder / name) for name in names}
    there = {name: store.sha256(path) for name, path in store.objects().items()}
    if there == ours:
        return
    if there.get(MANIFEST) == ours[MANIFEST]:
        store.delete(store.manifest)
    raise InputError(
        f"{store.address} was changed by somebody else while this release was written, so it was not published. Look "
        "at it, then name another place or run again with --overwrite"
    )
