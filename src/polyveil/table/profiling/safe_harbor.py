"""The eighteen kinds of identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2), looked for in a table as it is.

Each kind is found, not found, or cannot be told by a program: free text may hide anything, and whether somebody knows
how to identify a person (the rule's last condition) is no property of a table.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import polars as pl

from polyveil.errors import listed
from polyveil.results import Outcome, Result, Row, counted
from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.profile import column_profiles
from polyveil.table.profiling.roles import FEW
from polyveil.table.profiling.values import is_free_text, shape_of
from polyveil.table.profiling.words import is_number_of_a_person, parts_of
from polyveil.table.source import Table, read


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


Answer = Literal["found", "not found", "cannot be told"]
OLDEST = 89
"""Ages above are given as one category, 90 or older."""
FEWEST_PEOPLE = 20_000
SMALL_ZIP_AREAS = _words("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
"""Three-digit areas with at most 20,000 people by the census of 2000, as HHS lists them. Newer data counts more."""
_PATIENT = ("pat", "pac", "paz")
_LARGE_PLACES = _words("state states country countries nation nationality citizenship continent usa us")
_FINE_DATE = r"\d{4}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_WHOLE_YEARS = r"\[\d{4}-01-01/\d{4}-12-31\]"
_ON_DATES = ("date", "birth", "year")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")
_TOP = re.compile(r"^\s*(90\s*\+|>=?\s*(89|90)|\[?90-inf\]?|90 (and|or) (over|older|above))\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class KindFound:
    """One kind of identifier: its letter in the rule, what it is, the answer, the columns, and the reason."""

    letter: str
    kind: str
    answer: Answer
    columns: tuple[str, ...]
    reason: str


@dataclass(frozen=True, repr=False)
class SafeHarbor(Result):
    """The answers to all kinds; never "holds", because some of them only a person can give."""

    kinds: tuple[KindFound, ...]
    rows: int
    source: str = ""

    @property
    def outcome(self) -> Outcome:
        """fails if an identifier was found; otherwise not checked, for what no program can tell."""
        return "fails" if self.found else "not checked"

    @property
    def found(self) -> tuple[KindFound, ...]:
        """The kinds that were found."""
        return tuple(each for each in self.kinds if each.answer == "found")

    def answer(self) -> str:
        """The verdict in one sentence."""
        told = sum(each.answer == "cannot be told" for each in self.kinds)
        rest = f"{counted(told, 'condition')} cannot be told by a program: a person must look"
        if self.found:
            return f"No: {counted(len(self.found), 'kind')} of identifiers of Safe Harbor found. {rest}."
        return f"No identifier of Safe Harbor was found, but {rest}."

    def records(self) -> Sequence[Row]:
        return [
            {"": each.letter, "kind": each.kind, "answer": each.answer, "columns": ", ".join(each.columns)}
            | {"reason": each.reason}
            for each in self.kinds
        ]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil check --safe-harbor --json` prints it."""
        return {"outcome": self.outcome, "rows": self.rows, "kinds": [asdict(each) for each in self.kinds]}


@dataclass(frozen=True)
class _Seen:
    """A column with its different values as text."""

    about: ColumnProfile
    values: pl.Series
    shape: str

    @property
    def words(self) -> frozenset[str]:
        parts = parts_of(f"{self.about.name} {self.about.label}")
        pairs = (f"{one}_{two}" for one, two in pairwise(parts))
        return frozenset((*parts, *pairs, "".join(parts_of(self.about.name))))

    @property
    def is_property(self) -> bool:
        """Few values, as phone_service or email_optin has: no number or address of a person."""
        return self.about.distinct <= FEW

    @property
    def numbers_patients(self) -> bool:
        """Numbers that the name says are given to patients: patient_id, PatNr."""
        named = is_number_of_a_person(self.about.name) and any(word.startswith(_PATIENT) for word in self.words)
        return named and not self.is_property


@dataclass(frozen=True)
class _Kind:
    letter: str
    kind: str
    words: frozenset[str] = frozenset()
    shapes: frozenset[str] = frozenset()
    topic: str = ""

    def finds(self, seen: _Seen) -> bool:
        if seen.shape in self.shapes:
            return True
        named = bool(self.words & seen.words) or (bool(self.topic) and seen.about.topic == self.topic)
        return named and not seen.is_property


def _kind(letter: str, kind: str, words: str = "", shapes: Sequence[str] = (), topic: str = "") -> _Kind:
    return _Kind(letter, kind, _words(words), frozenset(shapes), topic)


