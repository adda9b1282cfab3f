"""The `hospital` example: made-up patients of a made-up city, with three sensitive columns that depend on the others.

Disease follows from age, sex, season and place, salary from age and area, religion from nationality and area. Three
places are traps for a careless release: in one nearly everybody has the same disease (homogeneity), in one the diseases
differ but are all of the stomach (similarity), in one diseases that are rare elsewhere are common (skewness).
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from polyveil.demo.example import Example, arx_text
from polyveil.demo.sampling import Codes, Draws, band, between, category, chance, column, draw, spread, weights

# Place in the hierarchy, then weights for patients under 40, under 65 and older, and percent for women and men.
DISEASES = """
Circulatory/Heart/Angina                       3 25 40  90 110
Circulatory/Heart/Heart attack                 2 30 45  70 130
Circulatory/Heart/Heart failure                1 15 60 100 100
Circulatory/Heart/Arrhythmia                   6 20 45 100 100
Circulatory/Vessels/Thrombosis                10 20 20 120  80
Circulatory/Vessels/Varicose veins             8 20 12 140  60
Circulatory/Hypertension                       8 40 50 100 100
Respiratory/Airways/Asthma                    35 15 10 115  85
Respiratory/Airways/Bronchitis                12 12 18 100 100
Respiratory/Airways/COPD                       1 30 55  85 115
Respiratory/Lungs/Pneumonia                   12 18 50 100 100
Respiratory/Lungs/Asbestosis                 0.1  2  3  20 180
Digestive/Stomach/Gastric ulcer                8 14 14  90 110
Digestive/Stomach/Gastritis                   25 18 12 100 100
Digestive/Stomach/Stomach cancer             0.5  4  8  70 130
Digestive/Stomach/Gastroenteritis             30 12 14 100 100
Digestive/Bowel/Appendicitis                  45 12  5 100 100
Digestive/Bowel/Crohn disease                 15  8  4 100 100
Digestive/Bowel/Hernia                        15 30 25  50 150
Digestive/Gallstones                          15 35 25 140  60
Infectious/Viral/Flu                           8  8 15 100 100
Infectious/Viral/Covid-19                      6  8 18 100 100
Infectious/Viral/Hepatitis B                   4  4  1  80 120
Infectious/Viral/HIV                           4  3  1  40 160
Infectious/Bacterial/Tuberculosis              4  4  3  80 120
Infectious/Bacterial/Syphilis                  3  1  0  50 150
Infectious/Sepsis                              4 10 25 100 100
Brain and mind/Nerves/Epilepsy                20 10  8 100 100
Brain and mind/Nerves/Migraine                25 12  3 150  50
Brain and mind/Nerves/Multiple sclerosis       8  8  1 140  60
Brain and mind/Nerves/Parkinson disease        0  4 18  90 110
Brain and mind/Nerves/Dementia                 0  2 40 110  90
Brain and mind/Nerves/Stroke                   2 20 50 100 100
Brain and mind/Mind/Depression                45 25 12 130  70
Brain and mind/Mind/Schizophrenia             18  6  2  85 115
Brain and mind/Mind/Alcohol dependence        25 30  6  55 145
Bones/Fractures/Hip fracture                   1  6 55 140  60
Bones/Fractures/Wrist fracture                20 12 10 120  80
Bones/Back pain                               20 40 15 100 100
Bones/Arthrosis                                2 35 60 115  85
Metabolic/Diabetes/Diabetes type 1            18  8  3 100 100
Metabolic/Diabetes/Diabetes type 2             4 35 45 100 100
Metabolic/Thyroid disorder                    12 20 12 160  40
Tumours/Breast cancer                          5 25 18 199   1
Tumours/Lung cancer                          0.5 15 22  85 115
Tumours/Leukaemia                              5  5  8  95 105
"""
WINTER: dict[str, float] = {"Flu": 60, "Covid-19": 30, "Pneumonia": 25, "Bronchitis": 25}
# Added to the weights where the postal code begins so; a patient's other diseases weigh about 900 together.
TRAPS: dict[str, dict[str, float]] = {
    "029": {"Asbestosis": 10000},
    "022": {"Gastric ulcer": 1500, "Gastritis": 1500, "Gastroenteritis": 1200, "Stomach cancer": 600},
    "0210": {"HIV": 120, "Syphilis": 30, "Hepatitis B": 50},
}
# The shares are chosen so that cutting the postal codes at medians soon separates the traps: in smaller places, a
# median cut with k = 5 mixed them with their neighbours and no class had a single disease.
# The first three digits, share of patients, postal codes, pay in percent, age profile, and who lives there more often.
AREAS: tuple[tuple[str, int, int, int, int, dict[str, int]], ...] = (
    ("010", 16, 12, 105, 0, {"German": 30, "Chinese": 60}),
    ("011", 12, 10, 160, 1, {"American": 40, "British": 60}),
    ("013", 12, 10, 85, 0, {"Polish": 200, "Lithuanian": 120}),
    ("014", 12, 8, 75, 0, {"Filipino": 100, "Portuguese": 60}),
    ("020", 18, 12, 95, 0, {"Indian": 200, "Pakistani": 150}),
    ("021", 18, 14, 120, 2, {"Greek": 40, "Brazilian": 60}),
    ("022", 6, 5, 80, 2, {"Nigerian": 150, "Somali": 200, "Syrian": 150}),
    ("029", 6, 4, 70, 1, {}),
)
AGE_PROFILES = weights("""
8 12 18 24 24 14
4 6 12 24 32 22
26 28 18 14 9 5
""")
AGE_BANDS = (18, 25, 35, 50, 65, 80)
LAST_AGE = 98
BASE_PAY = (23_000, 34_000, 43_000, 45_000, 26_000, 21_000)  # by age band
PAY_SPREAD = (35, 52, 62, 70, 77, 84, 90, 95, 100, 106, 113, 122, 134, 150, 175, 210, 300)  # percent, even shares
RELIGIONS = ("Unaffiliated", "Catholic", "Protestant", "Orthodox", "Muslim", "Hindu", "Sikh", "Buddhist", "Jewish")
# Region, nationality, how common, then the weights of the religions.
NATIONALITIES = """
Europe/Northern/Irish        700  30 62  5  0  1  0  0  0  1
Europe/Northern/British       60  48 14 32  0  3  1  1  0  1
Europe/Northern/Lithuanian    20  25 68  2  5  0  0  0  0  0
Europe/Central/German         15  45 25 26  0  3  0  0  0  1
Europe/Central/Polish         60  12 86  1  1  0  0  0  0  0
Europe/Southern/Portuguese    12  15 82  2  0  1  0  0  0  0
Europe/Southern/Greek          8  10  2  1 86  1  0  0  0  0
Asia/South/Indian             25   6  8  2  3 12 60  8  1  0
Asia/South/Pakistani          15   2  1  1  0 95  1  0  0  0
Asia/East/Chinese             15  62  4  6  0  1  0  0 27  0
Asia/East/Filipino            12   5 84  6  0  5  0  0  0  0
Asia/Syrian                   10   6  2  1  9 82  0  0  0  0
Africa/Nigerian               15   3 25 42  0 30  0  0  0  0
Africa/Somali                  8   1  0  0  0 99  0  0  0  0
America/American              12  28 22 38  1  2  1  0  2  6
America/Brazilian             18  12 66 20  0  0  0  0  1  1
"""
SEXES = ("Female", "Male")
WARDS = ("A", "B", "C", "D", "E", "F")
DAYS = [date(2025, 1, 1) + timedelta(days=day) for day in range(365)]


def _parse(text: str, numbers: int) -> tuple[list[str], dict[str, Any], npt.NDArray[np.float64]]:
    """A block of `path numbers...` lines as the leaves' names, the tree above them and the numbers."""
    names: list[str] = []
    tree: dict[str, Any] = {}
    values = []
    for line in text.strip().splitlines():
        words = line.split()
        path = " ".join(words[:-numbers]).split("/")
        node = tree
        for name in path:
            node = node.setdefault(name, {})
        names.append(path[-1])
        values.append(words[-numbers:])
    return names, tree, np.array(values, dtype=np.float64)


