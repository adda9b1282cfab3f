"""Dossiers: facts with their checks, judgements as blanks, bound to one release, in three formats."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError, VerificationFailed
from polyveil.reports.dossier import KINDS, Evidence, gather_evidence, make_document, to_docx, to_html, write_dossier
from polyveil.reports.dossier.document import HEAD, facts_in, template
from polyveil.reports.dossier.evidence import read_evidence

PEOPLE = pl.DataFrame(
    {
        "name": [f"P{i}" for i in range(12)],
        "age": [30, 31, 32, 33, 50, 51, 52, 53, 70, 71, 72, 73],
        "sex": ["m", "f"] * 6,
        "illness": ["flu", "cold", "gout", "asthma"] * 3,
    }
)
POLICY = {
    "about": {"title": "A <b>study</b>", "controller": "The clinic"},
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi"},
        "sex": {"role": "quasi", "recode": "set"},
        "illness": {"role": "sensitive", "t": 0.5},
    },
    "privacy": {"k": 4},
    "method": {"name": "mondrian"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two groups of six people."""
    folder = tmp_path_factory.mktemp("dossier") / "release"
    polyveil.anonymize(PEOPLE, POLICY, out=folder)
    return folder


@pytest.fixture(scope="module")
def full(place: Path) -> Evidence:
    return gather_evidence(place, PEOPLE, trials=50)


def test_facts_are_those_of_a_table_worked_by_hand(full: Evidence) -> None:
    said = {name: fact.text for name, fact in full.facts.items()}
    expected = {
        "rows_input": "12",
        "rows_released": "12",
        "rows_left_out": "0",
        "identifiers": "1",
        "quasi": "2",
        "groups": "2",
        "smallest": "6 rows",
        "highest_risk": "16.7 %",
        "average_risk": "16.7 %",
        "above_threshold": "100.0 %",
        "unique_rows": "0",
        "unique_before": "100.0 %",
        "average_before": "100.0 %",
        "attacks_broken": "0",
        "controller": "The clinic",
    }
    assert {name: said[name] for name in expected} == expected


def test_the_counts_of_attacks_are_those_of_their_table(full: Evidence) -> None:
    verdicts = [row[-1].partition(":")[0] for row in full.tables["attacks"].rows]
    assert full.facts["attacks_not_run"].text == str(verdicts.count("not run"))
    assert full.facts["attacks_run"].text == str(len(verdicts) - verdicts.count("not run"))
    assert full.facts["attacks_broken"].text == str(verdicts.count("broken"))
    assert "not run" in verdicts  # an attack that does not fit this table is among them
    assert all("– to –" not in row for row in full.tables["attacks"].rows)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_with_a_figure_names_its_check_and_no_other_claims_anything(kind: str, full: Evidence) -> None:
    checks = {row[0] for row in full.tables["checks"].rows}
    for part in make_document(kind, full).parts:
        assert "{" not in part.text
        if part.kind == "says":
            assert part.checks, part.text
        for check in part.checks:
            if check.startswith("verify: ") and check != "verify: signature":
                assert set(re.split(", ", check.removeprefix("verify: "))) & (checks | {"loss"}), check
    lines = template(kind)
    assert any(line.startswith("[ ] ") for line in lines)
    for line in lines[len(HEAD) :]:
        named = facts_in(line.partition(" | ")[0])
        assert all(
            name in full.facts for name in named if name not in ("purpose", "recipients", "reasons", "people")
        ), line
        assert not line.startswith("- ") or named, line


@pytest.mark.parametrize(
    ("kind", "document"),
    {
        "ema": "EMA/90915/2016",
        "hipaa": "45 CFR 164.514(b)(1)",
        "iso27559": "ISO/IEC 27559:2022",
        "nist": "doi:10.6028/NIST.SP.800-188",
        "gdpr": "Opinion 05/2014",
    }.items(),
)
def test_the_documents_behind_a_template_are_named_in_every_format(kind: str, document: str, full: Evidence) -> None:
    made = make_document(kind, full)
    assert document in made.sources
    assert document in to_html(made)
    with zipfile.ZipFile(io.BytesIO(to_docx(made))) as archive:
        assert document in archive.read("word/document.xml").decode()


