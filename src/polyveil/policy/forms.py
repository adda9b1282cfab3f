"""The release forms a policy may name: where each is at home, and the sentence that explains it to people.

The forms themselves are objects of `polyveil.releases`. An installed package adds one through the entry point group
`polyveil.forms`; its name is read here from the package's metadata, without importing anything.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

GROUP = "polyveil.forms"

HOMES = {
    "generalized": "polyveil.releases.generalized:Generalized",
    "anatomized": "polyveil.releases.linked:Anatomized",
    "sliced": "polyveil.releases.linked:Sliced",
    "relational": "polyveil.releases.relational:Relational",
}
"""Form -> module:class."""

SENTENCES = {
    "generalized": "one table in which the quasi-identifiers are generalized until rows look alike",
    "anatomized": "two tables, one with quasi-identifiers and one with sensitive values, linked by groups of rows",
    "sliced": "a table of quasi-identifiers and one table per slice of sensitive columns, each linked by groups",
    "relational": "a table of people and tables of what happened to them, generalized and linked by groups of people",
}
"""Form -> what is published."""


SEVERAL_TABLES = "relational"
"""The form of policies with several tables, which have no other."""


@cache
def form_names() -> tuple[str, ...]:
    """The names of all forms, those of installed packages last."""
    return (*HOMES, *sorted(entry_points(group=GROUP).names - HOMES.keys()))


def forms_of_one_table() -> tuple[str, ...]:
    """The forms that one table can be released in."""
    return tuple(name for name in form_names() if name != SEVERAL_TABLES)


def sentence_of(form: str) -> str:
    """What a release of the form consists of, in words."""
    return SENTENCES.get(form, f"tables of the form {form}, which an installed package has added")


def _known_form(name: Any) -> Any:
    if name is not None and name not in form_names():
        expected = ", ".join(f"'{known}'" for known in form_names())
        raise PydanticCustomError("literal_error", "Input should be one of {expected}", {"expected": expected})
    return name


FormName = Annotated[str, BeforeValidator(_known_form), WithJsonSchema({"type": "string", "enum": list(form_names())})]
