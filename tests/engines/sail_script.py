"""Runs in a process of its own: lakes and releases by Sail, a server of Spark Connect that knows Delta and Iceberg.

python sail_script.py FOLDER    prints what was read and what was published, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

from conformance.test_releases import LINKED  # noqa: E402
from engines.clinic import clinic, policy  # noqa: E402
from table.test_lakes import delta, delta_with_features, iceberg  # noqa: E402

FORMS = {"generalized": policy(), **LINKED}


def served() -> tuple[Any, str]:
    """A server in this process, which runs as long as somebody has it, and its address."""
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer()
    server.start(background=True)
    return server, f"sc://127.0.0.1:{server.listening_address[1]}"


def lakes(spark: Any, folder: Path) -> dict[str, Any]:
    """The ages read from lakes, as they are and as they were, by path and by name."""
    from polyveil.engines.spark.session import read_source
    from polyveil.errors import InputError

    one, other = delta(folder / "delta"), iceberg(folder / "iceberg")
    states = [json.loads(file.read_text()) for file in (other / "metadata").glob("*.metadata.json")]
    shots = [shot for state in states for shot in state.get("snapshots", ())]
    first = min(shots, key=lambda shot: int(shot["timestamp-ms"]))["snapshot-id"]
    spark.sql(f"CREATE TABLE people USING delta LOCATION '{one}'").collect()

    def ages(data: str, as_of: Any = None) -> list[int] | str:
        try:
            return sorted(row["age"] for row in read_source(spark, data, as_of).collect())
        except InputError as error:
            return str(error)

    asked: dict[str, tuple[Any, ...]] = {
        "delta": (str(one),),
        "delta, first version": (str(one), 0),
        "delta, long ago": (str(one), "2001-01-01"),
        "delta, in the future": (str(one), "2199-01-01"),
        "delta, no such version": (str(one), 99),
        "delta by name": (f"delta.`{one}`",),
        "delta by name, second version": (f"delta.`{one}`", 1),
        "delta in a catalog": ("spark://people",),
        "delta in a catalog, first version": ("spark://sail.default.people", 0),
        "delta in a catalog, in the future": ("spark://people", "2199-01-01"),
        "deletion vector": (str(delta_with_features(folder / "vector", renamed=False)),),
        "deletion vector, renamed": (str(delta_with_features(folder / "renamed", renamed=True)),),
        "iceberg": (str(other),),
        "iceberg, first snapshot": (str(other), first),
        "iceberg, in the future": (str(other), "2199-01-01"),
    }
    return {name: ages(*how) for name, how in asked.items()}


def judged(frame: Any, asked: dict[str, Any], out: str) -> list[bool]:
    """What both verifiers say of a release that is published there."""
    import polyveil
    from polyveil.engines.spark import verify as on_spark
    from polyveil.verification import verify

    polyveil.anonymize(frame, asked, out=out, seed=1)
    return [verify(out).holds, on_spark(out, frame.sparkSession).holds]


def releases(spark: Any, folder: Path) -> dict[str, list[bool]]:
    """Every form, of a Delta table with deleted rows, into a folder, and into a catalog as Delta tables."""
    import deltalake

    source = folder / "clinic"
    deltalake.write_deltalake(str(source), clinic().to_arrow())
    deltalake.DeltaTable(str(source)).delete("ward = 1")
    frame = spark.read.format("delta").load(str(source))
    spark.conf.set("spark.sql.sources.default", "delta")
    found = {}
    for number, (form, asked) in enumerate(FORMS.items()):
        found[form] = judged(frame, asked, str(folder / f"release_{number}"))
        found[f"{form}, in a catalog"] = judged(frame, asked, f"spark://sail.release_{number}")
    return found


def main() -> None:
    """Both, and a run of the command."""
    from pyspark.sql import SparkSession
    from typer.testing import CliRunner

    from polyveil.cli import app

    folder, (_server, address) = Path(sys.argv[1]), served()
    spark = SparkSession.builder.remote(address).getOrCreate()
    try:
        print(f"PySpark {spark.version}", file=sys.stderr)
    except Exception as error:  # what a server says of a client that is too new for it
        print(json.dumps({"refused": str(error).splitlines()[0]}), flush=True)
        os._exit(0)
    found: dict[str, Any] = {"read": lakes(spark, folder), "released": releases(spark, folder)}
    (folder / "policy.json").write_text(json.dumps(policy()))
    files = ["--policy", str(folder / "policy.json"), "--out", str(folder / "r"), "--json"]
    source = ["anonymize", f"delta.`{folder / 'clinic'}`", "--as-of", "0", "--engine", "spark", "--master", address]
    run = CliRunner().invoke(app, [*source, *files])
    found["logs"] = len(list(folder.glob("spark-warehouse/*/_delta_log")))
    found["rows"] = json.loads(run.output).get("rows", run.output)
    print(json.dumps(found), flush=True)
    os._exit(0)  # the server has no way to be asked to end


if __name__ == "__main__":
    main()
