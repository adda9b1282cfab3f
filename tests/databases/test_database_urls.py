"""Where a database is: every form of URL, and no secret in anything that can be printed."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import settings as rules
from hypothesis import strategies as st

from polyveil.errors import InputError
from polyveil.table.databases import is_url, place_of, shown
from polyveil.table.databases.faults import postgresql_fault
from polyveil.table.databases.names import TableName, quoted, table_name
from polyveil.table.databases.postgresql import _connection_string


@pytest.mark.parametrize(
    ("url", "settings", "schema"),
    [
        ("postgresql://h/db", {"host": "h", "dbname": "db"}, None),
        ("postgres://u@h:1/db?schema=r", {"user": "u", "host": "h", "port": "1", "dbname": "db"}, "r"),
        (
            "postgresql://u:p%40%2F@[::1]:5/d%20b",
            {"user": "u", "password": "p@/", "host": "::1", "port": "5", "dbname": "d b"},
            None,
        ),
        ("postgresql://u:a@b@h/db", {"user": "u", "password": "a@b", "host": "h", "dbname": "db"}, None),
        ("postgresql://a:1,b:2/db", {"host": "a,b", "port": "1,2", "dbname": "db"}, None),
        ("postgresql:///db?host=/var/run&schema=R%C3%BCck%22", {"dbname": "db", "host": "/var/run"}, 'Rück"'),
        ("postgresql://?service=clinic", {"service": "clinic"}, None),
        (
            "postgresql://h/db?sslmode=require&password=x",
            {"host": "h", "dbname": "db", "sslmode": "require", "password": "x"},
            None,
        ),
    ],
)
def test_postgresql_urls(url: str, settings: dict[str, str], schema: str | None) -> None:
    place = place_of(url)
    assert (dict(place.settings), place.schema) == (settings, schema)
    # What is shown leads to the same place, but for its secrets.
    again = place_of(str(place))
    assert again.schema == schema
    assert dict(again.settings) == {name: value for name, value in settings.items() if name != "password"}


def test_file_urls() -> None:
    assert str(place_of("sqlite://a/b.db").file) == "a/b.db"
    assert str(place_of("duckdb:///a/b%3F.duckdb?schema=r").file) == "/a/b?.duckdb"
    assert shown("duckdb:///a/b%3F.duckdb?schema=r") == "duckdb:///a/b%3F.duckdb?schema=r"
    assert shown("some/folder") == "some/folder"
    assert [is_url(text) for text in ("sqlite://a", "C:/data", "a.csv", "x:y", "mysql://h")] == [
        True,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr3t/x@h/db",
        "postgresql://u:s3cr3t?x@h/db",
        "postgresql://u:12?s3cr3t@h/db",
        "postgresql://u@h:s3cr3t/db",
        "postgresql://u:x@h/db?s3cr3t",
        "postgresql://u:x@h/db?S3CR3T=s3cr3t",
        "postgresql://u:s3cr3t@h/db?schema=",
        "postgresq://u:s3cr3t@h/db",
        "mysql://u:s3cr3t@h/db",
        "sqlite://?schema=r",
        "sqlite://a.db?password=s3cr3t",
        "duckdb://:memory:",
    ],
)
def test_urls_that_cannot_be_understood_are_not_repeated(url: str) -> None:
    with pytest.raises(InputError) as caught:
        place_of(url)
    assert "s3cr3t" not in str(caught.value)


@rules(max_examples=60)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.booleans())
def test_no_secret_is_ever_shown(secret: str, as_setting: bool) -> None:
    marked = f"<{secret}>"
    written = quote(marked, safe="")
    url = f"postgresql://h/db?password={written}" if as_setting else f"postgresql://u:{written}@h/db"
    place = place_of(url)
    assert place.settings["password"] == marked
    for text in (str(place), repr(place), place.redacted(f"driver says {marked}!"), shown(url)):
        assert marked not in text
        assert written not in text
    # Whatever the value is, the driver's own parser gives it back.
    value = _connection_string({"password": marked}).split("password='")[1]
    assert value.replace("\\'", "'").replace("\\\\", "\\").startswith(marked) or "\\" in marked


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("patients", TableName("patients")),
        ("clinic.patients", TableName("patients", "clinic")),
        ('"a.b"', TableName("a.b", exact=True)),
        ('"s ""1""".t;--', TableName("t;--", 's "1"')),
        ('a"b; drop', TableName('a"b; drop')),
        ('ü 表."T"', TableName("T", "ü 表", exact=True)),
    ],
)
def test_names_of_tables(text: str, table: TableName) -> None:
    assert table_name(text) == table


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a.b.c", '"a', '"a"b', '""'])
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="name"):
        table_name(text)


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_a_quoted_name_is_nothing_but_a_name(name: str) -> None:
    sql = quoted(name)
    assert sql[0] == sql[-1] == '"'
    assert sql[1:-1].replace('""', "").count('"') == 0
    assert table_name(sql) == TableName(name, exact=True)


def test_a_zero_byte_is_no_name() -> None:
    with pytest.raises(InputError, match="zero byte"):
        quoted("a\0b")


def fail_as_a_driver_does() -> None:
    try:
        raise OSError(" ".join(["ERROR:  invalid input syntax for type integer:", "Jane Roe", "s3cr" + "3t"]))
    except OSError as error:
        raise postgresql_fault(error, place_of("postgresql://u:s3cr3t@h/db"), "reading") from error


def test_errors_of_the_driver_lose_their_text_in_the_chain_too() -> None:
    with pytest.raises(InputError, match="may quote a cell") as caught:
        fail_as_a_driver_does()
    assert str(caught.value.__cause__) == ""
