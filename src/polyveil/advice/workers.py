"""Running cases in processes of their own, each with a time limit; a case that passes it is stopped with its process.

A process reads nothing: it is handed the table once and then works case by case, so that start-up and compiling are
paid once a process and not once a case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any, cast

from polyveil.advice.cases import CaseOutcome, form_of
from polyveil.advice.worker import Job
from polyveil.errors import PolyveilError
from polyveil.processes import Child, Ended
from polyveil.table.source import Table

START_LIMIT = 300.0
"""Seconds a process may take to start and receive the table before the run is given up."""


@dataclass(eq=False)
class Worker:
    """A process and what it is doing. The clock of a case runs from when it is handed over."""

    child: Child
    started: float
    job: Job | None = None
    ready: bool = False


class Workers:
    """Processes that have the table: started when there are cases to run, kept for the next ones, ended on leaving."""

    def __init__(self, table: Table, processes: int, seed: int | None = None, *, utility: bool = True) -> None:
        self.table, self.processes = table, processes
        self._setup = (table, seed, utility)
        self._answers: Queue[tuple[Child, Any]] = Queue()
        self._workers: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.child.stop()

    def run(self, jobs: Sequence[Job], limit: float, tick: Callable[[], None] = lambda: None) -> Iterator[CaseOutcome]:
        """Outcomes as they come, in no order. `tick` is called a few times a second and may raise to stop it all."""
        waiting, workers = list(reversed(jobs)), self._workers
        workers += [self._started() for _ in range(min(self.processes, len(jobs)) - len(workers))]
        while waiting or any(worker.job for worker in workers):
            for worker in workers:
                if worker.ready and worker.job is None and waiting:
                    worker.job, worker.started = waiting.pop(), time.monotonic()
                    worker.child.ask(worker.job)
            yield from _arrived(workers, self._answers)
            yield from _out_of_time(workers, limit)
            for i, worker in enumerate(workers):
                if not worker.child.alive and waiting:
                    workers[i] = self._started()
            tick()

    def _started(self) -> Worker:
        child = Child("polyveil.advice.worker", self._answers)
        child.ask(self._setup)
        return Worker(child, started=time.monotonic())


def _arrived(workers: Sequence[Worker], answers: Queue[tuple[Child, Any]]) -> Iterator[CaseOutcome]:
    """The next answer, if one comes soon."""
    with suppress(Empty):
        child, answer = answers.get(timeout=0.2)
        if child.stopped:
            return
        worker = next(each for each in workers if each.child is child)
        if answer is not Ended:
            worker.ready = True
        elif worker.job is None:
            raise PolyveilError("A process ended before it could start. Check that there is enough memory")
        else:
            _stop(worker)
            spent = time.monotonic() - worker.started
            answer = _without_release(worker, "failed", spent, "its process ended, perhaps for lack of memory")
        worker.job = None
        if answer is not None:
            yield answer


def _out_of_time(workers: Sequence[Worker], limit: float) -> Iterator[CaseOutcome]:
    """The cases whose time is up, each stopped with its process."""
    for worker in workers:
        spent = time.monotonic() - worker.started
        if worker.job and spent > limit:
            _stop(worker)
            yield _without_release(worker, "out of time", limit, f"stopped after {limit:g} seconds")
            worker.job = None
        elif not worker.ready and worker.child.alive and spent > START_LIMIT:
            raise PolyveilError(f"A process did not start within {START_LIMIT:g} seconds. The rest was not run")


def _without_release(worker: Worker, status: Any, seconds: float, message: str) -> CaseOutcome:
    case, policy = cast("Job", worker.job)
    return CaseOutcome(case, form_of(policy), status, seconds, message)


def _stop(worker: Worker) -> None:
    worker.child.stop()
    worker.ready = False
