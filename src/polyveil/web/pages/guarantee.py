"""A guarantee as a control: on or off, how strict within bounds, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from nicegui import ui

from polyveil.errors import Fault
from polyveil.models import MODELS, KAnonymity, Model
from polyveil.policy.guarantees import setting_keys
from polyveil.policy.schema import Column, Privacy
from polyveil.web.pages.parts import card, fault_notice, row, text
from polyveil.web.reach import Bounds


class View(Protocol):
    """The view that shows a guarantee: switching one draws all anew, sliding only saves, so that the keyboard stays."""

    def draw(self) -> None: ...

    def save(self) -> None: ...


def chosen_kind(key: str, asked: Mapping[str, Any]) -> type[Model]:
    """The model that a key of `privacy` asks for, with the other settings as they are."""
    kinds = [kind for kind in MODELS.values() if kind.parameter == key]
    fitting = [kind for kind in kinds if _model(kind, asked, kind.form.start if kind.form else 1) is not None]
    return (fitting or kinds)[0]


def _model(kind: type[Model], asked: Mapping[str, Any], value: float) -> Model | None:
    """The model with a threshold, about any sensitive column."""
    settings = {key: asked[key] for key in setting_keys(Privacy, kind.parameter) if key in asked}
    privacy = Privacy.model_validate({kind.parameter: value, **settings})
    return kind.for_column("a sensitive column", Column(role="sensitive"), privacy)


def sentence(kind: type[Model], asked: Mapping[str, Any], value: float, *, in_people: bool = False) -> str:
    """What a threshold means, in the words that the release will use."""
    model = _model(kind, asked, value) or KAnonymity(int(value))
    words = model.statement_in_people() if in_people else model.statement()
    return f"{words[:1].upper()}{words[1:]}."


def guarantee(
    kind: type[Model],
    place: dict[str, Any],
    bounds: Bounds,
    view: View,
    faults: Sequence[Fault],
    note: str = "",
    *,
    in_people: bool = False,
) -> ui.element:
    """One guarantee; `place` holds its threshold under its key, which is absent while it is not asked for."""
    key, title = kind.parameter, kind.form.heading if kind.form else kind.title
    on = isinstance(place.get(key), int | float)

    def turn(event: Any) -> None:
        if event.value:
            place[key] = bounds.start if bounds.step != 1 else int(bounds.start)
        else:
            for each in (key, *setting_keys(Privacy, key)):
                place.pop(each, None)
        view.draw()

    box = card(classes="pv-model")
    with box:
        with row("pv-between pv-nowrap"):
            text(title, "h2", "pv-h2")
            switch = ui.switch(value=on, on_change=turn).mark(f"ask-{key}")
            switch.props["aria-label"] = f"Require {title}"
        if on:
            words = partial(sentence, kind, place, in_people=in_people)
            slider(place, key, bounds, view.save, label=title, shown=words)
        if note:
            text(note, classes="pv-hint")
        explanation(kind)
        fault_notice(faults)
    return box


def slider(
    place: dict[str, Any],
    key: str,
    bounds: Bounds,
    save: Callable[[], None],
    *,
    label: str,
    shown: Callable[[float], str] | None = None,
) -> None:
    """A slider and the same number in a field; the words above follow while it moves, `save` when it rests."""
    whole = float(bounds.step).is_integer()
    value = place[key]
    words = text(shown(value), classes="pv-says") if shown else None

    def keep(chosen: float | None) -> None:
        if chosen is None or not bounds.low <= chosen <= (bounds.most or bounds.high):
            return
        chosen = int(chosen) if whole else round(float(chosen), 6)
        if chosen == place.get(key):
            return
        place[key] = chosen
        if words is not None and shown is not None:
            words.set_text(shown(chosen))
        if number.value != chosen:
            number.set_value(chosen)
        if bar.value != min(chosen, bounds.high):
            bar.set_value(min(chosen, bounds.high))

    with ui.element("div").classes("pv-slider"):
        bar = ui.slider(min=bounds.low, max=bounds.high, step=bounds.step, value=min(value, bounds.high))
        bar.on_value_change(lambda event: keep(event.value))
        bar.on("change", lambda: save())
        bar.props["aria-label"] = label
        number = ui.number(value=value, min=bounds.low, max=bounds.most or bounds.high, step=bounds.step)
        number.props("outlined dense debounce=300").props["aria-label"] = f"{label}, as a number"
        number.mark(f"number-{key}")

        def typed(event: Any) -> None:
            before = place.get(key)
            keep(event.value)
            if place.get(key) != before:
                save()

        number.on_value_change(typed)


def explanation(model: type[Model]) -> None:
    """What a model helps against and what it leaves open."""
    with ui.element("dl").classes("pv-explain"):
        for title, words in (("Helps against", model.helps_against), ("Leaves open", model.leaves_open)):
            text(title, "dt")
            text(f"{words}.", "dd")
