"""The pages of the workbench: one file per view, a thin layer over the store, the jobs and the pipeline."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from polyveil.errors import kind_and_place
from polyveil.web.pages.page_context import Workbench

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Workbench", "add_pages"]

VIEWS = ("data", "columns", "privacy", "run", "explore", "download")
STATIC = Path(__file__).parent / "static"


class WithoutText(logging.Filter):
    """Keeps data out of logs: of an error only its kind and its place are written."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = kind_and_place(error), ()
            record.exc_info, record.exc_text = None, None
        return True


def add_pages(api: FastAPI, bench: Workbench) -> None:
    """Put the pages beside the API."""
    # The toolkit's own storage is not used; should it ever write, then here and not where the command was started.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(bench.settings.folder / "pages"))
    from fastapi.responses import JSONResponse
    from nicegui import app, ui

    for name in ("nicegui", "uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(WithoutText())
    app.add_static_files("/_workbench", STATIC)
    # The toolkit's own page for errors shows their text, which may hold data.
    app.on_page_exception(lambda error: ui.label(f"An unexpected {kind_and_place(error)}. Please report it."))
    # Nor is there a second page for wrong addresses, or a log of them: the guard has one.
    app.add_exception_handler(404, lambda *_: JSONResponse({"detail": "not found"}, 404))
    for name in VIEWS:
        import_module(f"polyveil.web.pages.{name}").add(bench)
    ui.run_with(
        api,
        title="polyveil",
        favicon=STATIC / "icon.svg",
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=30.0,
        binding_refresh_interval=None,
    )
