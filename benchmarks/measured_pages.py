"""Puts measured tables between their marks in README and docs, so that nobody types a figure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
README, METHODS, PEERS = ROOT / "README.md", ROOT / "docs" / "methods" / "index.md", ROOT / "docs" / "peers.md"
BOUND = ROOT / "docs" / "concepts" / "bound.md"
SIFT = ROOT / "docs" / "methods" / "sift.md"
PEOPLE = ROOT / "docs" / "how-to" / "people.md"
LINKED = ROOT / "docs" / "how-to" / "linked-tables.md"


def shown_in(name: str, page: Path) -> str:
    """What stands between the marks of that name."""
    found = re.search(rf"<!-- measured: {name} -->\n(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.DOTALL)
    return found[1].strip() if found else ""


def put(name: str, text: str, *pages: Path) -> None:
    """Replace what stands between the marks of that name."""
    for page in pages:
        marks = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        written = page.read_text(encoding="utf-8")
        changed, count = marks.subn(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", written)
        if count != 1:
            raise SystemExit(f"{page} has no place for the table {name}")
        page.write_text(changed, encoding="utf-8")


def percent(share: float) -> str:
    """Detail lost, a share, as the pages show it."""
    return f"{100 * share:.1f} %"


def amount(cell: str) -> float:
    """The figure in a cell, beyond all others for a cell of words."""
    return float(cell.removesuffix(" %")) if cell[0].isdigit() else float("inf")


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]], *, words: int = 1) -> str:
    """A table whose columns are right-aligned but for the first ones, which hold words."""
    head = list(header)
    lines = [head, [*["---"] * words, *["---:"] * (len(head) - words)], *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
