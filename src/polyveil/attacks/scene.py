"""The scene of an attack: the people of the original table, and the release as a stranger sees it.

Nothing here knows which row of the release came from whom. People are linked to released groups as an adversary would
do it: by the quasi-identifier cells they fit. The original serves to know the people and to mark the guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from polyveil.arrays import BoolArray, IntArray
from polyveil.attacks.crowds import Crowd, Targets, Weights, draw_targets, generalized_crowd, group_fits
from polyveil.attacks.linked import linked_crowds
from polyveil.errors import InputError
from polyveil.models import Attribute, Model, models_for
from polyveil.policy import Policy, PolicyLike, fitted, from_public, load_policy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable, distinct
from polyveil.table.encode import encode, number_people
from polyveil.table.register import population_file
from polyveil.table.source import Table, read
from polyveil.verification import ReleaseLike, load_release
from polyveil.verification.attributes import Declared, declared_attributes
from polyveil.verification.classes import class_of_row
from polyveil.verification.joint import with_joint
from polyveil.verification.population import people_fitting

TRIALS = 2000
"""People attacked, unless more are asked for."""
PEOPLE_AT_ONCE = 5_000


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything attacks work from. `secrets[name]` has the true code of each person of the original."""

    manifest: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]
    policy: Policy
    models: tuple[Model, ...]
    attributes: Mapping[str, Attribute]
    people: CodedTable
    secrets: Mapping[str, IntArray]
    attacked: Targets
    crowds: tuple[Crowd, ...]
    rng: np.random.Generator
    population: IntArray | None = None
    """How many people of a table of the population fit each group of a generalized release, if it was given."""

    @property
    def targets(self) -> IntArray:
        """One row of each person attacked."""
        return self.attacked.first

    @cached_property
    def person_of_row(self) -> IntArray:
        """Whom each row of the original is about."""
        return np.arange(self.people.rows) if self.people.person is None else self.people.person

    @property
    def several(self) -> bool:
        """Whether people may have several rows."""
        return self.people.person is not None

    @property
    def unit(self) -> str:
        """What a released record is."""
        return "rows" if self.several or self.manifest["policy"].get("unit") == "person" else "people"

    @property
    def linked(self) -> bool:
        """Whether sensitive columns are published in tables of their own."""
        return "linked" in self.manifest

    @property
    def visible(self) -> pl.DataFrame:
        """The table with the quasi-identifiers."""
        return _visible(self.tables)

    @cached_property
    def row_fits(self) -> Weights:
        """targets x rows of the table with the quasi-identifiers: 1 if the person fits the row."""
        names = [column.name for column in self.people.quasi]
        alike = class_of_row(self.visible, names)
        fits = group_fits(self.visible, self.policy, self.people, alike, self.targets)
        rows = np.ones(len(alike))
        spread = sparse.csr_array((rows, (alike, np.arange(len(alike)))), shape=(fits.shape[1], len(alike)))
        return sparse.csr_array(fits @ spread)

    @cached_property
    def people_per_group(self) -> IntArray:
        """How many rows of the original fit the cells of each group of a generalized release."""
        crowd = self.crowds[0]
        found = np.zeros(crowd.groups)
        tuples = self.people.quasi_tuples
        # One person for each distinct combination of quasi-identifiers, counted as often as it occurs.
        someone = np.zeros(len(tuples.counts), dtype=np.int64)
        someone[tuples.of_row] = np.arange(self.people.rows)
        for first in range(0, len(someone), PEOPLE_AT_ONCE):
            some = slice(first, first + PEOPLE_AT_ONCE)
            fits = group_fits(self.tables["table"], self.policy, self.people, crowd.group_of_record, someone[some])
            found += fits.T @ tuples.counts[some].astype(np.float64)
        return np.rint(found).astype(np.int64)

    def crowd_of(self, attribute: str) -> Crowd:
        return next(crowd for crowd in self.crowds if attribute in crowd.attributes)

    def truth(self, attribute: str) -> IntArray:
        """The targets' true codes."""
        return self.secrets[attribute][self.targets]

    def right(self, attribute: str, guess: IntArray, which: IntArray, coarser: IntArray | None = None) -> BoolArray:
        """Whether each guess about a target is a value (or, of `coarser`, a class of values) of any of their rows."""
        true = self.secrets[attribute][self.attacked.rows]
        true = true if coarser is None else coarser[true]
        said = np.full(len(self.targets), -1, dtype=np.int64)
        said[which] = guess
        hits = np.zeros(len(self.targets), dtype=bool)
        np.logical_or.at(hits, self.attacked.owner, true == said[self.attacked.owner])
        return hits[which]


