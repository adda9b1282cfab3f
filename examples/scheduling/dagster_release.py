"""Dagster: the release is an asset, and its verification a check that blocks whatever comes after it."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

import polyveil

FOLDER = Path(os.environ.get("RELEASES", "/data/releases"))


@dg.asset(retry_policy=dg.RetryPolicy(max_retries=2))
def release() -> dg.MaterializeResult:
    """The table, anonymized: the older release is replaced once the new one is whole."""
    made = polyveil.anonymize(FOLDER / "visits.csv", FOLDER / "policy.yaml", out=FOLDER / "release", overwrite=True)
    return dg.MaterializeResult(metadata={"lost": made.to_dict()["loss"]["normalized_loss"]})


@dg.asset_check(asset=release, blocking=True)
def holds() -> dg.AssetCheckResult:
    """Verified from the files alone."""
    found = polyveil.verify(FOLDER / "release")
    return dg.AssetCheckResult(passed=found.holds, metadata={"outcome": found.outcome})


publish = dg.define_asset_job("publish", [release])
definitions = dg.Definitions(assets=[release], asset_checks=[holds], jobs=[publish])
