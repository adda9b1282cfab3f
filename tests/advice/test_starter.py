"""The starter policy loads as it is, fits its table, and gives its reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.policy_strategies import orders, texts
from polyveil.advice import starter_policy
from polyveil.demo import EXAMPLES
from polyveil.policy import Order, from_text
from polyveil.table.bind import bind
from polyveil.table.profiling.column import ColumnProfile, MissingHint
from polyveil.table.profiling.profile import column_profiles
from polyveil.table.source import read


def column(name: str = "c", **changes: Any) -> ColumnProfile:
    values: dict[str, Any] = {
        "name": name,
        "dtype": "String",
        "type": "categorical",
        "missing": 0,
        "distinct": 5,
        "unique_share": 0.0,
        "role": "quasi",
        "reason": "It says so.",
        "hierarchy": None,
        "date_format": None,
        "missing_hints": (),
        "low": None,
        "high": None,
    }
    return ColumnProfile(**{**values, **changes})


HAND_MADE = (
    column("name", role="identifier", reason="Column name suggests a person's name."),
    column(
        "age", type="numeric", hierarchy={"intervals": {"width": 5, "levels": 3}}, reason="Column name suggests age."
    ),
    column("zip", hierarchy={"mask": 5}, reason="Column name suggests a postal code."),
    column(
        "town", missing_hints=(MissingHint("?", 1200), MissingHint("-9", 3)), reason="Column name suggests a place."
    ),
    column("street", distinct=5000),
    column("seen", type="date", date_format="%d.%m.%Y", hierarchy={"date": ["month", "year"]}),
    column("pain", type="ordinal", role="sensitive", hierarchy={"order": ["no", "some", "much"]}),
    column("ward", role="insensitive"),
)
EXPECTED = """\
# A first policy for patients.csv: suggestions from the names and values of the columns, not decisions.
# Check every role: identifier is dropped, quasi generalized, sensitive protected, insensitive published as it is.
version: 1
defaults: {quasi: {recode: set}}  # categories without a hierarchy are released as sets of values
columns:
  name:   {role: identifier}  # Column name suggests a person's name.
  age:    {role: quasi, type: numeric}  # Column name suggests age.
  zip:    {role: quasi, type: categorical, for_quasi: {hierarchy: {mask: 5}}}  # Column name suggests a postal code.
  # Column name suggests a place. Read as missing: "?" in 1,200 rows. May mean missing: -9 in 3 rows.
  town:   {role: quasi, type: categorical, missing: ["?"]}
  street: {role: quasi, type: categorical}  # It says so.
  # It says so.
  seen:   {role: quasi, type: date, for_quasi: {hierarchy: {date: [month, year]}}, date_format: "%d.%m.%Y"}
  pain:   {role: sensitive, type: ordinal, hierarchy: {order: ["no", some, much]}}  # It says so.
  ward:   {role: insensitive}  # It says so.
