"""The columns of a draft for the list in the page: all at once, roles chosen for one or many, whom they identify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, HTTPException
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from polyveil.errors import Fault, InputError, PolyveilError
from polyveil.policy.faults import place_name
from polyveil.policy.schema import Role
from polyveil.table.profiling.column import ColumnProfile
from polyveil.web.draft import Draft
from polyveil.web.store import Missing
from polyveil.web.tables import Library

TYPES = {"numeric": "number", "categorical": "category", "ordinal": "ordered category", "date": "date"}
Found = TypeVar("Found")


class NewRole(BaseModel):
    """One role for some columns."""

    model_config = ConfigDict(extra="forbid")
    columns: list[Annotated[str, Field(max_length=1000)]] = Field(min_length=1, max_length=100_000)
    role: Role


class NewRoles(BaseModel):
    """Changes of roles, one after the other."""

    model_config = ConfigDict(extra="forbid")
    changes: list[NewRole] = Field(min_length=1, max_length=1000)


class FaultOut(BaseModel):
    """What is wrong, and how to mend it."""

    rule: str
    remedy: str


class ColumnOut(BaseModel):
    """A column of the table or of the draft; `position` finds its own page."""

    name: str
    position: int | None
    role: str
    type: Literal["numeric", "categorical", "ordinal", "date"]
    kind: str
    why: str
    undecided: bool
    faults: list[FaultOut]


class ColumnsOut(BaseModel):
    """All columns, and what is wrong with them together."""

    version: int
    columns: list[ColumnOut]
    faults: list[FaultOut]


class StandingOut(BaseModel):
    """How many rows no other row equals on the quasi-identifiers."""

    rows: int
    alone: int


def add_role_routes(router: APIRouter, library: Library) -> None:
    """Routes about the roles of a draft."""

    @router.get("/tables/{table_id}/columns")
    async def list_columns(table_id: str) -> ColumnsOut:
        """Every column with its role, the suggestion and what is wrong with it."""
        draft = await _opened(lambda: run_in_threadpool(library.draft, table_id))
        return await run_in_threadpool(_columns, library, table_id, draft.snapshot(), draft.version)

    @router.post("/tables/{table_id}/roles")
    async def choose_roles(table_id: str, new: NewRoles) -> ColumnsOut:
        """Give columns their roles; each change is one step of undo, however many columns it is about."""
        draft = await _opened(lambda: run_in_threadpool(library.draft, table_id))
        opened = library.open(table_id)
        known = {*opened.table.columns, *draft.columns}
        if not all(name in known for change in new.changes for name in change.columns):
            raise HTTPException(400, "some of these columns are not in the table. Reload the page")
        profiles = {about.name: about for about in opened.profiles}
        for change in new.changes:
            draft.choose_roles(change.columns, change.role, profiles)
        return await run_in_threadpool(_columns, library, table_id, draft.snapshot(), draft.version)

    @router.get("/tables/{table_id}/standing")
    async def standing(table_id: str) -> StandingOut:
        """Whom the quasi-identifiers identify together."""
        draft = await _opened(lambda: run_in_threadpool(library.draft, table_id))
        table = library.open(table_id).table
        quasi = [name for name in draft.having("quasi") if name in table.columns]
        try:
            alone = await run_in_threadpool(library.singled_out, table_id, quasi) if quasi else 0
        except PolyveilError:
            alone = 0
        return StandingOut(rows=table.height, alone=alone)


async def _opened(work: Callable[[], Awaitable[Found]]) -> Found:
    try:
        return await work()
    except InputError as error:
        raise HTTPException(404 if isinstance(error, Missing) else 400, error.to_dict()) from None


def _columns(library: Library, table_id: str, draft: Draft, version: int) -> ColumnsOut:
    opened = library.open(table_id)
    profiles = {about.name: about for about in opened.profiles}
    _, faults = draft.check()
    by_column = _by_column(faults)
    positions = {name: position for position, name in enumerate(draft.columns)}
    names = [*draft.columns, *(name for name in opened.table.columns if name not in draft.columns)]
    return ColumnsOut(
        version=version,
        columns=[
            _column(name, draft, positions.get(name), profiles.get(name), by_column.get(place_name(("columns", name))))
            for name in names
        ],
        faults=_faults([fault for fault in faults if fault.place == "columns"]),
    )


def _by_column(faults: Sequence[Fault]) -> Mapping[str, list[Fault]]:
    """The faults of each column, at it or below it, by the place of the column."""
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        ends = [at for at, letter in enumerate(fault.place) if letter in ".[" and at > len("columns")]
        for end in (*ends, len(fault.place)):
            found.setdefault(fault.place[:end], []).append(fault)
    return found


def _faults(faults: Sequence[Fault]) -> list[FaultOut]:
    return [FaultOut(rule=f"{fault.rule}.", remedy=fault.remedy) for fault in faults]


def _column(
    name: str, draft: Draft, position: int | None, about: ColumnProfile | None, faults: Sequence[Fault] | None
) -> ColumnOut:
    column = draft.columns.get(name, {})
    kind = column.get("type") or (about.type if about else "categorical")
    undecided = name not in draft.decided and (not column or about is None or about.asked)
    return ColumnOut(
        name=name,
        position=position,
        role=column.get("role", ""),
        type=kind,
        kind=f"{TYPES[kind]}, {about.distinct:,} value{'s' if about.distinct != 1 else ''}" if about else TYPES[kind],
        why=_why(column, about),
        undecided=undecided,
        faults=_faults(faults or ()),
    )


def _why(column: Mapping[str, Any], about: ColumnProfile | None) -> str:
    if about is None:
        return "The table has no such column."
    if not column:
        return f"This column is not in the policy. Choose a role. Suggested: {about.role}."
    if column.get("role") == about.role:
        return about.reason
    return f"Suggested: {about.role}. {about.reason}"
