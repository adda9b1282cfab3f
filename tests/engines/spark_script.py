"""Runs in a process of its own, because a process has one Spark: a release on a cluster, or over Spark Connect.

python spark_script.py cluster|kill|connect TABLE.parquet OUT
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

from engines.clinic import policy  # noqa: E402
from polyveil.progress import Progress  # noqa: E402


def session(kind: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder
    for name, value in {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.driver.maxResultSize": "1m",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(name, value)
    if kind == "connect":
        return builder.remote("local[2]").getOrCreate()
    return builder.master("local-cluster[2,1,1024]").config("spark.speculation", "true").getOrCreate()


def executors() -> list[int]:
    """The processes of Spark's executors that descend from this one."""
    parents, found = {}, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return [pid for pid in found if os.getpid() in _above(pid, parents)]


def _above(pid: int, parents: dict[int, int]) -> list[int]:
    above = []
    while pid in parents and pid:
        pid = parents[pid]
        above.append(pid)
    return above


class Killer(Progress):
    """Kills one executor when the release is about to be written: what it had placed is lost and placed again."""

    def __init__(self) -> None:
        self.killed = 0

    def stage(self, name: str) -> None:
        if name == "write":
            running = executors()
            assert len(running) >= 2, "there is no cluster"
            os.kill(min(running), signal.SIGKILL)
            self.killed += 1
            time.sleep(1)


def main() -> None:
    kind, table, out = sys.argv[1:]
    spark = session(kind)
    import polyveil
    from polyveil.engines.spark import verify

    progress = Killer() if kind == "kill" else Progress()
    frame = spark.read.parquet(table)
    release = polyveil.anonymize(frame, policy(), out=out, seed=1, progress=progress, reading={"block_rows": 150})
    assert verify(out, spark).holds
    if isinstance(progress, Killer):
        assert progress.killed == 1
    print(type(frame).__module__, release.manifest["method"]["found"]["blocks"])
    spark.stop()


if __name__ == "__main__":
    main()
