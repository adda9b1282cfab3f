"""What column names say, in the languages our users write them in.

A word is matched against the parts of a name (`marital-status`, `maritalStatus`, `MARITAL STATUS` have the same parts):
`age` is a whole part, `diagnos*` the beginning of one, `*birth*` stands anywhere in the name, `=cap` is all of it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from polyveil.policy.schema import Role

# Few different whole numbers are more often codes than quantities; of money, less often.
FEW_CODES = 10
FEW_AMOUNTS = 3


@dataclass(frozen=True)
class Meaning:
    """Words that speak of one thing, and the role such a column usually has."""

    role: Role
    subject: str
    words: tuple[str, ...]

    def is_named_by(self, parts: tuple[str, ...]) -> bool:
        """Whether a name with these parts speaks of it."""
        squashed = "".join(parts)
        return any(_matches(word, parts, squashed) for word in self.words)


def _meaning(role: Role, subject: str, words: str) -> Meaning:
    return Meaning(role, subject, tuple(words.split()))


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


SAMPLING = _meaning(
    "insensitive",
    "how the data was sampled or split",
    "split fold fnlwgt wgt *instanceweight* *sampleweight* *surveyweight* *samplingweight* batch stratum",
)
PERSON_NAME = _meaning(
    "identifier",
    "a person's name",
    "*surname* *lastname* *firstname* *forename* *fullname* *givenname* *familyname* *middlename* *maidenname* "
    "*patientname* *customername* *clientname* *employeename* *personname* *username* nickname initials "
    "*nachname* *vorname* *familienname* *geburtsname* *prenom* nom nombre nombres apellido apellidos *cognome* nome "
    "*sobrenome* naam *achternaam* *voornaam* imie *nazwisko* namn *efternamn* *fornavn* *etternavn* *efternavn* navn",
)
CONTACT = _meaning(
    "identifier",
    "a way to reach a person",
    "*email* =mail courriel correo *phone* *telefon* *telephone* *telefono* tel *mobile* handy handynummer fax "
    "*address* *adresse* *direccion* *indirizzo* *endereco* adres adresa *anschrift* street *strasse* =rue =calle =via "
    "url homepage twitter facebook instagram ip ipaddress",
)
OFFICIAL_NUMBER = _meaning(
    "identifier",
    "an official or account number",
    "ssn *socialsecurity* *passport* nhs nhsnumber *nationalid* *aadhaar* pesel bsn cpf dni nie curp rfc nir cnp nif "
    "*codicefiscale* *fiscalcode* *taxid* *taxnumber* iban *creditcard* *cardnumber* *accountnumber* mrn "
    "*medicalrecord* *insurancenumber* *policynumber* *versichertennummer* *versicherungsnummer* *steuernummer* "
    "*personnummer* *kennzeichen* *licenseplate* *licenceplate* *numberplate* vin uuid guid login",
)
BIRTH = _meaning(
    "quasi",
    "age or birth",
    "age ages dob *birth* born *geburt* alter altersgruppe *naissance* edad *nacimiento* eta *nascita* idade "
    "*nascimento* leeftijd *geboorte* wiek *urodz* alder *fodsel* *fodd*",
)
DATE = _meaning(
    "quasi", "the day something happened, which others may know", "date datum fecha *timestamp* died death deceased"
)
POSTCODE = _meaning(
    "quasi",
    "a postal code",
    "zip *zipcode* *postcode* postal *codepostal* *codigopostal* plz *postleitzahl* =cap =cep",
)
SEX = _meaning("quasi", "sex or gender", "sex sexe sexo *gender* *geschlecht* genero sesso *geslacht* plec kjonn kon")
PLACE = _meaning(
    "quasi",
    "where someone lives or comes from",
    "city town village county state province region country nation* citizen* *native* residence* municipal* district "
    "neighbo* location latitude longitude lat lon lng gps ort stadt wohnort land bundesland kreis gemeinde staats* "
    "herkunft ville commune pays departement ciudad municipio pais provincia localidad estado citta comune paese "
    "cidade bairro plaats woonplaats gemeente miasto kraj gmina *migration* *birthplace* msa sunbelt house",
)
ORIGIN = _meaning(
    "quasi",
    "origin or language",
    "race *ethni* hispanic origin language sprache raza raca etnia ancestry tribe caste indigenous",
)
FAMILY = _meaning(
    "quasi",
    "family or household",
    "marital marriage married *maritalstatus* *civilstatus* civil family familien* *familienstand* matrimonial* "
    "*estadocivil* *etatcivil* *statocivile* *burgerlijke* relationship household child* kinder enfants hijos spouse "
    "husband wife partner parent* mother father divorced widow*",
)
WORK = _meaning(
    "quasi",
    "work",
    "occupation* job jobs jobtitle profession* employ* employer work* worker hours industry company position title "
    "beruf* arbeit* metier travail profesion ocupacion empleo trabajo professione lavoro profissao trabalho beroep "
    "zawod tenure veteran*",
)
EDUCATION = _meaning(
    "quasi",
    "education",
    "educat* degree school* university college graduat* study major *bildung* *abschluss* schule diplome etudes "
    "educacion estudios istruzione scolar* escolaridade opleiding onderwijs wyksztalcenie edu literacy",
)
BODY = _meaning(
    "quasi",
    "what others can see or count",
    "height weight groesse gewicht taille poids altura peso hair eye *skin* siblings",
)
CARE = _meaning(
    "quasi",
    "where or when someone was treated",
    "hospital* clinic ward department unit doctor physician station encounter payer specialty *admission* *admitted* "
    "*discharge* visit* *inpatient* *outpatient* emergency aufnahme entlassung",
)
YEAR = _meaning("quasi", "a year, which others may know", "year jahr annee ano")
HEALTH = _meaning(
    "sensitive",
    "health",
    "diag diagnos* disease* illness* sick* condition icd icd9 icd10 symptom* hiv aids cancer* tumor* tumour* carcino* "
    "diabet* asthma copd *hypertension* *hipertension* obes* pneumonia* covid* corona* *cardiovascular* renal* hepat* "
    "*stroke* *infarct* heart cardiac blood pressure cholest* glucose glu *a1c* insulin bmi pregnan* embaraz* "
    "schwanger* abort* smok* tobacco tabac* alcohol drug drugs medication* medicine* prescri* treat* therap* surger* "
    "operation procedure* lab mental* psych* depress* anxiety suicid* addict* disab* handicap* allerg* vaccin* infect* "
    "intub* icu inmsupr immun* *immunosup* injur* readmi* krank* erkrank* maladie* enfermedad* malattia* doenca* "
    "ziekte* chorob* acarbose miglitol glyb* glip* glim* *propamide* *butamide* *azamide* *hexamide* *formin* "
    "*glitazone* *glinide* *gliptin* *statin* *sartan* *cillin* *mycin* *prazole*",
)
LAB_VALUE = _meaning(
    "sensitive",
    "a laboratory value",
    "alb albumin* alp alt ast sgpt* sgot* bil bilirubin* che chol crea creatin* ggt prot protein* alkaline* "
    "phosphat* hemoglobin* haemoglobin* wbc rbc platelet* ferritin* sodium potassium urea crp tsh psa",
)
MONEY = _meaning(
    "sensitive",
    "money",
    "salary salaries income* wage* earn* pay payment* paid revenue profit capital* gain gains loss losses dividend* "
    "stock* debt* loan* mortgage credit* balance bal limit bill* amount amt tax* benefit* default* bankrup* rent cost "
    "expens* price wealth asset* gehalt* einkommen* lohn* schuld* kredit* salaire* revenu* dette salario* ingreso* "
    "sueldo* deuda* stipendio* reddito* renda divida salaris* inkomen* pensja* dochod* pension*",
)
BELIEF = _meaning(
    "sensitive",
    "belief or opinion",
    "religi* belief* faith church konfession* glaube* politic* party vote* voting union gewerkschaft* *sindicat* "
    "opinion",
)
CRIME = _meaning(
    "sensitive", "crime", "crim* convict* offen* arrest* prison* sentence* felon* recidiv* straf* delit* condamn*"
)
INTIMATE = _meaning(
    "sensitive", "sexual life or genes", "sexual* orientation gene genes genom* genotyp* dna snp mutation* fertil*"
)
OUTCOME = _meaning(
    "sensitive",
    "an outcome someone may want to learn",
    "class target label outcome result* category score grade rating readmit* churn* verdict decision =y",
)

# The first that fits wins: `diagnosis_date` is a date, `age_at_diagnosis` an age, `hospital_costs` money.
MEANINGS = (
    SAMPLING,
    OFFICIAL_NUMBER,
    PERSON_NAME,
    CONTACT,
    BIRTH,
    DATE,
    POSTCODE,
    INTIMATE,
    BELIEF,
    CRIME,
    LAB_VALUE,
    HEALTH,
    SEX,
    MONEY,
    FAMILY,
    ORIGIN,
    WORK,
    EDUCATION,
    PLACE,
    BODY,
    CARE,
    OUTCOME,
    YEAR,
)
_PEOPLE = _words(
    "person patient pat customer client employee member user student subject participant respondent individual "
    "donor case citizen insured policyholder resident kunde paciente cliente mitarbeiter schueler proband"
)
_NUMBERED = _words("id ids nr no nbr num number code key identifier kennung nummer numero matricula pk index idx rowid")
_COUNTED = _words(
    "num number n count counts anzahl hours years days weeks months times time age amount amt total sum rate ratio"
)
_CODED = _words("id code codes recode type kind typ tipo group flag")
# Whole numbers under these names stand for something else, however many there are.
_NAMED_BY_CODES = (POSTCODE, SEX, PLACE, ORIGIN, CARE)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def parts_of(name: str) -> tuple[str, ...]:
    """The words a column name is made of, in lower case without accents."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(part.lower() for part in _PARTS.findall(plain))


