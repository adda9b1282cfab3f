"""Claims come from the blocks, verification from the written files: where the two disagree, nothing is published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import polyveil
from engines.clinic import clinic, policy
from polyveil.engines.spark.gathered import CLASS, DIGEST, packed_classes, unpacked_classes
from polyveil.errors import VerificationFailed
from polyveil.verification import verify
from polyveil.verification.canonical import manifest_text, write_table
from spark_session import in_memory, on_spark


def test_files_that_are_not_what_the_blocks_gave_are_refused(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    import polyveil.engines.spark.release as release

    write = release.write_tables

    def write_and_change(tables: Any, stage: Path, packed: Any) -> Any:
        """The same values, at other rows: every column keeps its distribution, and checksums are taken afterwards."""
        rows = in_memory(tables["table"]).with_columns(pl.col("disease").sort()).sample(fraction=1, shuffle=True)
        return write({"table": on_spark(spark, rows, parts=1)}, stage)

    monkeypatch.setattr(release, "write_tables", write_and_change)
    with pytest.raises(VerificationFailed, match=r"claim: t-closeness of disease: the manifest says measured"):
        polyveil.anonymize(on_spark(spark, clinic(200)), policy(), out=tmp_path / "release", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_blocks_that_count_wrongly_are_refused(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    import polyveil.engines.spark.engine as engine

    work = engine.anonymize_blocks

    def in_one_class(batches: Any) -> Any:
        for batch in batches:
            lines = batch.to_pylist()
            for line in (line for line in lines if line["kind"] == "classes"):
                rows = unpacked_classes([line["data"]]).with_columns(pl.lit(0, pl.Int64).alias(CLASS))
                line["data"] = next(packed_classes([bytes(DIGEST)], rows, 1)).data
            yield pa.RecordBatch.from_pylist(lines, batch.schema)

    def as_one_class(*arguments: Any, **options: Any) -> Any:
        """Blocks that call all rows one class: a better release than the one that is written."""
        outcome = work(*arguments, **options)
        return replace(outcome, frame=outcome.frame.mapInArrow(in_one_class, outcome.frame.schema))

    monkeypatch.setattr(engine, "anonymize_blocks", as_one_class)
    with pytest.raises(VerificationFailed, match=r"claim: k-anonymity: the manifest says measured 200"):
        polyveil.anonymize(on_spark(spark, clinic(200)), policy(), out=tmp_path / "release", seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "release"
    polyveil.anonymize(clinic(200), policy(), out=folder, seed=1, report=False)
    return folder


def in_parts(made: Path, target: Path, forge: Callable[[pl.DataFrame], pl.DataFrame]) -> dict[str, Any]:
    """The release in two parts, the second one forged, with everything the manifest says of files brought in line."""
    table = pl.read_parquet(made / "table.parquet")
    manifest: dict[str, Any] = json.loads((made / "manifest.json").read_text())
    (target / "table").mkdir(parents=True)
    manifest["files"] = {}
    for number, part in enumerate((table.head(100), forge(table.tail(100)))):
        name = f"table/part-{number:05d}.parquet"
        with (target / name).open("wb") as sink:
            write_table(part, sink, ".parquet")
        content = (target / name).read_bytes()
        about = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        manifest["files"][name] = {**about, "rows": part.height, "columns": part.columns}
    (target / "manifest.json").write_text(manifest_text(manifest))
    return manifest


FORGERIES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a column more": lambda part: part.with_columns(person_id=pl.int_range(100)),
    "another case": lambda part: part.rename({"age": "AGE"}),
    "another type": lambda part: part.with_columns(pl.col("cost").cast(pl.Float64)),
    "another order": lambda part: part.select(reversed(part.columns)),
    "a list": lambda part: part.with_columns(pl.concat_list("age")),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_every_part_is_asked_for_its_own_columns(spark: Any, made: Path, tmp_path: Path, forgery: str) -> None:
    from polyveil.engines.spark import verify as on_cluster

    in_parts(made, tmp_path / "release", FORGERIES[forgery])
    for verification in (verify(tmp_path / "release"), on_cluster(tmp_path / "release", spark)):
        assert "columns" in {finding.check for finding in verification.failures}


def test_what_the_manifest_says_of_a_part_is_compared(spark: Any, made: Path, tmp_path: Path) -> None:
    from polyveil.engines.spark import verify as on_cluster

    place = tmp_path / "release"
    manifest = in_parts(made, place, lambda part: part)
    assert on_cluster(place, spark).holds
    for figure, wrong, check in (("rows", 99, "rows"), ("columns", ["age"], "columns"), ("bytes", 1, "figure")):
        files = {**manifest["files"], "table/part-00001.parquet": {**manifest["files"]["table/part-00001.parquet"]}}
        files["table/part-00001.parquet"][figure] = wrong
        (place / "manifest.json").write_text(manifest_text({**manifest, "files": files}))
        for verification in (verify(place), on_cluster(place, spark)):
            assert check in {finding.check for finding in verification.failures}


def test_a_forged_claim_is_answered_with_what_the_files_give(made: Path, tmp_path: Path) -> None:
    manifest = in_parts(made, tmp_path / "release", lambda part: part)
    claim = next(claim for claim in manifest["claims"] if claim["model"] == "t-closeness")
    measured, forged = claim["measured"], claim["measured"] / 2
    claim["measured"] = manifest["privacy"]["t"][claim["attribute"]] = forged
    (tmp_path / "release" / "manifest.json").write_text(manifest_text(manifest))
    failures = verify(tmp_path / "release").failures
    assert {finding.check for finding in failures} == {"claim", "figure"}
    for finding in failures:
        assert f"the files give {measured:.9g}" in finding.message
