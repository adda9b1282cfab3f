"""Bars that are a table: label, bar, figures. Read by eye, by screen reader and on paper alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyveil.reports.markup import Markup, tag


@dataclass(frozen=True)
class Bar:
    """One row: up to two lengths from 0 to 1 drawn above each other, and the figures as texts."""

    label: str
    lengths: tuple[float, ...]
    figures: tuple[str, ...]


def bars(caption: str, headers: Sequence[str], rows: Sequence[Bar], *, first: str) -> Markup:
    """A table whose last column is drawn. Lengths are as given: scale them so that the longest fits."""
    head = tag(
        "tr",
        tag("th", first, scope="col"),
        *(tag("th", name, scope="col", class_="num") for name in headers),
        tag("td", class_="bar"),
    )
    body = [
        tag(
            "tr",
            tag("th", row.label, scope="row"),
            *(tag("td", text, class_="num") for text in row.figures),
            tag("td", *(_drawn(length) for length in row.lengths), class_="bar"),
        )
        for row in rows
    ]
    shown = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), class_="bars")
    return tag("div", shown, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _drawn(length: float) -> Markup:
    return tag("i", style=f"width:{100 * max(length, 0.0):.1f}%")


def meter(share: float) -> Markup:
    """How much of a limit is used; the figures stand beside it, so it is decoration to a screen reader."""
    return tag(
        "span", tag("i", style=f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"), class_="meter", aria_hidden="true"
    )