def test_a_number_and_its_percent_sign_stay_on_one_line(full: Evidence) -> None:
    """Everywhere but in the row of headings, which are words."""
    shown = re.sub(r"<thead>.*?</thead>", "", to_html(make_document("gdpr", full)))
    assert "16.7\u00a0%" in shown
    assert not re.search(r"\d %", shown)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_not_measured_is_a_blank_with_what_to_do(kind: str, place: Path) -> None:
    parts = make_document(kind, gather_evidence(place)).parts
    blanks = [part.text for part in parts if part.kind == "blank"]
    assert all(blanks)
    assert any("--original" in text for text in blanks)
    assert not [part for part in parts if any(check.startswith("original") for check in part.checks)]


def test_the_evidence_belongs_to_one_release(place: Path, full: Evidence, tmp_path: Path) -> None:
    file = tmp_path / "x.evidence.json"
    file.write_text(full.to_json(), encoding="utf-8")
    assert read_evidence(file, place) == full
    other = tmp_path / "other"
    polyveil.anonymize(PEOPLE.head(8), POLICY, out=other)
    with pytest.raises(InputError, match="evidence of another release"):
        read_evidence(file, other)
    data = json.loads(file.read_text(encoding="utf-8"))
    data["facts"]["highest_risk"]["text"] = "1.0 %"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="does not say what the release says"):
        read_evidence(file, place)
    for content in ("{}", "no json", '{"format": "polyveil-evidence", "facts": 3}'):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="is not an evidence file"):
            read_evidence(file, place)


