"""The REST API: give a table, submit a run, follow it, fetch the bundle. OpenAPI at /api/openapi.json."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, HTTPException, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from polyveil.analyses.asked import read_analyses
from polyveil.errors import InputError, PolicyError, PolyveilError
from polyveil.methods import make_method
from polyveil.policy import Policy, from_dict, from_text
from polyveil.table.source import read as read_table
from polyveil.web.draft import read_policy
from polyveil.web.jobs import Busy, Jobs
from polyveil.web.roles import add_role_routes
from polyveil.web.rows import add_row_routes
from polyveil.web.store import FINISHED, Missing, RunState, Store, StoredRun, StoredTable
from polyveil.web.tables import Library

SEED_LIMIT = 2**63
SMALL = 20_000_000
"""Most bytes of a policy or a hierarchy."""


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str | dict[str, Any]


class TableOut(BaseModel):
    """A table the workbench knows."""

    id: str
    name: str
    kind: Literal["upload", "file", "example"]
    created: float


class NewFile(BaseModel):
    """A file of the server's machine, below a folder it was told it may read."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)


class NewSheet(BaseModel):
    """A sheet of a workbook that has several."""

    model_config = ConfigDict(extra="forbid")
    sheet: str = Field(min_length=1, max_length=31)


class NewExample(BaseModel):
    """One of the built-in tables."""

    model_config = ConfigDict(extra="forbid")
    example: Literal["hospital", "census"]
    rows: int | None = Field(default=None, ge=10, le=1_000_000)


class NewRun(BaseModel):
    """A table and a policy, as YAML text or as an object."""

    model_config = ConfigDict(extra="forbid")
    table: str = Field(pattern="^[0-9a-f]{16}$")
    policy: str | dict[str, Any]
    title: str = Field(default="", max_length=200)
    seed: int | None = Field(default=None, ge=0, lt=SEED_LIMIT)


class NewAnalyses(BaseModel):
    """Analyses as `polyveil.analyze` takes them, for example `{"linear": "hours", "on": ["age", "sex"]}`."""

    model_config = ConfigDict(extra="forbid")
    analyses: list[dict[str, Any]] = Field(min_length=1, max_length=100)


class RunOut(BaseModel):
    """The state of a run."""

    id: str
    table: str
    title: str
    state: RunState
    created: float
    progress: dict[str, Any]
    outcome: dict[str, Any]


REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "what was sent cannot be used"},
    401: {"model": Problem, "description": "the token is missing or wrong"},
    403: {"model": Problem, "description": "the request comes from another site"},
    404: {"model": Problem, "description": "not found"},
    409: {"model": Problem, "description": "not in this state"},
    413: {"model": Problem, "description": "too large"},
    421: {"model": Problem, "description": "unknown host name"},
    429: {"model": Problem, "description": "too many runs are waiting"},
}


def refused(error: PolyveilError) -> HTTPException:
    """The right status for an error, and the error as data."""
    status = 404 if isinstance(error, Missing) else 429 if isinstance(error, Busy) else 400
    return HTTPException(status, error.to_dict())


def make_router(store: Store, jobs: Jobs, library: Library) -> APIRouter:
    """All routes, bound to one store and its jobs."""
    router = APIRouter(prefix="/api", responses=REFUSALS)
    _table_routes(router, store, library)
    _draft_routes(router, store, library)
    _run_routes(router, store, jobs)
    _more_run_routes(router, store, jobs)
    _fetch_routes(router, store)
    add_row_routes(router, store, library)
    add_role_routes(router, library)
    return router