# k: every row looks like at least 4 others.
# t: in every group of such rows, sensitive values are spread as in the whole table, up to 0.2.
privacy: {k: 5, t: 0.2}
method: {name: sift}
"""


def test_a_starter_policy_by_hand() -> None:
    assert starter_policy(HAND_MADE, source="patients.csv") == EXPECTED
    assert from_text(EXPECTED).privacy.t == 0.2


def test_without_sensitive_columns_only_k_is_asked_for() -> None:
    policy = from_text(starter_policy([column("a")], k=3))
    assert (policy.privacy.k, policy.privacy.t) == (3, None)


def test_where_nothing_is_suggested_something_becomes_quasi() -> None:
    """A policy without anything to protect does not load."""
    policy = from_text(starter_policy([column("a", role="identifier"), column("b", role="insensitive")]))
    assert policy.having("quasi") == ("b",)
    names = [column("a", role="identifier", unique_share=1.0), column("b", role="identifier", unique_share=0.95)]
    assert from_text(starter_policy(names)).having("quasi") == ("b",)


def test_the_order_of_a_column_makes_it_ordinal() -> None:
    policy = from_text(starter_policy([column("a", type="categorical", hierarchy={"order": ["x", "y"]})]))
    assert policy.columns["a"].type == "ordinal"
    assert policy.columns["a"].hierarchy == Order(order=["x", "y"])


hints = st.lists(
    st.builds(MissingHint, st.sampled_from(["?", "NA", "-", "*", "999", "-9", "nan", "null"]), st.integers(1, 10**7)),
    max_size=3,
    unique_by=lambda hint: hint.marker,
).map(tuple)
rules = st.one_of(
    st.none(),
    orders,
    st.integers(1, 12).map(lambda mask: {"mask": mask}),
    st.sampled_from([{"date": ["month", "year"]}, {"intervals": {"width": 0.5, "levels": 3}}]),
)
FITTING = {"mask": "categorical", "date": "date", "intervals": "numeric", "order": "ordinal"}


@st.composite
def profiles(draw: st.DrawFn) -> list[ColumnProfile]:
    found = []
    for name in draw(st.lists(texts, min_size=1, max_size=6, unique=True)):
        role = draw(st.sampled_from(["identifier", "quasi", "sensitive", "insensitive"]))
        rule = draw(rules) if role in ("quasi", "sensitive") else None
        kind = FITTING[next(iter(rule))] if rule else draw(st.sampled_from(["numeric", "categorical", "date"]))
        found.append(
            column(
                name,
                role=role,
                type=kind,
                hierarchy=rule,
                missing_hints=draw(hints),
                reason=draw(st.text(max_size=20)),
                distinct=draw(st.integers(0, 200)),
                date_format=draw(st.sampled_from([None, "%Y-%m-%d", "%d %B %Y"])) if kind == "date" else None,
            )
        )
    return found


@settings(max_examples=100)
@given(profiles(), st.text(max_size=10))
def test_every_starter_policy_loads(found: list[ColumnProfile], source: str) -> None:
    policy = from_text(starter_policy(found, source=source))
    assert list(policy.columns) == [about.name for about in found]


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_the_starter_policy_of_a_demo_table_fits_it(example: str) -> None:
    table = read(EXAMPLES[example].generate(2000, 1))
    policy = from_text(starter_policy(column_profiles(table)))
    bound = bind(policy, table)
    assert len(bound.quasi) >= 3
    assert len(bound.sensitive) >= 1


@pytest.mark.parametrize("file", ["adult.csv.gz", "ilpd.csv.gz", "hcv.csv.gz", "credit_default_tw.parquet"])
def test_the_starter_policy_of_a_real_table_fits_it(shared_data: Path, file: str) -> None:
    table = read(shared_data / file)
    policy = from_text(starter_policy(column_profiles(table), source=file))
    assert bind(policy, table).rows == table.frame.height


def test_a_table_of_one_constant_column_gets_a_policy_too() -> None:
    table = read(pl.DataFrame({"x": ["a", "a"]}))
    assert from_text(starter_policy(column_profiles(table))).having("quasi") == ("x",)


def test_many_sensitive_columns_get_a_looser_t_and_the_reason_and_no_line_is_too_long() -> None:
    long_reason = "Column name suggests health, and " + "so do many of the words in its long description, " * 4
    columns = [column(f"s{i}x", role="sensitive", type="numeric", reason=long_reason) for i in range(21)]
    text = starter_policy(columns)
    assert from_text(text).privacy.t == 0.4
    assert "sensitive columns are many" in text
    assert from_text(starter_policy(columns, t=0.1)).privacy.t == 0.1
    assert from_text(starter_policy(columns[:-1])).privacy.t == 0.2
    assert max(map(len, text.splitlines())) <= 120


def test_a_wide_table_leaves_likely_quasi_identifiers_out_if_it_has_many() -> None:
    sure = [column(f"known{chr(97 + i)}") for i in range(13)]
    likely = [column(f"likely{chr(97 + i)}", confidence="medium") for i in range(20)]
    text = starter_policy([*sure, *likely, column("illness", role="sensitive")])
    assert from_text(text).having("quasi") == tuple(about.name for about in sure)
    assert "likelya" in text  # named among those left out, with the reason
    assert "one of 33 columns that others may know" in " ".join(text.split())
    assert "13 quasi-identifiers are many" in text
    few = starter_policy([*sure[:4], *likely[:8], *[column(f"s{i}", role="sensitive") for i in range(30)]])
    assert len(from_text(few).having("quasi")) == 12


def test_a_wide_table_gets_more_seconds_the_more_rows_it_has() -> None:
    columns = [column(f"s{i}x") for i in range(31)]
    policies = [from_text(starter_policy(columns, rows=rows)) for rows in (0, 40_000, 10**7)]
    assert [policy.method.model_dump()["effort"] for policy in policies] == [5, 80, 120]


@pytest.mark.parametrize(
    ("rows", "quasi", "sensitive", "seconds"),
    [
        (100_000, 8, 8, None),  # the method's own effort takes about a minute
        (101_000, 8, 1, 60),
        (400_000, 5, 8, 80),
        (400_000, 5, 12, 120),
        (1_048_575, 4, 14, 120),
        (60_000, 16, 2, 60),
        (30_000, 5, 20, None),
    ],
)
def test_a_large_table_gets_seconds_that_people_wait_for_and_the_reason(
    rows: int, quasi: int, sensitive: int, seconds: int | None
) -> None:
    columns = [column(f"q{i}x") for i in range(quasi)]
    columns += [column(f"s{i}x", role="sensitive", type="categorical") for i in range(sensitive)]
    text = starter_policy(columns, rows=rows)
    assert from_text(text).method.model_dump().get("effort") == seconds
    assert ("# effort: seconds to search" in text) == (seconds is not None)
