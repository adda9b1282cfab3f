"""Writing a page: whole or not at all, and never over something else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from polyveil.errors import InputError


def check_page_target(path: Path, *, overwrite: bool) -> None:
    """Refuse early what would fail late."""
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file, such as {path / 'report.html'}")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already. Name another file, or use --overwrite")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{parent} does not exist or is not a folder. Create it, or name another place")
    if (parent / "manifest.json").exists():
        raise InputError(f"{parent} is a release folder, which must contain only its own files. Name another place")


def write_page(path: Path, page: str | bytes) -> None:
    """Write beside the place, then move in with one rename."""
    content = page.encode() if isinstance(page, str) else page
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}). Nothing was written") from None
