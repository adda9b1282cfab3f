"""A dossier as one HTML page, which also prints."""

from __future__ import annotations

from polyveil.reports.dossier.document import Document, Part
from polyveil.reports.markup import Markup, join, table, tag
from polyveil.reports.page import Section, page

RULES = """
.asks { color: var(--soft); font-style: italic; break-after: avoid; }
.check { color: var(--soft); font-size: .8em; white-space: normal; }
.blank { border: 1px dashed var(--two); padding: .6em .8em 3em; break-inside: avoid; }
.blank strong { color: var(--two); }
@media print {
  table { font-size: 8.5pt; }
  footer { font-size: 8pt; }
  caption { break-inside: avoid; break-after: avoid; }
  section:last-child > :last-child { break-after: avoid; }
}
"""
BLANK = "To be completed: "
READING = (
    "Sentences with a figure name the check behind it. What is marked “To be completed” is a judgement that no program "
    "can make."
)
"""How a dossier is read."""


def to_html(document: Document) -> str:
    """The whole page; each heading begins a section."""
    sections: list[tuple[str, list[Markup]]] = []
    for part in document.parts:
        if part.kind == "heading":
            sections.append((part.text, []))
        else:
            sections[-1][1].append(_markup(part))
    told = tag("p", f"{document.after} {READING}", class_="lead")
    lead = tag("div", told, tag("p", tag("strong", "Sources: "), document.sources))
    shown = [Section(f"part-{i}", title, tuple(parts)) for i, (title, parts) in enumerate(sections, 1)]
    return page(document.title, lead, shown, foot=document.bound, rules=RULES)


def _markup(part: Part) -> Markup:
    if part.kind == "table" and part.table is not None:
        found = part.table
        if len(found.headers) == 1:
            caption = tag("p", f"{found.caption}: ", tag("span", f"[{found.check}]", class_="check"))
            return join([caption, tag("ul", *(tag("li", cell) for row in found.rows for cell in row))])
        rows = [[_kept(cell) for cell in row] for row in found.rows]
        return table(found.headers, rows, caption=f"{found.caption} [{found.check}]")
    if part.kind == "blank":
        return tag("p", tag("strong", BLANK), part.text, class_="blank")
    if part.kind == "asks":
        return tag("p", part.text, class_="asks")
    return tag("p", _kept(part.text), *(tag("span", f" [{check}]", class_="check") for check in part.checks))


def _kept(text: str) -> str:
    """A number and its percent sign on one line."""
    return text.replace(" %", "\u00a0%")
