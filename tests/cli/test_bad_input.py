"""Bad input at the command line: exit code 2, one clear message, no traceback, no cell, nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from polyveil.cli import app

SECRET = "Zanzibarium"
"""Stands in cells of the tables; no message may hold it."""

POLICY = """
version: 1
columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi}
  illness: {role: sensitive, t: 0.5}
privacy: {k: 2}
method: {name: mondrian}
"""
TABLE = f"age,town,illness\n30,{SECRET},{SECRET}\n31,x,flu\n32,x,flu\n33,{SECRET},{SECRET}\n"


def run(folder: Path, table: str | bytes, policy: str = POLICY, out: str = "release") -> Result:
    data = folder / "table.csv"
    data.write_bytes(table.encode() if isinstance(table, str) else table)
    (folder / "policy.yaml").write_text(policy)
    command = ["anonymize", str(data), "--policy", str(folder / "policy.yaml"), "--out", str(folder / out)]
    return CliRunner().invoke(app, command)


def assert_refused(result: Result, folder: Path, *words: str, code: int = 2) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "unexpected" not in result.stderr
    assert SECRET not in result.stderr
    assert SECRET.lower() not in result.stderr.lower()
    for word in words:
        assert word in result.stderr
    assert {entry.name for entry in folder.iterdir()} <= {"table.csv", "policy.yaml", "tree.csv"}


def test_the_table_itself_is_fine(tmp_path: Path) -> None:
    assert run(tmp_path, TABLE).exit_code == 0


MANY = ",".join(f"c{i}" for i in range(10_000))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", ["empty"]),
        ("age,town,illness\n", ["no rows"]),
        (f"age,town,illness\n30,{SECRET},flu\n", ["1 row"]),
        (f"age,age,illness\n30,{SECRET},flu\n31,x,flu\n", ["columns 1", "2", "header"]),
        (f"30,{SECRET},{SECRET}\n31,x,flu\n", ["header line"]),
        (f"30,{SECRET},flu\n31,x,flu\n32,x,flu\n", ["none of the policy"]),
        (f"age,town,illness\n30,,{SECRET}\n31,,flu\n", ["columns.town", "only missing"]),
        (f"age,town,illness\n30,x,flu\n{SECRET},x,flu\n32,y,flu\n", ["columns.age", "not a number", "data row 2"]),
        (f"{MANY}\n{','.join([SECRET] * 10_000)}\n", ["10,000", "column"]),
        (f"age,town,illness\n30,{SECRET},flu\n31,x\n", ["line 3"]),
        (f"age,town,illness\n30,{SECRET},fl\x00u\n31,x,flu\n", ["NUL"]),
        (b"age,town,illness\n30,x,flu\n31,Zanzibarium\xff\xfe\x81,flu\n", []),
        (f"age,town\n30,{SECRET}\n31,x\n", ["columns.illness", "no such column"]),
        (f"age,town,illness,name\n30,x,flu,{SECRET}\n31,x,flu,y\n", ["columns.name", "not in the policy"]),
    ],
    ids=[
        "empty file",
        "header only",
        "one row",
        "duplicate names",
        "no header, repeated cells",
        "no header",
        "all null",
        "mixed types",
        "ten thousand columns",
        "ragged",
        "NUL byte",
        "not UTF-8",
        "column missing",
        "column unmentioned",
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, table: str | bytes, words: list[str]) -> None:
    result = run(tmp_path, table)
    if result.exit_code == 0:  # bytes that are no UTF-8 may be read in a declared single-byte encoding
        assert isinstance(table, bytes)
        return
    assert_refused(result, tmp_path, *words)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (POLICY.replace("k: 2", "k: 5"), ["privacy.k", "k is 5", "4 rows"]),
        (POLICY.replace("k: 2", "k: 1"), ["privacy.k"]),
        (POLICY.replace("k: 2", "kay: 2"), ["privacy.kay"]),
        (POLICY.replace("t: 0.5", "t: 1.5"), ["columns.illness.t"]),
        (POLICY.replace("t: 0.5", "t: -0.1"), ["columns.illness.t"]),
        (POLICY.replace("t: 0.5", "t: .nan"), ["columns.illness.t"]),
        (POLICY.replace("{role: quasi}", "{role: quasi, hierarchy: {A: [x], B: [y]}}"), ["columns.town.hierarchy"]),
        (POLICY.replace("{role: quasi}", "{role: quasi, hierarchy: {A: [x], B: [x]}}"), ["columns.town", "two"]),
        (POLICY.replace("name: mondrian", "name: wand"), ["method.name", "mondrian"]),
        (POLICY.replace("name: mondrian", "name: mondrian, cut: wild"), ["method.cut"]),
        ("columns: [", ["line"]),
        ("", []),
    ],
)
def test_a_bad_policy_is_refused(tmp_path: Path, policy: str, words: list[str]) -> None:
    assert_refused(run(tmp_path, TABLE, policy), tmp_path, *words)


def test_a_hierarchy_file_with_two_parents_for_one_value_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("x;A;*\nx;B;*\n")
    policy = POLICY.replace("{role: quasi}", "{role: quasi, hierarchy: tree.csv}")
    assert_refused(run(tmp_path, TABLE, policy), tmp_path, "columns.town", "second parent")


def test_an_existing_output_folder_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "mine.txt").write_text("keep")
    result = run(tmp_path, TABLE)
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert (tmp_path / "release" / "mine.txt").read_text() == "keep"


def test_an_output_place_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert_refused(run(tmp_path, TABLE, out="no/where"), tmp_path, "does not exist")


def test_an_unreachable_policy_names_the_demand_and_the_nearest_value(tmp_path: Path) -> None:
    policy = POLICY.replace("t: 0.5", "l: 3")
    result = run(tmp_path, TABLE, policy)
    assert_refused(result, tmp_path, "cannot be met", "1/3", "Nearest that can be met: 2 ", code=1)


@settings(max_examples=60)
@given(
    breakage=st.sampled_from(["cut", "drop quote", "repeat header", "garble", "extra field", "nul"]),
    place=st.integers(0, 200),
)
def test_however_a_table_is_broken_no_traceback_and_no_cell_is_shown(
    tmp_path_factory: pytest.TempPathFactory, breakage: str, place: int
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    raw = TABLE.encode()
    header = raw.index(b"\n") + 1  # a broken header line would make cells into column names, which are shown
    at = header + place % (len(raw) - header)
    breaks: dict[str, Callable[[], bytes]] = {
        "cut": lambda: raw[:at],
        "drop quote": lambda: raw[:at] + b'"' + raw[at:],
        "repeat header": lambda: raw + raw,
        "garble": lambda: raw[:at] + bytes([place % 256]) + raw[at + 1 :],
        "extra field": lambda: raw[:at] + b"," + raw[at:],
        "nul": lambda: raw[:at] + b"\0" + raw[at:],
    }
    result = run(folder, breaks[breakage]())
    if result.exit_code != 0:
        assert result.exit_code in (1, 2)
        assert SECRET not in result.output
        assert "Traceback" not in result.output
        assert "unexpected" not in result.stderr
        assert not (folder / "release").exists()


def test_private_material_stays_outside_the_release(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "policy.yaml").write_text(POLICY)
    release = str(tmp_path / "release")
    command = [
        "anonymize",
        str(tmp_path / "table.csv"),
        "-p",
        str(tmp_path / "policy.yaml"),
        "-o",
        release,
        "--private",
    ]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "release" / "mine")]).exit_code == 2
    assert not (tmp_path / "release").exists()
    assert CliRunner().invoke(app, [*command, str(tmp_path / "mine")]).exit_code == 0
    assert pl.read_parquet(tmp_path / "mine" / "row_map.parquet").columns == ["row", "class"]
    assert "row_map" not in (tmp_path / "release" / "manifest.json").read_text()
