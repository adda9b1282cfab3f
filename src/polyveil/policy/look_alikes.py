"""Names and values that look alike: letters of other alphabets, other code points of a letter, no ink."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LATIN = dict(
    zip(
        "аеорсухіјѕԁԛԝһӏАВЕКМНОРСТУХІЈЅԌαοενικρυτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡǀ",
        "aeopcyxijsdqwhlABEKMHOPCTYXIJSGaoevikputxABEZHIKMNOPTYXigl",
        strict=True,
    )
)
"""Cyrillic, Greek and other letters that look like Latin ones, with the letters they look like."""
_WITHOUT_INK = ("Cc", "Cf", "Co", "Cn", "Zl", "Zp", "Mn")


def skeleton(name: str) -> str:
    """What a reader sees of a name: equal for names that look alike. Case counts."""
    seen = unicodedata.normalize("NFKC", name)
    kept = (letter for letter in seen if unicodedata.category(letter) not in _WITHOUT_INK)
    return " ".join("".join(_LATIN.get(letter, letter) for letter in kept).split())


def look_alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of names, each with the first it cannot be told apart from."""
    first: dict[str, str] = {}
    found = []
    for name in names:
        other = first.setdefault(skeleton(name), name)
        if other != name:
            found.append((other, name))
    return found


def differ_by_case(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of names that differ only by capital letters, which Spark and databases take for one."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(name.casefold(), name), name) for name in names)
    return [(other, name) for other, name in pairs if other != name]


def is_unusual(name: str) -> bool:
    """Whether a name has what a reader does not see: outer spaces, characters without ink, another normal form."""
    hidden = any(unicodedata.category(letter) in _WITHOUT_INK[:-1] for letter in name)
    return hidden or name != name.strip() or name != unicodedata.normalize("NFC", name)


def written_alike(values: Iterable[str]) -> int:
    """How many values are another one in other letters: capitals, outer spaces, letters that look the same."""
    every = list(values)
    return len(every) - len({skeleton(value).casefold() for value in every})
