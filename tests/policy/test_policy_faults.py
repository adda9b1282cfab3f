"""Every fault names its line and place, the rule it breaks and a remedy; all faults come at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyveil.errors import Fault, PolicyError
from polyveil.policy import Policy, check, from_dict, from_text

SENSITIVE = "  d: {role: sensitive, type: categorical}\n"


def faults_of(text: str, folder: Path | str = ".") -> tuple[Fault, ...]:
    with pytest.raises(PolicyError) as caught:
        from_text(text, folder=folder)
    return caught.value.faults


def column(line: str, privacy: str = "{k: 5, t: 0.2}") -> str:
    """A sound policy but for the column in line 4."""
    return f"columns:\n  q: {{role: quasi}}\n{SENSITIVE}  x: {line}\nprivacy: {privacy}\n"


def asked(privacy: str, sensitive: str = SENSITIVE) -> str:
    """A sound policy but for its privacy section in line 2."""
    return f"version: 1\nprivacy: {privacy}\ncolumns:\n  q: {{role: quasi}}\n{sensitive}"


COLUMN_FAULTS = [
    ("{role: quasi-identifer}", "x.role", "must be one of", "Did you mean 'quasi'?"),
    ("{role: quasidentifier}", "x.role", "must be one of", "Did you mean 'quasi'?"),
    ("{role: id}", "x.role", "must be one of", "Did you mean 'identifier'?"),
    (
        "{role: sensitve}",
        "x.role",
        "one of person, identifier, quasi, sensitive, insensitive, weight or drop",
        "Did you mean 'sensitive'?",
    ),
    ("{role: secret stuff}", "x.role", "not 'secret stuff'", "Choose from person, identifier, quasi, sensitive"),
    ("{role: true}", "x.role", "not true", "Choose from person, identifier"),
    ("{type: numeric}", "x.role", "role is missing", "identifier, drop: removed; quasi: generalized"),
    ("{role: quasi, hierachy: z.csv}", "x.hierachy", "Unknown key 'hierachy'", "Did you mean 'hierarchy'?"),
    ("{role: quasi, k: 5}", "x.k", "Unknown key 'k'", "It belongs to privacy"),
    ("{role: quasi, foo: 5}", "x.foo", "Unknown key 'foo'", "Choose from role, type, hierarchy"),
    ("{role: quasi, <<: 5}", "x.'<<'", "merge keys", "Write the keys out"),
    ("{role: quasi, type: number}", "x.type", "one of numeric, categorical", "Did you mean 'numeric'?"),
    ("{role: quasi, weight: 0}", "x.weight", "above 0, not 0", "how much a quasi-identifier counts"),
    ("{role: quasi, weight: .nan}", "x.weight", "a number above 0", "Write a number"),
    ("{role: quasi, weight: '2'}", "x.weight", "a number above 0", "Write weight without quotes"),
    ("{role: quasi, weight: heavy}", "x.weight", "a number above 0", "Write a number above 0"),
    ("{role: quasi, weight: true}", "x.weight", "a number above 0", "Write a number above 0"),
    ("{role: quasi, recode: sets}", "x.recode", "one of hierarchy or set", "Did you mean 'set'?"),
    ("{role: quasi, type: date, date_format: dd.mm.yy}", "x.date_format", "names the date's parts", "%d.%m.%Y"),
    ("{role: quasi, date_format: '%Y'}", "x.date_format", "for columns of type date", "Write type: date"),
    ("{role: quasi, missing: {a: 1}}", "x.missing", "a list of texts", "Write [one, two]"),
    ("{role: quasi, missing: [a, , b]}", "", "not YAML", "Check brackets"),
    ("{role: quasi, weight: }", "x.weight", "the key has no value", "or remove the key"),
    ("{role: quasi, hierarchy: ~}", "x.hierarchy", "the key has no value", "or remove the key"),
    ("{role: quasi, role: quasi}", "x.role", "the key appears twice", "Keep one of the two"),
    ("{role: quasi, [a]: 1}", "x", "a key is a list or a mapping", "Write a plain text"),
    ("quasi", "x", "must be a mapping", "Write x: {role: quasi}"),
    ("", "x", "the key has no value", "Write a value"),
    # Keys that do not belong to the role.
    ("{role: quasi, t: 0.1}", "x.t", "t is for sensitive columns, and this column is quasi", "the role sensitive"),
    ("{role: quasi, distance: equal}", "x.distance", "for sensitive columns", "Remove distance"),
    ("{role: quasi, l: 2}", "x.l", "for sensitive columns", "Remove l"),
    ("{role: quasi, levels: {2: [a]}}", "x.levels", "for sensitive columns", "Remove levels"),
    (
        "{role: identifier, alpha: 0.5}",
        "x.alpha",
        "for sensitive columns, and this column is identifier",
        "Remove alpha",
    ),
    ("{role: insensitive, beta: 1}", "x.beta", "this column is insensitive", "Remove beta"),
    ("{role: insensitive, delta: 1}", "x.delta", "this column is insensitive", "Remove delta"),
    ("{role: sensitive, weight: 2}", "x.weight", "for quasi columns", "the role quasi"),
    ("{role: sensitive, recode: set}", "x.recode", "for quasi columns", "the role quasi"),
    (
        "{role: insensitive, hierarchy: {mask: 2}}",
        "x.hierarchy",
        "for quasi and sensitive columns",
        "quasi or sensitive",
    ),
    # Thresholds of one column.
    ("{role: sensitive, t: 1.5}", "x.t", "at least 0 and at most 1, not 1.5", "t-closeness threshold"),
    ("{role: sensitive, alpha: 0}", "x.alpha", "above 0 and at most 1, not 0", "greatest share"),
    ("{role: sensitive, beta: .inf}", "x.beta", "a number above 0", "beta-likeness"),
    ("{role: sensitive, distance: order}", "x.distance", "one of ordered, hierarchical", "Did you mean 'ordered'?"),
    ("{role: sensitive, l: 0}", "x.l", "l must be at least 1, not 0", "Write l: 2 or more"),
    ("{role: sensitive, l: 2.5}", "x.l", "a whole number, or one whole number per", "l: {0: 1, 1: 2, 2: 3}"),
    ("{role: sensitive, l: {}}", "x.l", "each security level needs an l", "Write whole numbers"),
    ("{role: sensitive, l: {0: 3, 1: 2}}", "x.l", "must not have a smaller l", "Let l rise"),
    ("{role: sensitive, l: {one: 2}}", "x.l", "a security level is a whole number", "0, 1, 2"),
    ("{role: sensitive, levels: {-1: [a]}}", "x.levels", "not negative, one is -1", "Start the levels at 0"),
    ("{role: sensitive, levels: {2: [a], 3: [b, a]}}", "x.levels.3", "has two security levels", "Keep it in one level"),
    ("{role: sensitive, levels: {2: [a, a]}}", "x.levels.2", "has two security levels", "Keep it in one level"),
    ("{role: sensitive, levels: {2: {a: b}}}", "x.levels", "a list of texts", "Write [one, two]"),
    ("{role: sensitive, levels: [a]}", "x.levels", "must map each security level to its values", "levels: {2: [one"),
    ("{role: sensitive, levels: {1.0: [a]}}", "x.levels", "a security level is a whole number", "0, 1, 2"),
    ("{role: sensitive, levels: {2: [a]}, l: {0: 1, 1: 2}}", "x.l", "level 2 of this column has no l", "Add 2: ..."),
    ("{role: sensitive, l: {0: 1, 2: 3}}", "x.l", "values without a level have level 1", "Add 1: ... to its l"),
    # Type, hierarchy and distance must fit together.
    ("{role: quasi, type: ordinal}", "x.type", "ordinal needs the order", "hierarchy: {order: ["),
    ("{role: quasi, type: ordinal, hierarchy: {mask: 2}}", "x.hierarchy", "ordinal needs the order", "{order: ["),
    (
        "{role: quasi, type: date, hierarchy: {order: [a]}}",
        "x.hierarchy",
        "for type ordinal, the type is date",
        "ordinal",
    ),
    (
        "{role: quasi, type: date, hierarchy: {intervals: {width: 5}}}",
        "x.hierarchy",
        "for type numeric",
        "type: numeric",
    ),
    ("{role: quasi, type: numeric, hierarchy: {date: [year]}}", "x.hierarchy", "for type date", "Write type: date"),
    ("{role: quasi, recode: set, hierarchy: {mask: 2}}", "x.recode", "uses no hierarchy", "Remove recode: set"),
    ("{role: sensitive, distance: hierarchical}", "x.distance", "needs a hierarchy", "Give the column a hierarchy"),
    (
        "{role: sensitive, hierarchy: {order: [a, b]}, distance: hierarchical}",
        "x.distance",
        "needs a hierarchy with groups",
        "Use distance: ordered",
    ),
    ("{role: sensitive, type: categorical, distance: ordered}", "x.distance", "needs an order", "{order: [...]}"),
    # Hierarchies.
    (
        "{role: quasi, hierarchy: 5.5.5}",
        "x.hierarchy",
        "the hierarchy file '5.5.5' does not exist",
        "beside the policy",
    ),
    ("{role: quasi, hierarchy: /}", "x.hierarchy", "not a plain file", "Give a CSV file"),
    ('{role: quasi, hierarchy: "a\\0b"}', "x.hierarchy", "does not exist", "Check the name"),
    ("{role: quasi, hierarchy: {mask: 0}}", "x.hierarchy.mask", "at least 1 and at most 64, not 0", "can be hidden"),
    ("{role: quasi, hierarchy: {mask: 2, side: up}}", "x.hierarchy.side", "one of right or left", "Choose from right"),
    (
        "{role: quasi, hierarchy: {mask: 2, char: ab}}",
        "x.hierarchy.char",
        "char must be one character",
        "one character",
    ),
    (
        "{role: quasi, hierarchy: {mask: 2, sides: left}}",
        "x.hierarchy",
        "unknown key in this hierarchy rule",
        "'side'?",
    ),
    ("{role: quasi, hierarchy: {mask: 2, Paris: a}}", "x.hierarchy", "unknown key", "write the tree as tree: {...}"),
    ("{role: quasi, hierarchy: {intervals: 5}}", "x.hierarchy.intervals", "give a width", "Change intervals"),
    (
        "{role: quasi, hierarchy: {intervals: {width: -1}}}",
        "x.hierarchy.intervals.width",
        "above 0, not -1",
        "width of the narrowest intervals",
    ),
    ("{role: quasi, hierarchy: {intervals: {}}}", "x.hierarchy.intervals.width", "width is missing", "Add width"),
    ("{role: quasi, hierarchy: {intervals: [3, 1]}}", "x.hierarchy.intervals", "a rising list", "finest first"),
    ("{role: quasi, hierarchy: {intervals: [0, a]}}", "x.hierarchy.intervals", "a rising list", "finest first"),
    ("{role: quasi, hierarchy: {intervals: [[0, 2, 4], [0, 3, 4]]}}", "x.hierarchy.intervals", "coarser", "finest"),
    ("{role: quasi, hierarchy: {intervals: [[0, 2, 4], [0, 2]]}}", "x.hierarchy.intervals", "same first and", "finest"),
    ("{role: quasi, hierarchy: {date: [year, month]}}", "x.hierarchy.date", "finest first", "month, quarter, year"),
    ("{role: quasi, hierarchy: {date: [day]}}", "x.hierarchy.date", "one of month, quarter, year or decade", "Choose"),
    ("{role: quasi, hierarchy: {order: []}}", "x.hierarchy.order", "at least one entry", "Write order: [...]"),
    ("{role: quasi, hierarchy: {order: [a, b, a]}}", "x.hierarchy.order", "appears twice in the order", "Remove"),
    ("{role: quasi, hierarchy: {tree: {}}}", "x.hierarchy", "at least one value", "List the column's values"),
    ("{role: quasi, hierarchy: {A: [x, y], B: [y]}}", "x.hierarchy", "one value has two parents", "one place"),
    ("{role: quasi, hierarchy: {A: [x, A]}}", "x.hierarchy", "a group has the name of a value", "its own name"),
    ("{role: quasi, hierarchy: {A: {x: , x: }}}", "x.hierarchy", "a group or value appears twice", "Keep one"),
    ("{role: quasi, hierarchy: [[a, b], c]}", "x.hierarchy", "its group has no name", "Name it"),
    ("{role: quasi, hierarchy: {csv: h.csv, delimiter: ';;'}}", "x.hierarchy.delimiter", "one character", "Write one"),
    ("{role: quasi, hierarchy: {csv: ''}}", "x.hierarchy.csv", "csv must be a text", "Write a text"),
    (
        "{role: sensitive, hierarchy: {A: [x, y]}, levels: {2: [x, z, A]}}",
        "x.levels.2",
        "2 of the 3 values of security level 2 are not in the column's hierarchy",
        "Correct their spelling",
    ),
]


@pytest.mark.parametrize(("line", "place", "rule", "remedy"), COLUMN_FAULTS, ids=[f[0] for f in COLUMN_FAULTS])
def test_a_faulty_column_is_one_fault_with_place_rule_and_remedy(line: str, place: str, rule: str, remedy: str) -> None:
    (fault,) = faults_of(column(line))
    assert fault.place == (f"line 4, columns.{place}" if place else "line 4")
    assert rule in fault.rule
    assert remedy in fault.remedy


PRIVACY_FAULTS = [
    ("{k: 1}", "privacy.k", "a whole number of at least 2, not 1", "least number of rows that look alike"),
    ("{k: 5.0}", "privacy.k", "a whole number of at least 2", "least number of rows"),
    ("{k: true}", "privacy.k", "a whole number of at least 2", "least number of rows"),
    ("{k: '5'}", "privacy.k", "a whole number", "Write k without quotes"),
    ("{k: 99999999999999999999999}", None, "", ""),
    ("{t-closeness: 0.1}", "privacy.t-closeness", "Unknown key 't-closeness'", "Did you mean 't'?"),
    ("{T: 0.1}", "privacy.T", "Unknown key 'T'", "Did you mean 't'?"),
    ("{k: 5, role: quasi}", "privacy.role", "Unknown key 'role'", "It belongs to a column"),
    ("{k: 5, suppression: 0.1}", "privacy.suppression", "Unknown key", "Did you mean 'suppression_limit'?"),
    ("{k: 5, suppression_limit: 2}", "privacy.suppression_limit", "at most 1, not 2", "may be left out"),
    ("{k: 5, t: }", "privacy.t", "the key has no value", "remove the key"),
    ("{l: 2, diversity: simpson}", "privacy.diversity", "one of frequency, distinct", "Choose from frequency"),
    ("{l: 2, c: 3}", "privacy.c", "for recursive diversity only", "Add diversity: recursive"),
    ("{k: 2, diversity: entropy}", "privacy.diversity", "no l is given", "Add l"),
    ("{k: 2, beta_kind: basic}", "privacy.beta_kind", "no beta is given", "Add beta"),
    ("{l: {0: 1, 1: 2}, diversity: distinct}", "privacy.diversity", "defined for frequency", "Remove diversity"),
    ("{suppression_limit: 0.1}", "privacy", "requires no guarantee", "privacy: {k: 5}"),
    ("{joint: [{columns: [d, q], t: 0.1}]}", "privacy.joint[0].columns", "which q is not", "Name sensitive columns"),
    ("{joint: [{columns: [d], t: 0.1}]}", "privacy.joint[0].columns", "at least two entries", "two or more sensitive"),
    ("{joint: [{columns: [d, d], t: 0.1}]}", "privacy.joint[0].columns", "appears twice", "Name each column once"),
    ("{joint: [{columns: [d, e], t: 2}]}", "privacy.joint[0].t", "at most 1, not 2", "greatest joint distance"),
    ("{joint: [{columns: [d, e]}]}", "privacy.joint[0].t", "t is missing", "greatest joint distance"),
    ("{joint: [{colums: [d, e], t: 1}]}", "privacy.joint[0].colums", "Unknown key", "'columns'?"),
    ("{joint: {columns: [d, e], t: 1}}", "privacy.joint", "joint must be a list", "[{columns: [a, b], t: 0.3}]"),
    ("{joint: [d]}", "privacy.joint[0]", "each entry of joint must be a mapping", "Write joint: [{key: value}]"),
    ("[k]", "privacy", "privacy must be a mapping", "Write privacy: {key: value}"),
    ("", "privacy", "the key has no value", "Write a value"),
]


@pytest.mark.parametrize(("privacy", "place", "rule", "remedy"), PRIVACY_FAULTS, ids=[f[0] for f in PRIVACY_FAULTS])
def test_a_faulty_guarantee_is_one_fault(privacy: str, place: str | None, rule: str, remedy: str) -> None:
    if place is None:
        assert from_text(asked(privacy)).privacy.k == 99999999999999999999999
        return
    (fault,) = faults_of(asked(privacy))
    assert fault.place == f"line 2, {place}"
    assert rule in fault.rule
    assert remedy in fault.remedy


@pytest.mark.parametrize("key", ["t", "l", "p", "alpha", "beta", "delta"])
def test_a_guarantee_for_sensitive_columns_needs_one(key: str) -> None:
    value = 2 if key in ("l", "p") else 0.5
    (fault,) = faults_of(asked(f"{{k: 5, {key}: {value}}}", sensitive=""))
    assert fault.place == f"line 2, privacy.{key}"
    assert fault.rule == f"{key} protects sensitive columns, and there is none"
    assert fault.remedy == f"Give a column the role sensitive, or remove {key}"


def test_a_security_level_without_an_l_is_a_fault_of_the_column_that_uses_it() -> None:
    (fault,) = faults_of(asked("{l: {0: 1, 1: 2}}", "  d: {role: sensitive, levels: {2: [a], 0: [b]}}\n"))
    assert fault.place == "line 5, columns.d.levels"
    assert fault.rule == "security level 2 of this column has no l"
    assert fault.remedy == "Add 2: ... to privacy.l"
    (fault,) = faults_of(asked("{l: {0: 1, 2: 2}}"))
    assert "security level 1 of this column has no l; values without a level have level 1" in fault.rule


def test_a_column_s_own_l_is_enough_for_its_levels() -> None:
    text = asked("{l: {1: 2}}", "  d: {role: sensitive, levels: {2: [a]}, l: {1: 2, 2: 3}}\n")
    assert from_text(text).columns["d"].l == {1: 2, 2: 3}


SECTION_FAULTS = [
    ("version: 2\n", "version", "reads policies of version 1", "newer polyveil"),
    ("version: '1'\n", "version", "reads policies of version 1", "Write version: 1"),
    ("version: true\n", "version", "reads policies of version 1", "Write version: 1"),
    ("methods: {name: sift}\n", "methods", "Unknown key 'methods'", "Did you mean 'method'?"),
    ("folder: /tmp\n", "folder", "Unknown key 'folder'", "Choose from version, about, columns, privacy"),
    ("method: sift\n", "method", "method must be a mapping", "Write method: {name: mondrian}"),
    ("method: {name: 5}\n", "method.name", "name must be a text", "Write a text"),
    ("method: {name: ''}\n", "method.name", "name must be a text", "Write a text"),
    ("method: {refine: nope}\n", "method.refine", "a number of seconds above 0, not 'nope'", "Change refine"),
    ("method: {refine: -2}\n", "method.refine", "fast, balanced, thorough or a number", "Change refine"),
    ("release: {form: slices}\n", "release.form", "one of generalized, anatomized, sliced or relational", "'sliced'?"),
    ("release: {numbers: [a]}\n", "release.numbers", "one of interval, midpoint or mean", "Choose from interval"),
    ("release: {k: 5}\n", "release.k", "Unknown key 'k'", "It belongs to privacy"),
    ("missing: {a: b}\n", "missing", "a list of texts", "Write [one, two]"),
]


@pytest.mark.parametrize(
    ("line", "place", "rule", "remedy"), SECTION_FAULTS, ids=[f[0].strip() for f in SECTION_FAULTS]
)
def test_a_faulty_section_is_one_fault(line: str, place: str, rule: str, remedy: str) -> None:
    (fault,) = faults_of(line + "columns: {q: {role: quasi}}\nprivacy: {k: 5}\n")
    assert fault.place == f"line 1, {place}"
    assert rule in fault.rule
    assert remedy in fault.remedy


def test_a_policy_needs_columns_and_something_to_protect() -> None:
    for text in ("privacy: {k: 5}\n", "privacy: {k: 5}\ncolumns: {}\n", "privacy: {k: 5}\ncolumns: [age]\n"):
        (fault,) = faults_of(text)
        assert fault.place.endswith(", columns")
        assert fault.rule == "the policy lists no columns"
    (fault,) = faults_of("columns: {n: {role: identifier}, w: {role: insensitive}}\nprivacy: {k: 5}\n")
    assert fault.place == "line 1, columns"
    assert "nothing to protect" in fault.rule


TEN_FAULTS = """\
version: 1
columns:
  name:    {role: identifer}
  age:     {role: quasi, hierarchy: {intervals: {width: 0}}}
  zip:     {role: quasi, hierarchy: {mask: 5}, t: 0.1}
  town:    {role: quasi, recodes: set}
  disease: {role: sensitive, hierarchy: {A: [HIV, Flu], B: [Flu]}, t: 2, levels: {2: [HIV], 3: [HIV]}}