DISEASE_NAMES, DISEASE_TREE, _DISEASE_WEIGHTS = _parse(DISEASES, 5)
NATIONS, NATION_TREE, _NATION_WEIGHTS = _parse(NATIONALITIES, 1 + len(RELIGIONS))
ZIPS = [f"{area[0]}{number:02d}" for area in AREAS for number in range(1, area[2] + 1)]


class Lookups(NamedTuple):
    """Every table of the model, spread for drawing."""

    zip: Draws
    area: npt.NDArray[np.intp]
    trap: npt.NDArray[np.intp]
    age: Draws
    nation: Draws
    religion: Draws
    disease: Draws
    pay: Draws


@cache
def _lookups() -> Lookups:
    """Built at the first use, so that importing the package costs nothing."""
    # The first postal code of an area has most of its patients, the last few.
    zips = [2 * area[1] * (area[2] - number) / (area[2] * (area[2] + 1)) for area in AREAS for number in range(area[2])]
    years = band(AGE_BANDS, LAST_AGE + 1)[AGE_BANDS[0] :]
    ages = AGE_PROFILES[:, years] / np.bincount(years)[years]
    nations = np.tile(_NATION_WEIGHTS[:, 0], (len(AREAS), 1))
    for number, area in enumerate(AREAS):
        for nation, more in area[5].items():
            nations[number, NATIONS.index(nation)] += more
    # Two conditions: elsewhere, and the first area, the old town with its Jewish quarter.
    religion = np.stack([_NATION_WEIGHTS[:, 1:]] * 2)
    religion[1, :, RELIGIONS.index("Jewish")] *= 12
    return Lookups(
        zip=spread(zips),
        area=np.repeat(np.arange(len(AREAS)), [area[2] for area in AREAS]),
        trap=np.array([sum(n * code.startswith(start) for n, start in enumerate(TRAPS, 1)) for code in ZIPS]),
        age=spread(ages[[area[4] for area in AREAS]]),
        nation=spread(nations),
        religion=spread(religion.reshape(-1, len(RELIGIONS))),
        disease=_disease_lookup(),
        pay=spread(np.ones(len(PAY_SPREAD) - 1)),
    )


