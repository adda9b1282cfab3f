"""The same word in tables of different languages, and which language a table is written in."""

from __future__ import annotations

import polars as pl
import pytest

from polyveil.table.profiling.profile import column_profiles
from polyveil.table.profiling.spoken import spoken_words
from polyveil.table.profiling.vocabulary_files import vocabulary
from polyveil.table.profiling.words import is_bare_code, meaning_of
from polyveil.table.source import Table

NAMES = {
    "english": ["household_income", "birth_date", "marital_status", "disease"],
    "german": ["Geburtsdatum", "Familienstand", "Haushaltseinkommen", "Krankheit"],
    "french": ["date_naissance", "situation_familiale", "revenu_mensuel", "maladie"],
    "spanish": ["fecha_nacimiento", "estado_civil", "ingreso_hogar", "enfermedad"],
    "portuguese": ["escolaridade", "nascimento", "renda_familiar", "doenca", "morador"],
    "italian": ["stato_civile", "reddito", "malattia", "cittadinanza", "nascita"],
    "dutch": ["geboortedatum", "burgerlijke_staat", "inkomen", "ziekte", "huishouden"],
    "chinese": ["出生日期", "婚姻状况", "收入"],
}


@pytest.mark.parametrize("language", NAMES)
def test_a_table_is_read_in_its_own_language_only(language: str) -> None:
    known = vocabulary()
    own = spoken_words(known, NAMES[language])
    assert own.whole == known.only({language}).whole
    assert own.inside == known.only({language}).inside


def test_a_name_that_says_nothing_leaves_english() -> None:
    known = vocabulary()
    assert spoken_words(known, ["x1", "x2"]).whole == known.only({"english"}).whole


def test_one_word_means_different_things_in_two_languages() -> None:
    french, italian = (vocabulary().only({language}) for language in ("french", "italian"))
    grade, remark = meaning_of("note", words=french), meaning_of("note", words=italian)
    assert grade is not None
    assert grade.role == "sensitive"
    assert remark is not None
    assert remark.role == "identifier"


def test_a_guess_from_another_language_never_calls_a_column_harmless() -> None:
    rows = 60
    frame = pl.DataFrame(
        {
            "birth_date": [f"19{10 + i}-01-01" for i in range(rows)],
            "household_income": [str(1000 + i) for i in range(rows)],
            "disease": ["flu", "gout"] * (rows // 2),
            "fragebogen": ["a", "b", "c"] * (rows // 3),  # a questionnaire, in a table that is English otherwise
        }
    )
    (about,) = [each for each in column_profiles(Table(frame, "t")) if each.name == "fragebogen"]
    assert about.role != "insensitive"


def test_a_part_of_a_word_is_not_enough_to_call_a_column_harmless() -> None:
    known = vocabulary().only({"german"})
    found = meaning_of("bewerbungen_anzahl", words=known)  # applications, which contain the word for advertising
    assert found is None or found.role != "insensitive"


def test_whose_a_thing_is_says_nothing_about_it() -> None:
    for name, description in (("insured_sex", ""), ("q1", "Suspect's sex")):
        found = meaning_of(name, description)
        assert found is not None
        assert found.topic == "sex"


def test_a_running_code_says_nothing_beside_a_description() -> None:
    assert is_bare_code("cp025")
    assert not is_bare_code("income2")
    assert meaning_of("cp025", "Heb oog voor details", vocabulary().only({"dutch"})) is None
