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

if TYPE_CHECKING:
    from polyveil.attacks import Attack, AttackReport
    from polyveil.measure.utility import Utility

NOT_PUBLIC = "This part was made with the original table. Do not publish it."


def steward_sections(
    release: str | Path,
    original: str,
    *,
    row_map: Path | None = None,
    trials: int = 2000,
    reading: Mapping[str, Any] | None = None,
) -> list[Section]:
    """Attacks with the original table and, where the row map of a generalized release is at hand, its usefulness."""
    from polyveil.attacks import attack

    sections = [attack_section(attack(release, original, trials=trials, reading=reading))]
    if row_map is not None:
        sections.append(utility_section(_utility(release, original, row_map, reading)))
    return sections


def attack_section(report: AttackReport) -> Section:
    """Every adversary with success, baseline, interval and bound together."""
    held = "No guarantee was broken." if report.holds else "A guarantee was broken. See the verdicts."
    rows = [_attack_row(each) for each in report.attacks]
    adversaries = {each.name: each.adversary for each in report.attacks}
    headers = ("attack", "column", "right", "without the release", "95 % interval", "allowed", "verdict")
    parts = (
        tag(
            "p",
            f"{held} Each attacker targets people drawn at random from the original table. ",
            tag("strong", NOT_PUBLIC),
        ),
        table(headers, rows, caption="Simulated attacks", numbers=[2, 3, 4, 5]),
        table(("attack", "the attacker"), adversaries.items(), caption="Who attacks"),
    )
    return Section("attacks", "Attacks", parts)


def _attack_row(each: Attack) -> tuple[str, ...]:
    column = each.attribute or "–"
    if each.verdict == "not run":
        return each.name, column, "–", "–", "–", "–", f"not run: {each.note}" if each.note else "not run"
    colour = {"within bound": "ok", "broken": "no"}.get(each.verdict, "soft")
    return (
        each.name,
        column,
        percent(each.success),
        percent(each.baseline),
        f"{percent(each.low)} to {percent(each.high)}",
        "–" if each.bound is None else percent(each.bound),
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


def _utility(release: str | Path, original: str, row_map: Path, reading: Mapping[str, Any] | None) -> Utility:
    from polyveil.measure.utility import measure_utility
    from polyveil.partition import Partition
    from polyveil.policy import from_public
    from polyveil.table.bind import bind
    from polyveil.table.encode import encode
    from polyveil.table.source import read
    from polyveil.verification.files import read_manifest

    manifest = read_manifest(Path(release))
    if manifest["form"] != "generalized":
        raise InputError("usefulness is measured only for generalized releases. Leave out --row-map")
    try:
        classes = pl.read_parquet(row_map).get_column("class").to_numpy()
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{row_map} is not a row map. Give the row_map.parquet that belongs to this release") from None
    policy = from_public(manifest["policy"])
    whole = read(original, **(reading or {}))
    if len(classes) != whole.height:
        raise InputError(
            f"{row_map} has {len(classes)} rows, the original {whole.height}. Give those that belong together"
        )
    known = replace(whole, frame=whole.frame.select(*policy.columns))
    return measure_utility(encode(bind(policy, known)), Partition(classes))
