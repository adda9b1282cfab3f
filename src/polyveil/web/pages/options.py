"""A form for a method's options, made from their declared types, bounds and descriptions."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from nicegui import ui
from pydantic.fields import FieldInfo

from polyveil.methods import Options
from polyveil.web.pages.parts import stack, text

FEW = 2
"""How many options are shown before the list is opened."""


def options_form(kind: type[Options], place: dict[str, Any], save: Callable[[], None]) -> None:
    """One control per option; an option that has its default is not written down."""
    fields = {name: control for name, field in kind.model_fields.items() if (control := _control(field)) is not None}
    if not fields:
        return
    open_at_once = len(fields) <= FEW
    with (
        ui.expansion(f"Options ({len(fields)})", value=open_at_once).props("dense").style("width: 100%"),
        stack("pv-mid"),
    ):
        for name, control in fields.items():
            _show(name, kind.model_fields[name], control, place, save)


Control = tuple[str, Any]


def _control(field: FieldInfo) -> Control | None:
    """What an option can be set with; None for those that only a policy file can say."""
    return _of_type(field.annotation, list(field.metadata))


def _of_type(annotation: Any, limits: list[Any]) -> Control | None:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return _of_type(inner, [*limits, *more])
    if origin is Literal:
        return "choice", list(get_args(annotation))
    if annotation is bool:
        return "switch", None
    if annotation in (int, float):
        return "number", (annotation, limits)
    if origin in (Union, types.UnionType):
        return _of_union(get_args(annotation), limits)
    return None


def _of_union(parts: tuple[Any, ...], limits: list[Any]) -> Control | None:
    """A number, or one of a few words (or nothing): a field that takes either."""
    inner = [_of_type(part, limits) for part in parts if part is not type(None)]
    words = [word for found in inner if found and found[0] == "choice" for word in found[1]]
    numbers = [found for found in inner if found and found[0] == "number"]
    if words and numbers:
        return "either", (words, numbers[0][1])
    if words:
        return "choice", words
    return numbers[0] if numbers else None


def _show(name: str, field: FieldInfo, control: Control, place: dict[str, Any], save: Callable[[], None]) -> None:
    default = field.get_default()
    value = place.get(name, default)

    def keep(chosen: Any) -> None:
        if chosen is None or chosen == default:
            place.pop(name, None)
        else:
            place[name] = chosen
        save()

    label = name.replace("_", " ")
    with stack("pv-tight"):
        kind, about = control
        if kind == "switch":
            ui.switch(label, value=bool(value), on_change=lambda event: keep(bool(event.value)))
        elif kind == "choice":
            options = {word: str(word) for word in about}
            ui.select(options, value=value, label=label, on_change=lambda event: keep(event.value)).props(
                "outlined dense"
            )
        elif kind == "number":
            _number(label, value, about, keep)
        else:
            _either(label, value, about, keep)
        text(field.description or "", classes="pv-hint")


def _number(label: str, value: Any, about: tuple[type, list[Any]], keep: Callable[[Any], None]) -> None:
    kind, limits = about
    low: Any = next((limit.ge for limit in limits if isinstance(limit, Ge)), None)
    low = next((limit.gt for limit in limits if isinstance(limit, Gt)), low)
    high: Any = next((limit.le for limit in limits if isinstance(limit, Le)), None)
    high = next((limit.lt for limit in limits if isinstance(limit, Lt)), high)

    def typed(event: Any) -> None:
        keep(None if event.value is None else kind(event.value))

    field = ui.number(label, value=value, min=low, max=high, precision=0 if kind is int else None, on_change=typed)
    field.props("outlined dense debounce=300 clearable")


def _either(label: str, value: Any, about: tuple[list[Any], Any], keep: Callable[[Any], None]) -> None:
    """A list of words to choose from that also takes a number."""
    words, (kind, _) = about
    listed = [str(word) for word in words]
    if str(value) not in listed:
        listed.append(str(value))

    def meant(entered: Any) -> Any:
        return entered if entered in words else kind(entered)

    def fault(entered: Any) -> str | None:
        try:
            meant(entered)
        except (TypeError, ValueError):
            return f"One of {', '.join(map(str, words))}, or a number"
        return None

    def chosen(event: Any) -> None:
        if fault(event.value) is None:
            keep(meant(event.value))

    field = ui.select(
        listed,
        value=str(value),
        label=f"{label} (choose, or type a number)",
        with_input=True,
        new_value_mode="add-unique",
        on_change=chosen,
        validation=fault,
    )
    field.props("outlined dense")
