"""People in Spark: whom each row is about, what all people are together, and guarantees judged in people.

A person is known by a hash of 64 bits of their key and the seed. Two people who hash alike by chance (once in 300,000
tables of ten million people) would be treated as one: kept together, and counted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.engines.spark.measure import Judge, Measured, figures_of_lines, shards_of, sizes_of
from polyveil.engines.spark.values import quoted
from polyveil.errors import Fault
from polyveil.models import Attribute
from polyveil.models.people import Everybody, from_people, people_of, weight_among
from polyveil.policy import Policy
from polyveil.table.bind import faults_of_people
from polyveil.verification.classes import class_of_row

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PERSON = "person"


def hashed_person(frame: DataFrame, person: str, seed: int) -> Column:
    """Who a row is about, as a number."""
    from pyspark.sql import functions as sf

    return sf.xxhash64(sf.lit(seed), frame[quoted(person)].cast("string")).alias(PERSON)


def person_faults(frame: DataFrame, policy: Policy) -> tuple[int, list[Fault]]:
    """How many people a table is about, and what is wrong with that: rows about nobody, or too few people for k."""
    from pyspark.sql import functions as sf

    if policy.person is None or policy.person not in frame.columns:
        return 0, []
    key = frame[quoted(policy.person)]
    nobody = key.isNull() | key.cast("string").isin([str(marker) for marker in policy.missing])
    found = frame.agg(sf.count_distinct(key).alias("people"), sf.count_if(nobody).alias("missing")).collect()[0]
    return int(found["people"]), faults_of_people(policy, int(found["people"]), int(found["missing"]))


def everybody(rows: DataFrame, codes: Mapping[str, Attribute], people: int) -> Everybody:
    """All people of the rows, in which `codes` are the columns of the sensitive values and what they are about.

    Of a weight that does not divide evenly the rows with the least codes get more, as on one machine.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    weight = weight_among(people)
    own = Window.partitionBy(PERSON)
    shared, having = {}, {}
    for number, (name, about) in enumerate(codes.items()):
        code = sf.col(f"s{number}")
        share = sf.floor(sf.lit(weight) / sf.col("n")) + (sf.col("rank") <= sf.lit(weight) % sf.col("n")).cast("long")
        ranked = rows.select(
            PERSON,
            code.alias("code"),
            sf.count("*").over(own).alias("n"),
            sf.row_number().over(own.orderBy(code)).alias("rank"),
        )
        counted = ranked.groupBy("code").agg(sf.sum(share).alias("weight"), sf.count_distinct(PERSON).alias("people"))
        whole, who = np.zeros(about.size, dtype=np.int64), np.zeros(about.size, dtype=np.int64)
        for row in counted.collect():
            whole[row["code"]], who[row["code"]] = row["weight"], row["people"]
        shared[name], having[name] = about.against(whole), who
    return Everybody(people, weight, shared, having)


@dataclass(frozen=True, eq=False)
class PeopleJudge(Judge):
    """Judges classes in people, who are told apart by the column `person`; `of` are those to compare with."""

    of: Everybody | None = None
    person: str = PERSON

    def measure(self, frame: DataFrame, rows: int) -> Measured:
        """All figures of a table of about so many rows; sizes count people."""
        by = [quoted(name) for name in self.by]
        parts = shards_of(rows)
        chosen = frame.select(*by, quoted(self.person), *(quoted(name) for name in self.columns))
        return figures_of_lines(self, chosen.repartition(parts, *by) if by else chosen.repartition(1))

    def figures(self, frame: pl.DataFrame) -> dict[str, Any]:
        person: IntArray = frame.get_column(self.person).rank("dense").cast(pl.Int64).to_numpy() - 1
        codes = self._codes(frame)
        attributes = {name: known.attribute for name, known in self.columns.items()}
        people = people_of(person, codes, attributes, self.of)
        statistics = from_people(class_of_row(frame, self.by), codes, attributes, people)
        return {**sizes_of(statistics.people), "judged": self._judged(statistics), "loss": {}}
