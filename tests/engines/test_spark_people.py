"""People with several rows on Spark: kept together over blocks, and counted again by plain Python."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from conformance.counted_by_hand import PROMISES
from conformance.visits import people_in, policy, visits
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.models import attributes_of, codes_of
from polyveil.models.people import from_people, people_of
from polyveil.policy import load_policy
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read
from polyveil.verification import verify
from spark_session import on_spark

K = 3


def stays(people: int, seed: int) -> pl.DataFrame:
    """Each row has a number of its own, which is published: tests find whose it is by it."""
    frame = visits(np.random.default_rng(seed), 4, people)
    return frame.with_columns(pl.int_range(pl.len()).alias("tag"))


def asked(method: str, promise: str, limit: float = 0.0) -> dict[str, Any]:
    found = policy(method, PROMISES[promise], K, limit, keyed=False)
    found["columns"]["tag"] = {"role": "insensitive"}
    return found


@pytest.mark.parametrize(
    ("method", "promise", "limit"),
    [("mondrian", "several", 0.0), ("sift", "t equal", 0.0), ("mondrian", "frequency l", 0.2)],
)
def test_rows_of_a_person_stay_together_and_people_are_counted(
    spark: Any, tmp_path: Path, method: str, promise: str, limit: float
) -> None:
    from polyveil.engines.spark import verify as on_cluster

    frame = stays(300, 4)
    out = tmp_path / "release"
    release = polyveil.anonymize(
        on_spark(spark, frame), asked(method, promise, limit), out=out, reading={"block_rows": 250}, seed=1
    )
    assert release.manifest["method"]["found"]["blocks"] > 1
    written = pl.read_parquet(out / "table" / "*.parquet").join(frame.select("tag", "who"), on="tag")
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in written.to_dicts():
        groups[row["age"], row["town"]].append(row)
    owners = [who for rows in groups.values() for who in people_in(rows)]
    assert len(owners) == len(set(owners)) == release.manifest["people"]["released"]
    released = people_in(written.to_dicts())
    for rows in groups.values():
        assert PROMISES[promise].kept(people_in(rows), released, K)
        assert limit or PROMISES[promise].kept(people_in(rows), people_in(frame.to_dicts()), K)
    assert release.manifest["people"]["count"] == frame["who"].n_unique()
    assert release.manifest["people"]["class_size"]["min"] == min(len(people_in(rows)) for rows in groups.values())
    for verification in (verify(out), on_cluster(out, spark)):
        assert not verification.failures
        assert "people per group" in {f.check for f in verification.findings if f.outcome == "not checked"}


def test_figures_in_people_that_cannot_be_are_refused_by_spark_as_well(spark: Any, tmp_path: Path) -> None:
    from polyveil.engines.spark.verify import verify_frames

    frame = stays(60, 2)
    release = polyveil.anonymize(on_spark(spark, frame), asked("mondrian", "k"))
    manifest = {**release.manifest, "people": {**release.manifest["people"], "released": 10_000}}
    assert "people" in {finding.check for finding in verify_frames(manifest, release.tables).failures}


def test_everybody_is_counted_as_on_one_machine(spark: Any) -> None:
    from polyveil.engines.spark.engine import SparkEngine

    eleven = pl.DataFrame({"who": ["z"] * 11, "age": 30, "town": "u", "x": list("aaabbcdeeff"), "n": 1, "y": "s"})
    frame = pl.concat([stays(40, 3).drop("tag"), eleven], how="vertical_relaxed")
    told = load_policy(policy("mondrian", PROMISES["several"], K, 0.0, keyed=False))
    table = encode(bind(told, read(frame)))
    assert table.person is not None
    codes, attributes = codes_of(table), attributes_of(table)
    here = from_people(
        np.zeros(table.rows, dtype=np.int64), codes, attributes, people_of(table.person, codes, attributes)
    )
    engine = SparkEngine()
    there = engine.whole(engine.bind(on_spark(spark, frame), told))
    for name in attributes:
        for one, other in zip(here.blocks(name, "sharing"), there.blocks(name, "sharing"), strict=True):
            assert one.count.tolist() == other.count.tolist()
            assert one.attribute.whole.tolist() == other.attribute.whole.tolist()
        for one, other in zip(here.blocks(name, "having"), there.blocks(name, "having"), strict=True):
            assert (one.count.tolist(), one.sizes.tolist()) == (other.count.tolist(), other.sizes.tolist())


def test_the_same_seed_gives_the_same_groups_however_rows_are_spread(spark: Any) -> None:
    frame, wanted = stays(120, 5), asked("sift", "t equal")
    found = []
    for source in (on_spark(spark, frame), on_spark(spark, frame.sample(fraction=1.0, shuffle=True, seed=1))):
        release = polyveil.anonymize(source.repartition(3), wanted, reading={"block_rows": 100}, seed=5)
        found.append(pl.from_arrow(release.table.toArrow()).sort("tag"))  # type: ignore[union-attr]
    assert found[0].equals(found[1])


def test_one_row_each_is_as_without_a_person(spark: Any) -> None:
    frame = stays(150, 1).unique("who", keep="first", maintain_order=True)
    wanted = asked("mondrian", "several")
    plain = {**wanted, "columns": {**wanted["columns"], "who": {"role": "identifier"}}}
    with_people, without = (
        polyveil.anonymize(on_spark(spark, frame), one, reading={"block_rows": 60}, seed=2) for one in (wanted, plain)
    )
    tables = [pl.from_arrow(release.table.toArrow()).sort("tag") for release in (with_people, without)]  # type: ignore[union-attr]
    assert tables[0].equals(tables[1])
    assert with_people.manifest["people"]["privacy"] == without.manifest["privacy"]


def test_what_spark_cannot_do_with_people_is_said(spark: Any) -> None:
    frame = stays(40, 9)
    keyed = asked("mondrian", "k")
    keyed["release"]["person"] = "pseudonym"
    with pytest.raises(PolicyError, match=r"release\.person.*Spark may run a lost task twice"):
        polyveil.anonymize(on_spark(spark, frame), keyed)
    missing = frame.with_columns(pl.when(pl.col("tag") > 3).then("who").alias("who"))
    with pytest.raises(PolicyError, match="do not say whom they are about"):
        polyveil.anonymize(on_spark(spark, missing), asked("mondrian", "k"))
    many = asked("mondrian", "k")
    many["privacy"]["k"] = 41
    with pytest.raises(PolicyError, match="the table is about 40 people"):
        polyveil.anonymize(on_spark(spark, frame), many)
    same = frame.with_columns(pl.lit("a").alias("x"))
    with pytest.raises(Unsatisfiable):
        polyveil.anonymize(on_spark(spark, same), asked("mondrian", "frequency l"))


def test_spark_refuses_sampling_weights_in_one_clear_line(spark: Any) -> None:
    frame = pl.DataFrame({"age": [30, 31, 32, 33], "weight": [1.5, 2.0, 1.0, 3.0]})
    asked_of_it = {
        "columns": {"age": {"role": "quasi"}, "weight": {"role": "weight"}},
        "privacy": {"k": 3},
        "method": {"name": "mondrian"},
    }
    with pytest.raises(PolicyError) as refused:
        polyveil.anonymize(on_spark(spark, frame), asked_of_it)
    (fault,) = refused.value.faults
    assert fault.place == "columns.weight.role"
    assert "not known block by block" in str(refused.value)
    assert "Write role: drop, or leave --engine spark out" in str(refused.value)
    assert not any(number in str(refused.value) for number in ("1.5", "3.0"))
