"""Comparing methods and parameters on one table, side by side: resumable, parallel, each with a time limit.

Every finished case is a JSON file of its own, named by what went into it (data, policy with hierarchies, seed,
version) and written in one step, so a run that was stopped goes on where it was and a changed policy starts anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyveil.advice.cases import Case, CaseOutcome, cases_of, key_of, policy_of
from polyveil.advice.frontier import frontier
from polyveil.advice.workers import Workers
from polyveil.errors import InputError
from polyveil.frames import one_or_more
from polyveil.methods import METHODS
from polyveil.policy import Policy, PolicyLike, fitted, load_policy
from polyveil.progress import Progress, shown
from polyveil.reports.writing import write_page
from polyveil.results import Outcome, Result, Row, counted, percent
from polyveil.table.bind import bind
from polyveil.table.source import Table, read
from polyveil.verification.fingerprint import fingerprint

RESULTS = "results"
DEFAULT_LIMIT = 60.0


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """All outcomes, best first: releases by loss, then runs without a release."""

    outcomes: tuple[CaseOutcome, ...]
    rows: int
    quasi: int
    reused: int = 0
    """Outcomes that an earlier run had left."""

    @property
    def best(self) -> frozenset[Case]:
        """The cases that no other one of the same form beats in loss and protection at once."""
        return frontier(self.outcomes)

    @property
    def outcome(self) -> Outcome:
        """holds if a run gave a verified release, fails if none can; not checked if a run did not end."""
        if any(each.done for each in self.outcomes):
            return "holds"
        ended = all(each.status in ("unreachable", "not possible") for each in self.outcomes)
        return "fails" if self.outcomes and ended else "not checked"

    def answer(self) -> str:
        """How many runs gave a release, and which lost least."""
        done = [each for each in self.outcomes if each.done]
        total = f"{len(done):,} of {counted(len(self.outcomes), 'run')} gave a release"
        if not done:
            return f"{total}."
        least = min(done, key=lambda each: each.normalized_loss)
        return f"{total}; least detail lost: {least.case.title}, {percent(least.normalized_loss, 0)}."

    def records(self) -> Sequence[Row]:
        """One row per run."""
        best = self.best
        return [
            {
                "method": each.case.method,
                "k": each.case.k,
                "t": each.case.t,
                "form": each.form,
                "status": each.status,
                "detail_lost": each.normalized_loss if each.done else None,
                "classes": each.classes if each.done else None,
                "left_out": each.suppressed if each.done else None,
                "seconds": each.seconds,
                "frontier": each.case in best,
            }
            for each in self.outcomes
        ]

    def to_dict(self) -> dict[str, Any]:
        """As `polyveil compare --json` prints it."""
        best = self.best
        return {
            "rows": self.rows,
            "outcomes": [{**outcome.to_dict(), "frontier": outcome.case in best} for outcome in self.outcomes],
        }


def compare(
    source: Any,
    policy: PolicyLike,
    *,
    methods: str | Sequence[str] = "all",
    k: int | Sequence[int] = (),
    t: float | Sequence[float] = (),
    limit: float = DEFAULT_LIMIT,
    jobs: int = 2,
    out: Path | str | None = None,
    resume: bool = False,
    seed: int | None = 1,
    progress: Progress | bool = False,
    reading: Mapping[str, Any] | None = None,
) -> Comparison:
    """Run methods and parameters side by side on one table: what each loses for the protection it gives.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    policy : Policy, dict or path
        What each column is, and the guarantees.
    methods : str or list of str
        Methods to run; "all" for every one.
    k, t : number or list of numbers
        Values to try instead of the policy's own; t is set for every sensitive column alike.
    limit : float
        Seconds each run may take.
    jobs : int
        Runs at the same time, each in a process of its own.
    out : path, optional
        Folder for the results and the page comparison.html. Finished runs are kept there.
    resume : bool
        Take up an older comparison in `out`.
    seed : int, optional
        Seed of the methods' choices.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.
    reading : dict, optional
        Options of `polyveil.read`.

    Returns
    -------
    Comparison
        Every run, the least detail lost first. What a method cannot do is an entry of it, not an error.

    Raises
    ------
    InputError, PolicyError
        The table, the policy or an option cannot be used.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 53], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> comparison = polyveil.compare(people, policy, methods="mondrian", k=[2, 4], limit=300)
    >>> [(run.case.k, round(run.normalized_loss, 2)) for run in comparison.outcomes]
    [(2, 0.04), (4, 1.0)]
    """
    with shown(progress) as listening:
        # auto tries the others by itself, so it has no place beside them
        chosen = [name for name in METHODS if name != "auto"] if methods == "all" else one_or_more(methods)
        cases = cases_of(chosen, one_or_more(k), one_or_more(t))
        return _compared(source, load_policy(policy), cases, limit, jobs, out, resume, seed, listening, reading or {})


def _compared(
    source: Any,
    base: Policy,
    cases: Sequence[Case],
    limit: float,
    jobs: int,
    out: Path | str | None,
    resume: bool,
    seed: int | None,
    progress: Progress,
    reading: Mapping[str, Any],
) -> Comparison:
    folder = _folder(out, resume) if out is not None else None
    table = read(source, **reading)
    base = fitted(base, table.columns)
    bind(base, table)  # faults of the policy itself are told once, not once a case
    policies = {case: policy_of(case, base) for case in cases}
    data = _data_key(source, table) if folder else ""
    files = {case: folder / f"{key_of(policies[case], data, seed)}.json" for case in cases} if folder else {}
    found = {case: kept for case, file in files.items() if (kept := _kept(file, limit))}
    wanted = [(case, policies[case]) for case in cases if case not in found]
    shown = _Shown(progress, len(cases), len(found), jobs)
    reused = len(found)
    progress.stage("compare")
    with Workers(table, jobs, seed) as workers:
        for outcome in workers.run(wanted, limit, shown.tick):
            found[outcome.case] = outcome
            if folder:
                _write_json(files[outcome.case], {**outcome.to_dict(), "limit": limit})
            shown.add(outcome)
    ordered = tuple(sorted(found.values(), key=_order))
    comparison = Comparison(ordered, table.height, len(base.having("quasi")), reused, frame_kind=table.kind)
    if folder:
        _write_pages(folder.parent, comparison)
    return comparison


def _order(outcome: CaseOutcome) -> tuple[bool, str, float, str, float, float]:
    """Releases by form and loss, then the others; equals in the order of method, k and t."""
    case = outcome.case
    loss = outcome.normalized_loss if outcome.done else 0.0
    return (not outcome.done, outcome.form, loss, case.method, case.k or 0, case.t or 0.0)


class _Shown:
    """Progress with the time that is left, from the mean time of the cases so far."""

    def __init__(self, progress: Progress, total: int, done: int, jobs: int) -> None:
        self.progress, self.total, self.done, self.jobs = progress, total, done, jobs
        self.seconds: list[float] = []
        self.last = ""

    def add(self, outcome: CaseOutcome) -> None:
        self.done += 1
        self.seconds.append(outcome.seconds)
        self.last = f"{outcome.case.title}: {outcome.status}"
        self.tick()

    def tick(self) -> None:
        note = f"{self.done} of {self.total}"
        if self.seconds:
            left = (self.total - self.done) * sum(self.seconds) / len(self.seconds) / self.jobs
            note += f", about {left:.0f} s left; {self.last}"
        self.progress.advance(self.done / max(self.total, 1), note)


def _folder(out: Path | str, resume: bool) -> Path:
    """The folder of results; an older comparison is taken up only when asked."""
    folder = Path(out)
    try:
        if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / RESULTS).is_dir())):
            raise InputError(f"{folder} exists and is not a comparison. Choose another folder")
        if (folder / RESULTS).is_dir() and any((folder / RESULTS).iterdir()) and not resume:
            raise InputError(
                f"{folder} contains an earlier comparison. Continue it with --resume, or choose another folder"
            )
        (folder / RESULTS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}). Choose another folder") from None
    return folder / RESULTS


def _data_key(source: Any, table: Table) -> str:
    if isinstance(source, str | Path) and Path(source).is_file():
        with Path(source).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    return fingerprint(table.frame)


def _kept(file: Path, limit: float) -> CaseOutcome | None:
    """An earlier outcome, unless it ran out of a shorter time or failed for a reason that may have passed."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        before = data.pop("limit")
        outcome = CaseOutcome.from_dict(data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # damaged: run it again
    again = outcome.status == "failed" or (outcome.status == "out of time" and limit > before)
    return None if again else outcome


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{file.parent} cannot be written to ({error.strerror}). Finished results are kept") from None


def _write_pages(folder: Path, comparison: Comparison) -> None:
    from polyveil.advice.compare_page import comparison_page

    _write_json(folder / "comparison.json", comparison.to_dict())
    write_page(folder / "comparison.html", comparison_page(comparison))
