"""HTML as values: text is escaped unless it is markup already, so that no cell or name can become a tag."""

from __future__ import annotations

import html
from collections.abc import Iterable

from polyveil import results
from polyveil.reports.language import current

VOID = frozenset({"meta", "input", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(element: str, /, *children: str | None, **attributes: object) -> Markup:
    """One element. `class_` stands for class, `_` in other names for `-`; None leaves an attribute or child out."""
    written = "".join(f' {_name(key)}="{_text(value)}"' for key, value in attributes.items() if value is not None)
    if element in VOID:
        return Markup(f"<{element}{written}>")
    return Markup(f"<{element}{written}>{join(children)}</{element}>")


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: object) -> str:
    return html.escape(f"{value:g}" if isinstance(value, float) else str(value))


def join(parts: Iterable[str | None]) -> Markup:
    """Parts one after the other, each escaped unless it is markup."""
    return Markup("".join(p if isinstance(p, Markup) else html.escape(p) for p in parts if p is not None))


def table(
    headers: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str, numbers: Iterable[int] = ()
) -> Markup:
    """A plain table; the columns listed in `numbers` are set right, the first column heads its row."""
    right = frozenset(numbers)
    names = list(headers)
    head = tag(
        "tr", *(tag("th", name, scope="col", class_="num" if i in right else None) for i, name in enumerate(names))
    )
    body = [
        tag(
            "tr",
            *(
                tag("th", cell, scope="row") if i == 0 else tag("td", cell, class_="num" if i in right else None)
                for i, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    shown = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    # Focusable, so that a table wider than the page can be moved with the keyboard.
    return tag("div", shown, class_="scroll", tabindex="0", role="region", aria_label=caption)


def percent(share: float, digits: int = 1) -> str:
    """A share as people write it: 12.3 %, and never 0 % for something that is there."""
    return current().numbers(results.percent(share, digits))


def number(value: float | None) -> str:
    """Four significant digits; whole numbers whole, with separators."""
    if value is None:
        return "–"
    if float(value).is_integer():
        return current().numbers(f"{int(value):,}")
    return current().numbers(f"{value:.4g}" if abs(value) < 1_000 else f"{value:,.0f}")


def fixed(value: float, digits: int, *, signed: bool = False) -> str:
    """A number with so many digits after the point."""
    return current().numbers(f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}")
