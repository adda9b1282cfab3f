"""What goes into and comes out of the workbench through its API: bundles, drafts, hierarchies, slices of rows."""

from __future__ import annotations

import gzip
import io
import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi", reason="the workbench needs the web extra")

from fastapi.testclient import TestClient

import polyveil
from polyveil.policy import Policy
from polyveil.web.app import make_application
from polyveil.web.settings import Settings

POLICY = """
columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi}
  illness: {role: sensitive, t: 0.5}
privacy: {k: 3}
method: {name: mondrian}
"""
TABLE = "age,town,illness\n" + "\n".join(f"{20 + i},t{i % 3},i{i % 4}" for i in range(60))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(folder=tmp_path_factory.mktemp("api"), token=None, max_unpacked=1_000_000)
    application, _ = make_application(settings, pages=False)
    with TestClient(application, base_url="http://127.0.0.1:8484") as client:
        yield client


@pytest.fixture(scope="module")
def table(client: TestClient) -> str:
    return str(client.post("/api/tables/upload", files={"file": ("people.csv", TABLE)}).json()["id"])


@pytest.fixture(scope="module")
def run(client: TestClient, table: str) -> str:
    found = client.post("/api/runs", json={"table": table, "policy": POLICY}).json()["id"]
    assert finished(client, found)["state"] == "done"
    return str(found)


def finished(client: TestClient, run_id: str) -> dict[str, Any]:
    for _ in range(3000):
        found: dict[str, Any] = client.get(f"/api/runs/{run_id}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError("the run does not end")


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def bring(client: TestClient, content: bytes) -> Any:
    return client.post("/api/bundles", files={"file": ("release.zip", content)})


def test_rows_come_in_slices_and_never_whole(client: TestClient, table: str) -> None:
    answer = client.get(f"/api/tables/{table}/rows?start=10&stop=12").json()
    assert answer["total"] == 60
    assert answer["columns"] == ["age", "town", "illness"]
    assert answer["rows"] == [{"c0": "30", "c1": "t1", "c2": "i2"}, {"c0": "31", "c1": "t2", "c2": "i3"}]
    assert len(client.get(f"/api/tables/{table}/rows?start=0&stop=999999").json()["rows"]) <= 500
    assert client.get("/api/tables/0123456789abcdef/rows").status_code == 404


def test_the_classes_of_both_sides_hold_the_same_people(client: TestClient, run: str) -> None:
    """Every original row fits the released cells of the class it is shown with."""
    original = client.get(f"/api/runs/{run}/rows/original?stop=200").json()
    released = client.get(f"/api/runs/{run}/rows/released?stop=200").json()
    assert original["total"] == released["total"] == 60
    for number in {row["class"] for row in original["rows"]}:
        mine = client.get(f"/api/runs/{run}/rows/original?class={number}").json()["rows"]
        theirs = client.get(f"/api/runs/{run}/rows/released?class={number}").json()["rows"]
        assert len(mine) == len(theirs) >= 3
        assert sorted(row["c2"] for row in mine) == sorted(row["c2"] for row in theirs)
        (cell,) = {row["c0"] for row in theirs}
        low, high = cell.strip("[]").split("-") if "-" in cell else (cell, cell)
        assert all(int(low) <= int(row["c0"]) <= int(high) for row in mine)


def test_a_bundle_comes_back_and_is_verified(client: TestClient, run: str) -> None:
    bundle = client.get(f"/api/runs/{run}/bundle").content
    opened = bring(client, bundle)
    assert opened.status_code == 202
    found = finished(client, opened.json()["id"])
    assert found["outcome"]["verification"]["holds"]
    assert client.get(f"/api/runs/{found['id']}/rows/released").json()["total"] == 60
    assert client.get(f"/api/runs/{found['id']}/rows/original").status_code == 404


@pytest.mark.parametrize("packed", [False, True])
def test_a_release_of_linked_tables_opens_and_shows_them(client: TestClient, tmp_path: Path, packed: bool) -> None:
    """The table of people with the cells of all tables, and beside it the other tables by group."""
    people = [f"p{number}" for number in range(30)]
    tables = {
        "person": pl.DataFrame({"id": people, "age": range(20, 50)}),
        "visit": pl.DataFrame({"who": people * 2, "ward": [f"w{number % 4}" for number in range(60)]}),
    }
    columns = {
        "person.id": {"role": "person"},
        "person.age": {"role": "quasi", "type": "numeric"},
        "visit.who": {"role": "person"},
        "visit.ward": {"role": "sensitive"},
    }
    asked = {"tables": {name: {} for name in tables}, "columns": columns, "privacy": {"k": 3}}
    asked |= {"method": {"name": "mondrian"}}
    if packed:  # as tables and policy, which the workbench makes a release of
        files = {f"{name}.csv": frame.write_csv().encode() for name, frame in tables.items()}
        files["policy.yaml"] = Policy.from_dict(asked).to_yaml().encode()
    else:
        polyveil.anonymize(tables, asked, out=tmp_path / "release")
        files = {file.name: file.read_bytes() for file in (tmp_path / "release").iterdir()}
    found = finished(client, bring(client, zipped(files)).json()["id"])
    assert found["outcome"]["verification"]["holds"]
    shown = client.get(f"/api/runs/{found['id']}/rows/released").json()
    assert (shown["total"], shown["columns"]) == (30, ["person.age", "group"])
    visits = client.get(f"/api/runs/{found['id']}/rows/sensitive_1").json()
    assert (visits["total"], visits["columns"]) == (60, ["group", "ward"])


def test_packed_tables_name_only_files_that_are_packed_with_them(client: TestClient) -> None:
    for policy in (
        "tables: {a: {source: ../../secret.csv}, b: {}}\ncolumns: {a.x: {role: quasi}}\nprivacy: {k: 2}",
        "columns: {x: {role: quasi}}\nprivacy: {k: 2}",
    ):
        opened = bring(client, zipped({"policy.yaml": policy.encode(), "b.csv": b"x\n1\n"}))
        found = finished(client, opened.json()["id"])
        assert found["state"] == "failed"
        assert "packed beside it" in found["outcome"]["error"]["message"]


def test_a_bundle_that_was_tampered_with_says_so(client: TestClient, run: str) -> None:
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"/api/runs/{run}/bundle").content))
    files = {name: packed.read(name) for name in packed.namelist()}
    changed = {name: content.replace(b'"k": 3', b'"k": 9') for name, content in files.items()}
    found = finished(client, bring(client, zipped(changed)).json()["id"])
    assert not found["outcome"]["verification"]["holds"]


