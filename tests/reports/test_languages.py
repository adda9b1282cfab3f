"""Reports in other languages: every text is there, the figures are the same, and names stay as they are."""

from __future__ import annotations

import ast
import inspect
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ruamel.yaml import YAML

import polyveil
from polyveil.errors import InputError
from polyveil.measure import METRICS
from polyveil.models import MODELS
from polyveil.policy.forms import SENTENCES
from polyveil.reports import distributions, language, sections, steward
from polyveil.reports.language import languages, say, say_known, speaking
from polyveil.reports.markup import number, percent

OTHERS = [code for code in languages() if code != "en"]
PEOPLE = pl.DataFrame(
    {
        "who": [f"p{i // 2}" for i in range(120)],
        "age": [20.5 + (i // 2) * 7 % 50 for i in range(120)],
        "share": [("value", "rows", "column", None)[(i // 2) % 4] for i in range(120)],
        "seen": [f"2025-{1 + i // 2 % 12:02}-11" for i in range(120)],
        "ill": [("flu", "missing", "HIV", "cold")[i * i % 7 % 4] for i in range(120)],
        "pay": [100.5 * (1 + i * 3 % 17) for i in range(120)],
    }
)
COLUMNS = {
    "age": {"role": "quasi", "type": "numeric"},
    "share": {"role": "quasi", "recode": "set"},
    "seen": {"role": "quasi", "type": "date"},
    "ill": {"role": "sensitive", "t": 0.5},
    "pay": {"role": "sensitive", "type": "numeric"},
}


def read(code: str) -> dict[str, Any]:
    file = files("polyveil.reports").joinpath("languages", f"{code}.yaml")
    content: dict[str, Any] = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    return content


def texts_in_code() -> set[str]:
    """Every text that is given to `say` as it stands, and the lists of texts that are."""
    found: set[str] = set()
    for file in Path(inspect.getfile(sections)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                found |= {
                    arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                }
    return found | {
        *sections.GUESSES,
        *steward.ATTACKS,
        *steward.ANALYSES,
        steward.NOT_PUBLIC,
        *distributions.DISTANCE_WORDS.values(),
    }


def placeholders(text: str) -> list[str]:
    return sorted(set(re.findall(r"\{(\w+)\}", text)))


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_pages_is_there_and_none_is_left_over(code: str) -> None:
    content = read(code)
    here = texts_in_code()
    assert len(here) > 150
    assert here - {*content["texts"], *content["known"]} == set()
    assert set(content["texts"]) - here == set()


@pytest.mark.parametrize("code", OTHERS)
def test_placeholders_are_the_same(code: str) -> None:
    content = read(code)
    for english, spoken in {**content["texts"], **content["known"]}.items():
        assert placeholders(english) == placeholders(spoken), english


@pytest.mark.parametrize("code", OTHERS)
def test_what_guarantees_measures_and_forms_say_of_themselves_is_there(code: str) -> None:
    known = read(code)["known"]
    said = {text for model in MODELS.values() for text in (model.title, model.helps_against, model.leaves_open)}
    measured = {metric.title: metric.description for metric in METRICS.values()}
    shown = {*said, *SENTENCES.values(), measured["information loss"], measured["entropy"]}
    assert shown - set(known) == set()


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("case", ["groups", "linked", "people"])
def test_a_whole_report_has_no_english_sentence(code: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing: list[str] = []
    monkeypatch.setattr(language, "missing", lambda text: missing.append(text) or text)
    about = {"title": "Share of rows", "controller": "City {Hospital}", "purpose": "value"}
    policy: dict[str, Any] = {"columns": COLUMNS, "about": about, "privacy": {"k": 4, "l": 2, "suppression_limit": 0.1}}
    table = PEOPLE.drop("who")
    if case == "linked":
        plain = {**COLUMNS, "ill": {"role": "sensitive"}}
        policy |= {"columns": plain, "privacy": {"l": 2}, "method": {"name": "mbf"}}
    if case == "people":
        table = PEOPLE
        policy = {**policy, "columns": {**COLUMNS, "who": {"role": "person"}}, "privacy": {"k": 3}}
    release = polyveil.anonymize(table, policy, seed=1)
    asked = [{"linear": "pay", "on": ["age"]}, {"table": ["share", "ill"]}]
    page = polyveil.report(release, original=table, analyses=asked, language=code)
    assert missing == []
    assert f'<html lang="{code}">' in page
    # The publisher's words and the names and values of the data are no texts of ours.
    assert "<h1>Share of rows</h1>" in page
    assert "City {Hospital}" in page
    assert re.search(r'<h3>share <span class="kind">', page)
    with speaking(code):
        lost = percent(release.manifest["loss"]["normalized_loss"])
    assert f'<span class="big">{lost}</span>' in page


@pytest.mark.parametrize("code", OTHERS)
def test_figures_are_those_of_the_english_page(code: str) -> None:
    release = polyveil.anonymize(PEOPLE.drop("who"), {"columns": COLUMNS, "privacy": {"k": 4}}, seed=1)
    english, other = polyveil.report(release), polyveil.report(release, language=code)
    written = read(code)
    back = str.maketrans({written["decimal"]: ".", written["thousands"]: ","})

    def cells(page: str) -> list[str]:
        return re.findall(r'<td class="num">([\d.,]+(?: %)?)</td>', page)

    assert len(cells(english)) > 40
    assert [cell.translate(back) for cell in cells(other)] == cells(english)
    # What is drawn has no language at all.
    drawn = re.compile(r"<(?:rect|path|circle|i) [^>]*>")
    assert drawn.findall(other) == drawn.findall(english)


def test_numbers_and_sentences_of_other_parts_in_german() -> None:
    with speaking("de"):
        assert number(1234567.0) == "1.234.567"
        assert percent(0.1234) == "12,3 %"
        assert say_known("every group has at least 1,200 rows") == "jede Gruppe hat mindestens 1.200 Zeilen"
        assert say_known("no value of a b makes up more than 0.25 of any group") == (
            "kein Wert von a b macht mehr als 0,25 einer Gruppe aus"
        )
        assert say_known("words of an installed package") == "words of an installed package"
        assert say("Values of {column}", column="{x}") == "Werte von {x}"
    assert percent(0.1234) == "12.3 %"


def test_a_language_that_is_not_there_is_refused() -> None:
    release = polyveil.anonymize(PEOPLE.drop("who"), {"columns": COLUMNS, "privacy": {"k": 4}}, seed=1)
    with pytest.raises(InputError, match=r"no report in the language '\.\./de'. Languages: en, de"):
        polyveil.report(release, language="../de")
