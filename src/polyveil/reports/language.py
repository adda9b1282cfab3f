"""The language of a page: English stands in the code, every other language is one file in `languages/`.

A file maps an English text to the same text in its language; both have the same `{placeholders}`. `say` is for the
texts of a page (`texts` in the file), `say_known` for finished English sentences of other parts, such as a guarantee's
statement (`known` in the file). What a file does not have stays English, such as the words of an installed package.
Names and values of the data are never translated: they are not given to either function, or stand for a placeholder in
`NAMES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from polyveil.errors import InputError

NAMES = frozenset({"column", "columns", "name", "method"})
"""Placeholders that hold names, which stay as they are; the others in a known text hold numbers."""
PARTS = "parts"
"""The placeholder that holds known texts, one after the other with commas between them."""

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Language:
    """The texts of one language and how it writes numbers."""

    code: str
    texts: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    decimal: str = "."
    thousands: str = ","

    def numbers(self, text: str) -> str:
        """English numbers within a text, written as this language does."""
        if self.decimal == ".":
            return text
        swapped = str.maketrans({".": self.decimal, ",": self.thousands})
        return _NUMBER.sub(lambda found: found[0].translate(swapped), text)


ENGLISH = Language("en", {}, ())
_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def languages() -> tuple[str, ...]:
    """The codes of all languages that pages can be made in."""
    found = files("polyveil.reports").joinpath("languages").iterdir()
    return ("en", *sorted(file.name.removesuffix(".yaml") for file in found if file.name.endswith(".yaml")))


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Make pages in a language, named by its code: `en`, `de`."""
    token = _current.set(_language(code))
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Language:
    """The language that pages are made in now."""
    return _current.get()


def say(text: str, /, **values: object) -> str:
    """A text of a page in the current language, with its values; values are texts already."""
    spoken = text if current() is ENGLISH else current().texts.get(text, text)
    return spoken.format(**values) if values else spoken


def say_known(text: str, /) -> str:
    """A finished English text of another part, in the current language."""
    language = current()
    if language is ENGLISH or not text:
        return text
    if text in language.texts:
        return language.texts[text]
    for pattern, spoken in language.patterns:
        if found := pattern.fullmatch(text):
            return spoken.format(**{key: _value(language, key, v) for key, v in found.groupdict().items()})
    return missing(text)


def _value(language: Language, placeholder: str, value: str) -> str:
    """What stands for a placeholder of a known text, in the language."""
    if placeholder == PARTS:
        return ", ".join(say_known(part) for part in value.split(", "))
    return value if placeholder in NAMES else language.numbers(value)


def missing(text: str) -> str:
    """A text that the language does not have."""
    return text


@cache
def _language(code: str) -> Language:
    """A language by its code, read once."""
    if code == "en":
        return ENGLISH
    if code not in languages():
        raise InputError(f"there is no report in the language {code!r}. Languages: {', '.join(languages())}")
    file = files("polyveil.reports").joinpath("languages", f"{code}.yaml")
    content: dict[str, Any] = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    known: dict[str, str] = content["known"]
    patterns = tuple((_pattern(english), spoken) for english, spoken in known.items() if "{" in english)
    return Language(code, {**known, **content["texts"]}, patterns, content["decimal"], content["thousands"])


def _pattern(text: str) -> re.Pattern[str]:
    """What a text with placeholders looks like once they are filled; the same placeholder twice holds the same."""
    seen: set[str] = set()
    parts = []
    for part in re.split(r"(\{\w+\})", text):
        name = part[1:-1]
        if not re.fullmatch(r"\{\w+\}", part):
            parts.append(re.escape(part))
        elif name in seen:
            parts.append(f"(?P={name})")
        else:
            seen.add(name)
            parts.append(f"(?P<{name}>.+?)" if name in NAMES or name == PARTS else f"(?P<{name}>\\S+?)")
    return re.compile("".join(parts), re.DOTALL)
