"""A release as a Spark DataFrame, and writing it as a bundle that is whole or absent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from polyveil.engines.spark.parts import PartWriter
from polyveil.engines.spark.tables import InOrder
from polyveil.errors import InputError
from polyveil.releases.bundle import write_whole
from polyveil.releases.database import write_release as write_to_database
from polyveil.releases.release import DescribedRelease, refuse_unless
from polyveil.table.databases import is_url, opened, place_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from polyveil.verification import Verification


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(DescribedRelease["DataFrame"]):
    """What will be published. `tables` are Spark DataFrames; `seconds` are for the caller alone."""

    tables: Mapping[str, DataFrame]
    manifest: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    verification: Verification | None = None
    to_order: Mapping[str, tuple[DataFrame, InOrder]] = field(default_factory=dict)
    """The same tables before the worker that writes a file puts its rows into their order."""

    def verify(self) -> Verification:
        """Check the tables against the manifest, measured by Spark."""
        from polyveil.engines.spark.verify import verify_frames

        return verify_frames(self.manifest, self.tables)

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write the release; it appears only once Spark has verified what was written."""
        from polyveil.engines.spark.verify import verify

        write_anywhere(self, path, overwrite=overwrite, accept=lambda written: refuse_unless(verify(*written)))

    def save_private(self, folder: Path | str) -> NoReturn:
        """A row of a distributed table has no number that a map of rows could name."""
        raise InputError("rows of a Spark table have no number, so there is no map of them. Leave --private out")


def is_catalog(out: Path | str) -> TypeGuard[str]:
    """Whether this is the name of a schema of Spark's catalogs, and no folder."""
    return is_url(out) and place_of(out).kind == "spark"


def write_anywhere(
    release: SparkRelease, out: Path | str, *, overwrite: bool, accept: Callable[[Any], object]
) -> dict[str, DataFrame]:
    """Write the release to a folder or a catalog, and give its tables as they stand there.

    `accept` gets what was written and the session, before it is published.
    """
    from polyveil.engines.spark.verify import read_parts

    spark = release.table.sparkSession
    if not is_catalog(out):
        folder = local_path(out)
        files = write_release(release, folder, overwrite=overwrite, accept=lambda at: accept((at, spark)))
        return read_parts(folder, files, spark)
    write_to_database(out, release.tables, release.manifest, overwrite=overwrite, accept=lambda at: accept((at, spark)))
    with opened(place_of(out)) as session:
        schema = str(session.place.schema)
        frame: Callable[..., DataFrame] = session.frame  # type: ignore[attr-defined]
        return {name: frame(session.stored(schema, name)) for name in release.tables}


def write_release(
    release: SparkRelease, target: Path, *, overwrite: bool, accept: Callable[[Path], object]
) -> dict[str, Any]:
    """Write the tables and their manifest whole or not at all, and give the list of files."""

    def fill(stage: Path) -> dict[str, Any]:
        return write_tables(release.tables, stage, release.to_order)

    return write_whole(target, release.manifest, fill, overwrite=overwrite, accept=accept)


def local_path(path: Path | str) -> Path:
    """A path on a filesystem that this machine and the workers share; other addresses are refused."""
    text = str(path)
    if text.startswith("file://"):
        text = text.removeprefix("file://")
    elif "://" in text:
        raise InputError(
            f"{text.split('://')[0]}:// addresses have no rename that makes a release appear whole or not at all. Name "
            "a schema of Spark's catalogs (spark://catalog.schema), or a folder that this machine and the workers share"
        )
    return Path(text)


def write_tables(
    tables: Mapping[str, DataFrame], stage: Path, to_order: Mapping[str, tuple[DataFrame, InOrder]] | None = None
) -> dict[str, Any]:
    """The parts of every table, each written by one worker as releases are written everywhere, and listed by it."""
    files = {}
    for name, frame in tables.items():
        folder = stage / name
        folder.mkdir()
        rows, in_order = (to_order or {}).get(name, (frame, None))
        writer = PartWriter(str(folder.absolute()), None if in_order is None else in_order.table)
        written = rows.mapInArrow(writer, "part string, about string").collect()
        about = {part: json.loads(line) for part, line in written}
        for extra in {entry.name for entry in folder.iterdir()} - set(about):
            (folder / extra).unlink()  # of attempts that were lost
        for number, part in enumerate(sorted(about)):
            final = folder / f"part-{number:05d}.parquet"
            (folder / part).rename(final)
            files[final.relative_to(stage).as_posix()] = about[part]
    return files
