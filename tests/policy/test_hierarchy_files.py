"""Hierarchy files: any delimiter, ARX's text format, faults by line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyveil.policy import File, Hierarchy, HierarchyFault
from polyveil.policy.hierarchy import MAX_DEPTH


def load(folder: Path, text: str | bytes, delimiter: str | None = None) -> Hierarchy:
    (folder / "h.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return File(csv="h.csv", delimiter=delimiter).build(folder)


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_any_delimiter_and_line_end_is_read(tmp_path: Path, mark: str, end: str) -> None:
    lines = [mark.join(row) for row in (["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"])]
    tree = load(tmp_path, b"\xef\xbb\xbf" + ((end or "\n").join(lines) + end).encode())
    assert tree.labels == ("*", "A", "a", "b", "B", "c")


def test_quotes_blank_lines_and_commas_in_labels_are_read(tmp_path: Path) -> None:
    tree = load(tmp_path, 'Smith, J;"A; B";*\n\n"say ""x""";C, D;*\nLee, K ; C, D ; *\n')
    assert tree.labels == ("*", "A; B", "Smith, J", "C, D", 'say "x"', "Lee, K")
    assert load(tmp_path, '"Smith, J",A,*\nLee,B;C,*\n').labels == ("*", "A", "Smith, J", "B;C", "Lee")


def test_a_given_delimiter_wins(tmp_path: Path) -> None:
    assert load(tmp_path, "a;x,A\nb;x,A\n", ",").labels == ("A", "a;x", "b;x")


def test_a_file_of_values_alone_is_flat(tmp_path: Path) -> None:
    assert load(tmp_path, "a\nb\n").labels == ("*", "a", "b")


def test_shorter_lines_are_fine_where_all_end_in_one_root(tmp_path: Path) -> None:
    assert load(tmp_path, "a;A;X;*\nb;*\nc;A;X;*\n").labels == ("*", "X", "A", "a", "c", "b")
    assert load(tmp_path, "a;A;*;\nb;*;;\n").labels == ("*", "A", "a", "b")


FILE_FAULTS = [
    ("", "the hierarchy file 'h.csv' is empty"),
    ("\n\n", "the hierarchy file 'h.csv' is empty"),
    ("a;A;*\nb;B\n", "line 2 of the hierarchy file 'h.csv' has 2 levels, line 1 has 3, and they do not all end"),
    ("a;A;*\n;B;*\n", "line 2 of the hierarchy file 'h.csv' has an empty cell"),
    ("a;A;*\n\nb;;*\n", "line 3 of the hierarchy file 'h.csv' has an empty cell"),
    ("a;A;*\nb;B;*\n\na;B;*\n", "in the hierarchy file 'h.csv', line 4 puts a value under a second parent"),
    ('a;A;*\n"x\ny";A;*\na;B;*\n', "in the hierarchy file 'h.csv', line 4 puts a value under a second parent"),
    ("A;X;*\nb;A;*\n", "in the hierarchy file 'h.csv', line 2 puts a value or group under a second parent"),
    ('a;"A;*\nb;A;*\n', "the hierarchy file 'h.csv' is not CSV from line 1: unexpected end of data"),
    (b"a;A;*\nb\0;A;*\n", "line 2 of the hierarchy file 'h.csv' contains a NUL byte"),
    ("a;A;*\nstraße;A;*\n".encode("latin-1"), "line 2 of the hierarchy file 'h.csv' is not UTF-8"),
    (";".join(f"g{i}" for i in range(200)), f"a hierarchy has at most {MAX_DEPTH} levels"),
]


@pytest.mark.parametrize(("text", "rule"), FILE_FAULTS, ids=[repr(fault[0])[:25] for fault in FILE_FAULTS])
def test_a_faulty_file_is_named_with_its_line_but_no_value(tmp_path: Path, text: str | bytes, rule: str) -> None:
    with pytest.raises(HierarchyFault) as caught:
        load(tmp_path, text)
    assert rule in caught.value.rule
    assert caught.value.remedy


def test_a_file_that_is_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, rule in [
        ("absent.csv", "does not exist"),
        ("folder", "not a plain file"),
        ("/dev/zero", "not a plain file"),
    ]:
        with pytest.raises(HierarchyFault, match=rule):
            File(csv=name).build(tmp_path)
    with pytest.raises(ValueError, match="cannot separate cells"):
        File(csv="x", delimiter='"')


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(["a", "b", "A", "*", ";", ",", '"', "\n", "\r", "\0", " ", "é", "\ufeff"]), max_size=30)
)
def test_any_hierarchy_file_gives_a_tree_or_a_fault(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp()
    with contextlib.suppress(HierarchyFault):
        assert load(folder, "".join(parts)).leaf_count >= 1


def test_all_arx_hierarchies_of_adult_load(shared_data: Path) -> None:
    folder = shared_data / "hierarchies"
    depths = {}
    for file in sorted(folder.glob("*.csv")):
        tree = File(csv=file.name).build(folder)
        lines = [line for line in file.read_text().splitlines() if line]
        assert tree.leaf_count == len(lines)
        assert set(tree.leaves) == {line.split(";")[0] for line in lines}
        assert tree.labels[0] == "*"
        depths[file.stem.removeprefix("adult_hierarchy_")] = tree.depth
    assert depths == {
        "age": 4,
        "education": 3,
        "marital-status": 2,
        "native-country": 2,
        "occupation": 2,
        "race": 1,
        "salary-class": 1,
        "sex": 1,
        "workclass": 2,
    }
