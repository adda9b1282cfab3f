"""Where the methods depart from the papers, said once: `as_printed: true` undoes what is listed, the pages show it.

A departure is something our default does otherwise than the paper prints. `options` are the settings that undo it;
where they are empty, the method's code looks at `as_printed` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import Field

from polyveil.methods.base import Options

FREE = ("priority",)
"""Options that the paper leaves to its user: one that the policy gives is kept."""


class PaperOptions(Options):
    """Options of a method that a paper prints."""

    as_printed: bool = Field(
        default=False,
        description="run the algorithm exactly as its paper prints it, whatever the other options say; "
        "the method's page lists what differs",
    )


@dataclass(frozen=True)
class Departure:
    """`where` in the paper, what it prints there, what our default does, and the options that do as printed."""

    where: str
    printed: str
    ours: str
    options: Mapping[str, Any] = field(default_factory=dict)


_MSB = (
    Departure(
        "xiao2020, Algorithm 1, step 6",
        "A group has exactly l rows (of the highest level in it), or k where k is larger.",
        "Sizes up to the next multiple of l are tried as well, and a common multiple of all l; the best is kept.",
    ),
    Departure(
        "xiao2020, Algorithm 1, step 12",
        "Grouping stops at the first group that cannot be completed.",
        "The lower security levels go on.",
        {"strict_paper": True},
    ),
    Departure(
        "xiao2020, Algorithm 1, steps 18 to 20",
        "Each remaining row is tried once, and joins a group that stays diverse; which one is not said: the first.",
        "Rows are tried until none fits any more, and go where they widen the quasi-identifiers least.",
        {"residual": "first"},
    ),
    Departure(
        "xiao2020, Algorithm 1, step 21",
        "What fits nowhere in the end is left out.",
        "If rows are left out, a linear program chooses the fewest; rows that fit nowhere may share one large group.",
        {"leave_out": "last"},
    ),
    Departure(
        "xiao2020, section 6",
        "One of several equal buckets is taken at random, once.",
        "The same by default; `ties` and `restarts` offer more.",
        {"ties": "random", "restarts": 1},
    ),
)

DEPARTURES: dict[str, tuple[Departure, ...]] = {
    **dict.fromkeys(("mbf", "msdcf", "mmdcf", "mbf-mslf", "msdcf-mslf", "mmdcf-mslf"), _MSB),
}
"""The departures of each method, in the order of the paper."""

OptionsT = TypeVar("OptionsT", bound=PaperOptions)


def in_force(method: str, options: OptionsT) -> OptionsT:
    """The options that a method runs with: those given, or with `as_printed` those of the paper."""
    if not options.as_printed:
        return options
    settings = {name: value for each in DEPARTURES[method] for name, value in each.options.items()}
    kept = options.model_fields_set.intersection(FREE)
    return options.model_copy(update={name: value for name, value in settings.items() if name not in kept})


def departures_table(method: str) -> str:
    """The departures of a method as a Markdown table."""
    lines = ["| where | as printed | our default | set by `as_printed` |", "| --- | --- | --- | --- |"]
    for each in DEPARTURES[method]:
        settings = ", ".join(f"`{name}: {str(value).lower()}`" for name, value in each.options.items())
        lines.append(f"| {each.where} | {each.printed} | {each.ours} | {settings or '`as_printed` itself'} |")
    return "\n".join(lines)
