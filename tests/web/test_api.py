"""The REST API and its guard: the whole job, and everything that must be refused."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyveil.errors import InputError
from polyveil.table.writing import write_sheets
from polyveil.verification import verify

pytest.importorskip("fastapi", reason="the workbench needs the web extra")

from fastapi.testclient import TestClient

from polyveil.web.app import make_application
from polyveil.web.settings import Settings

TOKEN = "let-me-in"
HOST = "127.0.0.1:8484"
POLICY = """
columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi}
  illness: {role: sensitive, t: 0.5}
privacy: {k: 3}
method: {name: mondrian}
"""
TABLE = "age,town,illness\n" + "\n".join(f"{20 + i},t{i % 3},i{i % 4}" for i in range(60))


def settings(folder: Path, **changes: Any) -> Settings:
    (folder / "data").mkdir(exist_ok=True)
    return Settings(folder=folder / "state", data_folders=(folder / "data",), token=TOKEN, **changes)


def client_of(chosen: Settings) -> TestClient:
    application, _ = make_application(chosen, pages=False)
    return TestClient(application, base_url=f"http://{HOST}", headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with client_of(settings(tmp_path, max_upload=100_000, max_unpacked=1_000_000)) as client:
        yield client


def upload(client: TestClient, content: bytes | str = TABLE, name: str = "table.csv") -> Any:
    data = content.encode() if isinstance(content, str) else content
    return client.post("/api/tables/upload", files={"file": (name, data)})


def finished(client: TestClient, run_id: str) -> dict[str, Any]:
    for _ in range(600):
        run: dict[str, Any] = client.get(f"/api/runs/{run_id}").json()
        if run["state"] not in ("waiting", "running"):
            return run
        time.sleep(0.1)
    raise AssertionError("the run does not end")


def test_the_whole_job_ends_in_a_bundle_that_verifies(client: TestClient, tmp_path: Path) -> None:
    table = upload(client).json()
    submitted = client.post("/api/runs", json={"table": table["id"], "policy": POLICY})
    assert submitted.status_code == 202
    run = finished(client, submitted.json()["id"])
    assert run["state"] == "done", run["outcome"]
    assert run["outcome"]["summary"]["privacy"]["k"] >= 3
    bundle = client.get(f"/api/runs/{run['id']}/bundle").content
    zipfile.ZipFile(io.BytesIO(bundle)).extractall(tmp_path / "unpacked")
    assert verify(tmp_path / "unpacked" / "release").holds
    assert client.get(f"/api/runs/{run['id']}/policy").text == POLICY


def test_one_sheet_of_a_workbook_is_chosen_and_anonymized(client: TestClient, tmp_path: Path) -> None:
    people = pl.read_csv(io.StringIO(TABLE))
    write_sheets({"Notes": pl.DataFrame({"read": ["a"], "me": ["b"]}), "People": people}, tmp_path / "book.xlsx")
    content = (tmp_path / "book.xlsx").read_bytes()
    table = upload(client, content, "book.xlsx").json()["id"]
    assert client.get(f"/api/tables/{table}/rows?start=0&stop=5").status_code == 400
    refused = client.post(f"/api/tables/{table}/sheet", json={"sheet": "Nobody"})
    assert refused.status_code == 400
    assert "has no sheet 'Nobody'" in refused.text
    assert client.post(f"/api/tables/{table}/sheet", json={"sheet": "People"}).status_code == 204
    assert client.get(f"/api/tables/{table}/rows?start=0&stop=5").status_code == 200
    run = finished(client, client.post("/api/runs", json={"table": table, "policy": POLICY}).json()["id"])
    assert run["state"] == "done", run["outcome"]
    assert run["outcome"]["summary"]["rows"] == people.height
    attack = finished(client, client.post(f"/api/runs/{run['id']}/attack").json()["id"])
    assert attack["state"] == "done", attack["outcome"]


def test_runs_survive_a_restart(tmp_path: Path) -> None:
    with client_of(settings(tmp_path)) as client:
        table = upload(client).json()
        run = client.post("/api/runs", json={"table": table["id"], "policy": POLICY}).json()
        assert finished(client, run["id"])["state"] == "done"
    with client_of(settings(tmp_path)) as client:
        assert client.get(f"/api/runs/{run['id']}").json()["state"] == "done"
        assert client.get(f"/api/runs/{run['id']}/bundle").status_code == 200


def test_an_unreachable_policy_is_explained(client: TestClient) -> None:
    table = upload(client).json()
    policy = POLICY.replace("t: 0.5", "l: 50")
    run = client.post("/api/runs", json={"table": table["id"], "policy": policy}).json()
    ended = finished(client, run["id"])
    assert ended["state"] == "failed"
    assert "cannot be met" in ended["outcome"]["error"]["message"]


def test_a_faulty_policy_is_refused_with_its_faults(client: TestClient) -> None:
    table = upload(client).json()
    answer = client.post("/api/runs", json={"table": table["id"], "policy": POLICY.replace("k: 3", "k: 1")})
    assert answer.status_code == 400
    assert "privacy.k" in answer.json()["detail"]["faults"][0]["place"]


def test_a_running_job_can_be_cancelled(client: TestClient) -> None:
    table = client.post("/api/tables/example", json={"example": "census", "rows": 200_000}).json()
    policy = (
        "columns:\n" + "\n".join(f"  {name}: {{role: quasi}}" for name in COLUMNS if name != "occupation")
        + "\n  occupation: {role: sensitive, t: 0.4}\nprivacy: {k: 5}\nmethod: {name: mondrian}\n"
    )  # fmt: skip
    run = client.post("/api/runs", json={"table": table["id"], "policy": policy}).json()
    client.post(f"/api/runs/{run['id']}/cancel")
    assert finished(client, run["id"])["state"] == "cancelled"
    assert client.get(f"/api/runs/{run['id']}/bundle").status_code == 409


COLUMNS = """age workclass fnlwgt education education-num marital-status occupation relationship race sex
capital-gain capital-loss hours-per-week native-country income""".split()  # noqa: SIM905


def test_a_full_queue_refuses_with_a_reason_and_loses_nothing(tmp_path: Path) -> None:
    with client_of(settings(tmp_path, workers=1, max_waiting=2)) as client:
        table = upload(client).json()
        answers = [client.post("/api/runs", json={"table": table["id"], "policy": POLICY}) for _ in range(6)]
        taken = [answer.json()["id"] for answer in answers if answer.status_code == 202]
        turned_away = [answer for answer in answers if answer.status_code == 429]
        assert len(taken) + len(turned_away) == 6
        assert turned_away
        assert "waiting" in turned_away[0].json()["detail"]["message"]
        assert {finished(client, run_id)["state"] for run_id in taken} == {"done"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": ""}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8484"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_strangers_are_refused(client: TestClient, headers: dict[str, str], status: int) -> None:
    assert (
        client.post("/api/tables/example", json={"example": "hospital", "rows": 10}, headers=headers).status_code
        == status
    )
    assert client.get("/api/tables").json() == []


def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(tmp_path: Path) -> None:
    application, _ = make_application(settings(tmp_path), pages=False)
    with TestClient(application, base_url=f"http://{HOST}") as client:
        assert client.get("/").status_code == 401
        first = client.get(f"/?token={TOKEN}&view=runs", follow_redirects=False)
        assert first.status_code == 303
        assert first.headers["location"] == "/?view=runs"
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=Strict" in first.headers["set-cookie"]
        assert client.get("/api/tables").status_code == 200


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "link.csv", "folder/../../secret.csv", "", "a\0b"])
def test_no_path_leads_outside_the_given_folders(client: TestClient, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.csv").write_text(TABLE)
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "secret.csv")
    assert client.post("/api/tables/file", json={"path": path}).status_code in (400, 422)


def test_a_file_below_a_given_folder_is_read(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "data" / "mine.csv").write_text(TABLE)
    table = client.post("/api/tables/file", json={"path": "mine.csv"})
    assert table.status_code == 201
    client.delete(f"/api/tables/{table.json()['id']}")
    assert (tmp_path / "data" / "mine.csv").exists()


def test_an_oversized_upload_is_refused_and_nothing_is_kept(client: TestClient, tmp_path: Path) -> None:
    assert upload(client, b"x" * 200_000).status_code == 413
    assert not list((tmp_path / "state" / "tables").iterdir())


def test_a_small_file_that_unpacks_to_an_enormous_one_is_refused(client: TestClient, tmp_path: Path) -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000)
    assert len(bomb) < 100_000
    answer = upload(client, bomb, "table.csv.gz")
    assert answer.status_code == 400
    assert "in memory" in answer.json()["detail"]["message"]
    assert not list((tmp_path / "state" / "tables").iterdir())


def test_other_kinds_of_files_are_refused(client: TestClient) -> None:
    assert upload(client, b"PK", "table.zip").status_code == 400
    assert upload(client, b"not parquet", "table.parquet").status_code == 400


def test_uploads_go_when_asked_and_when_old(tmp_path: Path) -> None:
    with client_of(settings(tmp_path, keep_days=-1.0)) as client:
        upload(client)
    with client_of(settings(tmp_path, keep_days=-1.0)) as client:
        for _ in range(50):
            if not client.get("/api/tables").json():
                break
            time.sleep(0.1)
        assert client.get("/api/tables").json() == []
        table = upload(client).json()
        assert client.delete(f"/api/tables/{table['id']}").status_code == 204
        assert not list((tmp_path / "state" / "tables").iterdir())


def test_binding_elsewhere_needs_the_token(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="token"):
        Settings(folder=tmp_path, host="0.0.0.0", token=None)
    assert Settings(folder=tmp_path, host="127.0.0.1", token=None).url == "http://127.0.0.1:8484/"


def test_what_a_stop_interrupts_says_so_after_the_restart(tmp_path: Path) -> None:
    with client_of(settings(tmp_path)) as client:
        table = client.post("/api/tables/example", json={"example": "census", "rows": 200_000}).json()
        policy = (tmp_path / "state" / "tables" / table["id"] / "policy.yaml").read_text()
        run = client.post("/api/runs", json={"table": table["id"], "policy": policy}).json()
        while client.get(f"/api/runs/{run['id']}").json()["progress"]["stage"] == "waiting":
            time.sleep(0.05)
    with client_of(settings(tmp_path)) as client:
        assert client.get(f"/api/runs/{run['id']}").json()["state"] == "interrupted"
