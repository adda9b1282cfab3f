"""A method and two models that another package adds, one file each: installed with entry points, used end to end.

The package is a folder on PYTHONPATH with the metadata that an installer writes; every command runs in a process of its
own. One of the models has no form that kernels know.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

import children
from polyveil.testing import example_frame
from workbench_server import TOKEN, running

FILES = Path(__file__).parent / "outside"
ENTRY_POINTS = """[polyveil.models]
top-two = top_two:TopTwo
rare-cap = rare_cap:RareCap
{more_models}
[polyveil.methods]
in-order = in_order:InOrder
{more_methods}
"""
POLICY = """columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi, recode: set}
  illness: {role: sensitive, sigma: SIGMA}
  cost: {role: sensitive, type: numeric}
privacy: {k: 2, rho: 0.9, suppression_limit: 0.2}
"""


def install(folder: Path, *, more_models: str = "", more_methods: str = "") -> Path:
    """What `pip install` leaves behind."""
    folder.mkdir()
    for file in FILES.glob("*.py"):
        shutil.copy(file, folder)
    about = folder / "veil_examples-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: veil-examples\nVersion: 1.0\n")
    points = ENTRY_POINTS.format(more_models=more_models, more_methods=more_methods)
    (about / "entry_points.txt").write_text(points)
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    install(folder / "site")
    example_frame().write_csv(folder / "people.csv")
    (folder / "policy.yaml").write_text(POLICY.replace("SIGMA", "0.75"))
    return folder


def polyveil(work: Path, *words: str, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(work / "site" if site is None else site)}
    return children.run([sys.executable, "-m", "polyveil", *words], cwd=work, env=environment)


def answer(work: Path, *words: str) -> Any:
    done = polyveil(work, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_catalogues_list_them(work: Path) -> None:
    assert {"top-two", "rare-cap"} <= {model["name"] for model in answer(work, "models")["models"]}
    found = {method["name"]: method for method in answer(work, "methods")["methods"]}
    assert list(found["in-order"]["options"]) == ["size"]


def test_a_policy_reads_their_keys_and_checks_the_range(work: Path) -> None:
    (work / "wrong.yaml").write_text(POLICY.replace("SIGMA", "1.5").replace("rho: 0.9", "rho: 0"))
    done = polyveil(work, "anonymize", "people.csv", "--policy", "wrong.yaml", "--out", "never")
    assert done.returncode == 2
    assert "columns.illness.sigma: sigma must be a number above 0 and at most 1, not 1.5" in done.stderr
    assert "privacy.rho: rho must be a number above 0 and at most 1, not 0" in done.stderr


@pytest.fixture(scope="module", params=["mondrian", "in-order", "kaca"])
def bundle(work: Path, request: pytest.FixtureRequest) -> Path:
    """A release with both models, by methods of polyveil and the one from outside."""
    policy = work / f"{request.param}.yaml"
    policy.write_text((work / "policy.yaml").read_text() + f"method: {{name: {request.param}}}\n")
    out = work / f"bundle-{request.param}"
    answer(work, "anonymize", "people.csv", "--policy", policy.name, "--out", str(out))
    return out


def test_a_method_keeps_them_and_the_manifest_claims_them(bundle: Path) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())
    claims = {(claim["model"], claim["attribute"]): claim for claim in manifest["claims"]}
    assert claims["top-two", "illness"]["measured"] <= 0.75
    assert ("top-two", "cost") not in claims
    assert {claims["rare-cap", name]["threshold"] for name in ("illness", "cost")} == {0.9}
    assert manifest["privacy"]["sigma"] == {"illness": claims["top-two", "illness"]["measured"]}
    assert manifest["classes"] > 1


def test_verify_judges_them_again(work: Path, bundle: Path) -> None:
    assert polyveil(work, "verify", str(bundle)).returncode == 0
    forged = work / f"forged-{bundle.name}"
    shutil.copytree(bundle, forged)
    manifest = json.loads((forged / "manifest.json").read_text())
    manifest["policy"]["columns"]["illness"]["sigma"] = 0.3  # what no group of four values keeps
    (forged / "manifest.json").write_text(json.dumps(manifest))
    done = polyveil(work, "verify", str(forged))
    assert done.returncode == 1
    assert "top-two of illness" in done.stdout + done.stderr


def test_without_the_package_verify_says_what_it_does_not_know(work: Path, bundle: Path) -> None:
    done = polyveil(work, "verify", str(bundle), site=work)
    assert done.returncode == 2
    assert "sigma" in done.stderr
    assert "rho" in done.stderr


def test_check_measures_them_asked_for_or_not(work: Path) -> None:
    words = ("check", "people.csv", "--json")
    asked = json.loads(polyveil(work, *words, "--policy", "policy.yaml").stdout)
    plain = json.loads(polyveil(work, *words, "--quasi", "age,town", "--sensitive", "illness").stdout)
    for found, wanted in ((asked, 0.75), (plain, None)):
        measured = next(m for m in found["measurements"] if (m["model"], m["attribute"]) == ("top-two", "illness"))
        assert (measured["parameter"], measured["threshold"]) == ("sigma", wanted)
        assert measured["value"] == 1.0


def test_a_package_that_does_not_load_is_named_and_the_rest_works(work: Path, tmp_path: Path) -> None:
    site = install(
        tmp_path / "site", more_models="broken-model = no_such_module:Model", more_methods="broken = in_order:Nothing"
    )
    done = polyveil(work, "models", "--json", site=site)
    assert "top-two" in done.stdout
    assert "'broken-model' of the package veil-examples" in done.stderr
    policy = tmp_path / "policy.yaml"
    policy.write_text("columns: {age: {role: quasi}}\nprivacy: {k: 2}\nmethod: {name: broken}\n")
    done = polyveil(work, "anonymize", "people.csv", "--policy", str(policy), "--out", "never", site=site)
    assert done.returncode == 2
    assert "'broken' of the package veil-examples" in done.stderr


def test_the_workbench_has_their_fields(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Any
) -> None:
    expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
    from workbench_steps import choose_role

    monkeypatch.setenv("PYTHONPATH", str(work / "site"))
    with running(tmp_path) as server, chromium.new_context() as context:
        login = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=server.url, headers=login, timeout=60) as client:
            content = (work / "people.csv").read_bytes()
            table = client.post("/api/tables/upload", files={"file": ("people.csv", content)}).json()["id"]
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.url}/?token={TOKEN}")
        page.goto(f"{server.url}/columns/{table}")
        choose_role(page, "illness", "Sensitive")
        page.goto(f"{server.url}/privacy/{table}")
        page.get_by_text("More guarantees").click()
        page.get_by_role("switch", name="Require Cap on the two most common values").click()
        words = "No two values of a sensitive column together make up more than 0.9 of any group."
        expect(page.get_by_text(words)).to_be_visible()
        expect(page.get_by_role("switch", name="Require Cap on rare values")).to_be_visible()
