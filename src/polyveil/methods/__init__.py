"""The methods, by name. Modules are imported when a method is first asked for: kernels are slow to load."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from polyveil.errors import Fault, PolicyError, listed
from polyveil.methods._repair.linked import Part, on_linked, presence, present, rows_in_each
from polyveil.methods._repair.over_all import improved, over_all, partition
from polyveil.methods._repair.people import refine_people
from polyveil.methods._repair.weights import mended, without_weights
from polyveil.methods.base import Method, Options, Task
from polyveil.partition import Partition
from polyveil.plugins import PluginError, Registry
from polyveil.policy.schema import MethodChoice, Refinement

_OWN = {
    "sift": "polyveil.methods.sift:Sift",
    "auto": "polyveil.methods.auto:Auto",
    "mondrian": "polyveil.methods.mondrian:Mondrian",
    "fcm": "polyveil.methods.fcm:Fcm",
    "pca": "polyveil.methods.pca:Pca",
    "fragment": "polyveil.methods.fragment:Fragment",
    "swap": "polyveil.methods.swap:Swap",
    "kaca": "polyveil.methods.kaca:Kaca",
    "lattice": "polyveil.methods.lattice:Lattice",
    "mbf": "polyveil.methods.buckets:Mbf",
    "msdcf": "polyveil.methods.buckets:Msdcf",
    "mmdcf": "polyveil.methods.buckets:Mmdcf",
    "mbf-mslf": "polyveil.methods.buckets:MbfMslf",
    "msdcf-mslf": "polyveil.methods.buckets:MsdcfMslf",
    "mmdcf-mslf": "polyveil.methods.buckets:MmdcfMslf",
    "sloms": "polyveil.methods.sloms:Sloms",
}
_WORDS = ("name", "title", "paper", "guarantee", "cost")
MethodT = TypeVar("MethodT", bound=type[Method[Any]])


def _unfit(name: str, method: Any) -> str:
    """What is wrong with a method from outside."""
    if not (isinstance(method, type) and issubclass(method, Method)):
        return "it is not a class that extends polyveil.methods.Method"
    missing = [word for word in _WORDS if not hasattr(method, word)]
    if missing:
        return f"it does not say its {', '.join(missing)}"
    return "" if method.name == name else f"it calls itself {method.name!r}; use the same name"


METHODS: Registry[type[Method[Any]]] = Registry("polyveil.methods", _OWN, _unfit)
"""Every method by its name: polyveil's own, those added by `register`, and those of installed packages."""


def register(method: MethodT) -> MethodT:
    """Add a method for this process, for example in a notebook; installed packages use an entry point instead."""
    METHODS.add(getattr(method, "name", ""), method)
    return method


def method_class(name: str) -> type[Method[Any]]:
    """The class registered under a name; raises PolicyError for one that is unknown or cannot be loaded."""
    if name not in METHODS:
        raise PolicyError([Fault("method.name", f"there is no method {name!r}", f"Known: {', '.join(METHODS)}")])
    try:
        return METHODS[name]
    except PluginError as error:
        raise PolicyError([Fault("method.name", f"the method {name!r} cannot be used", str(error))]) from error


def make_method(choice: MethodChoice) -> Method[Any]:
    """The chosen method with its options checked; raises PolicyError with every fault."""
    chosen = method_class(choice.name)
    try:
        options = chosen.options_type.model_validate(choice.options)
    except ValidationError as error:
        raise PolicyError(_option_faults(choice.name, chosen.options_type, error)) from None
    return chosen(options)


def _option_faults(method: str, options: type[Options], error: ValidationError) -> list[Fault]:
    """One fault per option; an option that may be a word or a number is refused once, not once for each."""
    known = f"Options: {listed(options.model_fields, most=20) or 'none'}"
    faults: dict[str, Fault] = {}
    reasons: dict[str, list[str]] = {}
    for each in error.errors(include_url=False):
        name = str(each["loc"][0]) if each["loc"] else ""
        if each["type"] == "extra_forbidden":
            faults[name] = Fault(f"method.{name}", f"Unknown option {name!r} of method {method}", known)
            continue
        # Pydantic's own words, without the value that was given: it follows the comma.
        reason = each["msg"].removeprefix("Value error, ").removeprefix("Input should be ").split(", unable")[0]
        reasons.setdefault(name, []).append(reason)
        field = options.model_fields.get(name)
        remedy = f"{name}: {field.description}" if field and field.description else known
        rule = f"{name} must be {' or '.join(reasons[name])}" if "Input should" in each["msg"] else reason
        faults[name] = Fault(f"method.{name}" if name else "method", rule, remedy)
    return list(faults.values())


def refined(task: Task, classes: Partition, effort: Refinement) -> Partition:
    """The method's classes improved as far as asked; as they are where it is not asked."""
    if effort is None:
        return classes
    if over_all(task):
        return improved(task, classes, effort)
    if task.table.person is not None:
        return refine_people(task, classes, effort)
    from polyveil.methods.refine import refine

    return refine(task, classes, effort)


__all__ = [
    "METHODS",
    "Method",
    "Options",
    "Part",
    "Task",
    "make_method",
    "mended",
    "method_class",
    "on_linked",
    "partition",
    "presence",
    "present",
    "refined",
    "register",
    "rows_in_each",
    "without_weights",
]
