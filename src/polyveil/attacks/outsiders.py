"""People who are not in the release, coded over the domains of those who are."""

from __future__ import annotations

import numpy as np

from polyveil.arrays import IntArray
from polyveil.attacks.scene import Scene, code_people
from polyveil.errors import InputError
from polyveil.policy import from_public
from polyveil.table.coded import CodedTable, QuasiColumn
from polyveil.table.domain import Domain, OrderedDomain
from polyveil.table.source import Table


def code_outsiders(scene: Scene, table: Table) -> tuple[CodedTable, dict[str, IntArray]]:
    """Their quasi-identifiers and sensitive codes; a number takes the nearest known one.

    People with a category that nobody of the original has cannot be told to the learner and are left out.
    """
    own = code_people(from_public(scene.manifest["policy"]), table)
    known = np.ones(own.rows, dtype=bool)
    quasi = []
    for theirs, ours in zip(own.quasi, scene.people.quasi, strict=True):
        codes = _renumbered(theirs.domain, ours.domain)[theirs.codes]
        known &= codes >= 0
        quasi.append((ours, codes))
    secrets = {}
    for column, original in zip(own.sensitive, scene.people.sensitive, strict=True):
        codes = _renumbered(column.domain, original.domain)[column.codes]
        known &= codes >= 0
        # The scene numbers sensitive values as the manifest does; the original's codes lead there.
        secrets[column.name] = _as_in_manifest(scene, original.name)[codes]
    if not known.any():
        raise InputError("nobody of the held-out table has values that the original knows. Give people like those")
    rows = np.flatnonzero(known)
    people = CodedTable(
        rows=len(rows),
        quasi=tuple(QuasiColumn(ours.name, ours.domain, codes[rows]) for ours, codes in quasi),
        sensitive=(),
    )
    return people, {name: codes[rows] for name, codes in secrets.items()}


def _renumbered(theirs: Domain, ours: Domain) -> IntArray:
    """Our code for each of their codes, -1 where we have none."""
    if isinstance(theirs, OrderedDomain) and isinstance(ours, OrderedDomain):
        above = np.clip(np.searchsorted(ours.positions, theirs.positions), 1, max(len(ours.positions) - 1, 1))
        right = np.minimum(above, len(ours.positions) - 1)
        left = np.maximum(above - 1, 0)
        nearer = np.abs(ours.positions[left] - theirs.positions) <= np.abs(ours.positions[right] - theirs.positions)
        found = np.where(nearer, left, right)
    else:
        code = {label: i for i, label in enumerate(ours.labels)}
        found = np.array([code.get(label, -1) for label in theirs.labels], dtype=np.int64)
    return np.append(found, [ours.null_code] * theirs.has_null).astype(np.int64)


def _as_in_manifest(scene: Scene, name: str) -> IntArray:
    column = next(column for column in scene.people.sensitive if column.name == name)
    found = np.full(column.domain.size, 0, dtype=np.int64)
    found[column.codes] = scene.secrets[name]
    return found
