"""The scalars of a policy - category text, whole numbers, numbers - as YAML, JSON, Python and numpy spell them."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AllowInfNan, BeforeValidator, Strict

from polyveil.policy.broken import BrokenRule


def plain_number(value: Any) -> Any:
    """numpy's numbers as Python's own; everything else unchanged, for the strict check that follows."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return value


# Strict: a quoted "5", `true` and 5.0 are not the whole number 5, and a policy should not guess.
Whole = Annotated[int, Strict(), BeforeValidator(plain_number)]
Number = Annotated[float, Strict(), AllowInfNan(False), BeforeValidator(plain_number)]


def category(value: Any) -> str:
    """A category, marker or label as text; YAML gives it as written, Python callers may give numbers and dates."""
    if isinstance(value, str):
        return writable(str(value))
    if isinstance(value, dt.date):
        return value.isoformat()
    number = plain_number(value)
    if isinstance(number, bool):
        raise BrokenRule("a category is text, not true or false", "Put it in quotes")
    if isinstance(number, int):
        return str(number)
    if isinstance(number, float) and math.isfinite(number):
        return number_label(number)
    raise BrokenRule("a category is text", "Write text, in quotes if it is empty or starts with a special character")


def writable(text: str) -> str:
    """The text, where it can be written."""
    if not is_unicode(text):
        raise BrokenRule("a text contains half a character (a lone surrogate)", "Write the character as UTF-8")
    return text


def is_unicode(text: str) -> bool:
    """Whether the text can be written at all; escapes in YAML and JSON can name half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Text = Annotated[str, AfterValidator(writable)]


MOST_WORDS = 600


def words(value: Any) -> str:
    """A sentence or two for people, on one line."""
    text = " ".join(category(value).split())
    if not text.isprintable():
        raise BrokenRule("a text contains characters that cannot be printed", "Write plain words")
    if not 0 < len(text) <= MOST_WORDS:
        raise BrokenRule(f"a text must have 1 to {MOST_WORDS} characters, not {len(text)}", "Write a sentence or two")
    return text


Words = Annotated[str, BeforeValidator(words)]


def categories(value: Any) -> tuple[str, ...]:
    """One category or a list of them."""
    if value is None:
        return ()
    if isinstance(value, Mapping | set | frozenset):
        raise BrokenRule("a list of texts is needed here", "Write [one, two]")
    return tuple(category(item) for item in value) if isinstance(value, list | tuple) else (category(value),)


def security_level(key: Any) -> int:
    """A security level: 0, 1, 2, ... (text in YAML and JSON, where keys are text)."""
    number = plain_number(key)
    if isinstance(number, str) and re.fullmatch(r"-?(0|[1-9][0-9]{0,8})", number):
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        raise BrokenRule("a security level is a whole number", "Write levels as 0, 1, 2, ...")
    if number < 0:
        raise BrokenRule(f"a security level is not negative, one is {number}", "Start the levels at 0")
    return number


def number_label(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a decimal point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
