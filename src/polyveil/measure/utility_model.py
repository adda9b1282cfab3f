"""What can be learned from a release: a classifier trained on its rows and tested on original rows it has not seen.

Rows are split in two. One learner is trained on the released form of the first part, another on its original form; both
are asked about the second part's original rows. What the first scores less is what the release cost; guessing the
commonest class blindly is the ground both stand on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.measure.utility_shift import Reconstruction, stretch
from polyveil.table.coded import SensitiveColumn
from polyveil.table.domain import OrderedDomain, TreeDomain

MOST_ROWS = 20_000
MOST_CLASSES = 12
QUARTERS = 4
TEST_SHARE = 0.3


@dataclass(frozen=True)
class ModelScore:
    """Accuracy on original rows of a model trained on the release, on the original, and of the blind guess."""

    target: str
    classes: int
    released: float
    original: float
    blind: float


def model_scores(view: Reconstruction, rng: np.random.Generator) -> tuple[ModelScore, ...]:
    """One score per sensitive column, predicted from the quasi-identifiers."""
    if not view.table.quasi or len(view.kept) < 10:
        return ()
    rows = rng.permutation(view.kept)[: int(MOST_ROWS / (1 - TEST_SHARE))]
    test, train = np.split(rows, [max(int(len(rows) * TEST_SHARE), 1)])
    before, after = _original(view), _released(view)
    return tuple(_score(view, column, train, test, before, after, rng) for column in view.table.sensitive)


def _score(
    view: Reconstruction,
    column: SensitiveColumn,
    train: IntArray,
    test: IntArray,
    before: FloatArray,
    after: FloatArray,
    rng: np.random.Generator,
) -> ModelScore:
    domain = column.domain
    tree = domain.hierarchy if isinstance(domain, TreeDomain) else None
    branch = None
    if tree is not None and tree.depth > 1:
        children = np.flatnonzero(tree.parent == 0)
        branch = np.searchsorted(tree.start[children], np.arange(domain.size), side="right") - 1
    label_of = few_classes(column.counts, ordered=isinstance(domain, OrderedDomain), branch=branch)
    truth = label_of[column.codes]
    told = label_of[_published(view, column, rng)]
    learnable = train[view.slice_of(column.name).group_of_row[train] >= 0]
    wanted = truth[test]
    blind = np.bincount(truth[train]).argmax()
    return ModelScore(
        target=column.name,
        classes=len(np.unique(truth)),
        released=_accuracy(after[learnable], told[learnable], before[test], wanted),
        original=_accuracy(before[train], truth[train], before[test], wanted),
        blind=float((wanted == blind).mean()),
    )


def few_classes(counts: IntArray, *, ordered: bool, branch: IntArray | None) -> IntArray:
    """The class each value is predicted as: itself or, of many, its quarter of the rows or branch of the hierarchy.

    Many values without structure are the commonest ones and the rest.
    """
    if int((counts > 0).sum()) <= MOST_CLASSES:
        return np.arange(len(counts))
    if ordered:
        before = np.cumsum(counts) - counts / 2
        return np.minimum((QUARTERS * before / max(int(counts.sum()), 1)).astype(np.int64), QUARTERS - 1)
    if branch is not None:
        return np.asarray(branch, dtype=np.int64)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank, MOST_CLASSES - 1)


def _original(view: Reconstruction) -> FloatArray:
    """rows x quasi-identifiers: each value's place in the order of its codes, from 0 to 1."""
    columns = [column.codes / max(column.domain.size - 1, 1) for column in view.table.quasi]
    return np.stack(columns, axis=1).astype(np.float64)


def _released(view: Reconstruction) -> FloatArray:
    """The middle of the values each cell stands for; rows left out have nothing (0, never used)."""
    found = np.zeros((view.table.rows, len(view.table.quasi)))
    owner = view.partition.class_of_row[view.kept]
    for a, column in enumerate(view.table.quasi):
        low, high = view.boxes.low[:, a], view.boxes.high[:, a]
        if isinstance(column.domain, TreeDomain) and column.domain.as_set:
            total = np.bincount(owner, weights=column.codes[view.kept], minlength=view.boxes.classes)
            middle = total / view.boxes.sizes
        else:
            start, stop = stretch(column, low, high)
            middle = (start + stop - 1) / 2
        found[view.kept, a] = (middle / max(column.domain.size - 1, 1))[owner]
    return found


def _published(view: Reconstruction, column: SensitiveColumn, rng: np.random.Generator) -> IntArray:
    """Each row's value as a reader has it: its own, or one drawn from its group where tables are only linked."""
    if not view.partition.slices:
        return column.codes.astype(np.int64)
    groups = view.slice_of(column.name).group_of_row
    members = np.argsort(groups, kind="stable")
    begin = np.searchsorted(groups[members], groups, side="left")
    sizes = np.searchsorted(groups[members], groups, side="right") - begin
    drawn = members[begin + (rng.random(len(groups)) * sizes).astype(np.int64)]
    return column.codes[drawn].astype(np.int64)


def _accuracy(features: FloatArray, labels: IntArray, asked: FloatArray, truth: IntArray) -> float:
    from sklearn.ensemble import RandomForestClassifier

    if len(labels) == 0:
        return 0.0
    forest = RandomForestClassifier(n_estimators=40, min_samples_leaf=5, random_state=0, n_jobs=1)
    return float((forest.fit(features, labels).predict(asked) == truth).mean())