def meaning_of(name: str) -> Meaning | None:
    """What a column name speaks of, if it is any of the things we know."""
    parts = parts_of(name)
    if parts == ("name",) or ("name" in parts and _PEOPLE & set(parts)):
        return PERSON_NAME
    return next((meaning for meaning in MEANINGS if meaning.is_named_by(parts)), None)


def is_number_of_a_person(name: str) -> bool:
    """Whether the name speaks of a number given to a person: patient_id, KundenNr."""
    parts = set(parts_of(name))
    squashed = "".join(parts_of(name))
    numbered = bool(parts & _NUMBERED) or squashed.endswith(("id", "nr", "nummer", "number"))
    return numbered and any(squashed.startswith(person) or person in parts for person in _PEOPLE)


def is_person(name: str) -> bool:
    """Whether the name is a word for a person and nothing else: patient, PERSON."""
    parts = parts_of(name)
    return len(parts) == 1 and (parts[0] in _PEOPLE or parts[0].removesuffix("s") in _PEOPLE)


def is_numbered(name: str) -> bool:
    """Whether the name speaks of a code or running number."""
    return bool(set(parts_of(name)) & _NUMBERED)


def is_quantity(name: str, distinct: int) -> bool:
    """Whether this many different whole numbers under such a name are amounts rather than codes (1 = male)."""
    parts = set(parts_of(name))
    if parts & _COUNTED:
        return True
    meaning = meaning_of(name)
    if meaning in _NAMED_BY_CODES or parts & _CODED:
        return False
    return distinct > (FEW_AMOUNTS if meaning is MONEY else FEW_CODES)


def _matches(word: str, parts: tuple[str, ...], squashed: str) -> bool:
    if word.startswith("="):
        return parts == (word[1:],)
    if word.startswith("*"):
        return word.strip("*") in squashed
    if word.endswith("*"):
        return any(part.startswith(word[:-1]) for part in parts)
    return any(part in {word, word + "s"} for part in parts)
