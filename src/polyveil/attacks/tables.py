"""Adversaries against linked tables, who join them: each table with the quasi-identifiers of all tables is attacked.

A target is known by the quasi-identifiers of all their rows in all tables. Row j of a person in the table that is
attacked with has the j-th of their rows in each, over again where a table has fewer, so that every row is intersected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polyveil.attacks.adversaries import ADVERSARIES, Given
from polyveil.attacks.result import Attack, AttackReport
from polyveil.attacks.scene import set_scene
from polyveil.errors import InputError
from polyveil.policy import PolicyLike, fitted, load_policy
from polyveil.policy.linked import of_table, view_of
from polyveil.progress import Progress
from polyveil.table.linked import join_people, names_of, read_linked, zip_rows
from polyveil.table.source import Table
from polyveil.verification.relational import views_of


def attack_tables(
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    original: Any,
    policy: PolicyLike | None,
    trials: int,
    seed: int,
    reading: Mapping[str, Any],
    progress: Progress,
) -> AttackReport:
    """Attacks on people are made with the table of people, attacks on a column with its own table."""
    if policy is None:
        raise InputError("which columns link the tables? Give the policy of the release with --policy FILE")
    asked = load_policy(policy)
    read = read_linked(original, asked.tables, **reading)
    asked = fitted(asked, names_of(read))
    joined = join_people(asked, read)
    people = Table(zip_rows(asked, joined), "the tables", first_line=None)
    found: list[Attack] = []
    for number, (name, view) in enumerate(views_of(manifest, tables).items()):
        scene = set_scene(view, people, policy=view_of(asked, name), trials=trials, seed=seed)
        if scene.people.person is not None:
            # Numbered like the people of the scene: by their keys, and everybody has a row in every table.
            rank = joined[name].frame.get_column(of_table(asked, name).person or "").rank("dense").to_numpy() - 1
            records = np.bincount(rank.astype(np.int64))[scene.people.person[scene.targets]]
            scene = replace(scene, attacked=replace(scene.attacked, records=records))
        given = Given(scene, None, None, progress)
        attacks = [result for adversary in ADVERSARIES.values() for result in adversary(given)]
        found += [result for result in attacks if number == 0 or result.attribute is not None]
    return AttackReport(tuple(found), frame_kind=next(iter(read.values())).kind)
