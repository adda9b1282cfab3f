"""Wide tables made from variable lists that are public, each column with the role that a careful steward gives it.

A list is a file `labelled/NAME.csv`: a column, its role, the kind of its cells, and its description if there is one.

The rule of the labels, written down before the first list of a batch: what others can know about a person and what
stays true for a year or so (birth, family, origin, work, education, place, dwelling, looks, dates of events, contracts)
is quasi. What harms or is private (health, money, belief, conduct, crime, results, use of time and things, answers
about oneself) is sensitive. If both hold, or two careful stewards would differ, the label lists both roles and either
is right. A name, a contact, a number given to a person or record, and free text is an identifier, and dropping it is
the same. What tells nothing about a person (how the data was sampled, collected, entered) is insensitive; there, a
suggestion that is put to the steward as a question is right as well, because nothing is published without an answer.

Labels of a batch are written before any of its tables is profiled. Of TUNED tables, the columns that were not
recognized led to new words and rules afterwards; of KEPT_BACK ones they did not.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from polyveil.table.profiling.column import ColumnProfile

ROWS = 400
OUT = {"identifier", "drop"}
FOLDER = Path(__file__).parent / "labelled"
TUNED = {
    "survey": "a health survey with a dictionary, after NHANES",
    "hospital_german": "cases of a hospital, after section 21 KHEntgG and usual registers",
    "tax": "a tax file, after the public use file of the Internal Revenue Service",
    "telecom": "customers of a telephone company, after the Telco and Cell2Cell lists",
    "school_french": "pupils, after the files of French schools",
    "staff": "employees, after the public attrition lists",
    "telephone_survey": "behaviour and risks with a dictionary, after BRFSS",
    "students": "pupils of two schools in Portugal, after the list of the UCI repository",
    "claims_dutch": "claims of an insurer: a policyholder, a vehicle, what happened, what was paid",
    "trial_chinese": "a clinical trial with Chinese names and a few of the usual English codes",
    "bank_german": "applications for loans at a German bank",
    "attitudes": "a social survey with a dictionary, after the European Social Survey",
    "telecom_portuguese": "customers of a Portuguese telephone company and why they leave",
    "refugees": "registration of refugees, after the lists of relief agencies",
    "hospital_spanish": "hospital stays, after public registers of Latin America",
    "staff_italian_dutch_chinese": "employees of a company with three languages in its files",
    "households_portuguese": "households and their income, after the household surveys of Brazil",
    "intensive_care": "admissions to intensive care, after the tables of MIMIC",
    "justice": "people before court, after the list of ProPublica on COMPAS",
    "municipality_italian": "residents and the services of an Italian municipality",
    "police_stops": "people stopped in the street with a dictionary, after the list of the New York police",
    "notifications_portuguese": "cases of dengue, after the register of Brazil; short codes without a dictionary",
    "staff_chinese": "employees, after the table of a Chinese program for human resources",
    "working_conditions_french": "working conditions with a dictionary, after the French survey",
    "loans": "loans, after the list of LendingClub",
    "panel_german": "a household panel with a dictionary, after the Socio-Economic Panel",
    "daily_life_italian": "aspects of daily life with a dictionary, after the survey of Istat",
    "health_spanish": "health and nutrition with a dictionary, after Ensanut of Mexico",
    "panel_dutch": "a household panel with a dictionary, after LISS",
    "emergency_visits": "visits to emergency departments, after NHAMCS; short codes without a dictionary",
    "motor_claims": "claims of motor insurance, after a public list",
    "ageing_chinese": "health and retirement with a dictionary, after CHARLS",
    "credit_applications": "applications for credit, after the list of Home Credit",
    "employment_portuguese": "employment contracts, after RAIS of Brazil",
    "women_survey": "women and children with a dictionary, after the Demographic and Health Surveys",
    "emergency_french": "passages through an emergency department, after the French summary of passages",
    "jobcentre_german": "people who receive basic income support in Germany",
    "social_care_dutch": "people who receive help from a Dutch municipality",
    "pupils_spanish": "pupils, after the files of Spanish schools",
    "bank_customers_chinese": "customers of a Chinese bank",
    "school_study": "pupils of fifteen years with a dictionary, after PISA",
    "hospital_italian": "hospital stays, after the Italian discharge records",
    "labour_spanish": "a labour force survey with a dictionary, after the Spanish one",
    "students_german": "students of a German university",
    "telecom_french": "customers of a French telephone company",
    "prisoners_portuguese": "people in prison in Brazil",
    "foster_care": "children in foster care, after AFCARS; short codes without a dictionary",
    "benefits_french": "people who receive family benefits in France",
    "health_insurance_german": "services paid by a German health insurer",
    "staff_dutch": "employees of a Dutch company",
    "health_portuguese": "a health survey with a dictionary, after PNS of Brazil",
    "students_chinese": "students of a Chinese university",
    "living_conditions": "income and living conditions with a dictionary, after EU-SILC",
    "hospital_episodes": "hospital episodes in England, after HES; short codes without a dictionary",
    "tax_italian": "tax returns, after the Italian form 730",
    "telecom_chinese": "customers of a Chinese telephone company",
    "school_dutch": "pupils of a Dutch secondary school",
    "staff_french": "employees of a French company; short names",
    "energy_german": "customers of a German energy supplier",
    "accidents_spanish": "people in road accidents with a dictionary, after the Spanish traffic authority",
}
KEPT_BACK = {
    "pharmacy_portuguese": "medicines dispensed by Portuguese pharmacies",
    "mobility_german": "people and their trips with a dictionary, after Mobilität in Deutschland",
    "social_housing_french": "applications for social housing in France",
    "labour_force": "a labour force survey, after the British one; short codes without a dictionary",
    "donors_dutch": "blood donors in the Netherlands",
    "life_insurance_chinese": "policies of a Chinese life insurer",
}


@dataclass(frozen=True)
class Labelled:
    """A table, the right role of each column, and descriptions where the list has them."""

    name: str
    frame: pl.DataFrame
    roles: dict[str, str]
    labels: dict[str, str] = field(default_factory=dict)


def is_right(about: ColumnProfile, label: str) -> bool:
    """Whether a suggestion fits a label, which may list several roles."""
    roles = set(label.split("/"))
    if "insensitive" in roles and about.asked:
        return True
    return about.role in roles or (about.role in OUT and bool(roles & OUT))


def is_exposed(about: ColumnProfile, label: str) -> bool:
    """Whether a column that harms or names a person would be published as it is."""
    return (
        about.role == "insensitive"
        and "insensitive" not in label
        and bool({"sensitive", "person"} & {*label.split("/")})
    )


def labelled(name: str, rows: int = ROWS) -> Labelled:
    """Draw the cells of every column of a list."""
    columns = lines_of(f"{name}.csv")
    rng = np.random.default_rng(len(columns))
    frame = pl.DataFrame([draw(each["kind"], rows, rng).alias(each["column"]) for each in columns])
    labels = {each["column"]: each["description"] for each in columns if each["description"]}
    return Labelled(name, frame, {each["column"]: each["role"] for each in columns}, labels)


def shared_roles() -> dict[str, dict[str, str]]:
    """Roles of the columns of each table in the shared folder, as far as a careful steward would not hesitate."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for each in lines_of("shared.csv"):
        found[each["file"]][each["column"]] = each["role"]
    return dict(found)


