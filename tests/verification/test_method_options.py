"""The verifier's own list of options against what the methods declare: the same names, defaults and values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from polyveil.methods import METHODS
from polyveil.policy import Policy
from polyveil.verification.options import OPTIONS

POLICY = Policy.from_dict(
    {
        "columns": {"age": {"role": "quasi"}, "a": {"role": "sensitive"}, "b": {"role": "sensitive"}},
        "privacy": {"k": 2},
    }
)
EDGES = [-1, 0, 1, 2, 64, 100, 101, 1000, 1001, 4096, 4097, 10_000, 10_001, 50_000]
VALUES: list[Any] = [
    None,
    True,
    False,
    "Alice",
    "auto",
    "k",
    *EDGES,
    0.0,
    0.5,
    1e6,
    1e6 + 1,
    [],
    ["a"],
    {},
    {"c": [1.0]},
]
OWN = [name for name in METHODS if METHODS[name].__module__.startswith("polyveil.")]


def words_of(schema: Any) -> set[str]:
    """Every word that a declaration names."""
    if isinstance(schema, dict):
        return {word for part in schema.values() for word in words_of(part)}
    if isinstance(schema, list):
        return {word for part in schema for word in words_of(part)}
    return {schema} if isinstance(schema, str) else set()


def test_every_method_is_listed() -> None:
    assert set(OPTIONS) == set(OWN)


@pytest.mark.parametrize("method", OWN)
def test_options_and_defaults_are_those_of_the_method(method: str) -> None:
    declared = METHODS[method].options_type()
    assert [(name, default) for name, (default, _) in OPTIONS[method].items()] == list(
        json.loads(declared.model_dump_json()).items()
    )


@pytest.mark.parametrize("method", OWN)
def test_a_value_may_stand_in_a_manifest_if_the_method_takes_it(method: str) -> None:
    options = METHODS[method].options_type
    words = words_of(options.model_json_schema())
    for name, (default, allowed) in OPTIONS[method].items():
        field = TypeAdapter(options)
        for value in [*VALUES, *words, default]:
            try:
                taken = json.loads(field.validate_python({name: value}, strict=False).model_dump_json())[name]
            except ValidationError:
                assert not allowed(value, POLICY), (name, value)
                continue
            if json.dumps(taken) == json.dumps(value) and value not in ({"c": [1.0]}, []):
                assert allowed(value, POLICY), (name, value)
            elif json.dumps(taken) != json.dumps(value):
                assert not allowed(value, POLICY), (name, value)


def test_columns_that_an_option_names_are_the_policys() -> None:
    edges, slices = OPTIONS["fragment"]["edges"][1], OPTIONS["sloms"]["slices"][1]
    assert edges({"a": [1.0, 2.0]}, POLICY)
    assert not edges({"Alice": [1.0]}, POLICY)
    assert not edges({"a": ["Alice"]}, POLICY)
    assert slices([["a"], ["b"]], POLICY)
    assert not slices([["a"], ["Alice"]], POLICY)
