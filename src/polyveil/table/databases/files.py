"""The file of a SQLite or DuckDB database: there, readable, or creatable."""

from __future__ import annotations

import os

from polyveil.errors import InputError
from polyveil.table.databases.place import Place


def check_file(place: Place, *, writable: bool) -> bool:
    """Refuse what cannot be opened; True if the file does not exist yet and will be made."""
    file = place.file
    if file is None:
        raise InputError(f"{place} has no file name. Write the path of a file")
    if file.is_dir():
        raise InputError(f"{file} is a folder, not a {place.title} file. Check the path")
    if file.exists():
        if not os.access(file, os.R_OK):
            raise InputError(f"{file} cannot be read by this user. Change its permissions")
        return False
    if writable:
        check_parent(place)
        return True
    relative = file.relative_to(file.anchor) if file.is_absolute() else file
    hint = (
        f" There is one at {relative}: a relative path has two slashes, {place.kind}://{relative}"
        if file.is_absolute() and relative.exists()
        else ""
    )
    raise InputError(f"{file} does not exist. Check the path.{hint}")


def check_parent(place: Place) -> None:
    """A new file needs a folder that can be written to."""
    parent = place.file.absolute().parent if place.file is not None else None
    if parent is None or not parent.is_dir():
        raise InputError(
            f"{parent} does not exist or is not a folder. Create it, or choose another place for the release"
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{parent} is not writable. Change its permissions, or choose another place for the release")