def lines_of(file: str) -> list[dict[str, str]]:
    """The columns of a list, one line each."""
    with (FOLDER / file).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def draw(kind: str, rows: int, rng: np.random.Generator) -> pl.Series:
    """Cells of one kind: `code5` has the codes 1 to 5, `code2r` has refusals (7, 9) as well."""
    if kind.startswith("code"):
        codes = [str(i + 1) for i in range(int(kind[4:].rstrip("r")))] + (["7", "9"] if kind.endswith("r") else [])
        return pl.Series(rng.choice(codes, rows))
    if kind == "id":
        return pl.Series([f"{100_000 + i}" for i in rng.permutation(rows)])
    if kind == "visits":  # a person's key: several rows each
        return pl.Series([str(50_000 + i // 2) for i in range(rows)])
    if kind == "name":
        return pl.Series([f"{'ABCDEFGH'[i % 8]}nna Person{i}" for i in rng.permutation(rows)])
    if kind == "email":
        return pl.Series([f"p{i}@example.org" for i in range(rows)])
    if kind == "phone":
        return pl.Series([f"+49 170 {5_550_000 + i}" for i in range(rows)])
    if kind == "text":
        return pl.Series([f"A longer remark about what happened on visit {i}, with details" for i in range(rows)])
    if kind == "yn":
        return pl.Series(rng.choice(["yes", "no"], rows, p=[0.3, 0.7]))
    if kind == "gap":  # one value, for few
        return pl.Series([("1" if i < 2 else None) for i in range(rows)])
    if kind == "one":
        return pl.Series(["1"] * rows)
    if kind == "age":
        return pl.Series([str(i) for i in rng.integers(0, 81, rows)])
    if kind == "count":
        return pl.Series([str(i) for i in rng.poisson(2.0, rows)])
    if kind == "number":
        return pl.Series([f"{x:.1f}" for x in rng.normal(120, 15, rows)])
    if kind == "sentinel":
        amount = rng.integers(0, 90, rows) * 10
        return pl.Series(
            [("777777" if i % 40 == 0 else "999999" if i % 33 == 0 else str(x)) for i, x in enumerate(amount)]
        )
    if kind == "money":
        amount = np.where(rng.random(rows) < 0.4, 0, rng.lognormal(9, 1.2, rows))
        return pl.Series([f"{x:.2f}" for x in amount])
    if kind == "date":
        start = np.datetime64("2015-01-01")
        return pl.Series([str(start + int(i)) for i in rng.integers(0, 2000, rows)])
    if kind == "year":
        return pl.Series([str(i) for i in rng.integers(1940, 2005, rows)])
    if kind == "zip":
        return pl.Series([f"{i:05d}" for i in rng.integers(1000, 99999, rows)])
    if kind == "icd":
        return pl.Series([f"{'ABCEIJ'[i % 6]}{i % 90 + 10}.{i % 9}" for i in rng.integers(0, 500, rows)])
    if kind == "place":
        return pl.Series([f"Town {i}" for i in rng.integers(0, 40, rows)])
    if kind == "weight":
        return pl.Series([f"{x:.6f}" for x in rng.lognormal(9, 1, rows)])
    raise ValueError(kind)
