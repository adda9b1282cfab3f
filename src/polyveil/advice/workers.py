"""Running cases in processes of their own, each with a time limit; a case that passes it is stopped with its process.

A process reads nothing: it is handed the table once and then works case by case, so that start-up and compiling are
paid once a process and not once a case.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from polyveil.advice.cases import Case, CaseOutcome, form_of
from polyveil.errors import PolicyError, PolyveilError, Unsatisfiable
from polyveil.policy import Policy
from polyveil.releases import Release
from polyveil.table.source import Table

START_LIMIT = 300.0
"""Seconds a process may take to start and receive the table before the run is given up."""

QUERIES = 200
"""COUNT queries asked of each release."""

Job = tuple[Case, Policy]


@dataclass
class Worker:
    """A process, the line to it, and what it is doing. The clock of a case runs from when it is handed over."""

    process: BaseProcess
    line: Connection
    job: Job | None = None
    started: float = 0.0
    ready: bool = False


def run_case(job: Job, table: Table, seed: int | None) -> CaseOutcome:
    """Anonymize in memory, with verification, and keep the figures."""
    from polyveil.pipeline import anonymize

    case, policy = job
    start = time.perf_counter()
    about: dict[str, Any] = {"case": case, "form": form_of(policy)}
    try:
        release = anonymize(table, policy, seed=seed)
    except PolyveilError as error:
        status = {Unsatisfiable: "unreachable", PolicyError: "not possible"}.get(type(error), "failed")
        return CaseOutcome(**about, status=status, seconds=time.perf_counter() - start, message=_why(error))  # type: ignore[arg-type]
    except MemoryError:
        return CaseOutcome(**about, status="failed", seconds=time.perf_counter() - start, message="not enough memory")
    except Exception as error:  # the text of an unforeseen error may hold data, so only its kind is kept
        message = f"an unforeseen {type(error).__name__}"
        return CaseOutcome(**about, status="failed", seconds=time.perf_counter() - start, message=message)
    seconds = time.perf_counter() - start
    found = release.manifest
    keep = {key: found[key] for key in ("classes", "class_size", "suppressed", "privacy", "loss")}
    return CaseOutcome(**about, status="done", seconds=seconds, utility=_utility(release, policy, table), **keep)


def _utility(release: Release, policy: Policy, table: Table) -> dict[str, float]:
    """How far counts, columns and pairs of columns moved; only where the classes tell all that is published."""
    if release.form != "generalized" or release.class_of_row is None:
        return {}
    from polyveil.measure.utility import measure_utility
    from polyveil.partition import Partition
    from polyveil.table.bind import bind
    from polyveil.table.encode import encode

    found = measure_utility(encode(bind(policy, table)), Partition(release.class_of_row), queries=QUERIES, learn=False)
    names = ("query_error", "distribution_shift", "association_shift")
    return {name: float(getattr(found, name)) for name in names}


def _why(error: PolyveilError) -> str:
    if isinstance(error, PolicyError):
        return "; ".join(f"{fault.place}: {fault.rule}" for fault in error.faults)
    return error.constraint if isinstance(error, Unsatisfiable) else str(error)


def serve(line: Connection, seed: int | None) -> None:
    """What a process does: take the table, then cases until the line closes."""
    try:
        table: Table = line.recv()
        line.send(None)
        while True:
            line.send(run_case(line.recv(), table, seed))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        return


def run_all(
    jobs: Sequence[Job],
    table: Table,
    *,
    limit: float,
    processes: int,
    seed: int | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[CaseOutcome]:
    """Outcomes as they come, in no order. `tick` is called a few times a second and may raise to stop everything."""
    waiting, workers = list(reversed(jobs)), [_start(table, seed) for _ in range(min(processes, len(jobs)))]
    try:
        while waiting or any(worker.job for worker in workers):
            for worker in workers:
                if worker.ready and worker.job is None and waiting:
                    worker.job, worker.started = waiting.pop(), time.monotonic()
                    worker.line.send(worker.job)
            for i, outcome in _arrived(workers, limit):
                yield outcome
                if not workers[i].process.is_alive() and (waiting or len(workers) == 1):
                    workers[i] = _start(table, seed)
            tick()
    finally:
        for worker in workers:
            _stop(worker)


def _start(table: Table, seed: int | None) -> Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, seed), daemon=True)
    process.start()
    theirs.close()
    ours.send(table)
    return Worker(process, ours, started=time.monotonic())


def _arrived(workers: Sequence[Worker], limit: float) -> Iterable[tuple[int, CaseOutcome]]:
    """Answers that are there, and cases whose time is up; waits a little where there is neither."""
    found = []
    ready = wait([worker.line for worker in workers if not worker.line.closed], timeout=0.2)
    for i, worker in enumerate(workers):
        answer = None
        if worker.line in ready:
            answer = _answer(worker)
        elif worker.job and time.monotonic() - worker.started > limit:
            message = f"stopped after {limit:g} seconds"
            answer = CaseOutcome(worker.job[0], form_of(worker.job[1]), "out of time", limit, message)
            _stop(worker)
        elif not worker.ready and not worker.line.closed and time.monotonic() - worker.started > START_LIMIT:
            raise PolyveilError(f"a process did not start within {START_LIMIT:g} seconds; nothing more was run")
        if answer:
            worker.job = None
            found.append((i, answer))
    return found


def _answer(worker: Worker) -> CaseOutcome | None:
    try:
        answer: CaseOutcome | None = worker.line.recv()
        worker.ready = True
        return answer
    except (EOFError, ConnectionError):
        _stop(worker)
        if worker.job is None:
            raise PolyveilError("a process ended before it could start; is there enough memory?") from None
        case, policy = worker.job
        spent = time.monotonic() - worker.started
        return CaseOutcome(
            case, form_of(policy), "failed", spent, "its process ended; perhaps there was not enough memory"
        )


def _stop(worker: Worker) -> None:
    worker.line.close()
    worker.process.kill()
    worker.process.join()
    worker.ready = False
