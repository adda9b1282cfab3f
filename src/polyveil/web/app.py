"""The application: the guard, the API, the pages, and the jobs behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

from polyveil import __version__
from polyveil.web.api import make_router
from polyveil.web.guard import App, Guard
from polyveil.web.jobs import Jobs
from polyveil.web.settings import Settings
from polyveil.web.store import Store
from polyveil.web.tables import Library

DESCRIPTION = """Submit a job, follow it, fetch the bundle.

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


def serve(settings: Settings) -> None:
    """Serve until stopped. Nothing about requests is logged: addresses may carry a token."""
    import uvicorn

    application, _ = make_application(settings)
    uvicorn.run(application, host=settings.host, port=settings.port, log_level="warning", access_log=False)