def _disease_lookup() -> Draws:
    """Conditions: trap (4) x winter (2) x sex (2) x stage of life (3)."""
    by_stage, by_sex = _DISEASE_WEIGHTS[:, :3].T, _DISEASE_WEIGHTS[:, 3:].T / 100
    table = np.tile(by_sex[:, None, :] * by_stage, (1 + len(TRAPS), 2, 1, 1, 1))
    for name, extra in WINTER.items():
        table[:, 1, :, :, DISEASE_NAMES.index(name)] += extra
    for number, trap in enumerate(TRAPS.values(), start=1):
        for name, more in trap.items():
            # Under 40 the local diseases are half as common: they take years to come.
            table[number, ..., DISEASE_NAMES.index(name)] += np.array([0.5, 1.0, 1.0]) * more
    return spread(table.reshape(-1, table.shape[-1]))


def make_chunk(rng: np.random.Generator, rows: int, first: int) -> pl.DataFrame:
    """Rows of the hospital table, numbered from `first`."""
    look = _lookups()
    place = draw(rng, look.zip, 0, rows)
    area = look.area[place]
    age = draw(rng, look.age, area, rows) + np.uint8(AGE_BANDS[0])
    man = chance(rng, 0.48, rows).astype(np.uint8)
    nation = draw(rng, look.nation, area, rows)
    religion = draw(rng, look.religion, (area == 0) * len(NATIONS) + nation, rows)
    day = rng.integers(0, len(DAYS), rows, dtype=np.uint16)
    winter = (day < 75) | (day >= 320)
    stage = band((0, 40, 65), 100)[age]
    disease = draw(rng, look.disease, ((look.trap[place] * 2 + winter) * 2 + man) * 3 + stage, rows)
    numbers = pl.int_range(first + 1, first + rows + 1, eager=True).cast(pl.String).str.zfill(8)
    return pl.DataFrame(
        [
            ("Example-" + numbers).alias("patient"),
            pl.Series("age", age, dtype=pl.UInt8),
            category("sex", SEXES, man),
            category("zip", ZIPS, _hide(rng, place, 0.005, len(ZIPS))),
            column("admitted", DAYS, pl.Date(), day),
            category("nationality", NATIONS, _hide(rng, nation, 0.02, len(NATIONS))),
            category("disease", DISEASE_NAMES, disease),
            _salary(rng, look.pay, area, age),
            category("religion", RELIGIONS, _hide(rng, religion, 0.05, len(RELIGIONS))),
            category("ward", WARDS, rng.integers(0, len(WARDS), rows, dtype=np.uint8)),
        ]
    )