_BY_NAME_OR_SHAPE = (
    _kind("A", "names", "surname lastname firstname forename vorname nachname nombre nom", topic="person_name"),
    _kind("D", "telephone numbers", "phone telephone tel mobile msisdn telefon handy telefono", ["phone numbers"]),
    _kind("E", "fax numbers", "fax telefax"),
    _kind("F", "e-mail addresses", "email mail e_mail correo courriel", ["e-mail addresses"]),
    _kind("G", "social security numbers", "ssn socialsecuritynumber social_security", ["social security numbers"]),
    _kind(
        "H", "medical record numbers", "mrn medical_record record_number chart_number hospital_number patientennummer"
    ),
    _kind(
        "I",
        "health plan beneficiary numbers",
        "beneficiary_id member_id memberid policy_number insurance_number medicare_number medicaid_number kvnr "
        "versichertennummer subscriber_id",
    ),
    _kind(
        "J",
        "account numbers",
        "account_number account_no acct iban bank_account card_number credit_card kontonummer",
        ["account numbers (IBAN)", "card numbers"],
    ),
    _kind("K", "certificate and license numbers", "license licence license_number passport certificate_number npi dea"),
    _kind("L", "vehicle identifiers, license plates", "vin plate license_plate licence_plate number_plate kennzeichen"),
    _kind("M", "device identifiers and serial numbers", "imei imsi iccid udi device_id serial_number mac_address"),
    _kind("N", "web addresses", "url website homepage", ["web addresses"]),
    _kind("O", "IP addresses", "ip ipaddress ip_address", ["IP addresses"]),
    _kind("P", "biometric identifiers", "fingerprint fingerprints voiceprint biometric retina iris faceprint genome"),
    _kind("Q", "full-face photographs", "photo photograph image picture portrait foto selfie"),
)


def check_safe_harbor(source: Any, *, reading: Mapping[str, Any] | None = None) -> SafeHarbor:
    """Look for the identifiers of Safe Harbor in a table as it is: raw data, or the table of any release.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table that is meant to be given away.
    reading : dict, optional
        Options of `polyveil.read`.

    Returns
    -------
    SafeHarbor
        One answer per kind of identifier, and one on what the rule asks beside them.

    Raises
    ------
    InputError
        The table cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> stays = pl.DataFrame({"admitted": ["2026-03-01", "2026-04-02"] * 9, "state": ["OH", "TX"] * 9})
    >>> [each.letter for each in check_safe_harbor(stays).found]
    ['C']
    """
    table = read(source, **(reading or {}))
    seen = [_look(table, about) for about in column_profiles(table)]
    texts = [each.about.name for each in seen if is_free_text(each.values, each.about.distinct / max(table.height, 1))]
    found = {kind.letter: _by_name_or_shape(kind, seen) for kind in _BY_NAME_OR_SHAPE}
    found["B"], found["C"] = _geography(seen), _dates(seen)
    claimed = {name for each in found.values() if each.answer == "found" for name in each.columns}
    found["R"] = _other_codes(
        [each for each in seen if each.about.name not in claimed and each.about.name not in texts]
    )
    kinds = [_with_texts(found[letter], texts) for letter in sorted(found)]
    return SafeHarbor((*kinds, _knowledge()), table.height, table.name, frame_kind=table.kind)


def _look(table: Table, about: ColumnProfile) -> _Seen:
    values = table.frame[about.name].drop_nulls().unique().cast(pl.String)
    shape = shape_of(values)
    return _Seen(about, values, shape.what if shape else "")


def _by_name_or_shape(kind: _Kind, seen: Sequence[_Seen]) -> KindFound:
    columns = [each for each in seen if kind.finds(each)]
    if kind.letter == "H":
        columns += [each for each in seen if each not in columns and each.numbers_patients]
    if not columns:
        return KindFound(kind.letter, kind.kind, "not found", (), "No column has such a name or such values.")
    by_value = [each for each in columns if each.shape in kind.shapes]
    reason = f"Values are {by_value[0].shape}." if by_value else "Column name says so, and the values are many."
    return KindFound(kind.letter, kind.kind, "found", tuple(each.about.name for each in columns), reason)