def _table_routes(router: APIRouter, store: Store, library: Library) -> None:
    @router.get("/tables")
    async def list_tables() -> list[TableOut]:
        """All tables, newest first."""
        return [_table_out(table) for table in store.tables()]

    @router.post("/tables/upload", status_code=201)
    async def upload_table(
        file: Annotated[UploadFile, File(description="CSV (also .gz, .zip), Excel, SPSS, Stata, SAS or Parquet")],
    ) -> TableOut:
        """Upload a table."""
        try:
            return _table_out(await run_in_threadpool(store.add_upload, file.filename or "", file.file))
        except InputError as error:
            raise refused(error) from None

    @router.post("/tables/file", status_code=201)
    async def open_file(new: NewFile) -> TableOut:
        """Work on a file that the server may read."""
        try:
            return _table_out(store.add_file(new.path))
        except InputError as error:
            raise refused(error) from None

    @router.post("/tables/example", status_code=201)
    async def open_example(new: NewExample) -> TableOut:
        """Make one of the built-in tables."""
        return _table_out(await run_in_threadpool(store.add_example, new.example, new.rows))

    @router.post("/tables/{table_id}/sheet", status_code=204)
    async def choose_sheet(table_id: str, new: NewSheet) -> None:
        """Take one sheet of a workbook as the table."""
        try:
            await run_in_threadpool(read_table, store.table(table_id).path, sheet=new.sheet)
            store.choose_sheet(table_id, new.sheet)
            library.forget(table_id)
        except InputError as error:
            raise refused(error) from None

    @router.delete("/tables/{table_id}", status_code=204)
    async def delete_table(table_id: str) -> None:
        """Delete a table; an upload's data goes with it."""
        try:
            store.delete_table(table_id)
            library.forget(table_id)
        except InputError as error:
            raise refused(error) from None


def _draft_routes(router: APIRouter, store: Store, library: Library) -> None:
    @router.post("/tables/{table_id}/draft", status_code=204)
    async def open_policy(
        table_id: str, file: Annotated[UploadFile, File(description="YAML or manifest.json")]
    ) -> None:
        """Make a saved policy, or the one in a bundle's manifest, the draft of a table."""

        def work() -> None:
            folder = store.table_folder(store.table(table_id).id)
            columns = library.open(table_id).table.columns
            data = read_policy(file.file.read(SMALL + 1)[:SMALL], columns, folder)
            library.draft(table_id).replace(data)

        await _draft(work)

    @router.post("/tables/{table_id}/hierarchy", status_code=204)
    async def open_hierarchy(
        table_id: str,
        column: Annotated[str, Form(max_length=1000)],
        file: Annotated[UploadFile, File(description="CSV with one line per value, or ARX's text format")],
    ) -> None:
        """Give a column of the draft the hierarchy of a file."""

        def work() -> None:
            content = file.file.read(SMALL + 1)[:SMALL]
            library.draft(table_id).import_hierarchy(column, content, library.open(table_id).counts(column))

        await _draft(work)

    @router.post("/tables/{table_id}/population", status_code=204)
    async def open_population(
        table_id: str, file: Annotated[UploadFile, File(description="One row per person of the population")]
    ) -> None:
        """Limit the risk of the draft by a table of the population, which is kept beside the table."""

        def work() -> None:
            kept = store.add_population(table_id, file.filename or "", file.file)
            library.draft(table_id).count_in(kept)

        await _draft(work)


async def _draft(work: Callable[[], None]) -> None:
    try:
        await run_in_threadpool(work)
    except (InputError, PolicyError) as error:
        raise refused(error) from None


def _run_routes(router: APIRouter, store: Store, jobs: Jobs) -> None:
    @router.get("/runs")
    async def list_runs() -> list[RunOut]:
        """All runs, newest first."""
        return [_run_out(run) for run in store.runs()]

    @router.post("/runs", status_code=202)
    async def submit_run(new: NewRun, response: Response) -> RunOut:
        """Queue a run; follow it at /api/runs/ID."""
        try:
            table = store.table(new.table)
            policy = await run_in_threadpool(parse_policy, new.policy, store.table_folder(table.id))
            text = new.policy if isinstance(new.policy, str) else policy.to_yaml()
            run = jobs.submit(table, text, new.title or policy.method.name, new.seed)
        except (InputError, PolicyError, Busy) as error:
            raise refused(error) from None
        response.headers["Location"] = f"/api/runs/{run.id}"
        return _run_out(run)

    @router.get("/runs/{run_id}")
    async def follow_run(run_id: str) -> RunOut:
        """The state of a run, its progress, and - when finished - its figures or its error."""
        return _run_out(_run(store, run_id))

    @router.post("/runs/{run_id}/cancel")
    async def cancel_run(run_id: str) -> RunOut:
        """Stop a run; a finished one stays as it is."""
        _run(store, run_id)
        await jobs.cancel(run_id)
        return _run_out(_run(store, run_id))

    @router.post("/runs/{run_id}/stop")
    async def stop_run(run_id: str) -> RunOut:
        """End the search of a run now: it goes on with the best groups found so far. A finished run stays as it is."""
        _run(store, run_id)
        jobs.stop(run_id)
        return _run_out(_run(store, run_id))

    @router.delete("/runs/{run_id}", status_code=204)
    async def delete_run(run_id: str) -> None:
        """Delete a finished run with its bundle."""
        if _run(store, run_id).state not in FINISHED:
            raise HTTPException(409, "the run is not finished. Cancel it first")
        store.delete_run(run_id)


