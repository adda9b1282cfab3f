"""One workbench for all tests of a process, a finished run in it, and a visitor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from workbench_server import TOKEN, Server, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("workbench")) as server:
        yield server
        assert "P17" not in server.log, "a cell of the table is in the log"
        assert "Traceback" not in server.log


@pytest.fixture(scope="session")
def finished(server: Server) -> str:
    """A table with a finished run, made through the API; returns its id."""
    from workbench_steps import finish_run

    return finish_run(server, "looked at")


@pytest.fixture(scope="session")
def visitors(chromium: Any) -> Iterator[Any]:
    """What the visitors of all tests share: the scripts that their browser has fetched and compiled once."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True) as context:
        yield context


@pytest.fixture
def page(server: Server, visitors: Any) -> Iterator[Any]:
    """A fresh visitor with the address that `serve` printed. Nothing may be asked of another host."""
    from workbench_steps import WAIT

    page = visitors.new_page()
    page.set_default_timeout(WAIT)
    asked: set[str] = set()
    problems: list[str] = []
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server.url}/?token={TOKEN}")
    yield page
    for each in visitors.pages:
        each.close()
    visitors.clear_cookies()
    foreign = [
        url for url in asked if not url.startswith((server.url, "data:", "blob:", f"ws://127.0.0.1:{server.port}"))
    ]
    assert foreign == []
    assert problems == []
    # The token leaves the address at once, and no cell ever stands in one.
    assert [url for url in asked if "Lisbon" in url or "HIV" in url] == []
