"""Sections for the steward's own copy of a report. They need the original table, so they are not for publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polyveil.errors import InputError
from polyveil.reports.bars import Bar, bars
from polyveil.reports.markup import Markup, number, percent, table, tag
from polyveil.reports.page import Section
from polyveil.table.source import Table, read
from polyveil.verification import ReleaseLike, load_release

if TYPE_CHECKING:
    from polyveil.attacks import Attack, AttackReport
    from polyveil.measure.utility import Utility

NOT_PUBLIC = "This part was made with the original table. Do not publish it."


def steward_sections(
    release: ReleaseLike,
    original: Any,
    *,
    row_map: Path | None = None,
    trials: int = 2000,
    reading: Mapping[str, Any] | None = None,
) -> list[Section]:
    """Attacks with the original table and, where the row map of a generalized release is at hand, its usefulness."""
    from polyveil.attacks import attack

    table = read(original, **(reading or {}))
    sections = [attack_section(attack(release, table, trials=trials))]
    if row_map is not None:
        sections.append(utility_section(_utility(release, table, row_map)))
    return sections


def attack_section(report: AttackReport) -> Section:
    """Every adversary with success, baseline, interval and bound together."""
    held = report.answer()
    rows = [_attack_row(each) for each in report.attacks]
    adversaries = {each.name: each.adversary for each in report.attacks}
    headers = (
        *(
            "attack",
            "column",
            "risk",
            "right",
            "guessed from the table",
            "from other people",
            "95 % interval",
            "allowed",
        ),
        *("tried", "verdict"),
    )
    parts = (
        tag(
            "p",
            f"{held} An attack is compared with the same guess from the whole table, and from a model of other people "
            "of the same population. ",
            tag("strong", NOT_PUBLIC),
        ),
        table(headers, rows, caption="Simulated attacks", numbers=[3, 4, 5, 6, 7]),
        table(("attack", "the attacker"), adversaries.items(), caption="Who attacks"),
    )
    return Section("attacks", "Attacks", parts)


def _attack_row(each: Attack) -> tuple[str, ...]:
    column = each.attribute or "–"
    if each.verdict == "not run":
        return each.name, column, each.criterion, *["–"] * 6, f"not run: {each.note}" if each.note else "not run"
    colour = {"within bound": "ok", "broken": "no"}.get(each.verdict, "soft")
    return (
        each.name,
        column,
        each.criterion,
        percent(each.success),
        percent(each.baseline),
        "–" if each.baseline_population is None else percent(each.baseline_population),
        f"{percent(each.low)} to {percent(each.high)}",
        "–" if each.bound is None else percent(each.bound),
        each.extent(),
        tag("span", each.verdict, class_=colour),
    )


def utility_section(utility: Utility) -> Section:
    """Counting, describing, relating and learning, each against the original."""
    longest = max([*utility.shift_by_column.values(), 1e-9])
    shifts = [Bar(name, (value / longest,), (f"{value:.3f}",)) for name, value in utility.shift_by_column.items()]
    models = [
        (each.target, percent(each.released), percent(each.original), percent(each.blind)) for each in utility.models
    ]
    parts: list[Markup] = [
        tag(
            "p",
            f"Half of the {number(utility.queries.queries)} random count queries have an error of at most "
            f"{percent(utility.query_error)}. The association of two columns changes by "
            f"{utility.association_shift:.3f} on average (Cramér's V). ",
            tag("strong", NOT_PUBLIC),
        ),
        bars("How much each column's distribution changed (total variation)", ["shift"], shifts, first="column"),
    ]
    if models:
        headers = ("column to tell", "learned from the release", "learned from the original", "blind guess")
        parts.append(table(headers, models, caption="Right answers of a model on original rows", numbers=[1, 2, 3]))
    return Section("utility", "How useful it still is", tuple(parts))


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