def _more_run_routes(router: APIRouter, store: Store, jobs: Jobs) -> None:
    @router.post("/runs/{run_id}/attack", status_code=202)
    async def attack_run(run_id: str) -> RunOut:
        """Let simulated adversaries attack the release of a finished run; follow it like a run."""
        run = _finished(store, run_id)
        try:
            return _run_out(jobs.attack(run))
        except (InputError, Busy) as error:
            raise refused(error) from None

    @router.post("/runs/{run_id}/analyses", status_code=202)
    async def analyze_run(run_id: str, new: NewAnalyses) -> RunOut:
        """Run analyses on the table of a finished run and on its release; follow it like a run."""
        run = _finished(store, run_id)
        try:
            read_analyses(new.analyses)
            return _run_out(jobs.analyze(run, new.analyses))
        except (InputError, Busy) as error:
            raise refused(error) from None

    @router.post("/bundles", status_code=202)
    async def open_bundle(file: Annotated[UploadFile, File(description="a release as a zip file")]) -> RunOut:
        """Bring a release back: it is verified, and can be looked at like a run."""
        try:
            jobs.check_room()
            run = await run_in_threadpool(store.add_bundle, file.filename or "", file.file)
        except (InputError, Busy) as error:
            raise refused(error) from None
        return _run_out(jobs.queue(run))


def _fetch_routes(router: APIRouter, store: Store) -> None:
    @router.get("/runs/{run_id}/policy", response_class=Response)
    async def fetch_policy(run_id: str) -> Response:
        """The policy file of a run."""
        return _download(_run(store, run_id).policy.encode(), "policy.yaml", "application/yaml")

    @router.get("/runs/{run_id}/bundle", response_class=Response)
    async def fetch_bundle(run_id: str) -> Response:
        """The release as a zip file; unpacked, `polyveil verify` checks it."""
        run = _finished(store, run_id)
        return _download(await run_in_threadpool(zipped, run.bundle), "release.zip", "application/zip")

    @router.get("/runs/{run_id}/report", response_class=Response)
    async def fetch_report(run_id: str, request: Request) -> Response:
        """The report of a finished run."""
        report = _finished(store, run_id).bundle / "report.html"
        if not report.is_file():
            raise HTTPException(404, "the run has no report")
        return _download(report.read_bytes(), "report.html", "text/html")


def _run(store: Store, run_id: str) -> StoredRun:
    try:
        return store.run(run_id)
    except InputError as error:
        raise refused(error) from None


def _finished(store: Store, run_id: str) -> StoredRun:
    run = _run(store, run_id)
    if run.state != "done":
        raise HTTPException(409, "the run has no release")
    return run


def parse_policy(policy: str | dict[str, Any], folder: Path) -> Policy:
    """Read and check a policy with its method's options; hierarchy files are looked up beside the table only."""
    read: Any = from_text if isinstance(policy, str) else from_dict
    found: Policy = read(policy, folder=folder, files="beside")
    make_method(found.method)
    return found


def zipped(folder: Path) -> bytes:
    """A bundle as one zip file, its folder included."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{folder.name}/{file.name}")
    return buffer.getvalue()


def _download(content: bytes, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _table_out(table: StoredTable) -> TableOut:
    return TableOut(id=table.id, name=table.name, kind=table.kind, created=table.created)


def _run_out(run: StoredRun) -> RunOut:
    return RunOut(
        id=run.id,
        table=run.table,
        title=run.title,
        state=run.state,
        created=run.created,
        progress=run.progress,
        outcome=dict(run.outcome),
    )
