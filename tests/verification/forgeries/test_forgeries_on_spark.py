"""The same forgeries on a release that Spark wrote in parts, judged by Spark's verifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import polyveil
from polyveil.engines.spark import tables
from polyveil.verification import Verification, verify
from spark_session import on_spark
from verification.forgeries.forger import ROWS, Forger, people, policy
from verification.forgeries.kinds import LINKED, PARQUET, kinds


@pytest.fixture(scope="module")
def genuine(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two parts of each table."""
    places = {}
    for form in ("generalized", "anatomized"):
        places[form] = tmp_path_factory.mktemp("genuine") / "release"
        with patch.object(tables, "ROWS_PER_FILE", ROWS // 2):
            polyveil.anonymize(on_spark(spark, people()), policy(form, "parquet"), out=places[form], seed=1)
    return places


@pytest.mark.parametrize("form", ["generalized", "anatomized"])
def test_a_forgery_is_refused_by_spark(spark: Any, genuine: dict[str, Path], tmp_path: Path, form: str) -> None:
    from polyveil.engines.spark import verify as on_cluster

    def judge(folder: Path) -> Verification:
        return on_cluster(folder, spark)

    every = kinds(form, "parquet")
    chosen = {name: every[name] for name in every if form == "generalized" or name in LINKED}
    honest = Forger(genuine[form], tmp_path / "honest", judge)
    assert len(honest.files(honest.first)) == 2
    assert honest.forged().holds
    assert verify(tmp_path / "honest").holds
    accepted = []
    for number, (name, (forge, check)) in enumerate(chosen.items()):
        found = forge(Forger(genuine[form], tmp_path / str(number), judge))
        if found.holds or check not in {finding.check for finding in found.failures}:
            accepted.append((name, check, [finding.check for finding in found.failures]))
    assert not accepted
    assert set(PARQUET) <= set(every)
