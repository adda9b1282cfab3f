"""Parquet files and frames of other libraries come in with their own types, one kind of missing and plain columns."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyveil.errors import InputError
from polyveil.table.source import read

SECRET = "zebra-7731"


def test_polars_frames_keep_their_types_and_lose_their_nans():
    frame = pl.DataFrame({"age": [30, None], "score": [1.5, float("nan")], "day": [dt.date(2020, 1, 2), None]})
    table = read(frame)
    assert table.frame.schema == frame.schema
    assert table.frame.rows() == [(30, 1.5, dt.date(2020, 1, 2)), (None, None, None)]
    assert (table.name, table.first_line) == ("table", None)
    assert read(frame.lazy()).frame.equals(table.frame)


def test_a_column_without_any_value_is_text_of_nulls():
    table = read(pl.DataFrame({"a": [1, 2], "b": [None, None]}))
    assert table.frame["b"].dtype == pl.String
    assert table.frame["b"].null_count() == 2


def test_markers_mean_missing_in_text_numbers_and_dates():
    frame = pl.DataFrame(
        {
            "text": ["?", "x", "-9"],
            "number": [-9, 5, None],
            "real": [-9.0, 0.5, 1.0],
            "day": [dt.date(9999, 12, 31), dt.date(2020, 1, 1), None],
            "flag": [True, False, None],
            "kind": pl.Series(["?", "a", "b"], dtype=pl.Categorical),
        }
    )
    assert read(frame, missing=["?", "-9", "9999-12-31"]).frame.rows() == [
        (None, None, None, None, True, None),
        ("x", 5, 0.5, dt.date(2020, 1, 1), False, "a"),
        (None, None, 1.0, None, None, "b"),
    ]
    assert read(frame).frame.equals(frame)


def test_an_empty_text_in_a_frame_is_a_value_there():
    # A frame has null for missing; only text files have no other way to say it.
    assert read(pl.DataFrame({"a": ["", "x"]})).frame["a"].to_list() == ["", "x"]


def test_pandas_in_all_its_ways_to_be_missing():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "plain": [1.5, np.nan, 3.0],
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "text": ["a", None, np.nan],
            "string": pd.array(["x", pd.NA, "z"], dtype="string"),
            "kind": pd.Categorical(["lo", None, "hi"]),
            "number_kind": pd.Categorical([10, None, 20]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "day": pd.to_datetime(["2020-01-02", None, "2021-03-04"]),
            7: [1, 2, 3],
        },
        index=[10, 10, 99],
    )
    table = read(frame)
    assert table.columns == ("plain", "whole", "text", "string", "kind", "number_kind", "flag", "day", "7")
    assert table.frame.row(1) == (None,) * 8 + (2,)
    assert table.frame["kind"].cast(pl.String).to_list() == ["lo", None, "hi"]
    assert table.frame["number_kind"].to_list() == [10, None, 20]
    assert table.frame["whole"].dtype == pl.Int64


def test_pandas_columns_of_mixed_types_are_named_and_not_quoted():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"ok": [1, 2], "mixed": [SECRET, 3], "odd": [{1}, object()]})
    with pytest.raises(InputError, match="'mixed' and 'odd'") as caught:
        read(frame)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_pandas_headers_must_be_one_line_of_different_names():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="2 header levels"):
        read(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])))
    with pytest.raises(InputError, match="columns 1 and 2 share"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_pandas_is_not_imported_for_those_who_do_not_use_it():
    code = (
        "import sys, polars as pl; from polyveil.table.source import read; read(pl.DataFrame({'a': [1]}));"
        "assert not {'pandas', 'charset_normalizer'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_arrow_tables_and_whatever_streams_arrow():
    arrow = pa.table({"a": [1, None], "b": pa.array(["x", "y"]).dictionary_encode(), "c": [float("nan"), 2.0]})
    assert read(arrow).frame.select(pl.col("a"), pl.col("b").cast(pl.String), pl.col("c")).rows() == [
        (1, "x", None),
        (None, "y", 2.0),
    ]

    class Streams:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return arrow.__arrow_c_stream__(requested_schema)

    assert read(Streams()).frame.shape == (2, 3)
    with pytest.raises(InputError, match="columns 1 and 2 share"):
        read(pa.table([[1], [2]], names=["a", "a"]))


@pytest.mark.parametrize("source", [{"a": [1]}, [1, 2], None, 3, np.zeros(3), b"a,b"])
def test_other_objects_are_refused(source):
    with pytest.raises(InputError, match="polars, pandas or pyarrow"):
        read(source)


def test_frames_without_rows_or_columns():
    with pytest.raises(InputError, match="no columns"):
        read(pl.DataFrame())
    with pytest.raises(InputError, match="no rows"):
        read(pl.DataFrame({"a": []}))
    with pytest.raises(InputError, match="at most 5,000"):
        read(pl.DataFrame({f"c{i}": [1] for i in range(5_001)}))


def test_columns_must_hold_plain_values(tmp_path):
    frame = pl.DataFrame(
        {
            "fine": ["x"],
            "tags": [[SECRET]],
            "place": [{"town": SECRET}],
            "photo": [SECRET.encode()],
            "wait": [dt.timedelta(days=1)],
        }
    )
    frame.write_parquet(tmp_path / "nested.parquet")
    for source in (frame, tmp_path / "nested.parquet"):
        with pytest.raises(InputError, match=r"'tags' .*'place' .*'photo' .*'wait' .*Unnest") as caught:
            read(source)
        assert "fine" not in str(caught.value)
        assert SECRET not in str(caught.value)


def test_parquet_keeps_its_types(tmp_path):
    frame = pl.DataFrame({"zip": ["01234", None], "age": [30, 41], "score": [float("nan"), 1.0]})
    frame.write_parquet(tmp_path / "people.parquet")
    table = read(tmp_path / "people.parquet", missing=["41"])
    assert table.name == "people.parquet"
    assert table.frame.schema == frame.schema
    assert table.frame.rows() == [("01234", 30, None), (None, None, 1.0)]


def test_folders_of_parquet_files_are_one_table(tmp_path: Path):
    folder = tmp_path / "people"
    folder.mkdir()
    pl.DataFrame({"a": [1, 2]}).write_parquet(folder / "part-0.parquet")
    pl.DataFrame({"a": [3]}).write_parquet(folder / "part-1.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "._part-0.parquet.crc").write_text("x")
    (folder / "_tmp.parquet").write_text("half written")
    table = read(folder)
    assert table.frame["a"].to_list() == [1, 2, 3]
    assert table.name == "people"


def test_partitioned_folders_give_their_column_back(tmp_path):
    pq.write_to_dataset(pa.table({"town": ["Rome", "Oslo"], "age": [1, 2]}), tmp_path / "data", partition_cols=["town"])
    assert sorted(read(tmp_path / "data").frame.select("town", "age").rows()) == [("Oslo", 2), ("Rome", 1)]


def test_folders_whose_files_differ_are_refused(tmp_path):
    pl.DataFrame({"a": [SECRET]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(InputError, match="same columns"):
        read(tmp_path)


def test_real_parquet_tables(shared_data):
    assert read(shared_data / "covid_mx.parquet").frame.shape == (1_048_575, 21)
    assert read(shared_data / "diabetes130.parquet", missing=["?"]).frame["race"].null_count() > 0
