"""The `engine` fixture: a test that takes it makes its claim about this machine and about Spark."""

from __future__ import annotations

import pytest

from conformance.engines import Engine, Local, OnSpark


@pytest.fixture(scope="session", params=["local", "spark"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "local":
        return Local()
    return OnSpark(request.getfixturevalue("spark"))
