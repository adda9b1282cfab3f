"""What commands print about wide tables is short enough to be read, and `--every` lists all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyveil.attacks import Attack, AttackReport
from polyveil.cli import app
from polyveil.cli.attack import show_attacks
from polyveil.reports.steward import attack_section

COLUMNS = [f"answer_{i}" for i in range(45)]


def said(*words: object) -> list[str]:
    return CliRunner().invoke(app, [str(word) for word in words]).stdout.splitlines()


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with many sensitive columns, its policy, and a release."""
    folder = tmp_path_factory.mktemp("wide")
    lines = [",".join(["age", *COLUMNS])]
    lines += [",".join([str(20 + i), *(str((i + j) % 3) for j in range(45))]) for i in range(60)]
    (folder / "survey.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "policy.yaml").write_text(
        "columns: {age: {role: quasi}, 'answer_*': {role: sensitive, t: 0.4}}\n"
        "privacy: {k: 3}\nmethod: {name: mondrian}\n",
        encoding="utf-8",
    )
    words = ("anonymize", folder / "survey.csv", "--policy", folder / "policy.yaml", "--out", folder / "release")
    assert any("(worst of 45)" in line for line in said(*words))
    return folder


def test_verify_names_each_kind_of_check(survey: Path) -> None:
    short, long = said("verify", survey / "release"), said("verify", survey / "release", "--every")
    assert len(short) < 25
    assert [line for line in short if "45 checks passed; --every lists them" in line]
    assert [line for line in short if line.startswith("answer_0 and 44 others")]
    assert sum("t-closeness of answer_" in line for line in long) == 45
    assert short[-1] == long[-1]


def test_check_shows_the_worst_column_of_each_requirement(survey: Path) -> None:
    words = ("check", survey / "survey.csv", "--policy", survey / "policy.yaml")
    short, long = said(*words), said(*words, "--every")
    assert len(short) < 15
    assert [line for line in short if "t-closeness" in line and "(worst of" in line]
    assert all(any(name in line for line in long) for name in COLUMNS)
    assert short[0] == long[0]


def attack(column: str, success: float, verdict: str) -> Attack:
    some = {"low": success, "high": success, "bound": None, "promise": "", "worst": None, "trials": 9}
    return Attack("homogeneity", column, "knows", success, 0.1, verdict=verdict, tried=9, possible=9, **some)  # type: ignore[arg-type]


def test_attack_shows_the_most_successful_and_never_hides_a_broken_guarantee(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [attack(f"answer_{i}", 0.5 + i / 100, "no promise") for i in range(44)]
    unrun = [attack("town", 0.0, "not run"), attack("faith", 0.0, "not run")]
    report = AttackReport((*found[:20], attack("salary", 0.2, "broken"), *found[20:], *unrun))
    show_attacks(report)
    short = capsys.readouterr().out
    assert "answer_43 (worst of 44)" in " ".join(short.split())
    assert "salary" in short
    assert "town and 1 others" not in short
    assert "town and 1 other" in " ".join(short.split())
    assert "of 47 attacks; --every lists all of them" in short
    show_attacks(report, every=True)
    assert "answer_7 " in capsys.readouterr().out


def test_a_report_prints_pages_one_leafs_through_not_every_pair() -> None:
    section = attack_section(AttackReport(tuple(attack(f"answer_{i}", i / 999, "no promise") for i in range(999))))
    assert "answer_998 (worst of 999)" in str(section.parts[1])
    assert "answer_7<" not in str(section.parts[1])
