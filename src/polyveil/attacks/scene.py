"""The scene of an attack: the people of the original table, and the release as a stranger sees it.

Nothing here knows which row of the release came from whom. People are linked to released groups as an adversary would
do it: by the quasi-identifier cells they fit. The original serves to know the people and to mark the guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from polyveil.arrays import BoolArray, FloatArray, IntArray
from polyveil.attacks.cells import misfits
from polyveil.errors import InputError
from polyveil.models import Attribute, ClassStatistics, Model, from_classes, models_for
from polyveil.policy import Policy, PolicyLike, fitted, from_public, load_policy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable, distinct
from polyveil.table.encode import encode, number_people
from polyveil.table.source import Table, read
from polyveil.verification import ReleaseLike, load_release
from polyveil.verification.attributes import Declared, codes_of_cells, declared_attributes
from polyveil.verification.classes import class_of_row
from polyveil.verification.joint import with_joint

TRIALS = 2000
"""People attacked, unless more are asked for."""
_CELLS = 20_000_000
PEOPLE_AT_ONCE = 5_000
NEAR = 1e-12

Weights = Any
"""A sparse matrix (scipy.sparse.csr_array, which has no types)."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Sensitive columns that are published together, and the groups they are published in.

    `codes[name][r]` is the value of released record r, `group_of_record[r]` its group. `weights[i, g]` says how likely
    one record of group g is target i's, up to a factor; targets that fit no group have an empty row. Where rows are
    marked as withheld, their group is the last column of the weights; of it only `withheld[name]` is known, the values
    that the manifest counts and the records do not have.
    """

    attributes: tuple[str, ...]
    group_of_record: IntArray
    codes: Mapping[str, IntArray]
    statistics: ClassStatistics
    weights: Weights
    group_of_row: IntArray
    """The group of each row of the table with the quasi-identifiers, -1 where its values are suppressed."""
    ids: tuple[str, ...] = ()
    """The groups' names, where groups have names."""
    withheld: Mapping[str, IntArray] = field(default_factory=dict)

    @property
    def groups(self) -> int:
        return self.statistics.classes

    @cached_property
    def reached(self) -> IntArray:
        """Targets that fit at least one group; the others must have been left out of the release."""
        return np.flatnonzero(np.diff(self.weights.indptr) > 0)

    @cached_property
    def named(self) -> Weights:
        """The weights of the groups whose records are published."""
        return self.weights[:, : self.groups]

    def histogram(self, codes: IntArray, size: int) -> Weights:
        """Records per group and value, for any coding of the records."""
        rows = np.ones(len(codes))
        return sparse.csr_array((rows, (self.group_of_record, codes)), shape=(self.groups, size))

    def shares(self, codes: IntArray, size: int) -> Weights:
        """Each group's distribution over the values."""
        return normalized(self.histogram(codes, size))

    def belief(
        self, name: str, size: int, coarser: IntArray | None = None, per_record: FloatArray | None = None
    ) -> Weights:
        """What the adversary believes of each target: a distribution over the values, one row per target.

        All groups that a target fits are combined, the rows whose values are withheld among them. `per_record` weighs
        the records of each group.
        """
        codes = self.codes[name] if coarser is None else coarser[self.codes[name]]
        records = self.histogram(codes, size)
        if self.withheld:
            rest = self.withheld[name]
            of_value = np.arange(len(rest)) if coarser is None else coarser
            counts = np.bincount(of_value, weights=rest, minlength=size)
            records = sparse.vstack([records, sparse.csr_array(counts[None, :])])
        weights = self.weights if per_record is None else self.weights @ sparse.diags_array(per_record)
        return normalized(weights @ records)


def normalized(table: Weights) -> Weights:
    """Every row divided by its sum."""
    found = sparse.csr_array(table, dtype=np.float64)
    total = np.asarray(found.sum(axis=1)).ravel()
    found.data /= np.repeat(np.where(total > 0, total, 1.0), np.diff(found.indptr))
    found.eliminate_zeros()
    found.sort_indices()
    return found


@dataclass(frozen=True, eq=False)
class Targets:
    """Who is attacked: one row of each, and all rows of each where people have several.

    `rows` holds rows of the original and `owner` the number of the target each belongs to.
    """

    first: IntArray
    rows: IntArray
    owner: IntArray

    def fitting_all(self, weights: Weights) -> Weights:
        """Weights of rows as weights of people: a group counts only if it fits every row of the person."""
        if len(self.rows) == len(self.first):
            return weights
        count = np.bincount(self.owner)
        rows = (np.ones(len(self.rows)), (self.owner, np.arange(len(self.rows))))
        belongs = sparse.csr_array(rows, shape=(len(self.first), len(self.rows)))
        total = sparse.csr_array(belongs @ weights)
        reached = sparse.csr_array(belongs @ weights.astype(bool).astype(np.float64))
        everywhere = reached.data >= np.repeat(count, np.diff(reached.indptr))
        kept = sparse.csr_array((everywhere.astype(np.float64), reached.indices, reached.indptr), shape=reached.shape)
        found = sparse.csr_array(total.multiply(kept))
        found.eliminate_zeros()
        return found


