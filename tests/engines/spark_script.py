"""Runs in a process of its own, because a process has one Spark: three releases over Spark Connect, on a cluster.

python spark_script.py FOLDER    reads FOLDER/clinic.parquet, writes a folder for each form there
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

from engines.clinic import policy  # noqa: E402
from polyveil.methods import Method, Task, make_method  # noqa: E402
from polyveil.partition import Partition  # noqa: E402
from polyveil.progress import Progress  # noqa: E402
from spark_session import with_settings  # noqa: E402

POLICIES = {
    "generalized": policy(),
    "anatomized": policy(release={"form": "anatomized", "generalize": "range"}),
    "sliced": policy(release={"form": "sliced", "generalize": "range"}),
}
READING = {"block_rows": 150}
ROWS = 300


def session() -> Any:
    """A client of Spark Connect, whose server has two executors in processes of their own."""
    from pyspark.sql import SparkSession

    return with_settings(SparkSession.builder).remote("local-cluster[2,1,1024]").getOrCreate()


class Stumbling(Method[Any]):
    """A method whose first task fails once; `notes` is where that and every further attempt is noted down."""

    def __init__(self, method: Method[Any], notes: Path) -> None:
        super().__init__(method.options)
        self.method, self.notes = method, notes
        self.name, self.forms, self.makes_own_slices = method.name, method.forms, method.makes_own_slices  # type: ignore[misc]

    def partition(self, task: Task) -> Partition:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.attemptNumber() > 0:
            (self.notes / f"again {context.stageId()} {context.partitionId()} {context.attemptNumber()}").touch()
        elif not (self.notes / "failed").exists():
            (self.notes / "failed").touch()
            raise RuntimeError("this task fails once")
        return self.method.partition(task)


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


def main() -> None:
    """A release in which a task fails once, a sliced one, then one for which an executor is killed."""
    import polyveil
    import polyveil.pipeline as run

    folder = Path(sys.argv[1])
    notes = folder / "notes"
    notes.mkdir()
    spark = session()
    frame = spark.read.parquet(str(folder / "clinic.parquet"))
    killer = Killer()
    run.make_method = lambda choice: Stumbling(make_method(choice), notes)  # type: ignore[attr-defined]
    for form, progress in {"generalized": Progress(), "sliced": Progress(), "anatomized": killer}.items():
        polyveil.anonymize(frame, POLICIES[form], out=folder / form, seed=1, progress=progress, reading=READING)
    said = {name: len(list(notes.glob(f"{name}*"))) for name in ("failed", "again")}
    print(json.dumps({**said, "frame": type(frame).__module__, "killed": killer.killed}))
    spark.stop()


if __name__ == "__main__":
    main()
