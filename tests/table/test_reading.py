"""Text tables are read as they are meant: dialect found, text exact, nothing dropped or invented."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from polyveil.table.csv import file as csv_file
from polyveil.table.source import Table, read


@pytest.fixture
def file(tmp_path: Path):
    def write(data: str | bytes, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


def rows(table: Table) -> list[tuple[str | None, ...]]:
    return table.frame.rows()


def test_every_column_is_text_and_keeps_its_exact_characters(file):
    table = read(file("zip,age,score\n01234,7,1.50\n00042,12,2e3\n"))
    assert set(table.frame.dtypes) == {pl.String}
    assert rows(table) == [("01234", "7", "1.50"), ("00042", "12", "2e3")]
    assert (table.name, table.height, table.width, table.first_line) == ("people.csv", 2, 3, 2)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\r\r\n"])
def test_delimiter_and_line_ends_are_found(file, delimiter, ending):
    lines = [
        "name,age,town".replace(",", delimiter),
        "Ann,30,Rome".replace(",", delimiter),
        f"Bob{delimiter}{delimiter}",
    ]
    table = read(file(ending.join(lines) + ending))
    assert table.delimiter == delimiter
    assert rows(table) == [("Ann", "30", "Rome"), ("Bob", None, None)]


def test_a_comma_in_numbers_is_not_taken_for_the_delimiter(file):
    table = read(file("name;height;weight\nAnn;1,71;60,5\nBob;1,80;82,25\n"))
    assert (table.delimiter, table.decimal) == (";", ",")
    assert rows(table)[0] == ("Ann", "1,71", "60,5")


@pytest.mark.parametrize(
    ("cells", "decimal"),
    [
        (["1.5", "2.25"], "."),
        (["1,5", "2,25"], ","),
        (["1.234,56", "7,1"], ","),
        (["1,234.56", "7.1"], "."),
        (["1,234", "5,678"], "."),  # thousands or decimals: nothing speaks for the comma
        (["12", "Rome"], "."),
        (["0,125", "0,250"], ","),
    ],
)
def test_the_decimal_mark_is_found(file, cells, decimal):
    assert read(file("id;value\n" + "".join(f"{i};{cell}\n" for i, cell in enumerate(cells)))).decimal == decimal


def test_declarations_win_over_detection(file):
    path = file("a;b,c\n1;2,3\n")
    assert read(path, delimiter=";").columns == ("a", "b,c")
    assert read(path, delimiter=",").columns == ("a;b", "c")
    assert read(path, decimal=",").decimal == ","


def test_whitespace_around_cells_and_names_is_removed(file):
    table = read(file("age, workclass , sex\n39, State-gov , Male\n50,  Self emp,Female\t\n"))
    assert table.columns == ("age", "workclass", "sex")
    assert rows(table) == [("39", "State-gov", "Male"), ("50", "Self emp", "Female")]
    assert rows(read(file("a,b\n x,y \n"), strip=False)) == [(" x", "y ")]


def test_spaces_around_quoted_cells_are_not_text(file):
    assert rows(read(file('a, b, c\n"1" , "x, y" ,""\n2, "z" ,3\n'))) == [("1", "x, y", None), ("2", "z", "3")]


def test_nothing_in_a_cell_means_missing_quoted_or_not(file):
    assert rows(read(file('a,b,c\n1,"", \n2,x,y\n'))) == [("1", None, None), ("2", "x", "y")]


def test_declared_markers_mean_missing_after_stripping(file):
    table = read(file("a,b\n?, NA\n ? ,x\nx?,NAN\n"), missing=["?", "NA"])
    assert rows(table) == [(None, None), (None, "x"), ("x?", "NAN")]


def test_quoted_cells_hold_delimiters_quotes_and_line_ends(file):
    table = read(file('a,b\n"x, y","say ""hi"""\n"two\nlines",z\n'))
    assert rows(table) == [("x, y", 'say "hi"'), ("two\nlines", "z")]
    assert table.first_line is None  # rows and lines no longer go together


def test_quotes_inside_unquoted_cells_are_text(file):
    assert rows(read(file('pipe,size\nsteel,5" long\ncopper,3"\n'))) == [("steel", '5" long'), ("copper", '3"')]


def test_single_quotes_are_found_and_apostrophes_are_not(file):
    assert rows(read(file("a,b\n'x, y','z'\n'p','q'\n"))) == [("x, y", "z"), ("p", "q")]
    assert rows(read(file("a,b\nO'Neill,'t Hooft\nD'Arcy,x\n"))) == [("O'Neill", "'t Hooft"), ("D'Arcy", "x")]


def test_quoting_can_be_declared_away(file):
    assert rows(read(file('a,b\n"x,y\n'), quote=None)) == [('"x', "y")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_the_encoding_is_found(file, encoding):
    table = read(file("name,town\nJosé Muñoz,Besançon\nMüller,Köln\n".encode(encoding)))
    assert rows(table) == [("José Muñoz", "Besançon"), ("Müller", "Köln")]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("имя,город\nИванов,Москва\nПетрова,Тверь\n", "cp1251"), ("imię,miasto\nŁukasz Żółć,Gdańsk\n", "cp1250")],
)
def test_other_alphabets_are_found_or_can_be_declared(file, text, encoding):
    path = file(text.encode(encoding))
    assert read(path).columns == tuple(text.splitlines()[0].split(","))
    assert rows(read(path, encoding=encoding)) == rows(read(file(text)))