def _hide(rng: np.random.Generator, codes: Codes, share: float, missing: int) -> Codes:
    """Replace a share of the codes by the code of a missing cell."""
    return np.where(chance(rng, share, len(codes)), codes.dtype.type(missing), codes)


def _salary(rng: np.random.Generator, lookup: Draws, area: Codes, age: Codes) -> pl.Series:
    """Yearly pay, rounded more coarsely the higher it is, as people state it; one in twenty-five gives none."""
    base = np.array(BASE_PAY, dtype=np.int64)[band(AGE_BANDS, LAST_AGE + 1)[age]]
    level = base * np.array([a[3] for a in AREAS], dtype=np.int64)[area]
    pay = level * between(rng, PAY_SPREAD, lookup, len(age)) // (100 * 100)
    step = np.array([500, 2_000, 10_000])[np.searchsorted([50_000, 100_000], pay)]
    given = pl.Series(~chance(rng, 0.04, len(age)))
    salary = pl.Series("salary", pay // step * step, dtype=pl.UInt32)
    return salary.zip_with(given, pl.Series("salary", [None], dtype=pl.UInt32))


POLICY = """\
# Hospital example: which columns say who somebody is, and which nobody should learn.
version: 1
columns:
  patient:     {role: identifier}                   # dropped
  age:         {role: quasi, type: numeric}
  sex:         {role: quasi, hierarchy: sex.csv}
  zip:         {role: quasi, hierarchy: {mask: 5}}  # 02903 -> 0290* -> 029** ...
  admitted:    {role: quasi, type: date}
  nationality: {role: quasi, hierarchy: nationality.csv}
  disease:
    role: sensitive
    hierarchy: disease.csv
    t: 0.3
    l: {0: 1, 1: 2, 2: 3}                           # a value of level 2 in at most 1/3 of a class
    levels:                                         # the rest has level 1
      2: [HIV, Syphilis, Hepatitis B, Schizophrenia, Alcohol dependence, Depression]
      0: [Flu, Hernia, Wrist fracture, Varicose veins]
  salary:      {role: sensitive, type: numeric}     # its t is that of privacy, below
  religion:    {role: sensitive, type: categorical, t: 0.3}
  ward:        {role: insensitive}
privacy: {k: 5, t: 0.2}
method:  {name: sift, effort: fast}
release: {form: generalized, format: csv}
"""

HOSPITAL = Example(
    name="hospital",
    title="Patients of a city hospital",
    description=(
        "One row for each patient: who they are, where they live, when they came, and three things that are nobody "
        "else's business - disease, salary and religion."
    ),
    make_chunk=make_chunk,
    default_rows=10_000,
    policy_yaml=POLICY,
    hierarchies={
        "sex.csv": arx_text(dict.fromkeys(SEXES)),
        "nationality.csv": arx_text(NATION_TREE),
        "disease.csv": arx_text(DISEASE_TREE),
    },
)
