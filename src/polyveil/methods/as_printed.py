"""Where the methods depart from the papers, said once: `as_printed: true` undoes what is listed, the pages show it.

A departure is something our default does otherwise than the paper prints. `options` are the settings that undo it;
where they are empty, the method's code looks at `as_printed` itself. The few that stay are marked.
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
    """`where` in the paper, what it prints there, what our default does, and the options that do as printed.

    `stays`: `as_printed` does not undo it.
    """

    where: str
    printed: str
    ours: str
    options: Mapping[str, Any] = field(default_factory=dict)
    stays: bool = False


_MSB = (
    Departure(
        "xiao2020, Algorithm 1, step 6",
        "A group has exactly l rows (of the highest level in it), or k if k is larger.",
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

_KACA = Departure(
    "han2013, Algorithm 1, steps 8 to 13",
    "Only groups of fewer than k rows are merged.",
    "A group that fails any requirement is merged on.",
)
_SLOMS = (
    Departure(
        "han2013, section II.C",
        "PAM begins with random medoids, and the number of slices is given.",
        "PAM begins with the best ones; `slices: auto` also finds the number of slices.",
    ),
    Departure(
        "han2013, Algorithm 1, steps 4 to 6",
        "Every slice is grouped on its own, by one priority (MMDCF in the paper's account of its cost).",
        "The hardest slice comes first, the others leave out the same rows if they can; all priorities are tried, "
        "and the groups of all attributes together as a start.",
        {"priority": "mmdcf"},
    ),
    Departure(
        "han2013, Definition 13",
        "A value that fits no group is withheld (group id NA), and its row stays.",
        "The row is left out of all tables: whoever sees NA can often tell the value.",
        {"withhold": "values"},
    ),
)
_STRATA = Departure(
    "wang2018, Algorithms 1 and 2, step 2",
    "The number of strata is k.",
    "The number of strata g >= k with the least loss is searched for: with k strata and a tight t, merging joins most "
    "of the table into few groups.",
    {"strata": "k"},
)
_PSEUDOCODES = (
    Departure(
        "wang2018, Pseudocode 1, step 5",
        "The first row of a group is drawn at random.",
        "Rows farthest from the centre come first, or random ones if that loses less.",
        {"seed_order": "random"},
    ),
    Departure(
        "wang2018, Pseudocode 1, steps 12 to 16",
        "A larger stratum gives the first groups one row more.",
        "Rows left over are dealt evenly, so that sizes differ by one at most.",
    ),
    Departure(
        "wang2018, Pseudocode 2",
        "Every group that fails is merged once, with the group of the nearest centroid, merged or not; the result may "
        "still fail.",
        "Merging is repeated until no group fails; of the near groups not merged yet, the most helpful is taken.",
        {"merge": "nearest"},
    ),
)

DEPARTURES: dict[str, tuple[Departure, ...]] = {
    "fcm": (
        _STRATA,
        Departure(
            "wang2018, Algorithm 1, step 2",
            "Strata are the clusters of equi-sized fuzzy c-means.",
            "Centres and strata are brought into agreement five times more after that.",
            {"polish": 0},
        ),
        Departure(
            "wang2018, reference 19 (equi-sized fuzzy c-means)",
            "The memberships of a row sum to 1, and all clusters have the same size.",
            "Negative memberships are set to 0, so that sums and sizes are a little off while centres are sought; the "
            "strata are then rounded to equal sizes exactly.",
            stays=True,
        ),
        *_PSEUDOCODES,
    ),
    "pca": (
        _STRATA,
        Departure(
            "wang2018, Algorithm 2, step 3",
            "The component comes from Weka 3.6, whose default gives every coordinate the variance 1.",
            "Numbers are scaled to 0..1 and categories to 0 and 1.",
        ),
        *_PSEUDOCODES,
    ),
    "swap": (
        Departure(
            "wang2018, section 5 (contrast algorithm)",
            "Groups have k rows.",
            "The group size g >= k with the least loss is searched for.",
            {"strata": "k", "seed_order": "farthest"},
        ),
        Departure(
            "wang2018, section 3, on the contrast algorithm",
            "All unclustered rows are tried in a swap.",
            "The nearest 64 are tried.",
            {"candidates": 0},
        ),
        Departure(
            "wang2018, Definition 4",
            "A swap is judged by the greatest distance of the sensitive attributes.",
            "By the sum of what exceeds the thresholds.",
        ),
        Departure(
            "wang2018, section 5.1",
            "As a last resort the worst group is merged with the nearest, again and again.",
            "Merging goes in rounds; of the near groups, the most helpful is taken.",
            {"merge": "nearest"},
        ),
    ),
    "fragment": (
        Departure(
            "bagai2023, Theorem 10 and Definition of Delta",
            "Movement in a fragment is measured in the fragment's own length.",
            "It is measured in the whole range: still a bound, and far smaller. Scaled to its own length, a cut can "
            "even raise the bound (Proposition 21).",
            {"bound": "paper", "slack": 1.0},
        ),
        Departure(
            "bagai2023, section 3.1",
            "Every distinct value can be cut off, and cutting goes on until the bounds are within t.",
            "More than 64 values are put into bins, and cutting stops at 4,096 fragments.",
            {"bins": 10**9, "edges": {}, "most_fragments": 10**9},
        ),
        Departure(
            "bagai2023, section 3.2",
            "As many groups as divide all fragment counts; on real tables usually one. There is no k.",
            "Each fragment's rows are shared as evenly as whole numbers allow over the number of groups of least loss, "
            "and groups that fail are merged.",
            {"rounding": "exact"},
        ),
        Departure(
            "bagai2023, GENERATE-CLASSES, step 2",
            "The first row of a group is any.",
            "Rows farthest from the centre come first, or random ones if that loses less.",
            {"seed_order": "random"},
        ),
    ),
    "kaca": (_KACA,),
    "sloms": (*_SLOMS, *_MSB),
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
        how = "nothing, it stays" if each.stays else settings or "`as_printed` itself"
        lines.append(f"| {each.where} | {each.printed} | {each.ours} | {how} |")
    return "\n".join(lines)
