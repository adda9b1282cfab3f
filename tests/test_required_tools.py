"""A test that needs a tool skips where the tool is missing, but never in continuous integration."""

from __future__ import annotations

import pytest

from conftest import require


def test_a_tool_that_is_there_lets_the_test_go_on() -> None:
    require("/usr/bin/tool", "the tool is not installed")


def test_a_missing_tool_skips_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="the tool is not installed"):
        require(None, "the tool is not installed")


def test_a_missing_tool_fails_in_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="the tool is not installed"):
        require(None, "the tool is not installed")