privacy: {k: 1}
method:  mondrian
release: {form: sliced, format: excel}
"""


def test_a_policy_with_ten_faults_reports_ten_in_the_order_of_the_file() -> None:
    faults = faults_of(TEN_FAULTS)
    assert len(faults) == 10
    assert [fault.place for fault in faults] == [
        "line 3, columns.name.role",
        "line 4, columns.age.hierarchy.intervals.width",
        "line 5, columns.zip.t",
        "line 6, columns.town.recodes",
        "line 7, columns.disease.t",
        "line 7, columns.disease.levels.3",
        "line 7, columns.disease.hierarchy",
        "line 8, privacy.k",
        "line 9, method",
        "line 10, release.format",
    ]


def test_the_message_counts_the_faults_and_lists_each(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("columns:\n  q: {role: quas}\nprivacy: {k: 1}\n")
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(file)
    assert str(caught.value) == (
        f"{file} has 2 faults:\n"
        "  - line 2, columns.q.role: role must be one of person, identifier, quasi, sensitive, insensitive, weight or "
        "drop, not 'quas'. Did you mean 'quasi'?\n"
        "  - line 3, privacy.k: k must be a whole number of at least 2, not 1. "
        "Change k: least number of rows that look alike"
    )
    assert caught.value.exit_code == 2


def test_no_second_fault_follows_from_a_first_one() -> None:
    """A faulty key counts as given: its absence is not reported again."""
    (fault,) = faults_of("columns: {d: {role: sensitive, t: 3}}\n")
    assert fault.place == "line 1, columns.d.t"
    (fault,) = faults_of(column("{role: sensitive, hierarchy: {mask: 0}, distance: hierarchical}"))
    assert fault.place == "line 4, columns.x.hierarchy.mask"
    (fault,) = faults_of("columns: {d: {rol: sensitive}}\nprivacy: {t: 0.2}\n")
    assert fault.place == "line 1, columns.d.rol"
    (fault,) = faults_of("columns: {d: {role: sensitiv}}\nprivacy: {t: 0.2}\n")
    assert fault.place == "line 1, columns.d.role"


def test_faults_of_the_same_column_s_other_keys_are_found_beside_an_invalid_one() -> None:
    places = [fault.place for fault in faults_of(column("{role: quasi, weight: -1, t: 0.2}"))]
    assert places == ["line 4, columns.x.weight", "line 4, columns.x.t"]


MARKER = "SECRETVALUE"


@pytest.mark.parametrize(
    "line",
    [
        f"{{role: quasi, hierarchy: {{A: [{MARKER}], B: [{MARKER}]}}}}",
        f"{{role: quasi, hierarchy: {{tree: {{A: [{MARKER}], {MARKER}: [x]}}}}}}",
        f"{{role: quasi, hierarchy: {{A: {{{MARKER}: , {MARKER}: }}}}}}",
        f"{{role: quasi, hierarchy: {{order: [{MARKER}, {MARKER}]}}}}",
        f"{{role: quasi, hierarchy: {{mask: 3, {MARKER}: [x]}}}}",
        f"{{role: sensitive, levels: {{2: [{MARKER}], 3: [{MARKER}]}}}}",
        f"{{role: sensitive, levels: {{{MARKER}: [a]}}}}",
        f"{{role: sensitive, hierarchy: [a, b], levels: {{2: [{MARKER}]}}}}",
        f"{{role: sensitive, l: {MARKER}}}",
    ],
)
def test_faults_of_category_values_never_repeat_them(line: str) -> None:
    for fault in faults_of(column(line)):
        assert MARKER not in str(fault)


def test_a_repeated_value_of_a_written_tree_is_found_by_its_line() -> None:
    text = column("\n    role: quasi\n    hierarchy:\n      North: [a, b]\n      South:\n        - c\n        - a\n")
    (fault,) = faults_of(text)
    assert fault.place == "line 10, columns.x.hierarchy"


def test_python_callers_get_the_same_faults_without_lines() -> None:
    data: dict[str, Any] = {"columns": {"a b": {"role": "quas", 5: 1}, 7: {"role": "quasi"}}, "privacy": {"k": 1}}
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict(data)
    assert {fault.place for fault in caught.value.faults} == {
        "columns.'a b'.role",
        "columns.'a b'",
        "columns",
        "privacy.k",
    }
    assert str(caught.value).startswith("the policy has 4 faults:")


@pytest.mark.parametrize("data", [None, [], "columns", 5, {"columns": None}, {1: 2}, {"columns": {"a": object()}}])
def test_python_data_of_any_shape_is_a_policy_error(data: Any) -> None:
    with pytest.raises(PolicyError):
        from_dict(data)


def test_none_in_python_data_means_not_given() -> None:
    data = {"columns": {"q": {"role": "quasi", "hierarchy": None}}, "privacy": {"k": 3, "t": None}, "method": None}
    assert from_dict(data) == from_dict({"columns": {"q": {"role": "quasi"}}, "privacy": {"k": 3}})


def test_method_options_are_plain_data() -> None:
    data = {"columns": {"q": {"role": "quasi"}}, "privacy": {"k": 3}}
    options = {"name": "sift", "depth": 3, "weights": {"a": [1, 2.5, None, True]}}
    assert from_dict({**data, "method": options}).method.options == {"depth": 3, "weights": options["weights"]}
    loop: list[Any] = []
    loop.append(loop)
    for option in (object(), {1: 2}, loop, "\ud800"):
        with pytest.raises(PolicyError, match=r"method.depth: an option of a method must be plain data"):
            from_dict({**data, "method": {"depth": option}})


def test_a_policy_put_together_in_python_can_be_checked() -> None:
    policy = Policy.model_validate({"columns": {"q": {"role": "quasi", "t": 0.2}}})
    assert [fault.place for fault in check(policy)] == ["columns.q.t", "privacy"]
    assert check(from_text(column("{role: insensitive}"))) == ()
