"""What the workbench keeps on disk: tables it was given, and runs with their policies, outcomes and bundles.

Everything is a folder with a JSON file written in one step, so a reload, a restart or a crash loses nothing finished.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from polyveil.errors import InputError
from polyveil.table.source import EXCEL_SUFFIXES, PARQUET_SUFFIXES, STATISTICAL_SUFFIXES, TEXT_SUFFIXES
from polyveil.web.intake import check_unpacked, copy_limited, unpack_bundle
from polyveil.web.settings import Settings

_ID = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"[^\w. -]", re.UNICODE)
ENDINGS = (
    *(f"{text}{packed}" for packed in (".gz", ".zip", "") for text in TEXT_SUFFIXES),
    *(".zip", *EXCEL_SUFFIXES, *STATISTICAL_SUFFIXES, *PARQUET_SUFFIXES),
)
"""How the names of uploads may end."""
MOST_FILES = 1000
"""Files of this machine that are offered for choice."""

RunKind = Literal["anonymize", "bundle", "attack", "analyses"]
RunState = Literal["waiting", "running", "done", "failed", "cancelled", "crashed", "interrupted"]
FINISHED: frozenset[RunState] = frozenset({"done", "failed", "cancelled", "crashed", "interrupted"})


class Missing(InputError):
    """There is no such table or run."""


@dataclass(frozen=True)
class StoredTable:
    """A table the workbench may work on; `path` is the upload, or the person's own file, which is never deleted."""

    id: str
    name: str
    kind: Literal["upload", "file", "example"]
    path: Path
    created: float
    policy: str | None = None
    sheet: str | None = None
    """The sheet of a workbook that has several."""

    @property
    def reading(self) -> dict[str, Any]:
        """How the file is read."""
        return {} if self.sheet is None else {"sheet": self.sheet}


@dataclass(frozen=True)
class StoredRun:
    """One run: its table and policy, how it stands, and where its bundle is once it is done."""

    id: str
    table: str
    table_name: str
    state: RunState
    created: float
    folder: Path
    title: str
    outcome: Mapping[str, Any]
    kind: RunKind = "anonymize"
    of: str | None = None
    """The run that attacks or analyses are about."""
    seed: int | None = None

    @property
    def private(self) -> Path:
        """What only the steward may see: the class of each row, and the views made from it."""
        return self.folder / "private"

    @property
    def bundle(self) -> Path:
        return self.folder / "release"

    @property
    def policy(self) -> str:
        return (self.folder / "policy.yaml").read_text(encoding="utf-8")

    @property
    def progress(self) -> dict[str, Any]:
        return _read_json(self.folder / "progress.json") or {"stage": "waiting", "done": 0.0, "note": "", "history": []}


