"""What every page works with."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from polyveil.web.draft import Draft
from polyveil.web.jobs import Jobs
from polyveil.web.settings import Settings
from polyveil.web.store import Store, StoredTable, write_json
from polyveil.web.tables import Library, OpenTable

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Workbench:
    """The store, the jobs, the tables that are open, and how the workbench was started."""

    store: Store
    jobs: Jobs
    settings: Settings
    library: Library

    @property
    def dark(self) -> bool | None:
        """The chosen appearance; None follows the system."""
        with suppress(OSError, json.JSONDecodeError):
            chosen = json.loads((self.settings.folder / "appearance.json").read_text(encoding="utf-8")).get("dark")
            return chosen if isinstance(chosen, bool) else None
        return None

    def set_dark(self, value: bool | None) -> None:
        write_json(self.settings.folder / "appearance.json", {"dark": value})


@dataclass(frozen=True, eq=False)
class Work:
    """A table that is worked on: what is stored, what was read, and the policy being drafted for it."""

    bench: Workbench
    stored: StoredTable
    open: OpenTable
    draft: Draft


def open_work(bench: Workbench, table_id: str) -> Work:
    """Read the table (once) and find its draft; takes a moment for a large one, so call it in a thread."""
    stored = bench.store.table(table_id)
    return Work(bench, stored, bench.library.open(table_id), bench.library.draft(table_id))


async def in_thread(work: Callable[..., Found], *arguments: Any) -> Found:
    """Off the event loop, so that every other page stays quick."""
    from fastapi.concurrency import run_in_threadpool

    return await run_in_threadpool(work, *arguments)


Build = Callable[[Work], Awaitable[None]]
