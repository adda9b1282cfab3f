"""The running server: the documented example, many clients at once, and whatever a schema can think of."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import children

pytest.importorskip("nicegui", reason="the workbench needs the web extra")

import httpx2 as httpx

from polyveil.verification import verify
from workbench_server import TOKEN, Server, running

ROOT = Path(__file__).parent.parent.parent
TABLE = "age,town,illness\n" + "\n".join(f"{20 + i},t{i % 3},i{i % 4}" for i in range(60))
POLICY = {
    "columns": {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi"},
        "illness": {"role": "sensitive", "t": 0.5},
    },
    "privacy": {"k": 3},
}
LONGEST = 300.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), max_waiting=4) as server:
        yield server


def client_of(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with client_of(server) as client:
        yield client


def test_the_documented_example_ends_in_a_bundle_that_verifies(server: Server, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "rest.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    environment = {**os.environ, "URL": server.url, "TOKEN": TOKEN}
    command = ["bash", "-euo", "pipefail", "-c", code]
    done = children.run(command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    zipfile.ZipFile(tmp_path / "release.zip").extractall(tmp_path)
    assert verify(tmp_path / "release").holds


def test_twenty_jobs_by_five_clients_finish_or_are_refused_with_a_reason(server: Server, client: httpx.Client) -> None:
    table = client.post("/api/tables/upload", files={"file": ("people.csv", TABLE.encode())}).json()["id"]
    quick = {**POLICY, "method": {"name": "mondrian"}}
    most, stop = [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.05):
            most[0] = max(most[0], workers_of(server.process.pid))

    def submit(_: int) -> list[Any]:
        with client_of(server) as own:
            return [own.post("/api/runs", json={"table": table, "policy": quick}) for _ in range(4)]

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with ThreadPoolExecutor(5) as pool:
            answers = [answer for some in pool.map(submit, range(5)) for answer in some]
        taken = [answer.json()["id"] for answer in answers if answer.status_code == 202]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert len(taken) + len(refused) == 20
        assert all("waiting" in answer.json()["detail"]["message"] for answer in refused)
        assert {ended(client, run)["state"] for run in taken} == {"done"}
    finally:
        stop.set()
        watcher.join()
    assert len(taken) >= 6, "two work and four wait"
    assert set(taken) <= {run["id"] for run in client.get("/api/runs").json()}, "none is lost"
    # Memory is bounded by the number of processes: however many wait, two work.
    assert most[0] <= 2


def workers_of(server: int) -> int:
    """How many processes the server has started that still run."""
    found = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
                found += parent == str(server) and b"polyveil.web.worker" in (folder / "cmdline").read_bytes()
            except (OSError, IndexError):
                continue
    return found


def ended(client: httpx.Client, run: str) -> dict[str, Any]:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        found: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.2)
    raise AssertionError("the run does not end")


def test_a_crashed_run_says_so_and_leaves_the_server_up(server: Server, client: httpx.Client) -> None:
    table = client.post("/api/tables/example", json={"example": "census", "rows": 50_000}).json()["id"]
    policy = (server.folder / "state" / "tables" / table / "policy.yaml").read_text()
    run = client.post("/api/runs", json={"table": table, "policy": policy}).json()["id"]
    for _ in range(600):
        found = [pid for pid in children_of(server.process.pid) if run in Path(f"/proc/{pid}/cmdline").read_text()]
        if found:
            os.kill(found[0], 9)
            break
        time.sleep(0.05)
    assert ended(client, run)["state"] == "crashed"
    assert client.get("/api/tables").status_code == 200


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def test_nothing_that_fits_the_schema_brings_the_server_down(server: Server, client: httpx.Client) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="the schema is tried with schemathesis")
    headers = {"Authorization": f"Bearer {TOKEN}"}
    table = client.post("/api/tables/upload", files={"file": ("people.csv", TABLE.encode())}).json()["id"]
    runs = client.get("/api/runs").json()
    real = {"table_id": table, "run_id": runs[0]["id"] if runs else "0" * 16}
    schema = schemathesis.openapi.from_url(f"{server.url}/api/openapi.json", headers=headers)
    tried = []
    for found in schema.get_all_operations():
        tried.append(found.ok().label)
        try_out(found.ok(), headers, real)
    assert len(tried) >= 18
    assert client.get("/api/tables").status_code == 200
    assert server.process.poll() is None


def try_out(operation: Any, headers: dict[str, str], real: dict[str, str]) -> None:
    """Whatever fits the schema, every second time about something that is really there."""
    turn = [0]

    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def no_500(case: Any) -> None:
        turn[0] += 1
        if turn[0] % 2 and case.path_parameters and case.method != "DELETE":
            case.path_parameters.update({key: real[key] for key in case.path_parameters if key in real})
        if isinstance(case.body, dict) and isinstance(case.body.get("rows"), int):
            case.body["rows"] = 10 + case.body["rows"] % 500  # a million rows take a while, not a 500
        response = case.call(headers=headers)
        assert response.status_code < 500, (case.method, case.path, response.status_code)

    no_500()


def test_the_command_prints_an_address_that_opens_the_workbench(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polyveil", "serve", "--port", "0", "--no-open", "--folder", str(tmp_path / "own")]
    with children.started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().split()[-1]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S{20,}", address)
            page = opened(address)
            assert page.status_code == 200
            assert "polyveil" in page.text
            assert "token" not in str(page.url)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def opened(address: str) -> Any:
    """The page, asked for once: the address is printed when the workbench answers."""
    with httpx.Client(follow_redirects=True, timeout=30) as visitor:
        return visitor.get(address)


def test_a_port_that_is_taken_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "polyveil", "serve", "--port", port, "--no-open", "--folder", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert f"cannot listen at 127.0.0.1, port {port}" in " ".join(done.stderr.split())
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
