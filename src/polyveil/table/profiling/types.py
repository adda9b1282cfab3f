"""What the values of a column are: numbers, dates, ordered or plain categories. Judged on the distinct values."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polyveil.policy.schema import ColumnType
from polyveil.table.profiling.column import MissingKind
from polyveil.table.profiling.vocabulary_files import Meaning
from polyveil.table.profiling.words import is_quantity

TEXT_MARKERS = (
    *("?", "-", "--", ".", "..", "*", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NAN", "NULL", "null", "Null"),
    *("None", "none", "nil", "missing", "Missing", "MISSING", "unknown", "Unknown", "UNKNOWN", "(null)"),
    *("9999-99-99", "0000-00-00", "9999-12-31", "00/00/0000", "99/99/9999", "00.00.0000", "99.99.9999"),
)
_SURVEY_WORDS: dict[MissingKind, tuple[str, ...]] = {
    "refused": (
        *("refused", "refusal", "declined", "declined to answer", "prefer not to say", "prefer not to answer", "ref"),
        *("verweigert", "keine angabe", "k.a.", "refus", "refuse de répondre", "ne souhaite pas répondre"),
        *("no contesta", "no responde", "se negó", "prefiero no contestar", "recusou", "não respondeu"),
        *("rifiuta", "non risponde", "geweigerd", "wil niet zeggen", "拒答", "拒绝回答"),
    ),
    "don't know": (
        *("don't know", "dont know", "don’t know", "do not know", "not sure", "dk", "weiß nicht", "weiss nicht"),
        *("ne sait pas", "nsp", "no sabe", "ns/nc", "não sabe", "nao sabe", "non so", "non sa", "weet niet", "不知道"),
    ),
    "not applicable": (
        *("not applicable", "inapplicable", "does not apply", "skipped", "legitimate skip", "valid skip"),
        *("trifft nicht zu", "entfällt", "sans objet", "non concerné", "no aplica", "não se aplica"),
        *("non applicabile", "niet van toepassing", "nvt", "n.v.t.", "不适用"),
    ),
    "missing": ("not ascertained", "not available", "no answer", "blank", "could not obtain", "not stated", "未填"),
}
_KIND_OF_WORD = {word: kind for kind, words in _SURVEY_WORDS.items() for word in words}
_KIND_OF_DIGIT: dict[str, MissingKind] = {"7": "refused", "8": "not applicable", "9": "don't know"}
_SAME_DIGITS = tuple(float(digit * length) for digit in "789" for length in range(1, 8))
_HIGH_MARKERS = (
    *_SAME_DIGITS,
    *(float(f"{nines}{last}") for nines in ("9", "99", "999", "9999", "99999") for last in (6, 7, 8)),
)
_LOW_MARKERS = (-1.0, *(-float(digit * length) for digit in "6789" for length in range(1, 5)))
_FAR = 10
"""A code for "missing" is this many steps above the values, or twice as high as the highest."""
DATE_FORMATS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%d %b %Y", "%d %B %Y"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M"),
)
_SCALES = tuple(
    tuple(scale.split("|"))
    for scale in (
        "very low|low|medium|high|very high",
        "none|mild|moderate|severe|critical",
        "small|medium|large",
        "never|rarely|sometimes|often|always",
        "very poor|poor|fair|good|very good|excellent",
        "strongly disagree|disagree|neutral|agree|strongly agree",
        "niedrig|mittel|hoch",
        "bajo|medio|alto",
        "bas|moyen|haut",
    )
)
_RANGE = re.compile(r"^[\[(<>= ]*(\d+(?:\.\d+)?)\s*(?:[-–,:]|to|bis|\+|years|$)?\s*(\d+(?:\.\d+)?)?\s*[\])+]*$")

_RANGE_MARK = re.compile(r"[\[(<>+–,:-]|to|bis")


@dataclass(frozen=True)
class Kind:
    """The suggested type of a column, and what was found on the way."""

    type: ColumnType
    low: float | dt.date | None = None
    high: float | dt.date | None = None
    date_format: str | None = None
    order: tuple[str, ...] | None = None
    missing_markers: tuple[str, ...] = ()
    whole: bool = False


def kind_of_marker(marker: str) -> MissingKind:
    """What a marker usually means: 77 a refusal, 99 that somebody did not know."""
    if marker.lower() in _KIND_OF_WORD:
        return _KIND_OF_WORD[marker.lower()]
    digits = marker.strip("-")
    return _KIND_OF_DIGIT.get(digits[-1:], "missing") if digits.isdigit() else "missing"


def kind_of(name: str, values: pl.Series, decimal: str, meaning: Meaning | None = None) -> Kind:
    """Judge the distinct values (no nulls) of a column."""
    if values.is_empty():
        return Kind("categorical")
    if values.dtype.is_temporal() and values.dtype != pl.Time:
        days = values.cast(pl.Date)
        return Kind("date", low=_day(days.min()), high=_day(days.max()))
    if values.dtype.is_numeric():
        numbers = values.cast(pl.Float64)
        whole = values.dtype.is_integer() or bool((numbers.is_finite() & (numbers == numbers.round())).all())
        return _kind_of_numbers(name, numbers, (), meaning, whole=whole)
    if values.dtype != pl.String:
        return Kind("categorical")
    is_marker = values.is_in(TEXT_MARKERS) | values.str.to_lowercase().is_in(list(_KIND_OF_WORD))
    markers = tuple(sorted(values.filter(is_marker).to_list()))
    return _kind_of_text(name, values.filter(~is_marker), markers, decimal, meaning)


def _kind_of_text(
    name: str, values: pl.Series, markers: tuple[str, ...], decimal: str, meaning: Meaning | None
) -> Kind:
    if values.is_empty():
        return Kind("categorical", missing_markers=markers)
    if (date_format := _date_format(values)) is not None:
        days = values.str.to_date(date_format)
        return Kind("date", _day(days.min()), _day(days.max()), date_format, missing_markers=markers)
    numbers = as_numbers(values, decimal)
    # Codes have leading zeros, numbers do not.
    if numbers is not None and not values.str.contains(r"^[-+]?0\d").any():
        whole = not values.str.contains(r"[.,eE]").any()
        return _kind_of_numbers(name, numbers, markers, meaning, whole=whole)
    order = _order(values)
    return Kind("ordinal" if order else "categorical", order=order, missing_markers=markers)


def as_numbers(values: pl.Series, decimal: str) -> pl.Series | None:
    """Text as numbers if all of it is, read the way binding a policy reads it; otherwise None."""
    text = values
    if decimal == ",":
        text = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    numbers = text.cast(pl.Float64, strict=False)
    return numbers if numbers.is_finite().fill_null(value=False).all() else None


def _kind_of_numbers(
    name: str, numbers: pl.Series, markers: tuple[str, ...], meaning: Meaning | None, *, whole: bool
) -> Kind:
    codes = _number_markers(numbers)
    rest = numbers.filter(~numbers.is_in(codes)) if codes else numbers
    shown = (*markers, *(f"{code:.0f}" for code in codes))
    if rest.is_empty():
        return Kind("categorical", missing_markers=markers)
    if whole and not is_quantity(name, rest.len(), meaning):
        return Kind("categorical", missing_markers=shown, whole=whole)
    low, high = rest.min(), rest.max()
    return Kind("numeric", _number(low), _number(high), missing_markers=shown, whole=whole)


def _number_markers(numbers: pl.Series) -> list[float]:
    """Codes such as 999 far above, or -9 below, everything else: usually a missing value in disguise."""
    distinct = numbers.unique().sort()
    found: list[float] = []
    high = distinct.filter(distinct.is_in(_HIGH_MARKERS))
    if not high.is_empty() and high[-1] == distinct[-1]:
        length = len(f"{high[-1]:.0f}")
        high = high.filter(high >= 10.0 ** (length - 1))
        rest = distinct.filter(distinct < high[0])
        if not rest.is_empty() and rest.len() + high.len() == distinct.len() and _is_far(rest, float(high[0])):
            found += high.to_list()
    low = distinct.filter(distinct.is_in(_LOW_MARKERS))
    above = distinct.filter(~distinct.is_in(_LOW_MARKERS))
    if not low.is_empty() and not above.is_empty() and float(above[0]) >= 0:
        found += low.to_list()
    return found


def _is_far(rest: pl.Series, marker: float) -> bool:
    """Whether a marker is no value like the others: twice as high, many steps away, or a 7 or 9 beside few answers."""
    highest = float(rest[-1])
    if 2 * highest < marker and marker > 9:
        return True
    if marker <= 9:
        return rest.len() <= 6 and highest <= 5 and marker - highest >= 2
    step = float(rest.diff().drop_nulls().median() or 1.0) if rest.len() > 1 else 1.0  # type: ignore[arg-type]
    return rest.len() > 5 and marker - highest >= _FAR * step


def _date_format(values: pl.Series) -> str | None:
    """The first format that every value has; days before months where both would do."""
    sample = values.head(200)
    if not sample.str.contains(r"\d").all() or (sample.str.len_chars() < 8).any():
        return None
    for date_format in DATE_FORMATS:
        if not sample.str.to_date(date_format, strict=False).is_null().any():
            days = values.str.to_date(date_format, strict=False)
            if not days.is_null().any() and days.dt.year().is_between(1850, 2150).all():
                return date_format
    return None


def _order(values: pl.Series) -> tuple[str, ...] | None:
    """The order of a known scale, or of ranges such as `[20-30)`, `<18`, `65+`."""
    if not 3 <= values.len() <= 100:
        return None
    texts = values.to_list()
    lowered = {text.lower(): text for text in texts}
    for scale in _SCALES:
        if len(lowered) == len(texts) and set(lowered) <= set(scale):
            return tuple(lowered[step] for step in scale if step in lowered)
    ranges = [(_start(text), text) for text in texts]
    # Plain numbers among ranges are fine (0, 1-2, 3+); nothing but plain numbers here are codes with leading zeros.
    if any(start is None for start, _ in ranges) or not any(_RANGE_MARK.search(text) for text in texts):
        return None
    return tuple(text for _, text in sorted(ranges, key=lambda item: item[0] or (0.0, 0.0)))


def _start(text: str) -> tuple[float, float] | None:
    found = _RANGE.match(text)
    if found is None:
        return None
    start = float(found.group(1))
    # "<18" comes before "18-25", ">65" after "60-65".
    before = -1.0 if text.lstrip().startswith("<") else 1.0 if text.lstrip().startswith(">") else 0.0
    return start, before


def _day(value: object) -> dt.date | None:
    return value if isinstance(value, dt.date) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def lengths(values: pl.Series) -> Sequence[int]:
    """Numbers of characters that occur among the values."""
    return sorted(values.cast(pl.String).str.len_chars().unique().to_list())