class Store:
    """Tables and runs below one folder."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tables_folder = settings.folder / "tables"
        self.runs_folder = settings.folder / "runs"
        try:
            for folder in (self.tables_folder, self.runs_folder):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(
                f"{settings.folder} cannot be used ({error.strerror}). Name another with --folder"
            ) from None

    # -- tables -----------------------------------------------------------------------------------------------------

    def add_upload(self, name: str, content: BinaryIO) -> StoredTable:
        """Keep an uploaded file; refuses what is too large, also after unpacking."""
        name, ending = _named(name)
        folder = self._new(self.tables_folder)
        try:
            path = folder / f"data{ending}"
            copy_limited(content, path, self.settings.max_upload)
            check_unpacked(path, self.settings.max_unpacked)
            return self._save_table(folder, name, "upload", path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def add_population(self, table_id: str, name: str, content: BinaryIO) -> str:
        """Keep an uploaded table of the population beside a table; the name that its policy reads it by."""
        folder, (_, ending) = self.table_folder(self.table(table_id).id), _named(name)
        written = folder / f".population-{secrets.token_hex(8)}{ending}"
        try:
            copy_limited(content, written, self.settings.max_upload)
            check_unpacked(written, self.settings.max_unpacked)
            return written.replace(folder / f"population{ending}").name
        finally:
            written.unlink(missing_ok=True)

    def add_file(self, path: str) -> StoredTable:
        """Work on a file on this machine, only below the folders given at start; links are followed before judging."""
        allowed = [folder.resolve() for folder in self.settings.data_folders]
        if not allowed:
            raise InputError("no folder was opened for reading. Start the workbench with --data FOLDER")
        for folder in allowed:
            with suppress(OSError, ValueError, RuntimeError):
                real = (folder / path).resolve(strict=True)
                if any(real.is_relative_to(each) for each in allowed):
                    return self._save_table(self._new(self.tables_folder), real.name, "file", real)
        raise InputError("there is no such file below the folders the workbench may read")

    def files(self) -> list[tuple[Path, str, int]]:
        """Files that may be opened, at most MOST_FILES, none hidden: path, name below its folder, bytes."""
        found: list[tuple[Path, str, int]] = []
        for folder in (each.resolve() for each in self.settings.data_folders):
            for at, folders, names in os.walk(folder):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                for path in (Path(at, name) for name in sorted(names) if name.lower().endswith(ENDINGS)):
                    if len(found) >= MOST_FILES:
                        return found
                    with suppress(OSError):
                        if not path.name.startswith(".") and path.resolve().is_relative_to(folder):
                            found.append((path, str(path.relative_to(folder)), path.stat().st_size))
        return found

    def add_example(self, name: str, rows: int | None = None) -> StoredTable:
        """Write one of the built-in tables, with its policy."""
        from polyveil.demo import EXAMPLES, write_example

        if name not in EXAMPLES:
            raise InputError(f"there is no example of that name. Known: {', '.join(EXAMPLES)}")
        folder = self._new(self.tables_folder)
        written = write_example(EXAMPLES[name], folder, rows=rows)
        return self._save_table(folder, written.data.name, "example", written.data, written.policy.name)

    def _save_table(self, folder: Path, name: str, kind: str, path: Path, policy: str | None = None) -> StoredTable:
        about = {"name": name, "kind": kind, "path": str(path), "created": time.time(), "policy": policy}
        write_json(folder / "table.json", about)
        return self.table(folder.name)

    def table(self, table_id: str) -> StoredTable:
        about = _read_json(self._folder(self.tables_folder, table_id) / "table.json")
        if about is None:
            raise Missing("this table does not exist")
        names = ("name", "kind", "created", "policy")
        known = {name: about[name] for name in names}
        return StoredTable(id=table_id, path=Path(about["path"]), sheet=about.get("sheet"), **known)

    def choose_sheet(self, table_id: str, sheet: str | None) -> None:
        """Take this sheet of a workbook as the table; None lets the person choose again. Earlier drafts go."""
        folder = self._folder(self.tables_folder, table_id)
        write_json(folder / "table.json", (_read_json(folder / "table.json") or {}) | {"sheet": sheet})
        (folder / "draft.json").unlink(missing_ok=True)

    def tables(self) -> list[StoredTable]:
        """Newest first."""
        found = [
            self.table(folder.name) for folder in _folders(self.tables_folder) if (folder / "table.json").is_file()
        ]
        return sorted(found, key=lambda table: -table.created)

    def table_folder(self, table_id: str) -> Path:
        """Where the table's hierarchy files may lie."""
        return self._folder(self.tables_folder, table_id)

    def delete_table(self, table_id: str) -> None:
        """Forget a table; an upload's data is deleted with it."""
        self.table(table_id)
        shutil.rmtree(self._folder(self.tables_folder, table_id), ignore_errors=True)

    # -- runs -------------------------------------------------------------------------------------------------------

    def add_run(self, table: StoredTable, policy: str, title: str, seed: int | None = None) -> StoredRun:
        """A run of a policy on a table, waiting to be started."""
        folder = self._new(self.runs_folder)
        (folder / "policy.yaml").write_text(policy, encoding="utf-8")
        return self._save_run(folder, table, title, kind="anonymize", seed=seed)

    def add_attack(self, run: StoredRun) -> StoredRun:
        """Attacks on the release of a run."""
        folder = self._new(self.runs_folder)
        title = f"attack on {run.title}"
        return self._save_run(folder, self.table(run.table), title, kind="attack", of=run.id, release=str(run.bundle))

    def add_analyses(self, run: StoredRun, asked: list[dict[str, Any]]) -> StoredRun:
        """Analyses on the table of a run and on its release."""
        folder = self._new(self.runs_folder)
        title, release = f"analyses on {run.title}", str(run.bundle)
        return self._save_run(
            folder, self.table(run.table), title, kind="analyses", of=run.id, release=release, asked=asked
        )

    def add_bundle(self, name: str, content: BinaryIO) -> StoredRun:
        """A release that was downloaded earlier, to be looked at again; refuses what is no bundle, and large ones."""
        folder = self._new(self.runs_folder)
        try:
            packed = folder / "upload.zip"
            copy_limited(content, packed, self.settings.max_upload)
            unpack_bundle(packed, folder / "release", self.settings.max_unpacked)
            packed.unlink()
            title = _NAME.sub("_", Path(name).name)[:120] or "bundle"
            return self._save_run(folder, None, title, kind="bundle")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _save_run(
        self, folder: Path, table: StoredTable | None, title: str, *, kind: RunKind, **more: Any
    ) -> StoredRun:
        about: dict[str, Any] = {"kind": kind, "title": title, "created": time.time(), "seed": None, "of": None, **more}
        about |= {"table": table.id if table else "", "table_name": table.name if table else ""}
        if table is not None:
            about |= {"path": str(table.path), "hierarchies": str(self.table_folder(table.id))}
            about["reading"] = table.reading
        write_json(folder / "run.json", about)
        self.set_state(folder.name, "waiting")
        return self.run(folder.name)

    def run(self, run_id: str) -> StoredRun:
        folder = self._folder(self.runs_folder, run_id)
        about, state = _read_json(folder / "run.json"), _read_json(folder / "state.json")
        if about is None or state is None:
            raise Missing("this run does not exist")
        outcome = _read_json(folder / "outcome.json") or {}
        return StoredRun(
            run_id,
            about["table"],
            about["table_name"],
            state["state"],
            about["created"],
            folder,
            about["title"],
            outcome,
            about["kind"],
            about["of"],
            about["seed"],
        )

    def runs(self, kind: RunKind | None = "anonymize", table: str | None = None) -> list[StoredRun]:
        """Newest first; of one kind (None: of all) and, where it is named, of one table."""
        found = [self.run(folder.name) for folder in _folders(self.runs_folder) if (folder / "state.json").is_file()]
        kept = [run for run in found if kind in (None, run.kind) and table in (None, run.table)]
        return sorted(kept, key=lambda run: -run.created)

    def newest_on(self, run_id: str, kind: RunKind) -> StoredRun | None:
        """The newest attack, or the newest analyses, on a run's release."""
        return next((run for run in self.runs(kind) if run.of == run_id), None)

    def set_state(self, run_id: str, state: RunState) -> None:
        write_json(self._folder(self.runs_folder, run_id) / "state.json", {"state": state, "changed": time.time()})

    def delete_run(self, run_id: str) -> None:
        """Delete a run with its bundle and what was done with it."""
        self.run(run_id)
        for other in self.runs(kind=None):
            if other.of == run_id:
                shutil.rmtree(other.folder, ignore_errors=True)
        shutil.rmtree(self._folder(self.runs_folder, run_id), ignore_errors=True)

    # -- housekeeping -----------------------------------------------------------------------------------------------

    def mark_interrupted(self) -> None:
        """After a restart: what was running is not any more."""
        for run in self.runs(kind=None):
            if run.state not in FINISHED:
                self.set_state(run.id, "interrupted")

    def delete_old_uploads(self) -> int:
        """Uploads older than the stated age go; finished runs stay until they are deleted."""
        limit = time.time() - self.settings.keep_days * 86_400
        old = [table for table in self.tables() if table.created < limit and table.kind != "file"]
        for table in old:
            self.delete_table(table.id)
        return len(old)

    def _new(self, parent: Path) -> Path:
        folder = parent / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def _folder(self, parent: Path, name: str) -> Path:
        if not _ID.fullmatch(name):
            raise Missing("this table or run does not exist")
        return parent / name


def _named(name: str) -> tuple[str, str]:
    """The name of an upload as it is kept, and its ending; refuses a kind of file that is not read."""
    name = _NAME.sub("_", Path(name).name)[:120]
    ending = next((each for each in ENDINGS if name.lower().endswith(each)), None)
    if ending is None:
        raise InputError(
            f"{name}: this kind of file is not read. Give CSV text ({', '.join(TEXT_SUFFIXES)}, also .gz or .zip), "
            "Excel (.xlsx), SPSS (.sav), Stata (.dta), SAS (.sas7bdat, .xpt) or Parquet"
        )
    return name, ending


def _folders(parent: Path) -> Iterator[Path]:
    return (entry for entry in parent.iterdir() if entry.is_dir() and _ID.fullmatch(entry.name))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """In one step: a reader sees the old content or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    temporary.write_text(json.dumps(data), encoding="utf-8")
    temporary.replace(path)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return found
