"""The application: the guard, the API, the pages, and the jobs behind them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

from polyveil.errors import InputError
from polyveil.version import __version__
from polyveil.web.api import make_router
from polyveil.web.guard import App, Guard
from polyveil.web.jobs import Jobs
from polyveil.web.settings import Settings
from polyveil.web.store import Store
from polyveil.web.tables import Library

DESCRIPTION = """Submit a job, follow it, fetch the release folder.

Every request carries the token: `Authorization: Bearer TOKEN`."""


def make_application(settings: Settings, *, pages: bool = True) -> tuple[App, FastAPI]:
    """The guarded application to serve, and the FastAPI application inside it."""
    store = Store(settings)
    store.mark_interrupted()
    jobs = Jobs(store, settings)
    library = Library(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        house = asyncio.create_task(jobs.keep_house())
        try:
            yield
        finally:
            house.cancel()
            with suppress(asyncio.CancelledError):
                await house
            await jobs.close()

    api = FastAPI(
        title="polyveil workbench",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    api.include_router(make_router(store, jobs, library))
    if pages:
        from polyveil.web.pages import Workbench, add_pages

        add_pages(api, Workbench(store, jobs, settings, library))
    return Guard(api, settings), api


def listen(host: str, port: int) -> socket.socket:
    """A socket to serve on, port 0 for any free one; raises InputError if the address cannot be used."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024
        )
    except OSError as error:
        what = f"cannot listen at {host}, port {port}: {error.strerror or error}"
        raise InputError(f"{what}. Choose another port with --port (0 takes a free one), or another --host") from None


def serve(settings: Settings, listening: socket.socket | None = None, ready: Callable[[], None] | None = None) -> None:
    """Serve until stopped; `ready` is called once requests are answered.

    Nothing about requests is logged: addresses may carry a token.
    """
    import uvicorn

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if ready and self.started:
                ready()

    listening = listening or listen(settings.host, settings.port)
    application, _ = make_application(settings)
    server = Announced(uvicorn.Config(application, log_level="warning", access_log=False))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
