"""One archive with everything that Spark's executors need of polyveil: its packages, and its kernels, compiled.

    python tools/executor_archive.py polyveil-env.tar.gz
    python tools/executor_archive.py polyveil-env.tar.gz --check

Build it with the Python version, operating system and processor of the executors. Kernels are kept beside the code, and
found again wherever the archive is unpacked, as long as the files keep their times. `--check` runs a job on a local
cluster whose executors have polyveil from the archive alone, and says whether they compiled anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = "packages"
CHECK = """
import sys, time
from pathlib import Path
(archive,) = sys.argv[1:]
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local-cluster[1,1,1024]").config("spark.archives", archive + "#env")
builder = builder.config("spark.executorEnv.PYTHONPATH", "./env/packages").config("spark.log.level", "ERROR")
spark = builder.config("spark.executor.memory", "1g").getOrCreate()

def look(batches):
    import pyarrow as pa, polyveil
    for _ in batches:
        pass
    home = Path(polyveil.__file__).resolve().parent
    yield pa.RecordBatch.from_pydict({"home": [str(home)], "kernels": [len(list(home.rglob("*.nbc")))]})

asked = spark.range(0, 1, 1, 1).mapInArrow(look, "home string, kernels long")
(home, before), = asked.collect()
assert Path(home).parts[-3:] == ("env", "packages", "polyveil"), home  # not the one that this machine has
import polars as pl, polyveil
people = pl.DataFrame({"age": [i % 60 for i in range(600)], "ill": [f"i{i % 5}" for i in range(600)]})
columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive", "t": 0.5}}
policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "sift", "effort": "fast"}}
start = time.perf_counter()
polyveil.anonymize(spark.createDataFrame(people.to_arrow()), policy, seed=1)
passed = time.perf_counter() - start
(_, after), = asked.collect()
print(f"executors: {home}, {before} kernels before, {after} after, {passed:.0f} s")
spark.stop()
sys.exit(0 if before == after and before else 1)
"""


LIMIT = 1800
"""Seconds that installing, compiling or a job may take."""


def build(archive: Path, python: str = sys.executable) -> None:
    """Install, compile and pack."""
    with tempfile.TemporaryDirectory(prefix="polyveil-archive-") as folder:
        packages = Path(folder) / PACKAGES
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        install = [python, "-m", "pip", "install", "--quiet", "--target", packages, *constraints, str(ROOT)]
        subprocess.run(install, check=True, timeout=LIMIT)
        home = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        ready = "from polyveil.cli import app; app(['warmup'])"
        found = {**home, "PYTHONPATH": str(packages)}
        subprocess.run([python, "-c", ready], check=True, env=found, cwd=folder, timeout=LIMIT)
        with tarfile.open(archive, "w:gz", compresslevel=3) as packed:
            packed.add(packages, PACKAGES)


def check(archive: Path) -> None:
    """A job on executors that have polyveil from the archive alone."""
    import pyspark

    with tempfile.TemporaryDirectory(prefix="polyveil-archive-") as folder:
        home = Path(folder) / "spark"  # a cluster on this machine keeps what it unpacks where Spark is
        home.mkdir()
        for part in Path(pyspark.__file__).parent.iterdir():
            if part.name != "work":
                (home / part.name).symlink_to(part)
        settings = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        environment = {**os.environ, **settings}
        command = [sys.executable, "-c", CHECK, str(archive.absolute())]
        subprocess.run(command, check=True, env=environment, cwd=folder, timeout=LIMIT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--check", action="store_true", help="run a job with the archive, which must be there")
    asked = parser.parse_args()
    if asked.check:
        check(asked.archive)
    else:
        build(asked.archive)


if __name__ == "__main__":
    main()
