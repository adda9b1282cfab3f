"""What the values of a column look like, whatever its name: codes that people know, answers that tell the question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import polars as pl

from polyveil.table.profiling.vocabulary_files import plain

_SAMPLE = 2_000
_MOST = 0.9
"""This share of the values must have the shape."""
_SHAPES: tuple[tuple[str, str, str, int], ...] = (
    # topic, what the values are, shape, least number of different values
    ("contact", "e-mail addresses", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$", 1),
    ("contact", "web addresses", r"^(https?://|www\.)\S+$", 3),
    ("contact", "IP addresses", r"^(\d{1,3}\.){3}\d{1,3}$", 2),
    ("contact", "phone numbers", r"^\+\d[\d ()/.-]{6,18}\d$|^\(?0\d{1,4}\)?[ /-]\d[\d ()/.-]{4,14}\d$", 3),
    ("contact", "phone numbers", r"^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$", 3),
    ("official_number", "account numbers (IBAN)", r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?$", 2),
    ("official_number", "social security numbers", r"^\d{3}-\d{2}-\d{4}$", 3),
    ("official_number", "card numbers", r"^(\d{4}[ -]){3}\d{4}$", 3),
    ("official_number", "random keys", r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", 2),
    ("official_number", "hashes", r"^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$", 5),
    ("health", "codes of diseases (ICD)", r"^[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?$", 5),
    ("postcode", "postal codes", r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$|^\d{4} ?[A-Z]{2}$", 5),
    ("money", "amounts of money", r"^-?[$€£¥] ?[\d.,' ]+$|^[\d.,' ]+ ?(€|EUR|USD|CHF|kr)$", 3),
)
_ANSWERS: tuple[tuple[str, str, frozenset[str]], ...] = tuple(
    (topic, what, frozenset(words.split("|")))
    for topic, what, words in (
        (
            "sex",
            "sexes",
            "m|f|male|female|man|woman|mannlich|weiblich|divers|homme|femme|hombre|mujer|masculino|feminino"
            "|femenino|maschio|femmina|man|vrouw|男|女|other|diverse|x|h",
        ),
        (
            "belief",
            "religions",
            "catholic|protestant|muslim|islam|jewish|hindu|buddhist|christian|orthodox|atheist|none"
            "|katholisch|evangelisch|muslimisch|catholique|catolica|cattolica|sikh|no religion|other|agnostic",
        ),
        (
            "family",
            "marital states",
            "single|married|divorced|widowed|separated|never married|ledig|verheiratet|geschieden"
            "|verwitwet|celibataire|marie|divorce|veuf|soltero|casado|divorciado|viudo|solteiro|celibe|coniugato|gehuwd"
            "|ongehuwd|未婚|已婚|离婚|丧偶|living with partner|partnered|s|m|d|w",
        ),
        ("health", "blood groups", "a+|a-|b+|b-|ab+|ab-|o+|o-|0+|0-|a|b|ab|o"),
    )
)


@dataclass(frozen=True)
class Shape:
    """What most values look like, and the topic that tells."""

    topic: str
    what: str


def shape_of(values: pl.Series) -> Shape | None:
    """The shape that nearly all different values have, if it is one we know."""
    if values.dtype != pl.String or values.is_empty():
        return None
    sample = values.head(_SAMPLE).to_list()
    for topic, what, pattern, least in _SHAPES:
        expression = re.compile(pattern)
        if len(sample) >= least and _most_match(expression, sample):
            return Shape(topic, what)
    words = {plain(text.strip()) for text in sample} if len(sample) <= 20 else set()
    for topic, what, answers in _ANSWERS:
        if (len(words) >= 2 and words <= answers and any(len(word) > 1 for word in words)) or words in (
            {"m", "f"},
            {"男", "女"},
        ):
            return Shape(topic, what)
    return None


def _most_match(expression: re.Pattern[str], sample: list[str]) -> bool:
    """Whether nearly all texts have the shape; ends with the first text that is one too many without it."""
    others = (text for text in sample if expression.match(text) is None)
    return next(islice(others, int((1 - _MOST) * len(sample) + 1e-9), None), None) is None


def is_free_text(values: pl.Series, distinct_share: float) -> bool:
    """Long texts of several words that mostly differ."""
    if values.dtype != pl.String:
        return False
    sample = values.head(_SAMPLE)
    words = float(sample.str.count_matches(r"\s").cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]
    length = float(sample.str.len_chars().cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]
    return distinct_share > 0.5 and (length > 40 or (words >= 3 and length > 25))


def looks_like_money(numbers: pl.Series, counts: pl.Series) -> bool:
    """Amounts: from zero up, with a long tail, and cents or many zeros."""
    if numbers.len() < 30 or float(numbers.min() or 0) < 0:  # type: ignore[arg-type]
        return False
    high, middle = float(numbers.max() or 0), float(numbers.median() or 0)  # type: ignore[arg-type]
    cents = (numbers * 100 - (numbers * 100).round()).abs().max()
    whole = bool((numbers == numbers.round()).all())
    zeros = int(counts.filter(numbers == 0).sum()) / max(int(counts.sum()), 1)
    return high > 1_000 and high > 5 * middle and ((not whole and float(cents or 0) < 1e-6) or zeros > 0.2)  # type: ignore[arg-type]
