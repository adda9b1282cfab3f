"""A first look suggests what a careful steward would, says why, and counts people right."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.errors import InputError
from polyveil.policy.schema import Column
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.profile import column_profiles, nice_width, singled_out
from polyveil.table.profiling.words import meaning_of
from polyveil.table.source import Table, read


def looked_at(columns: dict[str, list], decimal: str = ".") -> dict[str, ColumnProfile]:
    table = Table(pl.DataFrame(columns), "table", decimal=decimal)
    return {column.name: column for column in column_profiles(table)}


def roles(columns: dict[str, ColumnProfile]) -> dict[str, str]:
    return {name: column.role for name, column in columns.items()}


def test_counts_are_of_values_and_rows():
    column = looked_at({"town": ["Rome", "Rome", "Oslo", None, None]})["town"]
    assert (column.dtype, column.missing, column.distinct) == ("String", 2, 2)
    assert column.unique_share == 0.2  # Oslo: one row of five


def test_types_of_text():
    columns = looked_at(
        {
            "age": ["30", "41", "?"] * 5,
            "score": [f"{i}.5" for i in range(15)],
            "born": ["1980-05-17", "1999-12-31", "1950-01-01"] * 5,
            "seen": ["17.05.2021", "01.02.2020", "31.12.2022"] * 5,
            "us_date": ["12/31/2020", "01/02/2021", "03/04/2022"] * 5,
            "pain": ["low", "high", "medium"] * 5,
            "band": ["65+", "<18", "18-30", "31-64", "65+"] * 3,
            "code": ["00123", "04567", "11111"] * 5,
            "smoker": ["0", "1", "1"] * 5,
            "town": ["Rome", "Oslo", "Bern"] * 5,
        }
    )
    types = {name: column.type for name, column in columns.items()}
    assert types == {
        "age": "numeric",
        "score": "numeric",
        "born": "date",
        "seen": "date",
        "us_date": "date",
        "pain": "ordinal",
        "band": "ordinal",
        "code": "categorical",
        "smoker": "categorical",
        "town": "categorical",
    }
    formats = (columns["born"].date_format, columns["seen"].date_format, columns["us_date"].date_format)
    assert formats == ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y")
    assert (columns["age"].low, columns["age"].high) == (30, 41)
    assert (columns["born"].low, columns["born"].high) == (dt.date(1950, 1, 1), dt.date(1999, 12, 31))
    assert columns["pain"].hierarchy == {"order": ["low", "medium", "high"]}
    assert columns["band"].hierarchy == {"order": ["<18", "18-30", "31-64", "65+"]}


def test_numbers_with_a_decimal_comma():
    column = looked_at({"height": ["1,71", "1.001,5", "2"]}, decimal=",")["height"]
    assert (column.type, column.low, column.high) == ("numeric", 1.71, 1001.5)


def test_types_of_native_columns():
    columns = looked_at(
        {
            "sex": [1, 2, 2],
            "num_visits": [1, 2, 2],
            "salary": [1000, 2000, 3000, 4000, 5000][:3],
            "flag": [True, False, True],
            "day": [dt.date(2020, 1, 1), dt.date(2021, 1, 1), None],
            "at": [dt.datetime(2020, 1, 1, 8), dt.datetime(2021, 1, 1, 9), None],
            "void": pl.Series([None, None, None], dtype=pl.String),
            "kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        }
    )
    assert {name: column.type for name, column in columns.items()} == {
        "sex": "categorical",
        "num_visits": "numeric",
        "salary": "categorical",
        "flag": "categorical",
        "day": "date",
        "at": "date",
        "void": "categorical",
        "kind": "categorical",
    }
    assert columns["void"].role == "drop"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("name", "identifier"),
        ("Patient Name", "identifier"),
        ("lastName", "identifier"),
        ("Vorname", "identifier"),
        ("prénom", "identifier"),
        ("apellidos", "identifier"),
        ("E-Mail", "identifier"),
        ("telefono", "identifier"),
        ("SSN", "identifier"),
        ("codice_fiscale", "identifier"),
        ("birth_date", "quasi"),
        ("Geburtsdatum", "quasi"),
        ("edad", "quasi"),
        ("Geschlecht", "quasi"),
        ("código postal", "quasi"),
        ("PLZ", "quasi"),
        ("hospital_name", "quasi"),
        ("estado civil", "quasi"),
        ("Beruf", "quasi"),
        ("nationalité", "quasi"),
        ("age_at_diagnosis", "quasi"),
        ("diagnosis", "sensitive"),
        ("Krankheit", "sensitive"),
        ("HIV_status", "sensitive"),
        ("maladie", "sensitive"),
        ("monthlySalary", "sensitive"),
        ("Einkommen", "sensitive"),
        ("renda", "sensitive"),
        ("religion", "sensitive"),
        ("sexual_orientation", "sensitive"),
        ("hospital_cost", "sensitive"),
    ],
)
def test_names_in_several_languages_are_understood(name, role):
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.role == role


@pytest.mark.parametrize("name", ["trace", "column", "garage", "xyz", "village_people_rank2x", "message"])
def test_words_inside_other_words_mean_nothing(name):
    meaning = meaning_of(name)
    assert meaning is None or meaning.subject != "age or birth"


def test_evidence_speaks_where_names_do_not():
    rows = 200
    columns = looked_at(
        {
            "ref": [f"K-{i:05d}" for i in range(rows)],
            "id": list(range(rows)),
            "patient_no": [i // 2 for i in range(rows)],
            "remark": [f"came with a long story about visit number {i % 150} and many more words" for i in range(rows)],
            "source": ["survey"] * rows,
            "happened": [str(dt.date(2020, 1, 1) + dt.timedelta(days=i % 90)) for i in range(rows)],
            "group": ["a", "b"] * (rows // 2),
        }
    )
    assert roles(columns) == {
        "ref": "identifier",
        "id": "identifier",
        "patient_no": "person",
        "remark": "identifier",
        "source": "drop",
        "happened": "quasi",
        "group": "quasi",
    }
    assert all(column.reason.endswith(".") for column in columns.values())


def test_zip_codes_are_masked_and_wide_numbers_cut():
    columns = looked_at(
        {
            "zip": [f"{i * 331 % 100000:05d}" for i in range(300)],
            "age": [str(18 + i % 70) for i in range(300)],
            "admission_date": [str(dt.date(1990, 1, 1) + dt.timedelta(days=i * 40)) for i in range(300)],
            "zipcode": [10_000 + i for i in range(300)],
        }
    )
    assert columns["zip"].hierarchy == {"mask": 5}
    assert (columns["zipcode"].type, columns["zipcode"].hierarchy) == ("categorical", {"mask": 5})
    assert columns["age"].hierarchy == {"intervals": {"width": 5, "levels": 3}}
    assert columns["admission_date"].hierarchy == {"date": ["month", "year", "decade"]}


def test_suggestions_are_words_a_policy_understands():
    columns = looked_at(
        {
            "zip": [f"{i:05d}" for i in range(100)] * 2,
            "age": list(range(100)) * 2,
            "height": [1.5 + i / 300 for i in range(100)] * 2,
            "born": [dt.date(1980, 1, 1) + dt.timedelta(days=i) for i in range(100)] * 2,
            "pain": ["low", "high", "medium", "low"] * 50,
        }
    )
    for column in columns.values():
        declared = Column(role=column.role, type=column.type, hierarchy=column.hierarchy)
        assert declared.hierarchy is not None


def test_suspected_missing_markers_are_hinted_at_and_not_assumed():
    columns = looked_at(
        {
            "work": ["?", "clerk", "?", "NA", "cook", "cook"],
            "age": ["30", "31", "999", "45", "44", "999"],
            "visits": [-9, 0, 1, 2, 3, 4],
            "hours": [95, 96, 97, 98, 99, 40],
            "died": ["9999-99-99", "2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05", "2020-01-06"],
        }
    )
    found = {name: {hint.marker: hint.rows for hint in column.missing_hints} for name, column in columns.items()}
    assert found == {
        "work": {"?": 2, "NA": 1},
        "age": {"999": 2},
        "visits": {"-9": 1},
        "hours": {},
        "died": {"9999-99-99": 1},
    }
    assert columns["age"].high == 45
    assert columns["work"].missing == 0


def test_lowest_and_highest_stay_out_of_the_printed_form():
    column = looked_at({"salary": [7731.25, 8842.5, 1.5]})["salary"]
    assert column.high == 8842.5
    assert "8842" not in repr(column)
    assert "7731" not in repr(column)


@pytest.mark.parametrize(
    ("width", "whole", "nice"),
    [(3.65, True, 5), (0.03, True, 1), (0.03, False, 0.05), (1, False, 1), (1234, True, 2000), (0.5, False, 0.5)],
)
def test_nice_widths(width, whole, nice):
    assert nice_width(width, whole=whole) == nice


def test_singled_out_counts_unique_rows_with_nulls_as_values():
    table = Table(pl.DataFrame({"a": [1, 1, 2, None, None, None], "b": ["x", "x", "x", None, None, "y"]}), "table")
    assert singled_out(table, ["a", "b"]) == 2  # (2, x) and (null, y)
    assert singled_out(table, ["a"]) == 1
    assert singled_out(table, []) == 0
    with pytest.raises(InputError, match="no column 'c'"):
        singled_out(table, ["a", "c"])


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.one_of(st.none(), st.sampled_from("xyz"))), min_size=1
    )
)
def test_singled_out_equals_counting_by_hand(rows):
    table = Table(pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row"), "table")
    assert singled_out(table, ["a", "b"]) == sum(rows.count(row) == 1 for row in rows)
    assert singled_out(table, ["a"]) == sum([a for a, _ in rows].count(a) == 1 for a, _ in rows)


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(st.none(), st.text(max_size=6), st.from_regex(r"-?\d{1,4}([.,]\d)?", fullmatch=True)), min_size=1
    ),
    st.text(max_size=12),
    st.sampled_from(".,"),
)
def test_any_column_can_be_looked_at(cells, name, decimal):
    column = looked_at({name: pl.Series(cells, dtype=pl.String)}, decimal)[name]
    assert column.missing == cells.count(None)
    assert column.distinct == len(set(cells) - {None})
    assert column.unique_share == sum(cells.count(cell) == 1 for cell in cells if cell is not None) / len(cells)


def test_adult_is_understood(shared_data):
    table = read(shared_data / "adult.csv.gz")
    columns = {column.name: column for column in column_profiles(table)}
    assert roles(columns) == {
        "age": "quasi",
        "workclass": "quasi",
        "fnlwgt": "weight",
        "education": "quasi",
        "education-num": "quasi",
        "marital-status": "quasi",
        "occupation": "quasi",
        "relationship": "quasi",
        "race": "quasi",
        "sex": "quasi",
        "capital-gain": "sensitive",
        "capital-loss": "sensitive",
        "hours-per-week": "quasi",
        "native-country": "quasi",
        "income": "sensitive",
        "split": "insensitive",
    }
    # README of the data: 74 ages.
    assert (columns["age"].type, columns["age"].distinct, columns["age"].low) == ("numeric", 74, 17)
    assert columns["workclass"].missing_hints[0].marker == "?"
    quasi = ["age", "sex", "race"]
    by_hand = table.frame.group_by(quasi).len().filter(pl.col("len") == 1).height
    assert singled_out(table, quasi) == by_hand


def test_patient_tables_are_understood(shared_data):
    blood = {column.name: column for column in column_profiles(read(shared_data / "hcv.csv.gz"))}
    assert {name for name, column in blood.items() if column.role == "quasi"} == {"Age", "Sex"}
    assert {column.role for name, column in blood.items() if name not in {"Age", "Sex"}} == {"sensitive"}
    stays = {column.name: column for column in column_profiles(read(shared_data / "diabetes130.parquet"))}
    assert roles(stays) | {"encounter_id": "identifier", "patient_nbr": "person", "diag_1": "sensitive"} == roles(stays)
    assert stays["age"].hierarchy == {"order": [f"[{i}-{i + 10})" for i in range(0, 100, 10)]}
    covid = {column.name: column for column in column_profiles(read(shared_data / "covid_mx.parquet"))}
    assert (covid["DATE_DIED"].type, covid["DATE_DIED"].date_format) == ("date", "%d/%m/%Y")
    assert [hint.marker for hint in covid["ICU"].missing_hints] == ["97", "99"]
