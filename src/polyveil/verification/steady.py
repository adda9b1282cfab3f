"""Reading a release that may be replaced meanwhile: what was read is of one release, or it is read again.

A new release gets its name in one step, and a reader takes many: the manifest of the older release and a table of the
new one together look like a forgery.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from polyveil.errors import InputError

TRIES = 5
Found = TypeVar("Found")


def read_steadily(read: Callable[[], Found], folder: Path) -> Found:
    """What `read` gives, read again as long as the folder is not the same before and afterwards."""
    for _ in range(TRIES):
        before = _state(folder)
        try:
            found = read()
        except (InputError, OSError):
            if _state(folder) == before:
                raise
        else:
            if _state(folder) == before:
                return found
    raise changed(folder)


def changed(title: object) -> InputError:
    """Somebody replaces the release again and again."""
    return InputError(f"{title} was changed while it was read. Read it again")


def _state(folder: Path) -> object:
    """Which folder has this name now, and its manifest; None if there is none, of which the reading says more."""
    with suppress(OSError):
        found = folder.stat()
        return found.st_dev, found.st_ino, found.st_mtime_ns, (folder / "manifest.json").read_bytes()
    return None
