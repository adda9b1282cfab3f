"""CSV in ZIP archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import polyveil
from polyveil.errors import InputError


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("name", ["people.zip", "people.csv.zip", "people.v2.zip"])
def test_the_one_table_of_an_archive_is_read(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / name, {"data/people.csv": "a;b\n1;x\n2;\n", "__MACOSX/._people.csv": "junk"})
    table = polyveil.read(path)
    assert table.frame.to_dict(as_series=False) == {"a": ["1", "2"], "b": ["x", None]}
    assert table.delimiter == ";"


def test_one_of_several_files_must_be_named(tmp_path: Path) -> None:
    path = packed(tmp_path / "two.zip", {"a.csv": "a,b\n1,2\n", "b.csv": "a,b\n3,4\n"})
    with pytest.raises(InputError, match=r"2 files: 'a\.csv' and 'b\.csv'"):
        polyveil.read(path)
    assert polyveil.read(path, sheet="b.csv").frame["a"].to_list() == ["3"]
    with pytest.raises(InputError, match=r"no file 'c\.csv'"):
        polyveil.read(path, sheet="c.csv")


@pytest.mark.parametrize(
    ("files", "words"), [({}, "no file"), ({"a.sav": "x"}, "no CSV text"), ({"a.csv": ""}, "empty after unpacking")]
)
def test_archives_without_a_table(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        polyveil.read(packed(tmp_path / "x.zip", files))


def test_damaged_archives(tmp_path: Path) -> None:
    whole = packed(tmp_path / "whole.zip", {"a.csv": "a,b\n" + "1,2\n" * 500}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="broken ZIP archive"):
        polyveil.read(tmp_path / "cut.zip")


def test_packed_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(InputError, match=r"packed \.xlsx file"):
        polyveil.read(tmp_path / "a.xlsx.gz")