def draw_targets(people: CodedTable, trials: int, rng: np.random.Generator) -> Targets:
    """People drawn at random, with all their rows."""
    if people.person is None:
        first = np.sort(rng.choice(people.rows, size=min(trials, people.rows), replace=False))
        return Targets(first, first, np.arange(len(first)))
    _, person = np.unique(people.person, return_inverse=True)
    chosen = np.sort(rng.choice(people.people, size=min(trials, people.people), replace=False))
    number = np.full(people.people, -1)
    number[chosen] = np.arange(len(chosen))
    rows = rng.permutation(np.flatnonzero(number[person] >= 0))  # which row is the first is left to chance
    rows = rows[np.argsort(number[person[rows]], kind="stable")]
    owner = number[person[rows]]
    return Targets(rows[np.searchsorted(owner, np.arange(len(chosen)))], rows, owner)


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
    def form(self) -> str:
        return str(self.manifest["form"])

    @property
    def visible(self) -> pl.DataFrame:
        """The table with the quasi-identifiers."""
        return self.tables["table" if "table" in self.tables else "quasi"]

    @cached_property
    def row_fits(self) -> Weights:
        """targets x rows of the table with the quasi-identifiers: 1 where the person fits the row."""
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
) -> Scene:
    """Read both tables and link the people attacked with the groups they fit."""
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
    crowds = crowds_of(manifest, tables, stated, people, declared, targets)
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
    )


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


def crowds_of(
    manifest: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    policy: Policy,
    people: CodedTable,
    declared: Mapping[str, Declared],
    targets: Targets,
) -> tuple[Crowd, ...]:
    """The groups of a release and who may be in them."""
    if manifest["form"] == "generalized":
        return (_generalized(tables["table"], policy, people, declared, targets),)
    from polyveil.attacks.linked import linked_crowds

    return linked_crowds(manifest, tables, policy, people, declared, targets)


def _generalized(
    frame: pl.DataFrame,
    policy: Policy,
    people: CodedTable,
    declared: Mapping[str, Declared],
    targets: Targets,
) -> Crowd:
    names = tuple(column.name for column in people.quasi)
    group_of_record = class_of_row(frame, names)
    codes = sensitive_codes(frame, declared)
    single = {name: known.attribute for name, known in declared.items()}
    fits = targets.fitting_all(group_fits(frame, policy, people, group_of_record, targets.rows))
    statistics = from_classes(group_of_record, codes, single)
    return Crowd(tuple(codes), group_of_record, codes, statistics, fits, group_of_record)


def sensitive_codes(frame: pl.DataFrame, declared: Mapping[str, Declared]) -> dict[str, IntArray]:
    """The codes of a released table's sensitive cells."""
    codes = {}
    for name, known in declared.items():
        if name in frame.columns:
            found = codes_of_cells(known, frame.get_column(name))
            if found is None:
                raise InputError(
                    f"the released column {name} has values its manifest does not know. Run `polyveil verify`"
                )
            codes[name] = found
    return codes


def group_fits(
    frame: pl.DataFrame, policy: Policy, people: CodedTable, group_of_row: IntArray, rows: IntArray
) -> Weights:
    """Which groups' cells each row of the original fits (1 if so); the nearest where numbers hide their range."""
    groups = int(group_of_row.max(initial=-1)) + 1
    first = np.zeros(groups, dtype=np.int64)
    first[group_of_row[::-1]] = np.arange(len(group_of_row))[::-1]
    columns = []
    for column in people.quasi:
        cells = frame.get_column(column.name)
        if policy.release.numbers != "interval" and column.domain.kind == "numeric":
            cells = cells.cast(pl.Float64)
        misfit, cell_of_row = misfits(column, cells)
        columns.append((misfit, cell_of_row[first], column.codes[rows].astype(np.int64)))
    return _nearest(columns, len(rows), groups)


def _nearest(columns: Sequence[tuple[FloatArray, IntArray, IntArray]], targets: int, groups: int) -> Weights:
    step = max(1, _CELLS // max(groups, 1))
    parts = []
    for begin in range(0, targets, step):
        some = slice(begin, min(begin + step, targets))
        misfit = np.zeros((some.stop - some.start, groups))
        for table, cell_of_group, codes in columns:
            misfit += table[:, codes[some]][cell_of_group].T
        least = misfit.min(axis=1, initial=np.inf)
        parts.append(sparse.csr_array((misfit <= least[:, None] + NEAR) & np.isfinite(misfit)))
    return sparse.csr_array(sparse.vstack(parts), dtype=np.float64) if parts else sparse.csr_array((0, groups))


def tuples_of(scene: Scene, crowd: Crowd) -> tuple[IntArray, IntArray, int]:
    """All sensitive columns of a crowd as one: the code of each record and of each target, and how many there are."""
    sizes = [scene.attributes[name].size for name in crowd.attributes]
    records = [crowd.codes[name] for name in crowd.attributes]
    persons = [scene.truth(name) for name in crowd.attributes]
    together = [np.concatenate([one, other]) for one, other in zip(records, persons, strict=True)]
    found = distinct(together, sizes, len(together[0]))
    count = len(records[0])
    return found.of_row[:count], found.of_row[count:], len(found.counts)