def test_a_zip_of_death_is_refused_and_nothing_is_kept(client: TestClient) -> None:
    runs = Path(client.app.settings.folder) / "runs"  # type: ignore[attr-defined]
    before = sorted(runs.iterdir())
    answer = bring(client, zipped({"release/manifest.json": b"0" * 50_000_000}))
    assert answer.status_code == 400
    assert "unpacked" in answer.json()["detail"]["message"]
    many = zipped({"manifest.json": b"{}", **{f"a{i}.json": b"" for i in range(200)}})
    assert bring(client, many).status_code == 400
    assert sorted(runs.iterdir()) == before


@pytest.mark.parametrize("name", ["../../evil.sh", "release/evil.sh", "/etc/cron.d/evil", "..\\evil.exe", "release/.."])
def test_no_name_in_a_zip_leads_anywhere(client: TestClient, name: str) -> None:
    answer = bring(client, zipped({"release/manifest.json": b"{}", name: b"x"}))
    assert answer.status_code == 400
    assert "not a packed release folder" in answer.json()["detail"]["message"]
    assert bring(client, b"not a zip").status_code == 400


def test_a_policy_is_opened_as_the_draft_or_refused_with_its_lines(client: TestClient, table: str) -> None:
    good = client.post(f"/api/tables/{table}/draft", files={"file": ("p.yaml", POLICY)})
    assert good.status_code == 204
    bad = client.post(f"/api/tables/{table}/draft", files={"file": ("p.yaml", POLICY.replace("quasi", "quasy"))})
    assert bad.status_code == 400
    assert "line 3" in bad.json()["detail"]["faults"][0]["place"]


