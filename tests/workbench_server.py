"""A workbench in a process of its own, as `polyveil serve` starts it, and a browser to look at it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import children
from conftest import require

TOKEN = "let-me-in"
SESSION_LIMIT = 7200.0
"""Seconds a workbench may run: it serves all tests of a process."""
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
]
START = """
import sys
from pathlib import Path
from polyveil.web.app import serve
from polyveil.web.settings import Settings
folder, port, token, waiting = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
serve(Settings(folder=folder / "state", data_folders=(folder / "data",), port=port, token=token, max_waiting=waiting))
"""


@dataclass(frozen=True)
class Server:
    """A running workbench."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text(encoding="utf-8")


@contextmanager
def running(folder: Path, max_waiting: int = 50, port: int = 0, token: str = TOKEN) -> Iterator[Server]:
    """Start a workbench on a free port, or on the one given; it is stopped as Ctrl-C stops it."""
    (folder / "data").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = port or probe.getsockname()[1]
    command = [sys.executable, "-c", START, str(folder), str(port), token, str(max_waiting)]
    with (
        (folder / "server.log").open("ab") as log,
        children.started(command, limit=SESSION_LIMIT, stdout=log, stderr=log, cwd=folder) as process,
    ):
        server = Server(folder, port, process)
        try:
            _wait(server)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)


def _wait(server: Server) -> None:
    for _ in range(600):
        if server.process.poll() is not None:
            raise AssertionError(f"the workbench did not start:\n{server.log}")
        try:
            with urllib.request.urlopen(f"{server.url}/", timeout=5):
                return
        except urllib.error.HTTPError:
            return  # it asks for the token: it is up
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the workbench does not answer")


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium for a program of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, launched(playwright) as found:
        yield found


@contextmanager
def launched(playwright: Any) -> Iterator[Any]:
    """Chromium, or a skip with the reason; continuous integration must have it."""
    require(
        Path(CHROMIUM).is_file() and os.access(CHROMIUM, os.X_OK), "the pages are tested in Chromium, which is absent"
    )
    found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    try:
        yield found
    finally:
        found.close()
