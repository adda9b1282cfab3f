"""The words that speak of a topic, read from the data files beside this module and from files of the user's own.

A line is `topic: word word ...`; see `vocabulary/english.txt` for what a word may look like. Topics, their roles and
their order are in `vocabulary/topics.csv`. A file of the user's own may name any topic, or a role: `sensitive: frob*`.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from polyveil.errors import InputError, listed
from polyveil.policy.schema import Role

LANGUAGES = ("english", "german", "french", "spanish", "portuguese", "italian", "dutch", "chinese")
EVERYWHERE = ("surveys", "medicine")
"""Lists that are read beside every language: codes of well-known files, and roots that medicine has in all of them."""
_FOLDER = files("polyveil.table.profiling") / "vocabulary"
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Meaning:
    """One topic: the role such a column usually has, what it is, and what several of them are called."""

    topic: str
    role: Role
    subject: str
    many: str
    order: int


@dataclass(eq=False)
class Vocabulary:
    """Words by the way they are looked up; each leads to its topics."""

    topics: dict[str, Meaning]
    whole: dict[str, set[str]] = field(default_factory=dict)
    start: dict[str, set[str]] = field(default_factory=dict)
    end: dict[str, set[str]] = field(default_factory=dict)
    inside: dict[str, set[str]] = field(default_factory=dict)
    exact: dict[str, set[str]] = field(default_factory=dict)
    code: dict[str, set[str]] = field(default_factory=dict)
    """Beginnings of names that are one word or have figures: codes of surveys."""
    rows: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    """Several words in a row; of the last one, the beginning is enough if it has a star."""
    abbreviations: dict[str, tuple[str, ...]] = field(default_factory=dict)
    languages: dict[str, Vocabulary] = field(default_factory=dict)
    """The words of each list by itself."""

    def add(self, topic: str, word: str) -> None:
        """Let a word speak of a topic."""
        for text in {word.lower()} if word.isascii() else {plain(word), plain(word.translate(_UMLAUTS))}:
            bare = text.strip("*=")
            if text.startswith("*"):
                (self.inside if text.endswith("*") else self.end).setdefault(bare, set()).add(topic)
            elif text.startswith("="):
                (self.code if text.endswith("*") else self.exact).setdefault(bare, set()).add(topic)
            elif "_" in text:
                first, _, last = text.rpartition("_")
                self.rows.setdefault((*first.split("_"), last), set()).add(topic)
            else:
                (self.start if text.endswith("*") else self.whole).setdefault(bare, set()).add(topic)

    def take(self, other: Vocabulary) -> None:
        """Add all words of another list."""
        for name in ("whole", "start", "end", "inside", "exact", "code", "rows"):
            mine = getattr(self, name)
            for word, topics in getattr(other, name).items():
                mine[word] = mine.get(word, set()) | topics

    def only(self, languages: Iterable[str]) -> Vocabulary:
        """The words of some languages, with the lists that are read beside every language."""
        found = Vocabulary(self.topics, abbreviations=self.abbreviations, languages=self.languages)
        for name in (*languages, *(name for name in self.languages if name not in LANGUAGES)):
            found.take(self.languages[name])
        return found


def plain(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(mark for mark in parts if not unicodedata.combining(mark)).lower()


def parts_of(name: str) -> tuple[str, ...]:
    """The words a name is made of, in lower case without accents; `maritalStatus` has two, `婚姻状况` is one."""
    text = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    text = "".join(mark for mark in text if not unicodedata.combining(mark))
    return tuple(part.lower() for part in _PARTS.findall(text))


def vocabulary(own: Path | None = None) -> Vocabulary:
    """The words of all languages; those of the user's own file come before them."""
    return _vocabulary(own)


@lru_cache(maxsize=8)
def _vocabulary(own: Path | None) -> Vocabulary:
    with (_FOLDER / "topics.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    topics = {row["topic"]: Meaning(**row, order=order) for order, row in enumerate(rows)}  # type: ignore[arg-type]
    found = Vocabulary(topics)
    for language in (*LANGUAGES, *EVERYWHERE):
        found.languages[language] = _words_of(
            (_FOLDER / f"{language}.txt").read_text(encoding="utf-8"), language, topics
        )
    for line in (_FOLDER / "abbreviations.txt").read_text(encoding="utf-8").splitlines():
        short, mark, words = line.partition(" = ")
        if mark and not line.startswith("#"):
            found.abbreviations[short] = tuple(words.split())
    if own is not None:
        found.languages["own"] = _words_of(_read(own), own.name, topics)
    for words_of_one in found.languages.values():
        found.take(words_of_one)
    return found


def _words_of(text: str, name: str, topics: dict[str, Meaning]) -> Vocabulary:
    found = Vocabulary(topics)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        topic, colon, words = line.partition(":")
        if not colon or topic.strip() not in found.topics:
            choices = listed(list(found.topics), most=60)
            raise InputError(f"{name}, line {number}: a line is `topic: word word`. Topics: {choices}")
        for word in words.split():
            found.add(topic.strip(), word)
    return found


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} is larger than a list of words may be ({MOST_BYTES // 10**6} MB)")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text. Save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}). Check its name") from None
