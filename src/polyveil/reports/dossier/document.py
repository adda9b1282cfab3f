"""A dossier as a list of parts, made from a template and the evidence.

A template is a text file beside this module. Its first lines are `title:`, `after:` and `sources:`, the documents that
its terms and sections are from. Of every other line, the beginning says what it is: `# ` a heading, `> ` what the
reviewer asks for, `- ` a sentence, `= ` a table, `[ ] ` a judgement that only a person can make. A sentence names facts
in braces, and gets the checks behind them. What follows ` | ` is left as a blank instead if a fact was not measured; if
nothing follows, the line is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from polyveil.errors import InputError
from polyveil.reports.dossier.evidence import Evidence
from polyveil.reports.dossier.facts import FactTable

KINDS = {
    "ema": "EMA and Health Canada: anonymization report of a clinical data release",
    "hipaa": "HIPAA: statistical evidence for an Expert Determination",
    "iso27559": "ISO/IEC 27559: de-identification framework",
    "nist": "NIST SP 800-188: de-identifying government data sets",
    "gdpr": "GDPR: singling out, linkability, inference, motivated intruder",
}
NOT_REPEATABLE = (
    "Figures whose check begins with “original” were measured with the original table. They cannot be repeated from "
    "the release alone, and they are not for publication."
)
HEAD = ("title", "after", "sources")
_FACT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Part:
    """One paragraph; `checks` are named after a sentence, `table` is shown below a heading of its own."""

    kind: Literal["heading", "asks", "says", "blank", "table"]
    text: str
    checks: tuple[str, ...] = ()
    table: FactTable | None = None


@dataclass(frozen=True)
class Document:
    """A dossier, ready to be written in any format."""

    title: str
    after: str
    sources: str
    parts: tuple[Part, ...]
    evidence: Evidence

    @property
    def bound(self) -> str:
        """What ties this text to one release."""
        told = (
            f"Made by polyveil {self.evidence.polyveil} from the evidence with SHA-256 {self.evidence.checksum}, which "
            f"belongs to the release whose manifest has SHA-256 {self.evidence.release}."
        )
        return f"{told} {NOT_REPEATABLE}" if self.evidence.with_original else told


def make_document(kind: str, evidence: Evidence) -> Document:
    """The dossier of this kind."""
    if kind not in KINDS:
        raise InputError(f"there is no dossier {kind!r}. Known: {', '.join(KINDS)}")
    lines = template(kind)
    title, after, sources = (line.removeprefix(f"{name}: ") for name, line in zip(HEAD, lines, strict=False))
    parts = tuple(part for line in lines[len(HEAD) :] for part in _part(line, evidence))
    return Document(title, after, sources, parts, evidence)


def template(kind: str) -> list[str]:
    """The lines of a template."""
    text = files("polyveil.reports.dossier").joinpath(f"{kind}.txt").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


def facts_in(line: str) -> list[str]:
    """The facts that a line names."""
    return _FACT.findall(line)


def _part(line: str, evidence: Evidence) -> Iterator[Part]:
    mark, _, text = line.partition(" ")
    if line.startswith("[ ] "):
        yield Part("blank", line.removeprefix("[ ] "))
    elif mark == "#":
        yield Part("heading", text)
    elif mark == ">":
        yield Part("asks", text)
    elif mark == "=":
        name, _, otherwise = text.partition(" |")
        table = evidence.tables.get(name)
        if table is None and otherwise:
            yield Part("blank", otherwise.strip())
        elif table is not None and table.rows:
            yield Part("table", table.caption, (table.check,), table)
    elif mark == "-":
        yield _sentence(text, evidence)
    else:
        raise ValueError(f"no kind of line: {line}")


def _sentence(text: str, evidence: Evidence) -> Part:
    told, _, otherwise = text.partition(" | ")
    names = facts_in(told)
    if any(name not in evidence.facts for name in names):
        return Part("blank", otherwise)
    checks = dict.fromkeys(evidence.facts[name].check for name in names)
    return Part("says", _FACT.sub(lambda found: evidence.facts[found[1]].text, told), tuple(checks))
