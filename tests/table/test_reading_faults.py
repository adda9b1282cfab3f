"""Files that cannot be read with certainty are refused: where, why, what to do - and never a cell in the message."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from polyveil.errors import InputError
from polyveil.table.source import read

SECRET = "zebra-7731"
ROW = f"{SECRET},{SECRET},{SECRET}\n"


@pytest.fixture
def refusal(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """Write a file, read it, hand back the message; whatever happens, the secret stays in the file."""

    def refuse(data: str | bytes, name: str = "people.csv", **options) -> str:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        with pytest.raises(InputError) as caught:
            read(path, **options)
        message = str(caught.value)
        output = "".join(capfd.readouterr())
        assert SECRET not in message + output
        assert name in message or "one character" in message
        error: BaseException | None = caught.value
        # A shown chain of causes would print the message of polars, cells included.
        assert error is not None
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__
        return message

    return refuse


def test_a_short_row(refusal):
    message = refusal("a,b,c\n" + ROW * 15 + f"{SECRET},x\n" + ROW)
    assert "line 17 has 2 fields, the header has 3" in message


def test_a_long_row(refusal):
    message = refusal("a,b,c\n" + ROW + f"{SECRET},x,y,z\n" + ROW * 3)
    assert "line 3 has 4 fields, the header has 3" in message


def test_a_short_and_a_long_row_do_not_make_up_for_each_other(refusal):
    message = refusal(f"a,b,c\n{ROW}{SECRET},1\n{SECRET},1,2,")
    assert "line 3 has 2 fields, the header has 3 (so it is with 1 more line)" in message


def test_ragged_rows_are_located_behind_cells_over_several_lines(refusal):
    message = refusal(f'a,b,c\n"{SECRET}\n\n",2,3\n1,2\n')
    assert "line 5 has 2 fields" in message


def test_ragged_with_other_line_ends(refusal):
    assert "line 3 has 1 field, the header has 2" in refusal(f"a,b\r\n1,2\r\n{SECRET}\r\n")
    assert "line 3 has 3 fields, the header has 2" in refusal(f"a,b\r1,2\r{SECRET},1,2\r")


def test_a_surplus_delimiter_at_the_very_end(refusal):
    assert "line 3 has 3 fields" in refusal(f"a,b\n1,2\n{SECRET},4,")


def test_a_blank_line_in_the_middle(refusal):
    message = refusal(f"a,b\n1,{SECRET}\n\n\n3,4\n")
    assert "line 3 is blank" in message
    assert "line 5" in message


def test_joined_files(refusal):
    message = refusal(f"a,b\n1,{SECRET}\na,b\n3,4\n")
    assert "line 3 repeats the header" in message


def test_glued_tables(refusal):
    message = refusal(f"id,description\n1,{SECRET}\n,\nother,description\n1,x\n")
    assert "line 4 looks like the header of another table" in message


def test_the_glued_tables_of_the_diabetes_data(shared_data):
    with pytest.raises(InputError, match=r"line 11 looks like the header of another table.*one table per file"):
        read(shared_data / "diabetes130_ids_mapping.csv")


@pytest.mark.parametrize("data", ["", "\n", "\r\n\r\n", "\ufeff", "  \n"])
def test_nothing_in_the_file(refusal, data):
    message = refusal(data)
    assert "empty" in message or "no text" in message


@pytest.mark.parametrize("data", ["a,b", "a,b\n", "a,b\r\n\r\n", "a\n"])
def test_a_header_and_nothing_else(refusal, data):
    assert "no rows" in refusal(data)


def test_repeated_names_are_told_by_their_place(refusal):
    assert "columns 1, 2, 3 and 5 share theirs" in refusal(f"age,zip,age,sex,zip\n1,2,3,{SECRET},5\n")
    # Without a header line these are somebody's cells.
    assert "columns 1 and 2" in refusal(f"{SECRET},{SECRET},x\ny,z,z\n")


def test_a_name_is_missing(refusal):
    assert "column 1 without a name" in refusal(f",age\n1,{SECRET}\n")
    assert "columns 1 and 3 without a name" in refusal(f",age,\n1,{SECRET},2\n")
    assert "column 2 without a name" in refusal(f"age,\n1,{SECRET}\n")


def test_a_row_where_the_header_should_be_is_not_quoted(refusal):
    message = refusal(f"39,{SECRET},77516,13,{SECRET},0,40\n50,x,83311,13,y,0,13\n")
    assert "line 1 looks like a row" in message


def test_bytes_that_are_no_text(refusal):
    data = b"a,b\n1," + SECRET.encode() + b"\n2,\x81\x8d" + SECRET.encode() + b"\n"
    message = refusal(data)
    assert "line 3 (byte 19 of the text) cannot be decoded; tried utf-8 and cp1252" in message
    assert "Declare the encoding" in message


def test_damaged_utf8_is_not_taken_for_another_encoding(refusal):
    good = "naïve café,Ünal Öz\n".encode() * 5
    message = refusal(b"a,b\n" + good + SECRET.encode() + b",\xe9t\xe9\n")
    assert "line 7" in message
    assert "tried utf-8." in message


def test_bytes_that_do_not_fit_the_declared_encoding(refusal):
    message = refusal(f"a,b\n1,{SECRET}\né,2\n".encode("cp1252"), encoding="utf-8")
    assert "line 3" in message
    assert "tried utf-8." in message
    assert "line 2" in refusal(f"a,b\n1,{SECRET}".encode("utf-16")[:-1], encoding="utf-16")


def test_an_unknown_encoding(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n")
    for encoding in ("utf-9", "hex", ""):
        with pytest.raises(InputError, match="encoding"):
            read(path, encoding=encoding)


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_nul_byte(refusal, size):
    message = refusal(b"a,b\n" + f"1,{SECRET}\n".encode() * size + b"2,\x00x\n")
    assert f"line {size + 2} contains a NUL byte" in message


def test_a_nul_byte_in_the_header(refusal):
    assert "line 1 contains a NUL byte" in refusal(b"a,b\x00\n1," + SECRET.encode() + b"\n")


def test_an_unclosed_quote(refusal):
    message = refusal(f'a,b\n1,2\n3,"{SECRET}\n' + "5,6\n" * 50)
    assert "a quote opened in the row that begins on line 3 is never closed" in message


def test_an_unclosed_quote_in_a_large_file(refusal):
    message = refusal(f'a,b\n1,2\n3,"{SECRET}\n' + f"5,{SECRET}\n" * 50_000)
    assert "line 3" in message


def test_an_unclosed_quote_in_the_header(refusal):
    assert "line 1" in refusal(f'a,"b\n1,{SECRET}\n')


def test_text_after_a_closing_quote(refusal):
    message = refusal(f'a,b\n1,2\n"{SECRET}" x,4\n')
    assert "line 3 has text after a closing quote" in message


def test_broken_gzip(refusal):
    whole = gzip.compress(f"a,b\n1,{SECRET}\n".encode() * 50)
    assert "broken gzip" in refusal(whole[:-9], "people.csv.gz")
    spoilt = bytearray(whole)
    spoilt[len(whole) // 2] ^= 0xFF
    assert "broken gzip" in refusal(bytes(spoilt), "people.csv.gz")
    assert "contains no gzip" in refusal(f"a,b\n1,{SECRET}\n", "people.csv.gz")
    assert "empty after unpacking" in refusal(gzip.compress(b""), "people.csv.gz")


def test_broken_zstd(refusal):
    assert "broken zstd" in refusal(b"\x28\xb5\x2f\xfd" + SECRET.encode(), "people.csv.zst")


def test_ten_thousand_columns(refusal):
    header = ",".join(f"c{i}" for i in range(10_000))
    message = refusal(header + "\n" + ",".join([SECRET] * 10_000) + "\n")
    assert "10,000 columns; at most 5,000 are read" in message


def test_five_thousand_columns_are_fine(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(5_000)) + "\n" + ",".join("1" * 5_000) + "\n")
    assert read(path).frame.shape == (1, 5_000)


def test_other_formats_in_disguise(refusal):
    assert "Excel" in refusal(b"PK\x03\x04" + SECRET.encode() * 20)
    assert "Parquet" in refusal(b"PAR1" + SECRET.encode() * 20)


@pytest.mark.parametrize("name", ["people.xls", "people", "people.json", "people.gz"])
def test_unsupported_names_say_what_is_supported(refusal, name):
    message = refusal(f"a,b\n1,{SECRET}\n", name)
    assert ".csv" in message
    assert ".parquet" in message


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="folder without Parquet files"):
        read(tmp_path)


@pytest.mark.parametrize("options", [{"delimiter": ""}, {"delimiter": ",,"}, {"delimiter": "\n"}, {"quote": "''"}])
def test_impossible_marks(refusal, options):
    assert "one character" in refusal(f"a,b\n1,{SECRET}\n", **options)


def test_delimiter_and_quote_must_differ(refusal):
    assert "the same" in refusal(f"a,b\n1,{SECRET}\n", delimiter='"', quote='"')


def test_a_decimal_mark_is_a_point_or_a_comma(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="point or a comma"):
        read(path, decimal="'")


def test_wrong_number_of_given_names(refusal):
    assert "2 column names were given, the first line has 3 fields" in refusal(ROW, names=["a", "b"])


def test_damaged_parquet(refusal, tmp_path):
    source = tmp_path / "whole.parquet"
    pl.DataFrame({"a": [SECRET] * 100, "b": range(100)}).write_parquet(source)
    whole = source.read_bytes()
    assert "its end is missing" in refusal(whole[: len(whole) // 2], "people.parquet")
    assert "is empty" in refusal(b"", "people.parquet")
    assert "not a Parquet file" in refusal(f"a,b\n1,{SECRET}\n", "people.parquet")
    assert "damaged Parquet file" in refusal(whole[:4] + b"\xff" * 40 + whole[44:], "people.parquet")
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert "damaged Parquet file" in refusal(whole[:footer] + b"\xff" * 20 + whole[footer + 20 :], "people.parquet")
