"""Running runs: a bounded queue, a few worker processes, cancelling, and what is left after a crash."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any

from polyveil.errors import PolyveilError
from polyveil.processes import command, environment
from polyveil.web.settings import Settings
from polyveil.web.store import FINISHED, RunState, Store, StoredRun, StoredTable
from polyveil.web.worker import STOP

GRACE_SECONDS = 3.0
HOUSEKEEPING_SECONDS = 600.0


class Busy(PolyveilError):
    """The queue is full: the run is refused with a reason, not lost."""


class Jobs:
    """Starts waiting runs as workers become free; all methods are called from the server's event loop."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.waiting: deque[str] = deque()
        self.running: dict[str, asyncio.subprocess.Process] = {}
        self.cancelled: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.closing = False

    def submit(self, table: StoredTable, policy: str, title: str, seed: int | None = None) -> StoredRun:
        """Queue a run, or refuse it when too many wait already."""
        self.check_room()
        return self.queue(self.store.add_run(table, policy, title, seed))

    def attack(self, run: StoredRun) -> StoredRun:
        """Queue attacks on the release of a finished run."""
        self.check_room()
        return self.queue(self.store.add_attack(run))

    def analyze(self, run: StoredRun, asked: list[dict[str, Any]]) -> StoredRun:
        """Queue analyses on the table of a finished run and on its release."""
        self.check_room()
        return self.queue(self.store.add_analyses(run, asked))

    def check_room(self) -> None:
        """Refuse where too many runs wait already."""
        if len(self.waiting) >= self.settings.max_waiting:
            raise Busy(f"{len(self.waiting)} runs are waiting already. Try again when some have finished")

    def queue(self, run: StoredRun) -> StoredRun:
        """Start a stored run as soon as a worker is free."""
        self.waiting.append(run.id)
        self._start_waiting()
        return run

    async def cancel(self, run_id: str) -> None:
        """Stop a run that waits or works; a finished one stays as it is."""
        run = self.store.run(run_id)
        if run.state in FINISHED:
            return
        if run_id in self.waiting:
            self.waiting.remove(run_id)
            self.store.set_state(run_id, "cancelled")
            return
        self.cancelled.add(run_id)
        process = self.running.get(run_id)
        if process is not None:
            await _stop(process)

    def stop(self, run_id: str) -> None:
        """Ask a run to end its search now and to publish the best groups so far; a finished one stays as it is."""
        run = self.store.run(run_id)
        if run.state not in FINISHED:
            (run.folder / STOP).touch()

    def _start_waiting(self) -> None:
        while self.waiting and len(self.tasks) < self.settings.workers:
            run_id = self.waiting.popleft()
            self.store.set_state(run_id, "running")
            task = asyncio.get_running_loop().create_task(self._work(run_id))
            self.tasks.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            self._start_waiting()

    async def _work(self, run_id: str) -> None:
        run = self.store.run(run_id)
        process = await asyncio.create_subprocess_exec(
            *command("polyveil.web.worker", str(run.folder)),
            env=environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self.running[run_id] = process
        try:
            if run_id in self.cancelled:
                await _stop(process)
            await process.wait()
        finally:
            self.running.pop(run_id, None)
        with suppress(PolyveilError):
            self.store.set_state(run_id, self._ended(run_id))

    def _ended(self, run_id: str) -> RunState:
        """How a finished process ended; a run whose bundle was published before a late cancel is done."""
        state: RunState = self.store.run(run_id).outcome.get("state", "crashed")
        if state == "crashed" and run_id in self.cancelled:
            return "cancelled"
        return "interrupted" if state == "crashed" and self.closing else state

    async def keep_house(self) -> None:
        """Delete uploads past their age, from time to time."""
        while True:
            self.store.delete_old_uploads()
            await asyncio.sleep(HOUSEKEEPING_SECONDS)

    async def close(self) -> None:
        """Stop everything; what was running is marked as interrupted."""
        self.closing = True
        self.waiting.clear()
        for process in list(self.running.values()):
            await _stop(process)
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=GRACE_SECONDS)
        self.store.mark_interrupted()


async def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), GRACE_SECONDS)
        except TimeoutError:
            process.kill()
