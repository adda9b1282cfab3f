"""What the name and the description of a column say, in the languages our users write them in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polyveil.table.profiling.vocabulary_files import Meaning, Vocabulary, parts_of, vocabulary

__all__ = ["Meaning", "is_key_by_name", "is_number_of_a_person", "is_numbered", "is_person", "meaning_of", "parts_of"]

# Few different whole numbers are more often codes than quantities; of money, less often.
FEW_CODES = 10
FEW_AMOUNTS = 3
_LONG_WORD = 10
_SHORTEST_TAIL = 6
_SHORTEST_HARMLESS = 8


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PEOPLE = _words(
    "person patient pat customer client employee member user student pupil subject participant respondent individual "
    "donor case citizen insured policyholder resident subscriber taxpayer beneficiary worker staff applicant borrower "
    "kunde kunden paciente cliente mitarbeiter schueler schuler proband versicherte patienten personal eleve "
    "assure abonne contribuable usager empleado alumno afiliado contribuyente empregado aluno utente "
    "paziente dipendente studente assistito contribuente klant medewerker leerling verzekerde deelnemer abonnee "
    "adherent beneficiaire etudiant teilnehmer versicherter responsable responsavel tutor guardian mother "
    "father mae pai"
)
_NUMBERED = _words(
    "id ids nr no nbr num number code key identifier kennung nummer numero matricula pk index idx rowid codigo codice "
    "num hash token"
)
_NAMES = _words("name nom nome nombre naam")
_OWNER = re.compile(r"\b\w+['’]s\b")
"""Whose it is says nothing about what it is: suspect's age."""
_BARE_CODE = re.compile(r"^[A-Za-z]{1,3}_?\d{2,}[A-Za-z_\d]*$")
_COUNTED = _words(
    "num number n count counts anzahl nombre hours years days weeks months times time age amount amt total sum rate "
    "ratio avg mean minutes qty nb cantidad quantidade numero aantal"
)
_TIMES = _words("count counts cnt days hours minutes times avg mean dias jours tage dagen giorni qtd anzahl aantal")
_CODED = _words("id code codes recode type kind typ tipo group flag category")
_OF = _words("of in on where when de del du des donde onde em der von di dell della dove van waar")
_STATES = _words("state estado stato etat staat")
"""A word for a place that is a word for how somebody is as well: state of health."""
_QUANTITIES = _words("days dias jours hours horas heures")
"""Hours are a quantity, the hour is a time."""
_WHEN_AND_WHERE = _words("date year place postcode")
_IDENTIFIERS = _words("id ids identifier identificador identifiant identificativo identificatie kennung identnummer")
# Whole numbers under these names stand for something else, however many there are.
_NAMED_BY_CODES = _words("postcode sex place origin care")
_ROLE_ORDER = {"sensitive": 0, "identifier": 1, "person": 1, "quasi": 2, "weight": 3, "insensitive": 3, "drop": 3}


def meaning_of(name: str, description: str = "", words: Vocabulary | None = None, *, but: str = "") -> Meaning | None:
    """What a column is about: by its description if that tells, else by its name; None if neither does.

    Of a name the longest match counts, then the order of the topics: `diagnosis_date` is a date, `age_at_diagnosis` an
    age. Of a description, a sentence with many words, harm counts before what others may know. A topic may be left out
    with `but`, for what the rest says.
    """
    known = words or vocabulary()
    if description:
        told = list(_found(parts_of(_OWNER.sub(" ", description)), known, sentence=True))
        if told:
            if heading := _heading(description, known, {hit[1].topic for hit in told}):
                return heading
            return min(told, key=lambda hit: (-hit[0], _ROLE_ORDER[hit[1].role], hit[1].order))[1]
        if is_bare_code(name):
            return None
    parts = parts_of(name)
    if parts == ("name",) or (_NAMES & set(parts) and _PEOPLE & set(parts)):
        return known.topics["person_name"]
    hits = sorted(_found(parts, known), key=lambda hit: (-hit[0], hit[1].order))
    if len(parts) > 1 and parts[0] in _PEOPLE and hits and hits[0][0] == 1:  # insured_sex is about sex
        hits = sorted(_found(parts[1:], known), key=lambda hit: (-hit[0], hit[1].order)) or hits
    if hits and hits[0][1].role == "insensitive":  # nothing that may harm is called harmless
        hits.sort(key=lambda hit: (hit[1].role not in ("sensitive", "identifier"), -hit[0], hit[1].order))
    hits = [hit for hit in hits if hit[1].topic != but]
    found = [meaning for _, meaning in hits] or sorted(_of_tails(parts, known), key=lambda meaning: meaning.order)
    return found[0] if found else None


def _heading(description: str, known: Vocabulary, told: set[str]) -> Meaning | None:
    """When or where, if a description begins with that: month of the accident, province in which it happened."""
    parts = parts_of(description)
    if len(parts) < 3 or ":" in description or parts[0] in _STATES or parts[1] not in _OF or "intimate" in told:
        return None
    topics = known.whole.get(parts[0], set()) & _WHEN_AND_WHERE
    return min((known.topics[topic] for topic in topics), key=lambda meaning: meaning.order, default=None)


