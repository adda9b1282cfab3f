"""The sentences in which earlier versions stated the same guarantees, so that their releases still verify.

A sentence is made from the model that the policy asks for, with its threshold: only the wording differs from today's.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from polyveil.models import Model
from polyveil.models.diversity import ordinal

_TO_0_1: dict[str, Callable[[Any], str]] = {
    "KAnonymity": lambda m: f"every class has at least {m.threshold:g} rows",
    "LinkedAnonymity": lambda m: m.statement(),
    "GroupAnonymity": lambda m: m.statement(),
    "AlphaAnonymity": lambda m: f"no value of {m.attribute} makes up more than {m.threshold:g} of any class",
    "DistinctDiversity": lambda m: f"every class has at least {m.threshold:g} different values of {m.attribute}",
    "PSensitivity": lambda m: f"every class has at least {m.threshold:g} different values of {m.attribute}",
    "FrequencyDiversity": lambda m: f"no value of {m.attribute} makes up more than 1/{m.threshold:g} of any class",
    "EntropyDiversity": lambda m: (
        f"{m.attribute} is as uncertain in every class as {m.threshold:g} equally likely values"
    ),
    "RecursiveDiversity": lambda m: (
        f"in every class the most common value of {m.attribute} is rarer than {m.threshold:g} times "
        f"the values from the {ordinal(m.l)} most common on"
    ),
    "LevelDiversity": lambda m: (
        f"no value of {m.attribute} makes up more of any class than "
        + ", ".join(f"1/{least} at level {level}" for level, least in m.per_level.items())
    ),
    "TCloseness": lambda m: f"{m.attribute} in every class is at most {m.threshold:g} away from the whole table",
    "DeltaDisclosure": lambda m: (
        f"no value of {m.attribute} is more than e^{m.threshold:g} times as likely, or as unlikely, "
        "in any class as in the whole table"
    ),
    "BasicBetaLikeness": lambda m: (
        f"no value of {m.attribute} is more than {1 + m.threshold:g} times as likely in any class"
    ),
    "EnhancedBetaLikeness": lambda m: (
        f"no value of {m.attribute} is more than {1 + m.threshold:g} times as likely in any class, common values less"
    ),
    "JointCloseness": lambda m: (
        f"{m.attribute} together are in every class at most {m.threshold:g} away from the whole table"
    ),
}
"""Up to version 0.1, by the class of the model."""

_LIMITS_TO_0_1 = {
    "alpha-k-anonymity": {"6046e34db27475ae"},
    "basic-beta-likeness": {"9f93bfa7cb764697"},
    "delta-disclosure": {"05c4827aa0d98475"},
    "distinct-l-diversity": {"5bfd5b21ca2621ee"},
    "enhanced-beta-likeness": {"7f1053504a5ce930"},
    "entropy-l-diversity": {"31d063aa5c54df19"},
    "frequency-l-diversity": {"106bf002f55ed71c"},
    "joint-t-closeness": {"db5f9c117885dce1"},
    "k-anonymity": {"7d19aaed47e289c4", "9547b1f41e062983", "ffba7cb23faea06b"},
    "level-l-diversity": {"218e05018a7eac0a"},
    "p-sensitivity": {"5bfd5b21ca2621ee"},
    "recursive-l-diversity": {"c519fac9f224f907"},
    "t-closeness": {"8fff2f12921f7bf9"},
}
"""Per model the checksums of what version 0.1 said it helps against and leaves open."""


def is_stated(model: Model, statement: str, *, former: bool) -> bool:
    """Whether a sentence states the model's demand, in today's words or, in a former release, in former ones."""
    written = _TO_0_1.get(type(model).__name__) if former else None
    return statement == model.statement() or (written is not None and statement == written(model))


def limits_are_stated(model: Model, helps_against: str, leaves_open: str, *, former: bool) -> bool:
    """Whether a claim says what its model helps against and leaves open, in today's words or in former ones."""
    if (helps_against, leaves_open) == (model.helps_against, model.leaves_open):
        return True
    return former and sha256(f"{helps_against}\n{leaves_open}".encode()).hexdigest()[:16] in _LIMITS_TO_0_1.get(
        model.key, ()
    )
