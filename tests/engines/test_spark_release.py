"""What is particular to Spark: blocks judged against the whole table, bundles of parts, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyveil
from engines.clinic import clinic, policy
from polyveil.errors import InputError
from polyveil.verification import verify
from polyveil.verification.canonical import manifest_text, write_table
from spark_session import on_spark


@pytest.fixture(scope="module")
def bundle(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark") / "release"
    release = polyveil.anonymize(on_spark(spark, clinic()), policy(), out=folder, reading={"block_rows": 150})
    assert release.manifest["method"]["found"]["blocks"] > 1
    return folder


def test_a_bundle_of_parts_passes_both_verifiers(spark: Any, bundle: Path) -> None:
    from polyveil.engines.spark import verify as on_cluster

    assert verify(bundle).holds
    assert on_cluster(bundle, spark).holds
    assert sorted(entry.name for entry in bundle.iterdir()) == ["manifest.json", "table"]
    assert all(entry.name.startswith("part-") for entry in (bundle / "table").iterdir())


def test_both_verifiers_see_a_changed_claim_and_a_changed_part(spark: Any, bundle: Path, tmp_path: Path) -> None:
    from polyveil.engines.spark import verify as on_cluster

    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["privacy"]["t"]["disease"] /= 2
    manifest["claims"][1]["measured"] /= 2
    copy = tmp_path / "changed"
    (copy / "table").mkdir(parents=True)
    for part in (bundle / "table").iterdir():
        (copy / "table" / part.name).write_bytes(part.read_bytes())
    (copy / "manifest.json").write_text(manifest_text(manifest))
    for verification in (verify(copy), on_cluster(copy, spark)):
        assert {finding.check for finding in verification.failures} == {"claim", "figure"}
    part = next((copy / "table").iterdir())
    part.write_bytes(part.read_bytes()[:-1])
    for verification in (verify(copy), on_cluster(copy, spark)):
        assert "changed file" in {finding.check for finding in verification.failures}


def test_a_large_table_passes_through_a_driver_that_cannot_hold_it(spark: Any, tmp_path: Path) -> None:
    # 20,000 rows of 400 bytes that hardly compress are 8 MB; the driver accepts 1 MB of results (`spark_session`).
    from pyspark.sql import functions as sf

    rows = spark.range(20_000).select(
        (sf.col("id") % 71).alias("age"),
        (sf.col("id") % 7).alias("disease"),
        sf.concat(*(sf.sha2((sf.col("id") + salt).cast("string"), 512) for salt in (0.1, 0.2, 0.3))).alias("note"),
    )
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "disease": {"role": "sensitive", "type": "categorical", "t": 0.5},
        "note": {"role": "insensitive"},
    }
    asked = {"version": 1, "columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
    release = polyveil.anonymize(rows, asked, out=tmp_path / "release", reading={"block_rows": 5_000})
    assert release.manifest["rows"] == 20_000
    with pytest.raises(Exception, match="maxResultSize"):
        release.table.collect()


def test_a_linked_bundle_of_parts_passes_both_verifiers_and_a_changed_one_neither(spark: Any, tmp_path: Path) -> None:
    from polyveil.engines.spark import verify as on_cluster

    plain = {"disease": {"role": "sensitive"}, "cost": {"role": "sensitive", "type": "numeric"}}
    diverse = {"l": 2, "diversity": "frequency", "suppression_limit": 0.2}
    asked = policy("mbf", columns=plain, privacy=diverse, release={"form": "anatomized"})
    out = tmp_path / "release"
    release = polyveil.anonymize(on_spark(spark, clinic()), asked, out=out, reading={"block_rows": 150})
    assert release.manifest["method"]["found"]["blocks"] > 1
    assert sorted(entry.name for entry in out.iterdir()) == ["manifest.json", "quasi", "sensitive_1"]
    assert verify(out).holds
    assert on_cluster(out, spark).holds
    manifest = json.loads((out / "manifest.json").read_text())
    quasi, values = (next(name for name in manifest["files"] if name.startswith(of)) for of in ("quasi", "sensitive_1"))
    honest = pl.read_parquet(out / quasi)
    # Rows sorted by group link the tables by their order; the groups themselves, and every figure, stay as they were.
    rewrite(out, quasi, honest.sort("group"))
    for verification in (verify(out), on_cluster(out, spark)):
        assert {finding.check for finding in verification.failures} == {"row order"}
    # One value moved to another group: the counts of the values stay, the groups' sizes do not.
    rewrite(out, quasi, honest)
    moved = pl.read_parquet(out / values)
    rewrite(out, values, moved.with_columns(pl.Series("group", [moved["group"][-1], *moved["group"][1:]])))
    for verification in (verify(out), on_cluster(out, spark)):
        assert "groups of sensitive_1" in {finding.check for finding in verification.failures}


def rewrite(out: Path, name: str, frame: pl.DataFrame) -> None:
    """Another content of a part, as a release writes it, and its checksum in the manifest."""
    with (out / name).open("wb") as sink:
        write_table(frame, sink, ".parquet")
    content = (out / name).read_bytes()
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"][name] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (out / "manifest.json").write_text(manifest_text(manifest))


def test_equal_rows_in_great_number_are_divided_evenly() -> None:
    from polyveil.engines.spark.rows import Twins

    equal = np.full(10_000, 12345, dtype=np.int64)
    told_apart = Twins(partition=3).told_apart(equal)
    assert len(np.unique(told_apart)) == 10_000
    assert abs(int((told_apart & 1).sum()) - 5000) < 300
    # The same rows in other batches, in another order: the same set of hashes.
    rng = np.random.default_rng(0)
    mixed = rng.permutation(np.repeat(np.arange(5, dtype=np.int64), 40))
    whole, pieces = Twins(1).told_apart(mixed), Twins(1)
    again = np.concatenate([pieces.told_apart(part) for part in np.split(rng.permutation(mixed), 10)])
    assert sorted(whole) == sorted(again)


def test_released_order_does_not_follow_the_input(spark: Any) -> None:
    frame = clinic(400).with_columns(pl.int_range(400).alias("ward"))
    release = polyveil.anonymize(spark.createDataFrame(frame.to_arrow()), policy(), seed=1)
    places = pl.DataFrame(pl.from_arrow(release.table.toArrow()))["ward"].to_numpy()
    assert abs(np.corrcoef(places, np.arange(400))[0, 1]) < 0.25


def test_a_nested_column_and_a_remote_address_are_one_clear_line(spark: Any) -> None:
    nested = clinic(50).with_columns(pl.lit([1, 2]).alias("ward"))
    with pytest.raises(InputError, match="ward has the type array"):
        polyveil.anonymize(on_spark(spark, nested), policy())
    with pytest.raises(InputError, match="s3a://"):
        polyveil.anonymize(on_spark(spark, clinic(50)), policy(), out="s3a://bucket/release")


def test_a_csv_is_refused_and_as_parquet_means_the_same(spark: Any, tmp_path: Path) -> None:
    from polyveil.engines.spark.session import read_source
    from polyveil.table.source import read

    file = tmp_path / "clinic.csv"
    clinic(100).write_csv(file)
    with pytest.raises(InputError, match="text files do not say their types"):
        read_source(spark, str(file))
    read(file).frame.write_parquet(tmp_path / "clinic.parquet")
    there = polyveil.anonymize(read_source(spark, str(tmp_path / "clinic.parquet")), policy())
    here = polyveil.anonymize(file, policy())
    for part in ("quasi", "sensitive", "rows"):
        assert there.manifest[part] == here.manifest[part]


def test_the_command_line_runs_on_spark(spark: Any, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from polyveil.cli import app

    clinic().write_parquet(tmp_path / "clinic.parquet")
    (tmp_path / "policy.yaml").write_text(json.dumps(policy()))
    out = str(tmp_path / "release")
    options = ["--policy", str(tmp_path / "policy.yaml"), "--out", out, "--engine", "spark", "--json"]
    done = CliRunner().invoke(app, ["anonymize", str(tmp_path / "clinic.parquet"), *options])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 400
    assert CliRunner().invoke(app, ["verify", out, "--engine", "spark"]).exit_code == 0
    refused = CliRunner().invoke(app, ["verify", out, "--master", "local[2]"])
    assert refused.exit_code == 2
    private = CliRunner().invoke(app, ["anonymize", out, *options, "--private", str(tmp_path / "private")])
    assert private.exit_code == 2
    assert "--private does not work with Spark" in private.output


ADULT_QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")


@pytest.mark.parametrize("method", ["mondrian", "sift"])
def test_loss_on_adult_is_within_a_tenth_of_one_machine(spark: Any, shared_data: Path, method: str) -> None:
    frame = pl.read_csv(shared_data / "adult.csv.gz", infer_schema=False)
    frame = frame.filter((pl.col("split") == "train") & ~pl.any_horizontal(pl.all() == "?"))
    columns: dict[str, Any] = {name: {"role": "identifier"} for name in frame.columns}
    for name in ADULT_QUASI:
        hierarchy = {"hierarchy": str(shared_data / "hierarchies" / f"adult_hierarchy_{name}.csv")}
        columns[name] = {"role": "quasi", **({"type": "numeric"} if name == "age" else hierarchy)}
    columns["occupation"] = {"role": "sensitive", "t": 0.2}
    columns["hours-per-week"] = {"role": "sensitive", "type": "numeric", "t": 0.2}
    options = {"effort": "fast"} if method == "sift" else {}
    asked = {"version": 1, "columns": columns, "privacy": {"k": 5}, "method": {"name": method, **options}}
    if method == "sift":
        frame = frame.head(16_000)  # half of the rows for half of the minutes; fewer in a block would lose more
    here = polyveil.anonymize(frame, asked, seed=1)
    there = polyveil.anonymize(on_spark(spark, frame), asked, seed=1, reading={"block_rows": 8000})
    assert there.manifest["method"]["found"]["blocks"] >= frame.height // 8000
    assert there.loss["information_loss"] <= 1.1 * here.loss["information_loss"]
