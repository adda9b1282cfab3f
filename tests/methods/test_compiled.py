"""Compiling kernels: announced once, cached on disk, also where nothing but the temporary folder can be written."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

import children
from polyveil.methods._kernels import compiled

# A kernel of its own in a folder of its own, so that the first run compiles and the second finds the cache.
KERNEL = """
from polyveil.methods._kernels.compiled import njit, on_first_compile
on_first_compile(print)

@njit
def twice(x):
    return 2 * x

@njit
def thrice(x):
    return 3 * x

print(twice(21), thrice(14))
"""


def run(script: Path, *arguments: str, **environment: str) -> list[str]:
    found = children.run([sys.executable, script, *arguments], env={**os.environ, **environment})
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_the_first_compile_is_announced_and_the_cached_one_is_silent(tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    script.write_text(KERNEL)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(script, **cache) == [compiled.ANNOUNCEMENT, "42 42"]
    assert run(script, **cache) == ["42 42"]


# A kernel that calls another one, and functions of numba that are kernels themselves.
NESTED = """
import sys
import numpy as np
from polyveil.methods._kernels.compiled import compiles, njit
from polyveil.methods._kernels.only_compiling import leave, only_compile

if len(sys.argv) > 1:
    only_compile()

@njit
def at(values, place):
    return np.sort(values)[place]

@njit
def ends(values):
    found = np.zeros((1, 2), dtype=np.int64)
    found[0, 0], found[0, 1] = at(values, 0), at(values, np.int32(len(values) - 1))
    return found, values.max()

ordered, greatest = ends(np.array([5, 3, 9, 1]))
print(ordered.tolist(), greatest, compiles.announced, "scipy.linalg" in sys.modules)
if len(sys.argv) > 1:
    leave()
"""


def test_what_a_process_that_only_compiles_leaves_is_what_others_find(tmp_path: Path) -> None:
    script = tmp_path / "nested.py"
    script.write_text(NESTED)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(script, "only", **cache) == ["[[1, 9]] 9 True False"]
    assert run(script, "only", **cache) == ["[[1, 9]] 9 False False"]
    assert run(script, **cache)[0].startswith("[[1, 9]] 9 False")


def test_kernels_are_compiled_anew_when_what_they_are_made_of_has_changed(tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    other = "import os\nfrom polyveil.methods._kernels import compiled\ncompiled.SHARED = os.environ['PARTS']\n"
    script.write_text(other + KERNEL)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for parts, compiled_now in (("one", True), ("one", False), ("another", True), ("another", False)):
        said = run(script, PARTS=parts, **cache)
        assert said == [*([compiled.ANNOUNCEMENT] if compiled_now else []), "42 42"]


def test_every_file_with_kernels_counts() -> None:
    package = Path(compiled.__file__).parents[2]
    with_kernels = {file.name for file in package.rglob("*.py") if "\n@njit" in file.read_text(encoding="utf-8")}
    assert with_kernels
    assert with_kernels <= {name for name, _ in compiled.SHARED}


def test_a_copied_package_needs_no_compiling(tmp_path: Path) -> None:
    """Whoever copies files, or puts them into the layer of an image, may round their times."""
    script, cache = tmp_path / "kernel.py", {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    script.write_text(KERNEL)
    package = tmp_path / "polyveil"
    shutil.copytree(Path(compiled.__file__).parents[2], package, ignore=shutil.ignore_patterns("__pycache__"))
    found = {"PYTHONPATH": str(tmp_path), **cache}
    assert run(script, **found) == [compiled.ANNOUNCEMENT, "42 42"]
    for file in [script, *package.rglob("*.py")]:
        os.utime(file, (1_700_000_000, 1_700_000_000))
    assert run(script, **found) == ["42 42"]


def test_a_temporary_cache_is_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))
    folder = compiled._private_temporary()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compiled._private_temporary() == folder, "the same place next time, so that kernels are found"


def test_a_cache_folder_that_others_can_write_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))
    planted = compiled._private_temporary()
    planted.chmod(0o777)
    assert compiled._private_temporary() != planted
    planted.rmdir()
    planted.symlink_to(tmp_path, target_is_directory=True)
    assert compiled._private_temporary() != planted


def test_the_cache_moves_only_where_it_must(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # so that it is put back as it was
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(compiled, "_writable", lambda folder: True)
    compiled._choose_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setattr(compiled, "_writable", lambda folder: False)
    compiled._choose_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent == tmp_path


def test_a_folder_that_only_looks_writable_is_not_used(tmp_path: Path) -> None:
    """Root may write everywhere, says the system, but not below /proc; a file is no folder for anybody."""
    assert compiled._writable(tmp_path / "new" / "folder")
    assert not compiled._writable(Path("/proc/polyveil/.cache"))
    (tmp_path / "file").touch()
    assert not compiled._writable(tmp_path / "file" / ".cache")
