"""Which analyses are asked for: a regression, a cross table or a survival curve, each in one line of YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from polyveil.errors import InputError

Kind = Literal["linear", "logistic", "table", "survival"]
KEYS: dict[Kind, frozenset[str]] = {
    "linear": frozenset({"on"}),
    "logistic": frozenset({"on", "value"}),
    "table": frozenset(),
    "survival": frozenset({"event", "value", "by"}),
}
"""What each kind may have beside its own key; the value of `by` alone may be left out."""
EXAMPLE = "{linear: hours, on: [age, sex]}"


@dataclass(frozen=True)
class Asked:
    """One analysis: its kind, the columns it is about and the value that counts as yes."""

    kind: Kind
    columns: tuple[str, ...]
    """The outcome or the time first."""
    on: tuple[str, ...] = ()
    value: str | None = None
    event: str | None = None
    by: str | None = None

    @property
    def used(self) -> tuple[str, ...]:
        """All columns, each once."""
        more = tuple(name for name in (self.event, self.by) if name is not None)
        return tuple(dict.fromkeys((*self.columns, *self.on, *more)))

    @property
    def title(self) -> str:
        """The analysis in words."""
        match self.kind:
            case "linear":
                return f"{self.columns[0]} by {', '.join(self.on)}"
            case "logistic":
                return f"{self.columns[0]} = {self.value} by {', '.join(self.on)}"
            case "table":
                return " × ".join(self.columns)
            case _:
                return f"{self.columns[0]} until {self.event} = {self.value}" + (f", by {self.by}" if self.by else "")


def read_analyses(source: Sequence[Any] | Mapping[str, Any] | str | Path) -> tuple[Asked, ...]:
    """Analyses as a list, as a mapping with the key `analyses`, or from a YAML file of either."""
    found: Any = _load(Path(source)) if isinstance(source, str | Path) else source
    if isinstance(found, Mapping) and set(found) == {"analyses"}:
        found = found["analyses"]
    if isinstance(found, Mapping) or not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise InputError(f"analyses must be a list with at least one entry, such as {EXAMPLE}")
    return tuple(_read(i, each) for i, each in enumerate(found, 1))


def _load(path: Path) -> Any:
    try:
        return YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"{path} cannot be read. Name a YAML file with a list of analyses, such as {EXAMPLE}"
        ) from None
    except YAMLError:
        raise InputError(f"{path} is not YAML. Write a list of analyses, such as - {EXAMPLE}") from None


def _read(place: int, each: Any) -> Asked:
    named = [kind for kind in KEYS if isinstance(each, Mapping) and kind in each]
    if len(named) != 1:
        raise InputError(f"analysis {place} must have one of {', '.join(KEYS)}. An example: {EXAMPLE}")
    kind = named[0]
    if unknown := sorted(map(str, set(each) - KEYS[kind] - {kind})):
        allowed = ", ".join((kind, *sorted(KEYS[kind])))
        raise InputError(f"analysis {place}: unknown key '{unknown[0]}'. Keys of {kind}: {allowed}")
    if lacking := sorted(key for key in KEYS[kind] - {"by"} if each.get(key) in (None, "", [])):
        raise InputError(f"analysis {place} ({kind}) needs {' and '.join(lacking)}. Add it")
    columns = _names(each[kind], place, kind)
    if len(columns) != (2 if kind == "table" else 1):
        raise InputError(f"analysis {place}: {kind} takes {'two columns' if kind == 'table' else 'one column'}")
    value = each.get("value")
    text = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else value
    return Asked(
        kind,
        columns,
        on=_names(each["on"], place, "on") if "on" in each else (),
        value=None if text is None else str(text),
        event=each.get("event"),
        by=each.get("by"),
    )


def _names(found: Any, place: int, key: str) -> tuple[str, ...]:
    names = (found,) if isinstance(found, str) else tuple(found) if isinstance(found, list | tuple) else ()
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise InputError(f"analysis {place}: {key} must name columns, each once")
    return names
