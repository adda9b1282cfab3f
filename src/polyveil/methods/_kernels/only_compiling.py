"""What makes compiling quicker in a process that does nothing else and then ends.

Each of these changes how numba works for the whole process, so none of them is done where somebody's program runs. The
code that comes out is the same.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from typing import Any, NoReturn

from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import TargetConfig

from polyveil.methods._kernels.parts import PartLibrary

target: Any = cpu_target


def only_compile() -> None:
    """Make compiling quicker from here on; for a process that is not going to do anything else."""
    gc.disable()
    _load_without_scipy()
    _compile_helpers_as_parts()
    _count_references_of_arrays_alone()
    _compare_options_quickly()
    _do_not_report_calls_of_llvm()


def leave() -> NoReturn:
    """End the process at once: taking millions of objects apart one by one takes a second."""
    sys.stdout.flush()
    os._exit(0)


def _load_without_scipy() -> None:
    """Load numba's own functions without SciPy's linear algebra: no kernel needs it, and it takes half a second."""
    unused = "scipy.linalg.cython_blas"
    hidden = unused not in sys.modules
    if hidden:
        sys.modules[unused] = None  # type: ignore[assignment]
    target.target_context.refresh()
    if hidden:
        del sys.modules[unused]


def _compile_helpers_as_parts() -> None:
    """Leave numba's own functions that a kernel calls unfinished, as `PartLibrary` does with kernels called by kernels.

    Nothing but the whole that they end in is called, by Python and never by C.
    """
    context = target.target_context
    codegen = context.codegen()
    finished = codegen.create_library

    def unfinished(name: str) -> Any:
        return PartLibrary(codegen, name)  # type: ignore[no-untyped-call]

    def from_cache(stored: Any) -> Any:
        codegen.create_library = finished
        try:
            return JITCodeLibrary._unserialize(codegen, stored)  # type: ignore[no-untyped-call]
        finally:
            codegen.create_library = unfinished

    codegen.create_library, codegen.unserialize_library = unfinished, from_cache
    context.create_cfunc_wrapper = _nothing


def _count_references_of_arrays_alone() -> None:
    """Have reference counts look into what has some: numba writes code to take all numbers of every array out."""

    @functools.cache
    def has_any(kind: Any) -> bool:
        return bool(target.target_context.data_model_manager[kind].contains_nrt_meminfo())

    def get_meminfos(self: Any, builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
        model = self._context.data_model_manager[kind]
        found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
        for part, getter in model.traverse(builder):
            if has_any(part):
                found += get_meminfos(self, builder, part, getter(value))
        return found

    NRTContext.get_meminfos = get_meminfos  # type: ignore[method-assign]


def _compare_options_quickly() -> None:
    """Options are compared whenever a function is looked up: take them from two mappings instead of one by one."""
    defaults: dict[type, dict[str, Any]] = {}

    def values(self: Any) -> dict[str, Any]:
        kind = type(self)
        if kind not in defaults:
            defaults[kind] = {name: option.default for name, option in kind.options.items()}
        return {**defaults[kind], **self._values}

    TargetConfig.values = values  # type: ignore[method-assign]


def _do_not_report_calls_of_llvm() -> None:
    """Two events for every call of LLVM, which nobody hears."""
    ffi.lib._lock._cblist.clear()


def _nothing(*_: object) -> None:
    """Nothing to do."""
