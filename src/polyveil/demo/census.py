"""The `census` example: a made-up table with the columns, value counts and dependences of UCI Adult.

A chain of small tables: age, country -> race, sex -> education, marital status, workclass -> occupation, hours ->
income -> capital gains. Missing workclass, occupation and country are real missing cells, as often as in Adult.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from polyveil.demo import census_tables as tables
from polyveil.demo.example import Example, Tree, arx_text
from polyveil.demo.sampling import STEPS, Codes, Draws, band, between, category, column, draw, spread


def _leaves(tree: Tree) -> list[str]:
    return [line.split(";")[0] for line in arx_text(tree).splitlines()]


WORKCLASSES = _leaves(tables.WORKCLASSES)
OCCUPATIONS = _leaves(tables.OCCUPATIONS)
MARITAL = _leaves(tables.MARITAL)
SEXES = ("Male", "Female")
INCOMES = ("<=50K", ">50K")
REGIONS = {region: text.split() for origin in tables.ORIGINS for region, text in origin.items()}
COUNTRIES = [country for region in REGIONS.values() for country in region[::2]]
COUNTRY_TREE: Tree = {
    continent: {region: {country: {} for country in REGIONS[region][::2]} for region in regions}
    for continent, regions in tables.CONTINENTS.items()
}


class Lookups(NamedTuple):
    """Every table of the model, spread for drawing, and the maps from values to the conditions of the next table."""

    age: Draws
    country: Draws
    origin: npt.NDArray[np.uint8]
    race: Draws
    education: Draws
    woman: Draws
    marital: Draws
    work: Draws
    occupation: Draws
    hours: Draws
    relationship: Draws
    gain: Draws
    loss: Draws
    weight: Draws
    rich: npt.NDArray[np.int64]


@cache
def _lookups() -> Lookups:
    """Built at the first use, so that importing the package costs nothing."""
    countries = [float(weight) for region in REGIONS.values() for weight in region[1::2]]
    sizes = [sum(len(text.split()) // 2 for text in origin.values()) for origin in tables.ORIGINS]
    study_tilt = tables.EDUCATION_TILT[:, band(tables.EDUCATION_GROUPS, 17)[1:]]
    work_tilt = tables.WORK_TILT_BY_SEX[:, None, :] * tables.WORK_TILT_BY_STUDY
    # A workclass that has no line (never worked, not known) has no occupation: the last value.
    occupation = np.zeros((10, 9, len(OCCUPATIONS) + 1))
    occupation[:, :7, :-1] = tables.OCCUPATION_BY_STUDY[:, None, :] * tables.OCCUPATION_TILT_BY_WORK
    occupation[:, 7:, -1] = 1
    hour_band = band(tables.HOUR_BANDS, 100)[1:]
    within = tables.HOURS[0] / np.bincount(hour_band, weights=tables.HOURS[0])[hour_band]
    hours = (tables.HOURS_BY_STAGE[:, None, :] * tables.HOURS_TILT_BY_WORK)[..., hour_band] * within
    return Lookups(
        age=spread(tables.AGE),
        country=spread([*countries, tables.UNKNOWN_COUNTRY]),
        origin=np.repeat(np.arange(6, dtype=np.uint8), [*sizes, 1]),
        race=spread(tables.RACE),
        education=spread(_crossed(tables.EDUCATION_BY_AGE[:, None, :] * study_tilt)),
        # Half of Black respondents are women, fewer of the others.
        woman=spread([[1 - share, share] for tilt in (0.94, 1.48) for share in np.array(tables.FEMALE) * tilt]),
        marital=spread(tables.MARITAL_BY_AGE),
        work=spread(_crossed(tables.WORK_BY_AGE[:, None, None, :] * work_tilt)),
        occupation=spread(_crossed(occupation)),
        hours=spread(_crossed(hours)),
        relationship=spread(tables.RELATIONSHIP),
        gain=spread(tables.GAIN_WEIGHTS),
        loss=spread(tables.LOSS_WEIGHTS),
        weight=spread(tables.WEIGHT_SHARES),
        rich=np.rint(STEPS / (1 + np.exp(-np.arange(-150, 151) / 10))).astype(np.int64),
    )


def _crossed(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Several conditions as one: all axes but the last are flattened."""
    return table.reshape(-1, table.shape[-1])


