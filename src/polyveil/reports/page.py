"""A page: one self-contained HTML file. No script, no request; a content policy forbids both to any later edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from polyveil.reports.language import current, say
from polyveil.reports.markup import Markup, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Section:
    """A part of a page with its heading; `key` is its address within the page."""

    key: str
    title: str
    parts: tuple[Markup, ...]


def page(title: str, lead: Markup, sections: Sequence[Section], *, foot: str, rules: str = "") -> str:
    """The whole file; `rules` are style rules of this page alone."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Markup(style() + rules)),
    )
    contents = tag(
        "nav",
        tag("ol", *(tag("li", tag("a", section.title, href=f"#{section.key}")) for section in sections)),
        aria_label=say("Contents"),
    )
    body = tag(
        "body",
        tag("a", say("Skip to the content"), href="#content", class_="skip"),
        tag("header", tag("p", "polyveil", class_="brand"), tag("h1", title), lead),
        contents,
        tag("main", *map(_section, sections), id="content"),
        tag("footer", tag("p", foot)),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang=current().code) + "\n"


def _section(section: Section) -> Markup:
    heading = tag("h2", section.title, id=f"{section.key}-title")
    return tag("section", heading, *section.parts, id=section.key, aria_labelledby=f"{section.key}-title")


@cache
def style() -> str:
    """The style sheet, which lies beside this file."""
    return files("polyveil.reports").joinpath("style.css").read_text(encoding="utf-8")
