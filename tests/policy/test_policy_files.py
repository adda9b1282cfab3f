"""Policy files: text stays text, lines are right, and no file, however odd, gives anything but a policy or faults."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.policy_strategies import AWKWARD, policies
from polyveil.errors import PolicyError
from polyveil.policy import Policy, from_file, from_text, to_yaml
from polyveil.policy.source import MAX_BYTES, MAX_DEPTH

DESIGN_EXAMPLE = """\
version: 1
columns:
  name:       {role: identifier}                       # dropped
  age:        {role: quasi, type: numeric}
  zip:        {role: quasi, hierarchy: {mask: 5}}
  town:       {role: quasi, recode: set}               # released as a set of values, no hierarchy
  admitted:   {role: quasi, type: date}
  disease:    {role: sensitive, hierarchy: disease.csv, t: 0.2, levels: {2: [HIV, Cancer], 0: [Flu]}}
  salary:     {role: sensitive, type: numeric, t: 0.15}
  ward:       {role: insensitive}
privacy: {k: 5, l: 3, suppression_limit: 0.0}           # or one l per security level, l: {0: 1, 1: 2, 2: 3}
method:  {name: sift}                                    # or fcm, pca, swap, fragment, mondrian, kaca,
release: {form: generalized, format: parquet}            #    mbf, msdcf, mmdcf, *-mslf, sloms, auto
"""
SOUND = "columns: {q: {role: quasi}}\nprivacy: {k: 5}\n"


def fault_of(text: str) -> tuple[str, str, str]:
    with pytest.raises(PolicyError) as caught:
        from_text(text)
    (fault,) = caught.value.faults
    return fault.place, fault.rule, fault.remedy


def test_the_example_of_the_design_loads(tmp_path: Path) -> None:
    (tmp_path / "disease.csv").write_text("HIV;Viral;*\nFlu;Viral;*\nCancer;Tumour;*\n")
    file = tmp_path / "policy.yaml"
    file.write_text(DESIGN_EXAMPLE)
    policy = from_file(file)
    assert policy.having("identifier") == ("name",)
    assert policy.having("quasi") == ("age", "zip", "town", "admitted")
    assert policy.having("sensitive") == ("disease", "salary")
    assert policy.columns["disease"].levels == {2: ("HIV", "Cancer"), 0: ("Flu",)}
    assert policy.folder == tmp_path
    assert from_text(policy.to_yaml(), folder=tmp_path) == policy


PLAIN_TEXTS = ["no", "yes", "on", "12:30", "12:30:45", "007", "1e3", "0x1F", "true", "False", "null", "~", "2024-01-31"]
PLAIN_TEXTS += ["1_000", "+1", "-5", ".5", ".inf", ".nan", "3.0", "1.10", "0o17", "Null", "N/A", "<=50K", "a b", "="]


def test_category_values_stay_exactly_as_written() -> None:
    listed = ", ".join(PLAIN_TEXTS)
    policy = from_text(
        f"missing: [{listed}]\nprivacy: {{k: 5}}\ncolumns:\n"
        f"  a: {{role: quasi, missing: [{listed}], hierarchy: {{order: [{listed}]}}}}\n"
        f"  b: {{role: quasi, hierarchy: [{listed}]}}\n"
        f"  c: {{role: quasi, hierarchy: {{{': , '.join(PLAIN_TEXTS)}: }}}}\n"
        f"  d: {{role: sensitive, levels: {{2: [{listed}]}}}}\n"
        "  e: {role: quasi, hierarchy: {yes: [no, 1], 2: 3, 007: [1.0]}}\n"
    )
    assert list(policy.missing) == list(policy.columns["a"].missing) == PLAIN_TEXTS
    assert policy.columns["a"].hierarchy.order == PLAIN_TEXTS  # type: ignore[union-attr]
    assert policy.columns["b"].hierarchy.tree == PLAIN_TEXTS  # type: ignore[union-attr]
    assert list(policy.columns["c"].hierarchy.tree) == PLAIN_TEXTS  # type: ignore[union-attr, arg-type]
    assert list(policy.columns["d"].levels[2]) == PLAIN_TEXTS
    assert policy.columns["e"].hierarchy.tree == {  # type: ignore[union-attr]
        "yes": ["no", "1"],
        "2": ["3"],
        "007": ["1.0"],
    }


def test_column_names_stay_exactly_as_written() -> None:
    text = "privacy: {k: 5}\ncolumns:\n" + "".join(f"  {name}: {{role: quasi}}\n" for name in PLAIN_TEXTS)
    assert list(from_text(text).columns) == PLAIN_TEXTS


def test_a_single_marker_needs_no_list() -> None:
    assert from_text(SOUND + "missing: '?'").missing == ("?",)
    assert from_text(SOUND + "missing: NULL").missing == ("NULL",)


def test_a_question_mark_in_a_list_needs_no_quotes() -> None:
    """YAML reads it as an empty key, but it is the marker many tables use."""
    assert from_text(SOUND + "missing: [?, a]").missing == ("?", "a")
    assert from_text(SOUND + "missing:\n- ?\n- a\n").missing == ("?", "a")
    assert "in quotes" in fault_of(SOUND + "missing: ?")[2]


def test_numbers_outside_categories_are_numbers() -> None:
    policy = from_text(
        "columns: {q: {role: quasi, weight: 1e1}}\nprivacy: {k: 0x10}\n"
        "method: {name: m, a: 007, b: no, c: ~, d: .inf, e: 1.}"
    )
    assert policy.columns["q"].weight == 10.0
    assert policy.privacy.k == 16
    assert policy.method.options == {"a": 7, "b": "no", "c": None, "d": float("inf"), "e": 1.0}


def test_an_anchor_repeats_a_part() -> None:
    policy = from_text("columns: {a: &q {role: quasi, weight: 2}, b: *q}\nprivacy: {k: 5}\n")
    assert policy.columns["b"] == policy.columns["a"]


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode())
    assert from_file(file) == from_text(SOUND, folder=tmp_path)


UNREADABLE = [
    ("", "the policy", "it is empty", "polyveil inspect"),
    ("# nothing\n", "the policy", "it is empty", "polyveil inspect"),
    ("just text", "line 1, the policy", "a policy must be a mapping", "Start with columns:"),
    ("- a\n- b\n", "line 1, the policy", "a policy must be a mapping", "Start with columns:"),
    ("a: 1\nb: [1, 2\n", "line 3", "not YAML", "Check brackets"),
    ("a: 1\nb: c: d\n", "line 2", "mapping values are not allowed", "colon in quotes"),
    ("a:\n\t- b\n", "line 2", "not YAML", "Indent with spaces"),
    ("a: @b\n", "line 1", "not YAML", "in quotes"),
    ("a: 1\nb: \x01\n", "line 2", "control character", "Remove it"),
    ('a: "\\U00110000"\n', "line 1", "a character that does not exist", "Correct"),
    ("a: 1\n---\nb: 2\n", "line 2", "one YAML document", "Remove the second ---"),
    ("a: !python/object:os.system x\n", "line 1", "YAML tags", "Remove the tag"),
    ("a: 1\nb: *nowhere\n", "line 2", "has no anchor", "Write the part out"),
    ("a: &a [1, *a]\n", "line 1", "an alias repeats itself", "Write the part out"),
    ("a: " + "[" * 200 + "]" * 200, "line 1", f"at most {MAX_DEPTH} levels", "flatter"),
    ("- " * 5000, "line 1", f"at most {MAX_DEPTH} levels", "flatter"),
    ("columns:\n  q:\n  - role: quasi\n  - \nprivacy: {k: 2}\n", "line 3, columns.q", "", ""),
]


@pytest.mark.parametrize(("text", "place", "rule", "remedy"), UNREADABLE, ids=[repr(u[0][:30]) for u in UNREADABLE])
def test_what_is_no_policy_is_said_plainly(text: str, place: str, rule: str, remedy: str) -> None:
    if place == "line 3, columns.q":
        place = "line 2, columns.q"
        rule, remedy = "must be a mapping", "Write q: {role: quasi}"
    found = fault_of(text)
    assert found[0] == place
    assert rule in found[1]
    assert remedy in found[2]


def test_a_billion_laughs_are_not_laughed() -> None:
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "aliases repeat more than" in fault_of("\n".join(lines))[1]
    nested = "\n".join(["a0: &a0 [lol]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 500))])
    assert "aliases repeat" in fault_of(nested)[1]


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(PolicyError, match="a policy file has at most 10 MB"):
        from_file(file)


def test_files_that_cannot_be_read_are_policy_errors(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"columns:\n  stra\xdfe: {role: quasi}\n")
    for path, message in [
        (tmp_path / "absent.yaml", "it does not exist"),
        (tmp_path, "not a file"),
        (latin, "line 2: it is not UTF-8"),
        (Path("/dev/zero"), "not a file"),
        (Path("a" * 5000), "cannot be read"),
    ]:
        with pytest.raises(PolicyError, match=message):
            from_file(path)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_a_policy_error(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(SOUND)
    file.chmod(0)
    with pytest.raises(PolicyError, match="cannot be read"):
        from_file(file)


def loads_or_faults(text: str) -> None:
    """Raises nothing but PolicyError, whose message can be printed."""
    try:
        policy = from_text(text)
    except PolicyError as error:
        str(error).encode()
    else:
        assert from_text(to_yaml(policy)) == policy


WORDS = [
    "columns",
    "role",
    "quasi",
    "sensitive",
    "privacy",
    "k",
    "t",
    "l",
    "levels",
    "hierarchy",
    "tree",
    "order",
    "mask",
]
WORDS += [
    "intervals",
    "width",
    "date",
    "csv",
    "missing",
    "version",
    "1",
    "2",
    "0.5",
    "-1",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
]
WORDS += [
    ", ",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "&a ",
    "*a",
    "!!str ",
    "? ",
    "| \n",
    "> \n",
    "'",
    '"',
    "#",
    "---\n",
    "%",
    "<<",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS + AWKWARD), max_size=40).map("".join))
@example("columns: {? [a] : {role: quasi}}")
@example("columns: {? {} : b}\nprivacy: [")
def test_any_words_give_a_policy_or_faults(text: str) -> None:
    loads_or_faults(text)


@settings(max_examples=200)
@given(st.text(max_size=60))
@example('a: "\\ud800"')
@example('"\\ud800": {role: quasi}')
@example('columns: {"\\ud800": {role: quasi}}\nprivacy: {k: 5}')
@example('columns: {a: {role: quasi, hierarchy: {order: ["\\ud800"]}}}\nprivacy: {k: 5}')
@example('columns: {a: {role: "\\ud800"}}\nprivacy: {k: 5}')
@example('columns: {a: {role: quasi}}\nprivacy: {k: 5, "\\ud800": 1}\nmethod: {name: "\\ud800"}')
def test_any_text_gives_a_policy_or_faults(text: str) -> None:
    loads_or_faults(text)


@settings(max_examples=150)
@given(policies(), st.data())
def test_a_damaged_policy_gives_a_policy_or_faults(policy: Policy, data: st.DataObject) -> None:
    text = to_yaml(policy)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 8)))
    loads_or_faults(text[:start] + data.draw(st.sampled_from(["", *WORDS, *AWKWARD])) + text[stop:])


@settings(max_examples=100)
@given(policies(), st.data())
def test_a_misspelt_word_is_found_in_its_line(policy: Policy, data: st.DataObject) -> None:
    lines = to_yaml(policy).splitlines()
    numbers = [
        i for i, line in enumerate(lines) if re.search(r"\brole: (quasi|sensitive|identifier|insensitive)\b", line)
    ]
    number = data.draw(st.sampled_from(numbers))
    lines[number] = lines[number].replace("role: ", "role: x", 1)
    with pytest.raises(PolicyError) as caught:
        from_text("\n".join(lines))
    assert any(fault.place.startswith(f"line {number + 1}, columns.") for fault in caught.value.faults)