def test_a_hierarchy_file_is_taken_or_refused_with_its_lines(client: TestClient, table: str) -> None:
    def give(content: str, column: str = "town") -> Any:
        files = {"file": ("town.csv", content)}
        return client.post(f"/api/tables/{table}/hierarchy", data={"column": column}, files=files)

    client.post(f"/api/tables/{table}/draft", files={"file": ("p.yaml", POLICY)})
    assert give("t0;north;*\nt1;north;*\nt2;south;*\n").status_code == 204
    twice = give("t0;north;*\nt0;south;*\n")
    assert twice.status_code == 400
    assert "line 2" in twice.json()["detail"]["faults"][0]["rule"]
    short = give("t0;north;*\nt1;north;*\n")
    assert "1 of the column's 3 values" in short.json()["detail"]["faults"][0]["rule"]
    assert give("t0;*\n", column="nothing").status_code == 400


@pytest.mark.parametrize("how", ["absolute", "above", "link"])
def test_no_hierarchy_outside_the_tables_folder_is_read(
    client: TestClient, table: str, tmp_path: Path, how: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("t0;hidden;*\nt1;hidden;*\nt2;hidden;*\n")
    folder = Path(client.app.settings.folder) / "tables" / table  # type: ignore[attr-defined]
    named = str(secret)
    if how == "above":
        named = os.path.relpath(secret, folder)
    elif how == "link":
        named = "linked.csv"
        (folder / named).symlink_to(secret)
    policy = POLICY.replace("town: {role: quasi}", f"town: {{role: quasi, hierarchy: {named}}}")
    answers = [
        client.post(f"/api/tables/{table}/draft", files={"file": ("p.yaml", policy)}),
        client.post("/api/runs", json={"table": table, "policy": policy}),
    ]
    for answer in answers:
        assert answer.status_code == 400
        assert "in the folder of the policy" in answer.json()["detail"]["faults"][0]["rule"]
        assert "hidden" not in answer.text


def test_small_files_of_enormous_tables_are_refused(client: TestClient) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int32()), pa.array(["x" * 10_000]))
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": long, "b": pa.array(range(500))}), buffer)
    assert len(buffer.getvalue()) < 50_000
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    assert len(packed) < 50_000
    for name, content in {"t.parquet": buffer.getvalue(), "t.csv.gz": packed}.items():
        answer = client.post("/api/tables/upload", files={"file": (name, content)})
        assert answer.status_code == 400
        assert "in memory" in answer.json()["detail"]["message"]


def test_a_population_is_uploaded_beside_the_table_counted_and_attacked_with(client: TestClient) -> None:
    made = str(client.post("/api/tables/upload", files={"file": ("people.csv", TABLE)}).json()["id"])
    people = TABLE + "\n" + "\n".join(TABLE.splitlines()[1:])
    policy = POLICY.replace(
        "privacy: {k: 3}", "privacy: {risk: {max: 0.1, attacker: journalist, population: {table: %s}}}"
    )
    refused = client.post("/api/runs", json={"table": made, "policy": policy % "../people.csv"})
    assert (refused.status_code, "no file of a population can be read here" in refused.text) == (400, True)
    answer = client.post(f"/api/tables/{made}/population", files={"file": ("register.csv", people)})
    assert answer.status_code == 204
    run = client.post("/api/runs", json={"table": made, "policy": policy % "population.csv"}).json()["id"]
    assert finished(client, run)["state"] == "done"
    attack = client.post(f"/api/runs/{run}/attack").json()["id"]
    found = {each["name"]: each for each in finished(client, attack)["outcome"]["attacks"]["attacks"]}
    journalist = found["journalist linkage"]
    assert (journalist["verdict"], journalist["bound"]) == ("within bound", 0.1)
    wrong = client.post(f"/api/tables/{made}/population", files={"file": ("register.exe", people)})
    assert (wrong.status_code, "not read" in wrong.text) == (400, True)
