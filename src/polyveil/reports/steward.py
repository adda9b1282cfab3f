"""Sections for the steward's own copy of a report. They need the original table, so they are not for publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polyveil.errors import InputError
from polyveil.policy import PolicyLike
from polyveil.reports.bars import Bar, bars
from polyveil.reports.charts import Curve, curves
from polyveil.reports.language import say, say_known
from polyveil.reports.markup import Markup, fixed, number, percent, table, tag
from polyveil.reports.page import Section
from polyveil.results import MOST_PRINTED
from polyveil.table.source import Table, read
from polyveil.verification import ReleaseLike, load_release

if TYPE_CHECKING:
    from polyveil.analyses import Analyses, Compared
    from polyveil.attacks import Attack, AttackReport
    from polyveil.measure.utility import Utility

NOT_PUBLIC = "This part was made with the original table. Do not publish it."
ATTACKS = (
    *("attack", "column", "risk", "right", "guessed from the table", "from other people", "95 % interval"),
    *("allowed", "tried", "verdict"),
)
"""The columns of the table of attacks."""
ANALYSES = (
    *("figure", "original", "95 % interval", "release", "95 % interval of the release", "overlap of the intervals"),
    "same conclusion",
)
"""The columns of the table of an analysis."""


def steward_sections(
    release: ReleaseLike,
    original: Any,
    *,
    policy: PolicyLike | None = None,
    row_map: Path | None = None,
    analyses: Any = None,
    trials: int = 2000,
    reading: Mapping[str, Any] | None = None,
) -> list[Section]:
    """Attacks with the original table and, where they can be had, the release's usefulness and analyses on both."""
    from polyveil.attacks import attack

    table = read(original, **(reading or {}))
    sections = [attack_section(attack(release, table, policy=policy, trials=trials))]
    if row_map is not None:
        sections.append(utility_section(_utility(release, table, row_map)))
    if analyses is not None:
        from polyveil.analyses import analyze

        sections.append(analyses_section(analyze(release, table, analyses)))
    return sections


def attack_section(report: AttackReport) -> Section:
    """Every adversary with success, baseline, interval and bound together."""
    held = " ".join(map(say_known, report.sentences()))
    rows = [_attack_row(*each) for each in report.worst_of_kinds(MOST_PRINTED)]
    attackers = [(_kind(each, differs), say_known(each.adversary)) for each, differs in report.kinds()]
    parts = (
        tag(
            "p",
            f"{held} ",
            say(
                "An attack is compared with the same guess from the whole table, and from a model of other people of "
                "the same population."
            ),
            " ",
            tag("strong", say(NOT_PUBLIC)),
        ),
        table([say(name) for name in ATTACKS], rows, caption=say("Simulated attacks"), numbers=[3, 4, 5, 6, 7]),
        table((say("attack"), say("the attacker")), attackers, caption=say("Who attacks")),
    )
    return Section("attacks", say("Attacks"), parts)


def _kind(each: Attack, differs: bool) -> str:
    """The name of an attack; with its column where the attacker differs by column."""
    return f"{say_known(each.name)}: {_column(each)}" if differs else say_known(each.name)


def _column(each: Attack) -> str:
    return (each.attribute or "–").replace(" -> ", " → ")


def _attack_row(each: Attack, stands_for: int) -> tuple[str, ...]:
    column = _column(each)
    if stands_for > 1:
        column = say("{column} (worst of {number})", column=column, number=number(stands_for))
    first = say_known(each.name), column, say_known(each.criterion)
    if each.verdict == "not run":
        why = f"{say_known('not run')}: {say_known(each.note)}" if each.note else say_known("not run")
        return *first, *["–"] * 6, why
    colour = {"within bound": "ok", "broken": "no"}.get(each.verdict, "soft")
    return (
        *first,
        percent(each.success),
        percent(each.baseline),
        "–" if each.baseline_population is None else percent(each.baseline_population),
        say("{low} to {high}", low=percent(each.low), high=percent(each.high)),
        "–" if each.bound is None else percent(each.bound),
        say_known(each.extent()),
        tag("span", say_known(each.verdict), class_=colour),
    )