def test_utf8_is_never_guessed_away(file):
    # These bytes are "Ã©" in cp1252: valid UTF-8 wins.
    assert rows(read(file("a,b\né,1\n"))) == [("é", "1")]


def test_accents_far_into_the_file_count_too(file):
    data = ("name,n\n" + "plain,1\n" * 20_000 + "Müller,2\n").encode("cp1252")
    table = read(file(data))
    assert rows(table)[-1] == ("Müller", "2")
    assert table.encoding == "cp1252"


@pytest.mark.parametrize("name", ["people.csv.gz", "people.txt.gz", "people.csv"])
def test_gzip_is_recognised_by_its_content(file, name):
    assert rows(read(file(gzip.compress(b"a,b\n1,2\n"), name))) == [("1", "2")]


def test_zstd_is_read(file):
    import pyarrow as pa

    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(b"a\tb\n1\t2\n")
    assert rows(read(file(packed.getvalue().to_pybytes(), "people.tsv.zst"))) == [("1", "2")]


def test_one_row_and_one_column_are_tables_too(file):
    assert rows(read(file("a,b\n1,2"))) == [("1", "2")]
    assert rows(read(file("a\n1\n\n2\n"))) == [("1",), (None,), ("2",)]


def test_a_column_of_sentences_is_one_column(file):
    table = read(file("remark\nill, then well\nwell\nill, well, ill\n"))
    assert rows(table) == [("ill, then well",), ("well",), ("ill, well, ill",)]


def test_blank_lines_at_the_end_are_no_rows(file):
    assert rows(read(file("a,b\n1,2\n\n\n"))) == [("1", "2")]
    assert rows(read(file("a,b\r\n1,\r\n\r\n"))) == [("1", None)]


def test_rows_without_any_value_are_kept(file):
    assert rows(read(file("a,b\n1,2\n,\n3,4\n"))) == [("1", "2"), (None, None), ("3", "4")]


def test_leading_blank_lines_and_excels_separator_line_are_skipped(file):
    table = read(file("\n\nsep=|\na|b\n1|2\n"))
    assert rows(table) == [("1", "2")]
    assert table.first_line == 5


def test_a_file_without_a_header_can_be_given_names(file):
    table = read(file("39, State-gov\n50, Private\n"), names=["age", "workclass"])
    assert (table.columns, table.first_line) == (("age", "workclass"), 1)
    assert rows(table) == [("39", "State-gov"), ("50", "Private")]


def test_years_and_running_numbers_are_good_names(file):
    assert read(file("region,2019,2020,2021\nN,1,2,3\n")).width == 4
    assert read(file("1,2,10\na,b,c\n")).width == 3


def test_a_header_over_two_lines(file):
    table = read(file('"age\n(years)",sex\n30,f\n31,m\n'))
    assert table.columns == ("age\n(years)", "sex")
    assert table.first_line == 3


def test_any_single_character_delimits(file):
    assert rows(read(file("a§b\n1§2\n"), delimiter="§")) == [("1", "2")]
    assert rows(read(file("a b\n1 2\n"), delimiter=" ")) == [("1", "2")]


def test_the_format_can_be_declared_for_any_name(file):
    assert rows(read(file("a,b\n1,2\n", "adult.data"), format="csv")) == [("1", "2")]


def test_names_are_not_patterns(file):
    file("a,b\n9,9\n", "x1.csv")
    assert rows(read(file("a,b\n1,2\n", "x[0-9]*.csv"))) == [("1", "2")]


def test_large_files_with_cells_over_several_lines_stay_on_the_fast_path(file, monkeypatch):
    """Many pieces for the census and for polars' threads, with quotes at every boundary."""
    monkeypatch.setattr(csv_file, "read_carefully", None)
    count = 60_000
    lines = "".join(f'{i},"{i % 7}, first\n""second""\n line",{"é" * (i % 5)}x\n' for i in range(count))
    table = read(file("id,text,tail\n" + lines))
    assert table.height == count
    assert table.frame["id"].to_list() == [str(i) for i in range(count)]
    assert table.frame["text"].to_list() == [f'{i % 7}, first\n"second"\n line' for i in range(count)]
    assert table.frame["tail"].to_list() == ["é" * (i % 5) + "x" for i in range(count)]


def test_real_tables_read_whole(shared_data):
    adult = read(shared_data / "adult.csv.gz", missing=["?"])
    assert (adult.height, adult.width) == (48_842, 16)
    # README of the data: 45,222 rows are complete.
    assert adult.frame.drop_nulls().height == 45_222
    assert read(shared_data / "hcv.csv.gz").frame.shape == (615, 13)
    assert read(shared_data / "ilpd.csv.gz").frame.shape == (583, 11)
    file = shared_data / "hierarchies" / "adult_hierarchy_sex.csv"
    assert read(file, names=["sex", "everybody"]).delimiter == ";"  # a hierarchy has no line of names
