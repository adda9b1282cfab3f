"""Does an analysis survive? The workbench, Python and the steward's report give the same figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import Page, expect

import polyveil
from polyveil.reports.markup import number, percent
from workbench_server import TOKEN, Server
from workbench_steps import wait_for

QUASI, SET = {"role": "quasi"}, {"role": "quasi", "recode": "set"}
CLINIC: dict[str, Any] = {"age": QUASI, "stage": SET, "months": QUASI, "arm": SET, "died": {"role": "sensitive"}}
ADULT: dict[str, Any] = {"age": QUASI, "sex": SET, "education-num": QUASI, "hours-per-week": QUASI}
ON_CLINIC = [{"survival": "months", "event": "died", "value": "yes", "by": "arm"}]
ON_ADULT = [
    {"linear": "hours-per-week", "on": ["age", "sex", "education-num"]},
    {"logistic": "income", "value": ">50K", "on": ["age", "sex", "hours-per-week"]},
]
ROWS = 2_000


def clinic() -> pl.DataFrame:
    """A trial: the drug halves the risk, and patients are seen for up to five years."""
    rng = np.random.default_rng(11)
    arm = rng.choice(["drug", "usual"], ROWS)
    time, seen = rng.exponential(np.where(arm == "drug", 50, 25)), rng.uniform(6, 60, ROWS)
    return pl.DataFrame(
        {
            "age": rng.normal(62, 11, ROWS).round().astype(int),
            "stage": rng.choice(["I", "II", "III"], ROWS),
            "arm": arm,
            "months": np.ceil(np.minimum(time, seen)).astype(int),
            "died": np.where(time <= seen, "yes", "no"),
        }
    )


def test_a_survival_analysis_of_a_trial(page: Page, server: Server, tmp_path: Path) -> None:
    same_in_all_three(page, server, clinic(), CLINIC, ON_CLINIC, tmp_path)
    expect(page.get_by_role("img", name="Share that survives, months until died = yes, by arm")).to_have_count(2)


def test_two_analyses_of_adult(page: Page, server: Server, tmp_path: Path, shared_data: Path) -> None:
    columns = {**ADULT, "income": {"role": "sensitive"}}
    table = pl.read_csv(shared_data / "adult.csv.gz").select(list(columns)).drop_nulls().head(ROWS)
    same_in_all_three(page, server, table, columns, ON_ADULT, tmp_path)


def same_in_all_three(
    page: Page, server: Server, table: pl.DataFrame, columns: dict[str, Any], asked: list[dict[str, Any]], folder: Path
) -> None:
    table.write_csv(folder / "table.csv")
    policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        content = (folder / "table.csv").read_bytes()
        stored = client.post("/api/tables/upload", files={"file": ("table.csv", content)}).json()["id"]
        run = client.post("/api/runs", json={"table": stored, "policy": policy}).json()["id"]
        wait_for(client, run)
        wait_for(client, client.post(f"/api/runs/{run}/analyses", json={"analyses": asked}).json()["id"])
    release = server.folder / "state" / "runs" / run / "release"
    found = polyveil.analyze(release, folder / "table.csv", asked)
    assert found.estimates
    page.goto(f"{server.url}/explore/{stored}?run={run}&tab=analyses")
    shown = page.locator("main .pv-scroll tbody tr, main table tbody tr")
    expect(shown).to_have_count(len(found.estimates))
    cells = [tuple(row.locator("th,td").all_inner_texts()) for row in shown.all()]
    report = polyveil.report(release, original=folder / "table.csv", analyses=asked)
    for (_, one), (term, original, _, released, _, overlap, _) in zip(found.estimates, cells, strict=True):
        assert (term, original, released) == (one.term, number(one.original), number(one.released))
        assert overlap == percent(one.overlap, 0)
        assert number(one.released) in report
    assert f"{found.k_marginal:.0f} of 1,000" in report
    expect(page.get_by_text(f"k-marginal score: {found.k_marginal:.0f} of 1,000")).to_be_visible()
