"""The methods, by name. Modules are imported when a method is first asked for: kernels are slow to load."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pydantic import ValidationError

from polyveil.errors import Fault, PolicyError
from polyveil.methods.base import Method, Options, Task
from polyveil.policy.schema import MethodChoice

METHODS: dict[str, str] = {
    "sift": "polyveil.methods.sift:Sift",
    "auto": "polyveil.methods.auto:Auto",
    "mondrian": "polyveil.methods.mondrian:Mondrian",
    "fcm": "polyveil.methods.fcm:Fcm",
    "pca": "polyveil.methods.pca:Pca",
    "fragment": "polyveil.methods.fragment:Fragment",
    "swap": "polyveil.methods.swap:Swap",
    "kaca": "polyveil.methods.kaca:Kaca",
    "mbf": "polyveil.methods.buckets:Mbf",
    "msdcf": "polyveil.methods.buckets:Msdcf",
    "mmdcf": "polyveil.methods.buckets:Mmdcf",
    "mbf-mslf": "polyveil.methods.buckets:MbfMslf",
    "msdcf-mslf": "polyveil.methods.buckets:MsdcfMslf",
    "mmdcf-mslf": "polyveil.methods.buckets:MmdcfMslf",
    "sloms": "polyveil.methods.sloms:Sloms",
}
"""Method name -> module:class."""


def method_class(name: str) -> type[Method[Any]]:
    """The class registered under a name; raises PolicyError for an unknown one."""
    if name not in METHODS:
        raise PolicyError([Fault("method.name", f"there is no method {name!r}", f"Known: {', '.join(METHODS)}")])
    module, attribute = METHODS[name].split(":")
    found: type[Method[Any]] = getattr(import_module(module), attribute)
    return found


def make_method(choice: MethodChoice) -> Method[Any]:
    """The chosen method with its options checked; raises PolicyError with every fault."""
    chosen = method_class(choice.name)
    try:
        options = chosen.options_type.model_validate(choice.options)
    except ValidationError as error:
        known = ", ".join(chosen.options_type.model_fields) or "none"
        raise PolicyError(
            [
                Fault(".".join(("method", *map(str, fault["loc"]))), fault["msg"], f"Options of {choice.name}: {known}")
                for fault in error.errors()
            ]
        ) from None
    return chosen(options)


__all__ = ["METHODS", "Method", "Options", "Task", "make_method", "method_class"]