def test_a_release_that_does_not_hold_has_no_dossier(place: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in place.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    table = next(file for file in broken.iterdir() if file.name.startswith("table"))
    table.write_bytes(table.read_bytes() + b"x")
    with pytest.raises(VerificationFailed, match="there is no dossier"):
        write_dossier(broken, "ema", tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_html_and_docx_say_the_same_and_hold_no_markup_of_the_data(full: Evidence) -> None:
    document = make_document("gdpr", full)
    page, packed = to_html(document), to_docx(document)
    assert "<b>study</b>" not in page
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        roots = {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
    word = "".join(roots["word/document.xml"].itertext())
    for part in document.parts:
        assert part.text in word
    assert full.checksum in page
    assert full.checksum in word
    assert full.release in word
    assert to_docx(document) == packed


VISITS = pl.DataFrame(
    {
        "who": [1, 1, 2, 3, 4, 5, 6, 7, 8, 8],
        "age": [30, 31, 31, 32, 33, 50, 51, 52, 53, 53],
        "illness": ["flu", "cold", "flu", "gout", "cold", "flu", "cold", "gout", "flu", "gout"],
    }
)
BY_PERSON = {
    "about": {"title": "Visits.", "purpose": "Teaching", "reasons": "A rule of the house."},
    "columns": {"who": {"role": "person"}, "age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
    "privacy": {"k": 4},
    "method": {"name": "mondrian"},
}


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups of four people; two people have two rows each."""
    folder = tmp_path_factory.mktemp("dossier") / "visits"
    polyveil.anonymize(VISITS, BY_PERSON, out=folder)
    return folder


def test_where_guarantees_count_people_the_risk_is_that_of_people(visits: Path) -> None:
    """Groups have five rows of four people: a risk of 1/5 would be too low."""
    found = gather_evidence(visits, VISITS, policy=BY_PERSON, trials=50)
    said = {name: fact.text for name, fact in found.facts.items()}
    expected = {
        "unit": "people",
        "smallest": "4 people",
        "mean_size": "4.0",
        "highest_risk": "25.0 %",
        "average_risk": "25.0 %",
        "identifiers": "0, and the column that says whom a row is about",
        "unique_before": "87.5 %",  # all but the second, whose age the first has as well in one of two rows
        "average_before": "93.8 %",
        "title": "Visits",
        "purpose": "Teaching.",
    }
    assert {name: said[name] for name in expected} == expected
    assert "above_threshold" not in said  # whose rows belong together is not in the files
    assert found.tables["guarantees"].rows[0][:3] == ("every group has at least 4 people", "4", "4")
    assert "not counted from the files" in found.facts["highest_risk"].check
    assert found.tables["checks"].caption.endswith("in rows)")
    attacks = [row[0] for row in found.tables["attacks"].rows]
    assert "prosecutor linkage of all rows" in attacks
    assert "rows)" in said["attacks_said"] or "of them tried" not in said["attacks_said"]
    page = to_html(make_document("ema", found))
    assert "whose rows belong together, so they cannot be counted" in page
    assert "A rule of the house." in page
    report = polyveil.report(visits, original=VISITS, policy=BY_PERSON)
    assert "prosecutor linkage of all rows" in report
    assert "The chance to name the right person is then at most 25.0 %." in report


def test_without_the_policy_nobody_can_tell_people_apart_before(visits: Path) -> None:
    found = gather_evidence(visits, VISITS, trials=50)
    assert "unique_before" not in found.facts
    assert any("--policy" in part.text for part in make_document("nist", found).parts if part.kind == "blank")
    stricter = {**BY_PERSON, "privacy": {"k": 3}}
    with pytest.raises(InputError, match="other guarantees than the release"):
        gather_evidence(visits, VISITS, policy=stricter, trials=50)


def test_attacks_are_explained_to_the_reviewer(full: Evidence) -> None:
    named = {row[0] for row in full.tables["attackers"].rows}
    for title, *_ in full.tables["attacks"].rows:
        assert any(title.startswith(name.partition(" of ")[0]) for name in named), title
    assert "your guarantees" not in full.facts["attacks_said"].text


def test_the_command_writes_a_dossier_and_its_signed_evidence(place: Path, tmp_path: Path) -> None:
    run, out = CliRunner(), tmp_path / "ema.html"
    PEOPLE.write_csv(tmp_path / "people.csv")
    assert run.invoke(app, ["keys", str(tmp_path / "key")]).exit_code == 0
    given = {"--dossier": "ema", "--out": out, "--original": tmp_path / "people.csv", "--sign": tmp_path / "key"}
    done = run.invoke(app, ["report", str(place), "--json", *(str(each) for pair in given.items() for each in pair)])
    assert done.exit_code == 0, done.output
    evidence = Path(json.loads(done.stdout)["evidence"])
    assert "Residual risk" in out.read_text(encoding="utf-8")
    assert evidence.with_name(f"{evidence.name}.sig").is_file()
    again = ["report", str(place), "--dossier", "nist", "--evidence", str(evidence), "--out", str(tmp_path / "n.docx")]
    assert run.invoke(app, again).exit_code == 0
    evidence.write_text(evidence.read_text(encoding="utf-8").replace("100.0 %", "10.0 %"), encoding="utf-8")
    refused = run.invoke(app, [*again, "--overwrite"])
    assert refused.exit_code == 2
    assert "changed after it was signed" in " ".join(refused.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dossier", "fda", "--out", "x.html"], "there is no dossier 'fda'"),
        (["--dossier", "ema", "--out", "x.odt"], "a dossier is written as .html, .pdf, .docx"),
        (["--evidence", "e.json", "--out", "x.html"], "--evidence and --sign go with --dossier"),
        (["--policy", "p.yaml", "--out", "x.html"], "--policy needs the original table as well"),
        (["--dossier", "ema", "--policy", "p.yaml", "--out", "x.html"], "--policy needs the original table as well"),
        (["--dossier", "ema", "--evidence", "nowhere.json", "--out", "x.html"], "cannot be read"),
        (["--dossier", "ema", "--evidence", "e", "--original", "o", "--out", "x.html"], "Leave --original out"),
    ],
)
def test_wrong_use_is_one_clear_line(place: Path, arguments: list[str], said: str, tmp_path: Path) -> None:
    arguments = [str(tmp_path / each) if each == "x.html" or each == "x.odt" else each for each in arguments]
    found = CliRunner().invoke(app, ["report", str(place), *arguments])
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
    assert not list(tmp_path.iterdir())
