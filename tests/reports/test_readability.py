"""The first page of a report is for people who decide and do not know the field: short words, no unexplained term."""

from __future__ import annotations

import re
from html import unescape

import polars as pl
import pytest

import polyveil

TABLE = pl.DataFrame(
    {
        "age": [20 + i * 7 % 50 for i in range(80)],
        "town": [("Cork", "Derry", "Galway", "Lisbon")[i % 4] for i in range(80)],
        "ill": [("flu", "gout", "HIV", "cold")[i * i % 7 % 4] for i in range(80)],
    }
)
COLUMNS = {"age": {"role": "quasi"}, "town": {"role": "quasi", "recode": "set"}, "ill": {"role": "sensitive"}}
POLICIES = {
    "generalized": {"columns": COLUMNS, "privacy": {"k": 4, "suppression_limit": 0.05}},
    "linked": {"columns": COLUMNS, "privacy": {"l": 2}, "method": {"name": "mbf"}},
}
TERMS = {
    "quasi-identifier": "are called quasi-identifiers",
    "group": "Rows that look the same are called a group",
    "sensitive": "are called sensitive",
    "guarantee": "is called a guarantee",
}
"""Terms of the field, and the words that explain each."""
UNKNOWN = ("k-anonymity", "t-closeness", "l-diversity", "equivalence", "generaliz", "suppress", "adversar", "microdata")
"""Terms that the first page must do without."""


def first_page(name: str, language: str = "en") -> str:
    """The text of the summary, one sentence per end of a line."""
    release = polyveil.anonymize(TABLE, POLICIES[name], seed=1)
    page = polyveil.report(release, language=language)
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    body = re.search(r'<section id="summary".*?</section>', page, re.DOTALL)
    assert lead is not None
    assert body is not None
    text = re.sub(r"</(?:dt|dd|h2|p)>", "\n", lead[1] + "\n" + body[0])
    return unescape(re.sub("<[^>]+>", "", text))


def syllables(word: str) -> int:
    """Groups of vowels; a silent e at the end does not count."""
    sounds = len(re.findall(r"[aeiouyäöü]+", word.lower()))
    return max(1, sounds - (word.lower().endswith("e") and not word.lower().endswith("le") and sounds > 1))


def sentences_and_words(text: str) -> tuple[list[str], list[str]]:
    sentences = [part for part in re.split(r"[.?!:]\s|\n", text) if re.search(r"[^\W\d]", part)]
    return sentences, [word for part in sentences for word in re.findall(r"[^\W\d_]+", part)]


def grade(text: str) -> float:
    """Flesch-Kincaid: the year of school in which a text is understood."""
    sentences, words = sentences_and_words(text)
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def test_the_score_is_that_of_known_texts() -> None:
    assert grade("The cat sat on the mat. The dog ran.\n") == pytest.approx(0.39 * 4.5 + 11.8 - 15.59)
    assert grade("Considerable organizational responsibilities necessitate institutional accountability.") > 20


@pytest.mark.parametrize("name", POLICIES)
def test_a_school_leaver_can_read_the_first_page(name: str) -> None:
    text = first_page(name)
    sentences, words = sentences_and_words(text)
    assert grade(text) <= 9.0
    assert len(words) < 300, "two minutes are some 300 words"
    assert max(len(re.findall(r"\w+", sentence)) for sentence in sentences) <= 22


def test_the_german_page_is_readable_too() -> None:
    """Amstad's version of Flesch's score: 60 and more is plain German."""
    sentences, words = sentences_and_words(first_page("generalized", "de"))
    count = sum(len(re.findall(r"[aeiouyäöü]+", word.lower())) for word in words)
    assert 180 - len(words) / len(sentences) - 58.5 * count / len(words) >= 55


@pytest.mark.parametrize("name", POLICIES)
def test_no_term_comes_before_its_explanation(name: str) -> None:
    text = " ".join(first_page(name).split())
    for term, explanation in TERMS.items():
        if name == "linked" and term == "group":
            explanation = "linked to several rows at once, called a group"
        first = text.index(term)
        assert text.index(explanation) <= first <= text.index(explanation) + len(explanation), term
    assert [word for word in UNKNOWN if word in text.lower()] == []
