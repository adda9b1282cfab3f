"""A release as a Spark DataFrame, and writing it as a bundle that is whole or absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from polyveil.errors import InputError
from polyveil.release.bundle import MANIFEST, check_target, move_into_place, sha256_of, staging, sync

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from polyveil.verify import Verification

TABLE = "table"


@dataclass(frozen=True, eq=False)
class SparkRelease:
    """What will be published. `table` is a Spark DataFrame; `seconds` are for the caller alone."""

    table: DataFrame
    manifest: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def tables(self) -> Mapping[str, DataFrame]:
        return {TABLE: self.table}

    @property
    def form(self) -> str:
        return str(self.manifest["form"])

    @property
    def privacy(self) -> Mapping[str, Any]:
        """What was reached: k, l and t as measured on the release."""
        found: Mapping[str, Any] = self.manifest["privacy"]
        return found

    @property
    def loss(self) -> Mapping[str, Any]:
        """What it cost."""
        found: Mapping[str, Any] = self.manifest["loss"]
        return found

    def verify(self) -> Verification:
        """Check the table against the manifest, measured by Spark."""
        from polyveil.engines.spark.verify import verify_frame

        return verify_frame(self.manifest, self.table)

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write the bundle; it appears only once Spark has verified the written files."""
        from polyveil.engines.spark.verify import verify
        from polyveil.release.release import refuse_unless

        target = local_path(path)
        check_target(target, overwrite=overwrite)
        with staging(target) as stage:
            write_table(self.table, stage)
            write_manifest(stage, self.manifest)
            refuse_unless(verify(stage, self.table.sparkSession))
            sync(stage)
            move_into_place(stage, target)

    def save_private(self, folder: Path | str) -> NoReturn:
        """A row of a distributed table has no number that a map of rows could name."""
        raise InputError("rows of a Spark table have no number, so there is no map of them. Leave --private out")

    def summary(self) -> dict[str, Any]:
        """The figures of `polyveil anonymize --json`."""
        keys = ("rows", "suppressed", "classes", "class_size", "method", "privacy", "loss")
        return {**{key: self.manifest[key] for key in keys}, "seconds": dict(self.seconds)}


def local_path(path: Path | str) -> Path:
    """A path on a filesystem that this machine and the workers share; other addresses are refused."""
    text = str(path)
    if text.startswith("file://"):
        text = text.removeprefix("file://")
    elif "://" in text:
        raise InputError(
            f"{text.split('://')[0]}:// addresses have no rename that makes a release appear whole or not at all. Name "
            "a folder that this machine and Spark's workers share, or use the DataFrame from Python"
        )
    return Path(text)


def write_table(frame: DataFrame, stage: Path) -> None:
    """The parts of the table, through Spark's committer, and nothing else of what Spark leaves beside them."""
    folder = stage / TABLE
    writer = frame.write.option("compression", "zstd").option(
        "mapreduce.fileoutputcommitter.marksuccessfuljobs", "false"
    )
    writer.parquet(folder.absolute().as_uri())
    parts = sorted(folder.glob("part-*.parquet"))
    for extra in set(folder.iterdir()) - set(parts):
        extra.unlink()
    for number, part in enumerate(parts):
        part.rename(folder / f"part-{number:05d}.parquet")


def write_manifest(stage: Path, manifest: Mapping[str, Any]) -> None:
    """The manifest with every part's checksum."""
    text = json.dumps({**manifest, "files": files_of(stage)}, indent=2, ensure_ascii=False, allow_nan=False)
    (stage / MANIFEST).write_text(text + "\n", encoding="utf-8")


def files_of(stage: Path) -> dict[str, Any]:
    """The list of files for the manifest; only footers are read for it, and bytes for the checksums."""
    import pyarrow.parquet as pq

    files = {}
    for part in sorted((stage / TABLE).iterdir()):
        footer = pq.read_metadata(part)
        files[f"{TABLE}/{part.name}"] = {
            "sha256": sha256_of(part),
            "bytes": part.stat().st_size,
            "rows": footer.num_rows,
            "columns": [footer.schema.column(i).name for i in range(footer.num_columns)],
        }
    return files
