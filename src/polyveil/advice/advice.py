"""Everything that helps a steward choose: t from overlap, what each t and k costs, which columns point to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from polyveil.advice.cautions import Caution, cautions
from polyveil.advice.evidence import K_GRID, SEED, T_GRID, Curve, curve_over_k, curves_over_t, supported_k
from polyveil.advice.expected import expected_loss, sample, warm_up
from polyveil.advice.least_class import LeastClass, least_class
from polyveil.advice.niches import Coding
from polyveil.advice.overlap import BANDWIDTH, MISMATCH, Estimator, OverlapAdvice, advise_t, sensitivity
from polyveil.advice.recommendation import (
    Answers,
    Detail,
    Harm,
    Recommendation,
    Who,
    choose,
    recommendation,
    recommended_policy,
)
from polyveil.advice.uniqueness import Uniqueness, unique_combinations
from polyveil.advice.workers import Workers
from polyveil.frames import one_or_more
from polyveil.methods import method_class
from polyveil.models import attributes_of
from polyveil.policy import PolicyLike, fitted, load_policy
from polyveil.progress import Progress, shown
from polyveil.results import Result, Row, percent
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

COST_ROWS = 1_000
"""The runs that compare what each t and k costs use so many rows."""
COMBINATION_SECONDS, CAUTION_SECONDS = 4.0, 8.0
"""How long to look for combinations of columns that single people out, and for avoidable losses."""
MOST_OVERLAPPING = 12
"""With more sensitive columns, some two of them hardly overlap by chance, and the smallest overlap says nothing."""
TOO_MANY_OVERLAP = (
    f"The overlap method was left out: with more than {MOST_OVERLAPPING} sensitive columns, two of them nearly always "
    "differ much, so the smallest overlap says nothing about t. Choose t by the detail lost at each t."
)
NO_OVERLAP = (
    "The overlap method needs two or more sensitive columns: it measures what they have in common. For one column, "
    "choose t by the detail lost at each t and by the smallest group it allows."
)


@dataclass(frozen=True)
class KFact:
    """One k: rows that are in smaller classes as the table stands, and the loss of hiding them."""

    k: int
    rows_below: int
    loss: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What was found; `overlap` is None if the method does not apply."""

    rows: int
    sampled: int | None
    overlap: OverlapAdvice | None
    sensitivity: tuple[tuple[str, float], ...]
    curves: tuple[Curve, ...]
    least: tuple[LeastClass, ...]
    uniqueness: Uniqueness
    ks: tuple[KFact, ...]
    supported_k: int | None
    k_method: str
    recommended: Recommendation
    compared: int
    """Rows of the runs that compare costs."""
    sensitive: int = 0
    """Sensitive columns."""
    warnings: tuple[Caution, ...] = ()
    """What the policy loses for avoidable reasons."""

    @property
    def overlap_note(self) -> str | None:
        """Why there is no overlap; None if there is."""
        return None if self.overlap else TOO_MANY_OVERLAP if self.sensitive > MOST_OVERLAPPING else NO_OVERLAP

    def answer(self) -> str:
        """The t and the k to ask for, and what they cost."""
        found = self.recommended
        asked = f"k = {found.k}" + (f" and t = {found.t:g}" if found.t is not None else "")
        lost = (
            f" A release loses about {percent(found.detail_lost, 0)} of the detail."
            if found.detail_lost is not None
            else ""
        )
        return f"Suggested: {asked}. {found.reason}{lost}"

    def records(self) -> Sequence[Row]:
        """What each t and each k costs: detail lost, by method; `least_class` is the smallest group that a t allows."""
        least: dict[float | None, int | None] = {each.t: each.size for each in self.least}
        names = ("parameter", "value", "method", "detail_lost", "least_class")
        points: list[tuple[Any, ...]] = [
            ("t", run.case.t, curve.method, run.normalized_loss if run.done else None, least.get(run.case.t))
            for curve in self.curves
            for run in curve.outcomes
        ]
        points += [("k", float(fact.k), self.k_method, fact.loss, None) for fact in self.ks]
        return [dict(zip(names, point, strict=True)) for point in points]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil advise --json` prints it."""
        return {
            "rows": self.rows,
            "sampled_rows": self.sampled,
            "overlap": self.overlap.to_dict() if self.overlap else None,
            "overlap_note": self.overlap_note,
            "sensitivity": [{"choice": words, "t": t} for words, t in self.sensitivity],
            "loss_by_t": [curve.to_dict() for curve in self.curves],
            "least_class": [asdict(each) for each in self.least],
            "unique_combinations": {
                "complete": self.uniqueness.complete,
                "combinations": [asdict(each) for each in self.uniqueness.combinations[:50]],
            },
            "k": [asdict(each) for each in self.ks],
            "supported_k": self.supported_k,
            "recommendation": self.recommended.to_dict(),
            "compared_rows": self.compared,
            "warnings": [each.to_dict() for each in self.warnings],
        }


def advise(
    source: Any,
    policy: PolicyLike,
    *,
    classes: Mapping[str, str] | None = None,
    estimator: Estimator = "kernel",
    coding: Coding = "order",
    bandwidth: float = BANDWIDTH,
    ratio: float = MISMATCH,
    draws: int = 200,
    methods: str | Sequence[str] | None = None,
    t_grid: Sequence[float] = T_GRID,
    k_grid: Sequence[int] = K_GRID,
    width: int = 3,
    limit: float = 15.0,
    jobs: int = 2,
    who: Who | None = None,
    harm: Harm | None = None,
    detail: Detail | None = None,
    progress: Progress | bool = False,
    reading: Mapping[str, Any] | None = None,
) -> Advice:
    """Help to choose t and k: what the sensitive columns suggest, what each t and k costs, who is singled out.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    policy : Policy, dict or path
        Says what each column is; its thresholds need not be final.
    classes : dict, optional
        How a sensitive column is divided: ``{"salary": "5"}`` (intervals), ``{"disease": "level:1"}`` or ``"values"``.
    estimator : {"kernel", "discrete"}
        How densities are drawn.
    coding : {"order", "frequency"}
        How the values of a column are numbered.
    bandwidth : float
        Bandwidth of the kernel, in standard deviations.
    ratio : float
        Leave out groups of columns whose numbers of values differ by more than this factor.
    draws : int
        Bootstrap draws for the interval of t; 0 for none.
    methods : str or list of str, optional
        Methods whose loss is measured at each t; by default the policy's own, an empty list for none.
    t_grid, k_grid : list of float, list of int
        The t and k that are tried.
    width : int
        Combinations of up to this many columns are searched for people they single out.
    limit : float
        Seconds each run may take.
    jobs : int
        Runs at the same time.
    who : {"public", "researchers", "colleagues"}, optional
        Who gets the release. With `harm` and `detail`, this decides the k and t that are recommended.
    harm : {"small", "serious", "grave"}, optional
        How much it harms a person if a sensitive value is guessed.
    detail : {"little", "some", "much"}, optional
        How much detail the release is needed for.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.
    reading : dict, optional
        Options of `polyveil.read`.

    Returns
    -------
    Advice
        Evidence for a decision. It judges nothing, so its `outcome` is "not checked".

    Raises
    ------
    InputError, PolicyError
        The table, the policy or an option cannot be used.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> advice = polyveil.advise(people, policy, methods=[], k_grid=[2, 4], limit=300)
    >>> [(fact.k, fact.rows_below) for fact in advice.ks]
    [(2, 4), (4, 4)]
    """
    base = given = load_policy(policy)
    chosen = (base.method.name,) if methods is None else one_or_more(methods)
    for name in chosen:
        method_class(name)
    with shown(progress) as listening:
        listening.stage("read")
        table = read(source, **(reading or {}))
        base = fitted(base, table.columns)
        coded = encode(bind(base, table))
        listening.stage("overlap")
        few_enough = len(coded.sensitive) <= MOST_OVERLAPPING
        overlap = (
            advise_t(
                coded,
                classes=classes,
                estimator=estimator,
                coding=coding,
                bandwidth=bandwidth,
                ratio=ratio,
                draws=draws,
            )
            if few_enough
            else None
        )
        listening.stage("combinations")
        columns = [*base.having("quasi"), *base.having("insensitive")]
        unique = unique_combinations(table.frame, columns, width=width, limit=min(limit, COMBINATION_SECONDS))
        attributes = attributes_of(replace(coded, together=()))
        few = sample(table, base, COST_ROWS)
        listening.stage("prepare")
        pace = warm_up(table, base) if chosen else 1.0
        over_t = chosen if base.having("sensitive") else ()
        k_method = chosen[0] if chosen else "mondrian"
        running: Any = {"limit": limit, "pace": pace, "progress": listening}
        with Workers(few, jobs, SEED, utility=False) as workers:
            curves = curves_over_t(workers, base, over_t, grid=t_grid, **running) if over_t else ()
            k_curve = curve_over_k(workers, base, k_method, grid=k_grid, **running)
        others = tuple(sensitivity(coded, classes)) if few_enough else ()
        knee = next((curve.knee for curve in curves if curve.method == base.method.name), None)
        k, t, t_range, reason = choose(base, overlap, [t for _, t in others], knee, Answers(who, harm, detail))
        expected = None
        if chosen:
            listening.stage("recommendation")
            expected = expected_loss(table, recommended_policy(base, k, t), pace=pace, progress=listening)
            listening.stage("avoidable losses")
    return Advice(
        rows=table.height,
        sampled=expected.rows if expected is not None and expected.rows < table.height else None,
        overlap=overlap,
        sensitivity=others,
        curves=curves,
        least=tuple(least_class(attributes, t) for t in _ts(t_grid, overlap)) if attributes else (),
        uniqueness=unique,
        ks=_k_facts(coded, k_curve, k_grid),
        supported_k=supported_k(k_curve),
        k_method=k_curve.method,
        recommended=recommendation(recommended_policy(given, k, t), expected, t_range, reason),
        compared=few.height,
        sensitive=len(coded.sensitive),
        warnings=cautions(table, base, seconds=CAUTION_SECONDS) if chosen else (),
        frame_kind=table.kind,
    )


def _ts(grid: Sequence[float], overlap: OverlapAdvice | None) -> list[float]:
    """The grid, and the t that the overlap gave."""
    return sorted({*map(float, grid), *([round(overlap.t, 3)] if overlap else [])})


def _k_facts(coded: CodedTable, curve: Curve, grid: Sequence[int]) -> tuple[KFact, ...]:
    sizes = coded.quasi_tuples.counts
    loss = dict(curve.points())
    return tuple(KFact(k, int(sizes[sizes < k].sum()), loss.get(float(k))) for k in grid)
