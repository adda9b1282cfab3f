"""The one door to the compiler: `from polyveil.methods._kernels.compiled import njit`.

A kernel that other kernels call is compiled as a part of each of them; one that Python calls is compiled as a whole and
cached on disk, so each is compiled once per machine. numba refuses to cache where neither the package's
folder nor the home folder can be written; a private temporary folder then takes the cache. The first compile of a
process is announced through logging, and through whoever called `on_first_compile`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import logging
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

logger = logging.getLogger("polyveil")
ANNOUNCEMENT = "compiling fast kernels for this machine; this takes up to a minute, once"


def _writable(folder: Path) -> bool:
    """Whether files can be written to the folder, which is made if need be.

    It is tried, as the compiler will: to root a folder looks writable that is not.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_temporary() -> Path:
    """A folder below the system's temporary one that nobody else can write: cached kernels are code."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"polyveil-kernels-{owner}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    is_private = os.name == "nt" or (found.st_uid == owner and found.st_mode & 0o077 == 0)
    if stat.S_ISDIR(found.st_mode) and is_private:
        return folder
    return Path(tempfile.mkdtemp(prefix="polyveil-kernels-"))


def _home_cache() -> Path | None:
    """Where numba keeps kernels for a user; None for a user without a home folder."""
    try:
        return Path.home() / ".cache" / "numba"
    except RuntimeError:
        return None


def _choose_cache() -> None:
    if "NUMBA_CACHE_DIR" in os.environ or _writable(Path(__file__).parent / "__pycache__"):
        return
    at_home = _home_cache()
    if at_home is not None and _writable(at_home):
        return
    os.environ["NUMBA_CACHE_DIR"] = str(_private_temporary())


_choose_cache()

import numba  # noqa: E402
from numba.core import event, types  # noqa: E402

from polyveil.methods._kernels.parts import PartCompiler, WholeCompiler  # noqa: E402

unliteral: Callable[[Any], Any] = types.unliteral
NARROW = (types.int8, types.int16, types.int32)


@functools.cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _shared_sources() -> tuple[tuple[str, str], ...]:
    """Name and hash of all files with kernels: any of them may have become part of a kernel of another.

    Not their times, which change when a file is copied, checked out or put into the layer of an image.
    """
    package = Path(__file__).parents[2]
    files = [file for part in ("methods", "bounds") for file in sorted((package / part).rglob("*.py"))]
    with_kernels = [file for file in files if file.parent.name == "_kernels" or b"@njit" in file.read_bytes()]
    return tuple((file.name, _digest(file)) for file in with_kernels)


SHARED = _shared_sources()


class _Compiles(event.Listener):
    """Follows the compiler: says so at the first compile of the process; kernels loaded from the cache stay silent.

    The search for garbage rests meanwhile: the compiler makes millions of objects that it still needs, and looking
    through them takes a fifth of its time.
    """

    def __init__(self) -> None:
        self.announced = False
        self.first: list[Callable[[str], None]] = []
        self.each: list[Callable[[], None]] = []
        self._depth = 0
        self._collecting = False

    def announce(self) -> None:
        """Say that compiling begins, once."""
        if self.announced:
            return
        self.announced = True
        logger.info(ANNOUNCEMENT)
        for tell in self.first:
            tell(ANNOUNCEMENT)

    def on_start(self, event: Any) -> None:
        self.announce()
        if self._depth == 0:
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collecting:
            gc.enable()
        for tell in self.each:
            tell()


compiles = _Compiles()
event.register("numba:compile", compiles)  # type: ignore[no-untyped-call]


def on_first_compile(tell: Callable[[str], None]) -> None:
    """Have `tell` called with a sentence when this process first compiles a kernel."""
    compiles.first.append(tell)


def on_compiled(tell: Callable[[], None]) -> None:
    """Have `tell` called after every kernel that this process compiles."""
    compiles.each.append(tell)


def _plain(kind: Any) -> Any:
    """The type that an argument of a kernel has for this one: any number, and whole numbers in 64 bits."""
    kind = unliteral(kind)
    return types.int64 if kind in NARROW else kind


def njit(kernel: Kernel) -> Kernel:
    """Compile to machine code without Python objects, cached on disk, the interpreter lock released."""
    compiler: Any = numba.njit
    whole = compiler(cache=True, nogil=True, no_cfunc_wrapper=True, pipeline_class=WholeCompiler)(kernel)
    part = compiler(no_cfunc_wrapper=True, no_cpython_wrapper=True, pipeline_class=PartCompiler)(kernel)

    def by_plain_types(args: Any, kws: Any) -> Any:
        plain = {name: _plain(kind) for name, kind in kws.items()}
        return part.get_call_template(tuple(_plain(kind) for kind in args), plain)

    # numba looks only at the file of a cached kernel itself, not at those of the kernels that became part of it.
    cached = whole._cache._cache_file
    own = Path(kernel.__code__.co_filename)
    cached._source_stamp = (_digest(own) if own.is_file() else cached._source_stamp, SHARED)
    # A kernel that is called with the number 0 here and with one of 32 bits there would be compiled for each of them.
    whole.get_call_template = by_plain_types
    whole.get_overload = part.get_overload
    return cast(Kernel, whole)