def make_chunk(rng: np.random.Generator, rows: int, first: int) -> pl.DataFrame:
    """Rows of the census table; `first` plays no part, as no column numbers the rows."""
    look = _lookups()
    age = draw(rng, look.age, 0, rows) + np.uint8(tables.FIRST_AGE)
    years = band(tables.AGE_BANDS, 100)[age]
    country = draw(rng, look.country, 0, rows)
    origin = look.origin[country]
    race = draw(rng, look.race, origin, rows)
    woman = draw(rng, look.woman, years + np.uint8(10) * (race == 1), rows)
    study = draw(rng, look.education, years * np.int16(6) + origin, rows) + np.uint8(1)
    level = band(tables.STUDY_BANDS, 17)[study]
    marital = draw(rng, look.marital, years + np.uint8(10) * woman, rows)
    work = draw(rng, look.work, (years * np.int16(2) + woman) * 5 + level, rows)
    occupation = draw(rng, look.occupation, (level + np.int16(5) * woman) * 9 + work, rows)
    kind = np.array([0, 0, 1, 1, 1, 2, 3, 3, 3], dtype=np.uint8)[work]
    stage = band(tables.STAGES, 100)[age] + np.uint8(5) * woman
    hours = draw(rng, look.hours, stage * np.int16(4) + kind, rows) + np.uint8(1)
    rich = _rich(rng, years, study, marital, woman, hours, occupation)
    once = np.array([0, 0, 1, 1, 1, 1, 2], dtype=np.uint8)[marital]
    home = (once * np.uint8(2) + woman) * np.uint8(3) + band((0, 25, 35), 100)[age]
    return pl.DataFrame(
        [
            pl.Series("age", age, dtype=pl.UInt8),
            category("workclass", WORKCLASSES, work),
            pl.Series("fnlwgt", between(rng, tables.WEIGHT_KNOTS, look.weight, rows), dtype=pl.UInt32),
            category("education", tables.EDUCATION, study - np.uint8(1)),
            pl.Series("education-num", study, dtype=pl.UInt8),
            category("marital-status", MARITAL, marital),
            category("occupation", OCCUPATIONS, occupation),
            category("relationship", tables.RELATIONSHIPS, draw(rng, look.relationship, home, rows)),
            category("race", tables.RACES, race),
            category("sex", SEXES, woman),
            column("capital-gain", tables.GAINS, pl.UInt32(), draw(rng, look.gain, rich, rows)),
            column("capital-loss", tables.LOSSES, pl.UInt32(), draw(rng, look.loss, rich, rows)),
            pl.Series("hours-per-week", hours, dtype=pl.UInt8),
            category("native-country", COUNTRIES, country),
            category("income", INCOMES, rich),
        ]
    )


def _rich(
    rng: np.random.Generator,
    years: Codes,
    study: Codes,
    marital: Codes,
    woman: Codes,
    hours: Codes,
    occupation: Codes,
) -> npt.NDArray[np.uint8]:
    """1 for an income above 50K: log-odds in whole tenths, added up, so that no rounding differs between machines."""
    score = np.full(len(years), tables.PAY_START, dtype=np.int16)
    score += np.array(tables.PAY_AGE, dtype=np.int16)[years]
    score += np.array(tables.PAY_STUDY, dtype=np.int16)[study - np.uint8(1)]
    score += np.array(tables.PAY_MARRIED, dtype=np.int16)[woman * np.uint8(2) + (marital < 2)]
    score += np.array(tables.PAY_HOURS, dtype=np.int16)[band(tables.HOUR_BANDS, 100)[hours]]
    score += np.array(tables.PAY_OCCUPATION, dtype=np.int16)[occupation]
    threshold = _lookups().rich[score + 150]
    return (rng.integers(0, STEPS, len(years), dtype=np.uint16) < threshold).astype(np.uint8)


POLICY = """\
# Census example: which columns say who somebody is, and which nobody should learn.
version: 1
columns:
  age:            {role: quasi, type: numeric}
  workclass:      {role: quasi, hierarchy: workclass.csv}
  fnlwgt:         {role: identifier}          # a survey weight, nearly unique to a person
  education:      {role: identifier}          # the sensitive education-num in words
  education-num:  {role: sensitive, type: numeric}
  marital-status: {role: quasi, hierarchy: marital-status.csv}
  occupation:     {role: sensitive, hierarchy: occupation.csv}
  relationship:   {role: identifier}          # "Husband" gives sex and marital status away
  race:           {role: quasi, hierarchy: race.csv}
  sex:            {role: quasi, hierarchy: sex.csv}
  capital-gain:   {role: identifier}          # a rare amount points to one person
  capital-loss:   {role: identifier}
  hours-per-week: {role: insensitive}
  native-country: {role: quasi, hierarchy: native-country.csv}
  income:         {role: quasi, hierarchy: income.csv}
privacy: {k: 5, t: 0.2}
method:  {name: sift, effort: fast}
release: {form: generalized, format: csv}
"""

CENSUS = Example(
    name="census",
    title="A census, shaped like UCI Adult",
    description=(
        "People with their age, work, family, origin and income. Occupation and years of education are to stay "
        "private, yet both follow closely from the other columns."
    ),
    make_chunk=make_chunk,
    default_rows=30_000,
    policy_yaml=POLICY,
    hierarchies={
        "workclass.csv": arx_text(tables.WORKCLASSES),
        "marital-status.csv": arx_text(tables.MARITAL),
        "occupation.csv": arx_text(tables.OCCUPATIONS),
        "race.csv": arx_text(dict.fromkeys(tables.RACES)),
        "sex.csv": arx_text(dict.fromkeys(SEXES)),
        "native-country.csv": arx_text(COUNTRY_TREE),
        "income.csv": arx_text(dict.fromkeys(INCOMES)),
    },
)
