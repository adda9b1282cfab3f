"""Every form of release in every place: its tables come back, the verifier passes them, one changed cell is refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyveil
from conformance.test_releases import LINKED
from engines.clinic import clinic, policy
from polyveil.engines.spark import verify as verify_on_spark
from polyveil.table.databases.exact import storable
from polyveil.verification import load_release, verify
from polyveil.verification.fingerprint import fingerprint
from releases.test_relational import clinic as linked_tables
from releases.test_relational import policy as linked_policy

FORMS = {"generalized": policy("mondrian"), **{name: LINKED[name] for name in ("anatomized", "one slice per column")}}
SEVERAL = "several tables"
PLACES = ("folder", "sqlite", "duckdb", "postgresql", "delta", "iceberg", "s3")
"""Spark's own catalog is a test of its own, because tests that need Spark are known by their fixtures."""
IN_SPARK = "spark://spark_catalog.release_2026"
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def releases() -> dict[str, polyveil.Release]:
    found = {name: polyveil.anonymize(clinic(), asked, seed=1) for name, asked in FORMS.items()}
    return {**found, SEVERAL: polyveil.anonymize(linked_tables(), linked_policy(l=2), seed=1)}


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """What the environment says of a server that speaks S3."""
    from moto.server import ThreadedMotoServer
    from pyarrow.fs import S3FileSystem

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    endpoint = "http://{}:{}".format(*running.get_host_and_port())
    keys = {"access_key": "steward", "secret_key": "quiet-word", "allow_bucket_creation": True}
    S3FileSystem(endpoint_override=endpoint, region="us-east-1", **keys).create_dir("hospital")
    yield {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "steward", "AWS_SECRET_ACCESS_KEY": "quiet-word"}
    running.stop()


@pytest.fixture
def iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    import pyiceberg.catalog
    from pyiceberg.utils.config import Config

    (tmp_path / "warehouse").mkdir()
    settings = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/catalog.db", "WAREHOUSE": f"file://{tmp_path}/warehouse"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__CLINIC__{name}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    return "iceberg://clinic.release_2026"


@pytest.fixture(params=PLACES)
def out(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "s3":
        for name, value in request.getfixturevalue("store").items():
            monkeypatch.setenv(name, value)
        return f"s3://hospital/{tmp_path.name}"
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgresql").release_url())
    if request.param == "iceberg":
        return str(request.getfixturevalue("iceberg"))
    in_folder = {
        "folder": f"{tmp_path}/release",
        "sqlite": f"sqlite://{tmp_path}/file.db?schema=release",
        "duckdb": f"duckdb://{tmp_path}/file.duckdb?schema=release",
        "delta": f"delta://{tmp_path}/release",
    }
    return in_folder[request.param]


def check_saved(form: str, release: polyveil.Release, out: str, *, overwrite: bool) -> None:
    """What was saved is what is read back, and the verifier of this machine passes it."""
    release.save(out, overwrite=overwrite)
    found = verify(out)
    assert found.holds, (form, found.failures)
    manifest, tables, _ = load_release(out)
    assert set(tables) == set(release.tables)
    for name, frame in release.tables.items():
        assert fingerprint(tables[name]) == fingerprint(storable(frame)), (form, name)
    assert {k: v for k, v in manifest.items() if k not in ("files", "tables")} == {
        k: v for k, v in release.manifest.items() if k not in ("files", "tables")
    }


def test_every_form_of_release_survives_in_every_place(out: str, releases: dict[str, polyveil.Release]) -> None:
    for number, (form, release) in enumerate(releases.items()):
        check_saved(form, release, out, overwrite=number > 0)


def test_every_form_of_release_survives_in_sparks_catalog(schemas: Any, releases: dict[str, polyveil.Release]) -> None:
    """Spark's verifier judges the other two where they are forged, and says what it does not do of several tables."""
    for number, (form, release) in enumerate(releases.items()):
        check_saved(form, release, IN_SPARK, overwrite=number > 0)
        if form == "anatomized":
            assert verify_on_spark(IN_SPARK, schemas).holds
        elif form == SEVERAL:
            with pytest.raises(polyveil.InputError, match="Leave --engine out"):
                verify_on_spark(IN_SPARK, schemas)


def changed_in_one_cell(release: polyveil.Release) -> polyveil.Release:
    cells = release.table.get_column("disease").to_list()
    cells[0] = next(value for value in cells if value != cells[0])
    return polyveil.Release({"table": release.table.with_columns(pl.Series("disease", cells))}, release.manifest)


def test_a_release_that_its_place_did_not_keep_is_never_published(out: str, releases: dict[str, Any]) -> None:
    """One cell is changed on the way: whoever writes finds it by reading back."""
    with pytest.raises(polyveil.VerificationFailed):
        changed_in_one_cell(releases["generalized"]).save(out)
    with pytest.raises(polyveil.InputError):
        verify(out)


def test_a_release_that_sparks_catalog_did_not_keep_is_never_published(schemas: Any, releases: dict[str, Any]) -> None:
    with pytest.raises(polyveil.VerificationFailed):
        changed_in_one_cell(releases["generalized"]).save(IN_SPARK)
    assert not schemas.catalog.databaseExists("release_2026")