def utility_section(utility: Utility) -> Section:
    """Counting, describing, relating and learning, each against the original."""
    longest = max([*utility.shift_by_column.values(), 1e-9])
    shifts = [Bar(name, (value / longest,), (fixed(value, 3),)) for name, value in utility.shift_by_column.items()]
    models = [
        (each.target, percent(each.released), percent(each.original), percent(each.blind)) for each in utility.models
    ]
    parts: list[Markup] = [
        tag(
            "p",
            say(
                "Half of the {count} random count queries have an error of at most {error}. The association of two "
                "columns changes by {shift} on average (Cramér's V).",
                count=number(utility.queries.queries),
                error=percent(utility.query_error),
                shift=fixed(utility.association_shift, 3),
            ),
            " ",
            tag("strong", say(NOT_PUBLIC)),
        ),
        bars(
            say("How much each column's distribution changed (total variation)"),
            [say("shift")],
            shifts,
            first=say("column"),
        ),
    ]
    if models:
        headers = (
            say("column to tell"),
            say("learned from the release"),
            say("learned from the original"),
            say("blind guess"),
        )
        caption = say("Right answers of a model on original rows")
        parts.append(table(headers, models, caption=caption, numbers=[1, 2, 3]))
    return Section("utility", say("How useful it still is"), tuple(parts))


def analyses_section(found: Analyses) -> Section:
    """Every figure of every analysis on both tables, with the overlap of the intervals."""
    parts: list[Markup] = [
        tag(
            "p",
            say_known(found.answer()),
            " ",
            say(
                "Values were drawn {draws} times from the cells of the release, and the results combined (Rubin's "
                "rules). The tables agree in {score} of 1,000 points over combinations of three columns (k-marginal); "
                "a random half of the original would have {half}.",
                draws=number(found.draws),
                score=number(round(found.k_marginal)),
                half=number(round(found.k_marginal_half)),
            ),
            " ",
            tag("strong", say(NOT_PUBLIC)),
        )
    ]
    for each in found.analyses:
        parts.append(tag("h3", each.title, " ", tag("span", say_known(each.kind), class_="kind")))
        parts += [
            curves(
                name or each.title,
                [Curve(say("original"), list(times), list(before)), Curve(say("release"), list(times), list(after))],
                x_label=say("time"),
                y_label=say("share that survives"),
                y_percent=True,
            )
            for name, times, before, after in each.curves
        ]
        caption = f"{each.title}: {say('figures on both tables')}"
        parts.append(
            table([say(name) for name in ANALYSES], _figures(each), caption=caption, numbers=range(1, 6))
            if each.estimates
            else tag("p", say_known(each.note))
        )
    return Section("analyses", say("Does an analysis survive?"), tuple(parts))


def _figures(each: Compared) -> list[tuple[str, ...]]:
    return [
        (
            figure.term,
            number(figure.original),
            say("{low} to {high}", low=number(figure.low), high=number(figure.high)),
            number(figure.released),
            say("{low} to {high}", low=number(figure.released_low), high=number(figure.released_high)),
            percent(figure.overlap, 0),
            say("yes") if figure.same_conclusion else say("no"),
        )
        for figure in each.estimates
    ]


def _utility(release: ReleaseLike, original: Table, row_map: Path) -> Utility:
    from polyveil.measure.utility import measure_utility
    from polyveil.partition import Partition
    from polyveil.policy import from_public
    from polyveil.table.bind import bind
    from polyveil.table.encode import encode

    manifest, _, _ = load_release(release)
    if "linked" in manifest:
        raise InputError("usefulness is measured only for generalized releases. Leave out --row-map")
    try:
        classes = pl.read_parquet(row_map).get_column("class").to_numpy()
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{row_map} is not a row map. Give the row_map.parquet that belongs to this release") from None
    policy = from_public(manifest["policy"])
    if len(classes) != original.height:
        raise InputError(
            f"{row_map} has {len(classes)} rows, the original {original.height}. Give those that belong together"
        )
    known = replace(original, frame=original.frame.select(*policy.columns))
    return measure_utility(encode(bind(policy, known)), Partition(classes))
