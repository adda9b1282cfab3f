"""The languages that the names and descriptions of a table are written in.

Words mean different things in different languages: `note` is a grade in French and a remark in Italian, `son` is a
child in English and a possessive in French. So a table is read in its own languages, and in all others only for the
names that those do not explain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from polyveil.table.profiling.vocabulary_files import Vocabulary, parts_of

_SHORTEST = 4
"""Shorter words are shared by too many languages."""
_LONGEST_SHARED = 2
"""A word that more languages have says nothing about which one it is."""
LEAST_WORDS = 2.0
LEAST_SHARE = 0.35
"""A language is spoken if it has this many words of its own, and this share of what the first language has."""
_SMALL_WORDS = {
    "english": "the of was were is are and with by did does has have been you your how",
    "german": "der die das und ist sind wurde bei ob sie ihr ihre wie wurden eine einen einer im zur zum",
    "french": "les des du au aux est une dans avez vous votre vos pour avoir son sa sur par ou avec",
    "spanish": "el los las del una usted su sus fue tiene ha por y con durante cual algun",
    "portuguese": "os da do das dos foi uma voce seu sua ao em na no nao possui houve pelo qual",
    "italian": "il gli della dei delle nel una lei ha e con per degli del dalla negli quale suo sua",
    "dutch": "het een van de en is zijn uw u heeft werd bij voor hoe met wordt of welke",
}
_LANGUAGES_OF_SMALL = {
    word: [language for language, words in _SMALL_WORDS.items() if word in words.split()]
    for words in _SMALL_WORDS.values()
    for word in words.split()
}


def spoken_words(known: Vocabulary, texts: Iterable[str]) -> Vocabulary:
    """The words of the languages in which these texts are written; English if nothing tells."""
    points: dict[str, float] = defaultdict(float)
    for text in texts:
        for part in parts_of(text):
            languages = list(_languages_of(part, known))
            if len(languages) <= _LONGEST_SHARED:
                for language in languages:
                    points[language] += 1 / len(languages)
    best = max(points.values(), default=0.0)
    least = max(LEAST_WORDS, LEAST_SHARE * best)
    return known.only({language for language, count in points.items() if count >= least} or {"english"})


def _languages_of(part: str, known: Vocabulary) -> Iterator[str]:
    if "\u4e00" <= part[0] <= "\u9fff":
        yield "chinese"
    elif part in _LANGUAGES_OF_SMALL:
        yield from _LANGUAGES_OF_SMALL[part]
    elif len(part) >= _SHORTEST:
        yield from (language for language in _SMALL_WORDS if _has(part, known.languages[language]))


def _has(part: str, words: Vocabulary) -> bool:
    if part in words.whole or any(part[:end] in words.start for end in range(_SHORTEST, len(part) + 1)):
        return True
    return any(
        part[first:last] in words.inside
        for first in range(len(part) - _SHORTEST)
        for last in range(first + _SHORTEST + 1, len(part) + 1)
    )