def set_scene(
    release: ReleaseLike,
    original: Any,
    *,
    policy: PolicyLike | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    targets: Targets | None = None,
    population: Any = None,
) -> Scene:
    """Read both tables and link the people attacked with the groups they fit.

    `population` is a table of the population, by default the one that `policy` names.
    """
    manifest, tables, findings = load_release(release)
    damage = [finding for finding in findings if finding.outcome == "fails"]
    if damage:
        raise InputError(f"the release is not what was published: {damage[0].message}. Run `polyveil verify`")
    stated = from_public(manifest["policy"])
    asked = stated if policy is None else load_policy(policy)
    table = read(original)
    asked = fitted(asked, table.columns)
    people = code_people(stated, table, asked.person)
    declared = declared_attributes(manifest, stated)
    people, secrets = _published(manifest, people, declared)
    rng = np.random.default_rng(seed)
    if targets is None:
        targets = draw_targets(people, trials, rng)
    single = {name: known.attribute for name, known in declared.items()}
    visible = _visible(tables)
    alike = class_of_row(visible, [column.name for column in people.quasi])
    fits = group_fits(visible, stated, people, alike, targets.rows)
    crowds = (
        linked_crowds(manifest["linked"]["slices"], tables, alike, fits, declared, targets)
        if "linked" in manifest
        else (generalized_crowd(visible, alike, fits, declared, targets),)
    )
    if population is None and policy is not None:
        population = population_file(asked)
    fitting = None if population is None or "linked" in manifest else people_fitting(stated, visible, alike, population)
    # Combinations are compared with those of the released records, where they are published together.
    _, attributes = with_joint(asked, crowds[0].codes, single) if len(crowds) == 1 else (None, single)
    return Scene(
        manifest=manifest,
        tables=tables,
        policy=asked,
        models=models_for(asked, attributes),
        attributes=attributes,
        people=people,
        secrets=secrets,
        attacked=targets,
        crowds=crowds,
        rng=rng,
        population=fitting,
    )


def _visible(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return tables["table" if "table" in tables else "quasi"]


def code_people(policy: Policy, table: Table, person: str | None = None) -> CodedTable:
    """The original as codes, by the published policy; columns it does not name were never published.

    `person` is the column that says whom a row is about; it is never published, so the steward's policy names it.
    """
    lacking = [name for name in policy.columns if name not in table.frame.columns]
    if lacking:
        raise InputError(
            f"{table.name} lacks the released column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}. "
            "Give the table this release was made from"
        )
    moved = [name for name in policy.shifted if policy.columns[name].role == "sensitive"]
    if moved:
        raise InputError(
            f"the release has shifted dates of {', '.join(moved)}, so it cannot be told whether a guess about them is "
            "right. Attack a release without these columns"
        )
    part = Table(table.frame.select(list(policy.columns)), table.name, table.decimal, table.first_line)
    coded = encode(bind(policy, part))
    return coded if person is None else replace(coded, person=number_people(table.frame.get_column(person)))


def _published(
    manifest: Mapping[str, Any], people: CodedTable, declared: Mapping[str, Declared]
) -> tuple[CodedTable, dict[str, IntArray]]:
    """The people and their sensitive codes, as the manifest numbers the values.

    A manifest that counts the released rows alone does not name values that nobody released has; whoever has one was
    left out, and nothing in the release is about them.
    """
    secrets = {column.name: _translated(column, declared[column.name]) for column in people.sensitive}
    known = np.ones(people.rows, dtype=bool)
    for name, codes in secrets.items():
        known &= codes >= 0
        if (codes < 0).any() and manifest.get("counts_of", "input") == "input":
            raise InputError(
                f"the original has values of {name} that the release's manifest does not know. "
                "Give the table this release was made from"
            )
    rows = np.flatnonzero(known)
    return people.take(rows), {name: codes[rows] for name, codes in secrets.items()}


def _translated(column: Any, declared: Declared) -> IntArray:
    """The column's codes as the release's manifest numbers its values, -1 for a value that it does not name."""
    labels = [*column.domain.labels, *([None] if column.domain.has_null else [])]
    known = np.array([declared.code.get(label, -1) for label in labels], dtype=np.int64)
    codes: IntArray = known[column.codes]
    return codes


def tuples_of(scene: Scene, crowd: Crowd) -> tuple[IntArray, IntArray, int]:
    """All sensitive columns of a crowd as one: the code of each record and of each target, and how many there are."""
    sizes = [scene.attributes[name].size for name in crowd.attributes]
    records = [crowd.codes[name] for name in crowd.attributes]
    persons = [scene.truth(name) for name in crowd.attributes]
    together = [np.concatenate([one, other]) for one, other in zip(records, persons, strict=True)]
    count = len(crowd.group_of_record)
    found = distinct(together, sizes, count + len(scene.targets))
    return found.of_row[:count], found.of_row[count:], len(found.counts)