def _geography(seen: Sequence[_Seen]) -> KindFound:
    """Everything smaller than a state; of ZIP codes three figures, if many people live there."""
    small: list[str] = []
    areas: list[str] = []
    unclear: list[str] = []
    for each in seen:
        name, topic = each.about.name, each.about.topic
        if topic == "postcode" or each.shape == "postal codes" or each.words & {"zip", "zipcode", "zip_code"}:
            shown = {figures for cell in each.values.to_list() for figures in re.findall(r"\d+", cell)}
            longest = max(map(len, shown), default=0)
            letters = each.values.str.contains(r"[A-Za-z]").any()
            if letters or longest > 3:
                small.append(name)
            elif longest == 3:
                (small if shown & SMALL_ZIP_AREAS else areas).append(name)
        elif topic == "place" and not (each.words & _LARGE_PLACES):
            (unclear if each.words & {"region", "area"} else small).append(name)
        elif topic == "contact" and each.words & {"address", "street", "addr", "adresse", "strasse"}:
            small.append(name)
    kind = "geographic areas smaller than a state"
    if small:
        reason = "Places smaller than a state, ZIP codes with more than three figures, or areas with few people."
        return KindFound("B", kind, "found", tuple(small), reason)
    if areas or unclear:
        reason = (
            f"Three-digit ZIP areas must have more than {FEWEST_PEOPLE:,} people by the newest census; none is on the "
            "list of 2000. Regions must not be smaller than a state."
        )
        return KindFound("B", kind, "cannot be told", (*areas, *unclear), reason)
    return KindFound("B", kind, "not found", (), "No column is about a place smaller than a state.")


def _dates(seen: Sequence[_Seen]) -> KindFound:
    """Dates finer than a year, ages above 89, and years of birth that tell such an age."""
    reasons: dict[str, str] = {}
    for each in seen:
        name = each.about.name
        for test, reason in _OF_DATES:
            if test(each):
                reasons.setdefault(name, reason)
    kind = "dates finer than a year, ages over 89"
    if not reasons:
        return KindFound("C", kind, "not found", (), "No date finer than a year, and no age above 89.")
    told = " ".join(dict.fromkeys(reasons.values()))
    return KindFound("C", kind, "found", tuple(reasons), told)


def _is_fine_date(each: _Seen) -> bool:
    if each.about.type == "date":
        return True
    if each.shape:
        return False
    cells = each.values.str.replace_all(_WHOLE_YEARS, "")
    fine = int(cells.str.contains(_FINE_DATE).sum())
    return fine > 0 and (each.about.topic in _ON_DATES or 2 * fine > cells.len())


def _tells_old_age(each: _Seen) -> bool:
    ages = each.about.topic == "birth" and bool(
        each.words & {"age", "ages", "alter", "edad", "idade", "eta", "leeftijd"}
    )
    if not ages:
        return False
    return any(
        float(number) > OLDEST
        for text in each.values.to_list()
        if not _TOP.match(text)
        for number in _NUMBERS.findall(text)
    )


def _tells_old_birth(each: _Seen) -> bool:
    if each.about.topic != "birth" or each.about.type == "date":
        return False
    oldest = dt.datetime.now(tz=dt.UTC).year - OLDEST - 1
    return any(int(year) < oldest for text in each.values.to_list() for year in _YEAR.findall(text))


_OF_DATES: tuple[tuple[Callable[[_Seen], bool], str], ...] = (
    (_is_fine_date, "Dates show more than the year."),
    (_tells_old_age, "Ages above 89 are not one category, 90 or older."),
    (_tells_old_birth, "Years of birth tell of ages above 89."),
)


def _other_codes(seen: Sequence[_Seen]) -> KindFound:
    kind = "other unique numbers, characteristics or codes"
    columns = [each.about.name for each in seen if each.about.role in ("identifier", "person")]
    if columns:
        reason = "Values point to single rows or people. A code for re-identification is allowed by 164.514(c)."
        return KindFound("R", kind, "found", tuple(columns), reason)
    reason = "No column of numbers or codes given to each row. A rare characteristic only a person recognizes."
    return KindFound("R", kind, "cannot be told", (), reason)


def _with_texts(found: KindFound, texts: Sequence[str]) -> KindFound:
    """Free text may contain any kind."""
    if found.answer != "not found" or not texts:
        return found
    reason = f"Not in the other columns. Free text may contain it: read {listed(texts)}."
    return KindFound(found.letter, found.kind, "cannot be told", tuple(texts), reason)


def _knowledge() -> KindFound:
    reason = "164.514(b)(2)(ii): nobody who gives the data away knows that it could identify a person."
    return KindFound("–", "actual knowledge", "cannot be told", (), reason)
