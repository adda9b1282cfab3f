"""Runs in a process of its own, which the operating system forbids what is closed: Spark reads and writes there.

python refusals_script.py FOLDER    prints what is said of each file and folder that is closed, as JSON
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

import polyveil  # noqa: E402
from polyveil.engines.spark import verify as on_spark  # noqa: E402
from polyveil.engines.spark.session import read_source  # noqa: E402
from spark_session import with_settings  # noqa: E402
from verification.forgeries.forger import people, policy  # noqa: E402

OUT = "spark://spark_catalog.release_2026"


def main() -> None:
    from pyspark.sql import SparkSession

    folder, said = Path(sys.argv[1]), {}
    settings = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    spark: Any = with_settings(SparkSession.builder.master("local[1]"), **settings).getOrCreate()
    asked = policy("generalized", "parquet")
    release = polyveil.anonymize(people(), asked, seed=1)
    (folder / "people").mkdir()
    people().write_parquet(folder / "people" / "part.parquet")
    release.save(OUT)
    release.save(folder / "release")
    spark.sql(f"CREATE SCHEMA closed LOCATION 'file:{folder}/closed'")

    def closed(path: Path, mode: int, act: Callable[[], object], name: str) -> None:
        before = path.stat().st_mode
        path.chmod(mode)
        try:
            act()
            said[name] = "done"
        except Exception as error:
            said[name] = f"{type(error).__name__}: {error}"
        finally:
            path.chmod(before)

    def anonymize() -> object:
        return polyveil.anonymize(read_source(spark, str(folder / "people")), asked)

    (part,) = (folder / "warehouse" / "release_2026.db" / "table").glob("*.parquet")
    closed(folder / "people", 0, anonymize, "a folder to read")
    closed(folder / "people" / "part.parquet", 0, anonymize, "a file to read")
    closed(folder / "closed", 0o500, lambda: release.save("spark://spark_catalog.closed"), "a schema to write")
    closed(part, 0, lambda: polyveil.verify(OUT), "a table to verify")
    closed(part, 0, lambda: on_spark(OUT, spark), "a table to verify on Spark")
    closed(folder / "release" / "table.parquet", 0, lambda: polyveil.verify(folder / "release"), "a release to verify")
    closed(folder, 0o500, lambda: polyveil.anonymize(spark.table("release_2026.table").toArrow(), asked,
           out=folder / "more"), "a folder for a release")  # fmt: skip
    closed(folder / "people", 0o700, anonymize, "nothing")
    print(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    main()
