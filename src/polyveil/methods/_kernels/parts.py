"""How a kernel becomes machine code: as a part of the kernels that call it, or as a whole that Python calls."""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


def _optimize_definitions(library: Any, module: Any) -> None:
    """Make the functions that a module defines smaller, cheaply: the whole that they become part of is optimized fully.

    numba does it fully here already, and goes through functions that the module only names as well.
    """
    module.data_layout = library._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = library._codegen._function_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
            passes.run(function, builder)


class PartLibrary(JITCodeLibrary):
    """The code of a kernel that another kernel calls: neither optimized nor made executable by itself.

    Whoever calls it is optimized as a whole with all that it calls. Doing that for every kernel on the way
    as well is most of what compiling costs.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()  # type: ignore[no-untyped-call]
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        _optimize_definitions(self, module)

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(self._codegen)


class _NoEnvironment:
    """The code generator for a part, which has no place in memory that an environment could be written to."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """Nothing to set."""


class WholeLibrary(JITCodeLibrary):
    """The code of a kernel that Python calls, with the parts of all kernels below it."""

    def _optimize_functions(self, module: Any) -> None:
        _optimize_definitions(self, module)

    def add_linking_library(self, library: Any) -> None:
        if library in self._linking_libraries:
            return
        super().add_linking_library(library)  # type: ignore[no-untyped-call]  # before those below it: code that nothing calls yet is dropped
        if isinstance(library, PartLibrary):
            for below in library._linking_libraries:
                self.add_linking_library(below)


class PartCompiler(CompilerBase):
    library: type[JITCodeLibrary] = PartLibrary

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = self.library(codegen, name)
        self.state.library.enable_object_caching()
        return [pipeline]


class WholeCompiler(PartCompiler):
    library = WholeLibrary
