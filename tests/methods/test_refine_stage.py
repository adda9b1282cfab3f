"""`method: {refine: ...}` improves any method's classes and keeps every guarantee."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyveil
from polyveil.demo import write_example
from polyveil.errors import PolicyError


@pytest.mark.parametrize("name", ["mondrian", "fcm"])
def test_refining_loses_no_more_and_says_so(tmp_path: Path, name: str) -> None:
    written = write_example("census", tmp_path, rows=600)
    policy = polyveil.Policy.from_yaml(written.policy)

    def release(**options: object) -> polyveil.Release:
        choice = type(policy.method).model_validate({"name": name, **options})
        return polyveil.anonymize(written.data, policy.model_copy(update={"method": choice}), seed=1)

    plain, better = release(), release(refine="fast")
    assert better.loss["information_loss"] < plain.loss["information_loss"]
    assert better.manifest["method"]["found"]["refined"] == "fast"
    assert "refined" not in plain.manifest["method"]["found"]


def test_an_unknown_effort_is_a_fault() -> None:
    columns = {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match=r"method\.refine"):
        polyveil.Policy.from_dict(
            {"columns": columns, "privacy": {"k": 2}, "method": {"name": "mondrian", "refine": "wild"}}
        )
