"""Shared fixtures: where the real tables are, Spark, and how skips are judged."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from spark_session import in_one_process, quieten, schemas, spark

__all__ = ["schemas", "spark"]

settings.register_profile("polyveil", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("polyveil")

ROOT = Path(__file__).parent.parent


def require(tool: object, reason: str) -> None:
    """Skip, with the reason, where a tool is missing; in continuous integration a missing tool is a failure."""
    if tool:
        return
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"continuous integration must not skip this: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tables; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("POLYVEIL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real tables are not here (set POLYVEIL_DATA to their folder)")
    return folder


@pytest.fixture(scope="session")
def prepared_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `polyveil` and `python` that begin with everything imported."""
    import prepared

    with prepared.commands(tmp_path_factory.mktemp("prepared")) as folder:
        yield folder


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    """What drives browsers; a process can have one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def chromium(playwright: Any) -> Iterator[Any]:
    """One browser for all tests of a process. Whoever opens pages in it closes them."""
    from workbench_server import launched

    with launched(playwright) as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays until the end: the search for garbage has nothing to find in it, neither
    now nor while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    quieten(items)
    in_one_process(items)