def _found(parts: tuple[str, ...], known: Vocabulary, *, sentence: bool = False) -> Iterator[tuple[int, Meaning]]:
    """Topics that the parts speak of, each with how many parts speak of it."""

    def topics(table: dict[str, set[str]], word: str) -> Iterator[Meaning]:
        return (known.topics[topic] for topic in table.get(word, ()))

    squashed = "".join(parts)
    if not sentence:
        for word in {squashed, squashed.rstrip("0123456789")}:
            yield from ((3, topic) for topic in topics(known.exact, word))
            yield from ((2, topic) for topic in topics(known.whole, word))
        if len(parts) == 1 or any(part.isdigit() for part in parts):
            yield from ((1, t) for end in range(2, len(squashed) + 1) for t in topics(known.code, squashed[:end]))
    for inside in _longest([word for word in known.inside if word in squashed], parts if sentence else (squashed,)):
        size = 0 if len(inside) == 1 else 2 if len(inside) >= _LONG_WORD else 1  # one Chinese sign says least
        found = (topic for topic in topics(known.inside, inside))
        yield from ((size, topic) for topic in found if topic.role != "insensitive" or _is_sure(inside))
    for size in range(2, min(5, len(parts)) + 1):
        for first in range(len(parts) - size + 1):
            row, last = parts[first : first + size - 1], parts[first + size - 1]
            for form in (last, *(f"{last[:end]}*" for end in range(3, len(last) + 1))):
                yield from ((size, known.topics[topic]) for topic in known.rows.get((*row, form), ()))
    for part in parts:
        for word in (part, *(() if sentence else known.abbreviations.get(part, ()))):
            yield from ((1, topic) for topic in _of_word(word, known))


def _is_sure(inside: str) -> bool:
    """Whether a part of a word is enough to call a column harmless: `werbung` is also in Bewerbung."""
    return len(inside) >= _SHORTEST_HARMLESS or not inside.isascii()


def _longest(found: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Words that are in one of the texts, without those that are a part of a longer one: Rechnung in Hochrechnung."""
    there = [word for word in found if any(word in text for text in texts)]
    return [word for word in there if not any(word != other and word in other for other in there)]


def _of_word(word: str, known: Vocabulary) -> Iterator[Meaning]:
    """Topics of one word or else of its singular, of its beginnings and of its ends."""
    one = set() if word in _QUANTITIES else known.whole.get(word.removesuffix("s"), set())
    found = [known.whole.get(word) or one]
    found += [known.start.get(word[:end], set()) for end in range(2, len(word) + 1)]
    found += [known.end.get(word[first:], set()) for first in range(len(word) - 1)]
    return (known.topics[topic] for topics in found for topic in topics)


def _of_tails(parts: tuple[str, ...], known: Vocabulary) -> Iterator[Meaning]:
    """Topics of the word that ends a compound, for names in capitals: MONTHLYINCOME."""
    for part in parts:
        for first in range(2, len(part) - _SHORTEST_TAIL + 1):
            tail = part[first:]
            for topic in known.whole.get(tail, set()) | known.start.get(tail, set()):
                yield known.topics[topic]


def is_bare_code(name: str) -> bool:
    """Whether a name is a running code such as `cp025`, which says nothing beside a description."""
    return bool(_BARE_CODE.match(name))


def is_key_by_name(name: str) -> bool:
    """Whether the name suggests a person's key: patient, patient_nbr, ssn; not of a stay or a visit."""
    meaning = meaning_of(name)
    return (
        is_person(name) or is_number_of_a_person(name) or (meaning is not None and meaning.topic == "official_number")
    )


def is_number_of_a_person(name: str) -> bool:
    """Whether the name suggests a number given to a person: patient_id, KundenNr."""
    parts = parts_of(name)
    known, squashed = set(parts), "".join(parts)
    numbered = bool(known & _NUMBERED) or squashed.endswith(("id", "nr", "nummer", "number"))
    return numbered and any(squashed.startswith(person) or person in known for person in _PEOPLE)


def is_person(name: str) -> bool:
    """Whether the name is a word for a person and nothing else: patient, PERSON."""
    parts = parts_of(name)
    return len(parts) == 1 and (parts[0] in _PEOPLE or parts[0].removesuffix("s") in _PEOPLE)


def describes_identifier(description: str) -> bool:
    """Whether a description begins or ends with a word for an identifier: household ID, identificador del accidente."""
    parts = parts_of(description)
    return bool({*parts[:1], *parts[-1:]} & _IDENTIFIERS)


def is_counted(name: str) -> bool:
    """Whether the name says that something is counted or averaged: DAYS_LAST_PHONE_CHANGE, 登录次数."""
    return bool(set(parts_of(name)) & _TIMES) or "次数" in name or "天数" in name


def is_numbered(name: str) -> bool:
    """Whether the name suggests a code or running number."""
    return bool(set(parts_of(name)) & _NUMBERED)


def is_quantity(name: str, distinct: int, meaning: Meaning | None = None) -> bool:
    """Whether this many different whole numbers under such a name are amounts rather than codes (1 = male)."""
    parts = set(parts_of(name))
    if parts & _COUNTED:
        return True
    meaning = meaning or meaning_of(name)
    topic = meaning.topic if meaning else ""
    if topic in _NAMED_BY_CODES or parts & _CODED or name.lower().endswith("code"):
        return False
    return distinct > (FEW_AMOUNTS if topic == "money" else FEW_CODES)
