"""The report of a release: one HTML file that opens offline, made from the published tables and manifest alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polyveil.reports import sections
from polyveil.reports.facts import Facts, gather
from polyveil.reports.markup import Markup
from polyveil.reports.page import Section, page
from polyveil.verification.relational import views_of

NAME = "report.html"


def build(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], *, more: Sequence[Section] = ()) -> str:
    """The page for a release. `more` are sections for the steward's own copy, such as attacks with the original."""
    if "relational" in manifest:
        lead, every = _of_tables(manifest, tables, more)
    else:
        facts = gather(manifest, tables)
        lead = sections.lead(facts)
        every = [*_content(facts), *more, sections.limits(facts), sections.check(facts)]
    return page("Release report", lead, every, foot=f"Made by polyveil {manifest['polyveil']}.")


def _content(facts: Facts) -> list[Section]:
    """What a release of one table shows, and what every table of a relational release shows."""
    return [
        sections.promises(facts),
        sections.loss(facts),
        sections.classes(facts),
        sections.guesses(facts),
        sections.sensitive(facts),
        sections.quasi(facts),
    ]


def _of_tables(
    manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], more: Sequence[Section]
) -> tuple[Markup, list[Section]]:
    """The table of people first; of the others what concerns their own columns."""
    facts = {name: gather(view.manifest, view.frames) for name, view in views_of(manifest, tables).items()}
    first = next(iter(facts.values()))
    every = []
    for name, each in facts.items():
        if each is first:
            shown = _content(replace(each, manifest={**each.manifest, "claims": manifest["claims"]}))
        else:
            shown = [sections.classes(each), *([sections.sensitive(each)] if each.declared else [])]
        every += [replace(part, key=f"{part.key}-{name}", title=f"{part.title}: {name}") for part in shown]
    whole = replace(
        first, manifest={**first.manifest, "form": manifest["form"]}, tables={name: tables[name] for name in facts}
    )
    return sections.lead(whole), [*every, *more, sections.limits(whole), sections.check(whole)]


__all__ = ["NAME", "build"]
