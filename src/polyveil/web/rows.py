"""Rows for the grids: small slices of tables and releases, asked for as a person scrolls. No value is ever in a URL."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from fastapi import APIRouter, HTTPException, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from polyveil.errors import InputError
from polyveil.web.explore import CLASS
from polyveil.web.store import Missing, Store, StoredRun
from polyveil.web.tables import Library, rows_of

Position = Annotated[int, Query(ge=0, le=2**53)]
Side = Literal["original", "released", "sensitive_1", "sensitive_2", "sensitive_3", "sensitive_4", "sensitive_5"]
_PRIVATE_ORDER = 200


class Rows(BaseModel):
    """A slice of a table: `c0` is the first of `columns`. With classes, `class` is the number of a row's class."""

    columns: list[str]
    rows: list[dict[str, Any]]
    total: int


def add_row_routes(router: APIRouter, store: Store, library: Library) -> None:
    """Routes that answer with slices."""

    @router.get("/tables/{table_id}/rows")
    async def table_rows(table_id: str, start: Position = 0, stop: Position = 100) -> Rows:
        """Rows `start` to `stop` (at most 500 of them) of a table."""
        return await _answered(lambda: _of_table(library, table_id, start, stop))

    @router.get("/runs/{run_id}/rows/{side}")
    async def run_rows(
        run_id: str,
        side: Side,
        start: Position = 0,
        stop: Position = 100,
        number: Annotated[int | None, Query(alias="class", ge=0, le=2**53)] = None,
    ) -> Rows:
        """Rows of a finished run's input or release, sorted by class; `class` shows one class alone."""
        return await _answered(lambda: _of_run(store.run(run_id), library, side, start, stop, number))


async def _answered(work: Any) -> Rows:
    try:
        found: Rows = await run_in_threadpool(work)
    except Missing as error:
        raise HTTPException(404, error.to_dict()) from None
    except InputError as error:
        raise HTTPException(400, error.to_dict()) from None
    return found


def _of_table(library: Library, table_id: str, start: int, stop: int) -> Rows:
    frame = library.open(table_id).table.frame
    return Rows(columns=frame.columns, rows=rows_of(frame, start, stop), total=frame.height)


def _of_run(run: StoredRun, library: Library, side: Side, start: int, stop: int, number: int | None) -> Rows:
    path = run.private / f"{side}.parquet"
    if not path.is_file():
        raise Missing("the run has no such table to show")
    lazy = pl.scan_parquet(path)
    if number is not None:
        lazy = lazy.filter(pl.col(CLASS) == number)
    total = int(lazy.select(pl.len()).collect().item())
    part = lazy.slice(start, max(0, min(stop - start, _PRIVATE_ORDER))).collect()
    classes = part[CLASS].to_list()
    if side == "original":
        whole = library.open(run.table).table.frame
        if part.height and int(part["row"].max()) >= whole.height:  # type: ignore[arg-type]
            raise InputError("the table has changed since this run")
        part = whole[part["row"].to_numpy().astype(np.int64)]
    else:
        part = part.drop(CLASS)
    rows = rows_of(part, 0, part.height)
    return Rows(
        columns=part.columns,
        rows=[{**row, "class": of_row} for row, of_row in zip(rows, classes, strict=True)],
        total=total,
    )
