"""Does my analysis survive? Regressions, tables and survival curves on the original and on the release.

    found = polyveil.analyze("release", "patients.csv", [{"linear": "cost", "on": ["age", "sex"]}])

A release has ranges and sets where the original has values. What a reader does with it is multiple imputation: draw a
value for each cell, analyse, repeat, and combine the draws by Rubin's rules (Rubin 1987). The draws are uniform within
a cell and know nothing of the other columns, so associations of generalized columns become weaker: that is the cost of
the release, and it is shown, not corrected. Figures of the original are the steward's own and not for publication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polyveil.analyses.asked import Asked, read_analyses
from polyveil.analyses.comparing import Columns, Compared, Estimate, compare
from polyveil.analyses.drawing import Pair, pair_of
from polyveil.analyses.marginals import BINS, k_marginal
from polyveil.arrays import IntArray
from polyveil.errors import InputError
from polyveil.results import Result, Row, counted, percent
from polyveil.table.source import read
from polyveil.verification import ReleaseLike

DRAWS = 10


@dataclass(frozen=True, repr=False, eq=False)
class Analyses(Result):
    """Analyses on the original and on the release beside each other."""

    analyses: tuple[Compared, ...]
    draws: int
    k_marginal: float
    """SDNist's score in combinations of three columns: 1000 if the tables are the same in them."""
    k_marginal_half: float
    """The score of a random half of the original, for comparison."""

    @property
    def estimates(self) -> tuple[tuple[Compared, Estimate], ...]:
        """Every figure with its analysis."""
        return tuple((each, figure) for each in self.analyses for figure in each.estimates)

    @property
    def mean_overlap(self) -> float:
        """The mean overlap of intervals over all figures; 0 for an analysis that cannot be computed on the release."""
        found = [figure.overlap for _, figure in self.estimates] + [0.0 for each in self.analyses if each.note]
        return float(np.mean(found)) if found else 0.0

    def answer(self) -> str:
        same = sum(figure.same_conclusion for _, figure in self.estimates)
        total = len(self.estimates)
        lost = sum(bool(each.note) for each in self.analyses)
        said = (
            f"{same:,} of {counted(total, 'figure')} {'lead' if total != 1 else 'leads'} to the same conclusion on the "
            f"release; intervals overlap by {percent(self.mean_overlap, 0)} on average."
        )
        if not lost:
            return said
        return f"{said} {lost:,} {'analysis' if lost == 1 else 'analyses'} cannot be computed on the release."

    def records(self) -> Sequence[Row]:
        return [
            {
                "analysis": each.title,
                **{key: value for key, value in asdict(figure).items() if key != "null"},
                "overlap": figure.overlap,
                "relative_error": figure.relative_error,
                "same_conclusion": figure.same_conclusion,
            }
            for each, figure in self.estimates
        ]

    def to_dict(self) -> dict[str, Any]:
        analyses = [
            {
                "kind": each.kind,
                "title": each.title,
                "rows": each.rows,
                "rows_released": each.rows_released,
                "note": each.note,
                "estimates": [row for row in self.records() if row["analysis"] == each.title],
            }
            for each in self.analyses
        ]
        return {
            "draws": self.draws,
            "mean_overlap": self.mean_overlap,
            "k_marginal": self.k_marginal,
            "k_marginal_half": self.k_marginal_half,
            "analyses": analyses,
        }


def analyze(
    release: ReleaseLike,
    original: Any,
    analyses: Sequence[Mapping[str, Any]] | Mapping[str, Any] | str | Path,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    reading: Mapping[str, Any] | None = None,
) -> Analyses:
    """Run analyses on the original table and on a release, and say how well the results agree.

    Parameters
    ----------
    release : path, database address or Release
        The release, of one table in any form.
    original : path, frame, Table or database address
        The table it was made from. The result is not for publication: it contains figures of the original.
    analyses : list of dict, or path of a YAML file with such a list
        `{"linear": y, "on": [...]}`, `{"logistic": y, "value": v, "on": [...]}`, `{"table": [a, b]}` or
        `{"survival": time, "event": e, "value": v, "by": group}`.
    draws : int
        How often values are drawn from the cells of the release, 2 to 100.
    seed : int
        Seed of the draws.
    reading : dict, optional
        Options of `polyveil.read` for `original`.

    Returns
    -------
    Analyses
        For each figure the estimate and 95 % interval on both tables, the overlap of the intervals (Karr et al. 2006),
        the relative error, and whether both lead to the same conclusion; the k-marginal score of SDNist.

    Raises
    ------
    InputError
        An analysis names a column that the release does not have, or cannot be computed on the original.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "cost": [1.0, 2.0, 4.0, 5.5]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "cost": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> release = polyveil.anonymize(people, policy)
    >>> found = polyveil.analyze(release, people, [{"linear": "cost", "on": ["age"]}])
    >>> [figure.term for figure in found.analyses[0].estimates]
    ['(constant)', 'age']
    """
    if isinstance(draws, bool) or not 2 <= draws <= 100:
        raise InputError(f"draws must be 2 to 100, not {draws}")
    asked = read_analyses(analyses)
    pair = pair_of(release, read(original, **(reading or {})))
    _check_columns(asked, pair)
    rng = np.random.default_rng(seed)
    drawn = [pair.draw(rng) for _ in range(draws)]
    found = tuple(compare(each, pair.original, drawn) for each in asked)
    return Analyses(found, draws, *_marginals(pair, drawn, rng))


def _check_columns(asked: Sequence[Asked], pair: Pair) -> None:
    for each in asked:
        for name in each.used:
            if name not in pair.columns:
                raise InputError(f"{each.title}: the release has no column {name!r}. It has {', '.join(pair.columns)}")


def _marginals(pair: Pair, drawn: Sequence[Columns], rng: np.random.Generator) -> tuple[float, float]:
    original, *others = _coded(pair, [pair.original, *drawn])
    scores = [k_marginal(original, other, 3, rng) for other in others[:3]]
    rows = len(next(iter(original.values())))
    half = rng.permutation(rows)[: max(rows // 2, 1)]
    return float(np.mean(scores)), k_marginal(original, {n: codes[half] for n, codes in original.items()}, 3, rng)


def _coded(pair: Pair, tables: Sequence[Columns]) -> list[dict[str, IntArray]]:
    """All columns as codes that mean the same in every table; numbers in bins, missing as -1."""
    found: list[dict[str, IntArray]] = [{} for _ in tables]
    for name in pair.columns:
        values = pair.original[name]
        if pair.is_number(name):
            cuts = np.unique(np.nanquantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
            for codes, table in zip(found, tables, strict=True):
                codes[name] = np.where(np.isnan(table[name]), -1, np.searchsorted(cuts, table[name], side="right"))
        else:
            known: dict[Any, int] = {None: -1}
            for codes, table in zip(found, tables, strict=True):
                codes[name] = np.array([known.setdefault(value, len(known)) for value in table[name]], dtype=np.int64)
    return found


__all__ = ["Analyses", "Compared", "Estimate", "analyze"]
