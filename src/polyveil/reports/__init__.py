"""The report of a release: one HTML file that opens offline, made from the published tables and manifest alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polyveil.reports import first_page, sections
from polyveil.reports.facts import gather
from polyveil.reports.language import say
from polyveil.reports.page import Section, page

NAME = "report.html"


def build(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], *, more: Sequence[Section] = ()) -> str:
    """The page for a release. `more` are sections for the steward's own copy, such as attacks with the original."""
    facts = gather(manifest, tables)
    every = [
        sections.promises(facts),
        sections.loss(facts),
        sections.classes(facts),
        sections.guesses(facts),
        sections.sensitive(facts),
        sections.quasi(facts),
        *more,
        sections.limits(facts),
        sections.check(facts),
    ]
    about = facts.policy.about
    every = [first_page.summary(facts), *first_page.about(about), *every, *first_page.approval(about)]
    foot = say("Made by polyveil {version}.", version=manifest["polyveil"])
    title = about.title or say("Release report")
    return page(title, first_page.lead(facts, with_original=bool(more)), every, foot=foot)


__all__ = ["NAME", "build"]
