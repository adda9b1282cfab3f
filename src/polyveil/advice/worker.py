"""One process of a comparison: `python -m polyveil.advice.worker`, handed the table first and then case after case."""

from __future__ import annotations

import time
from typing import Any

from polyveil.advice.cases import Case, CaseOutcome, form_of
from polyveil.errors import PolicyError, PolyveilError, Unsatisfiable
from polyveil.policy import Policy
from polyveil.processes import serve
from polyveil.releases import Release
from polyveil.table.source import Table

QUERIES = 200
"""COUNT queries asked of each release."""

Job = tuple[Case, Policy]


def run_case(job: Job, table: Table, seed: int | None, *, utility: bool = True) -> CaseOutcome:
    """Anonymize in memory and keep the figures; with `utility` verified, and with how useful the release is."""
    from polyveil.pipeline import anonymize, try_out

    case, policy = job
    start = time.perf_counter()
    about: dict[str, Any] = {"case": case, "form": form_of(policy)}
    try:
        release = (anonymize if utility else try_out)(table, policy, seed=seed)
    except PolyveilError as error:
        status = {Unsatisfiable: "unreachable", PolicyError: "not possible"}.get(type(error), "failed")
        return CaseOutcome(**about, status=status, seconds=time.perf_counter() - start, message=_why(error))  # type: ignore[arg-type]
    except MemoryError:
        return CaseOutcome(**about, status="failed", seconds=time.perf_counter() - start, message="not enough memory")
    except Exception as error:  # the text of an unexpected error may contain data, so only its kind is kept
        message = f"an unexpected {type(error).__name__}"
        return CaseOutcome(**about, status="failed", seconds=time.perf_counter() - start, message=message)
    seconds = time.perf_counter() - start
    found = release.manifest
    keep = {key: found[key] for key in ("classes", "class_size", "suppressed", "privacy", "loss")}
    return CaseOutcome(**about, status="done", seconds=seconds, utility=_utility(release) if utility else {}, **keep)


def _utility(release: Release) -> dict[str, float]:
    """How far counts, columns and pairs of columns moved; only where the classes tell all that is published."""
    if release.form != "generalized" or release.class_of_row is None or release.original is None:
        return {}
    from polyveil.measure.utility import measure_utility
    from polyveil.partition import Partition

    partition = Partition(release.original.of_coded_rows(release.class_of_row), cells=release.original.cells)
    found = measure_utility(release.original.coded, partition, queries=QUERIES, learn=False)
    names = ("query_error", "distribution_shift", "association_shift")
    return {name: float(getattr(found, name)) for name in names}


def _why(error: PolyveilError) -> str:
    if isinstance(error, PolicyError):
        return "; ".join(f"{fault.place}: {fault.rule}" for fault in error.faults)
    return error.constraint if isinstance(error, Unsatisfiable) else str(error)


class Bench:
    """Keeps the table that the first message brings, and runs the cases of the others."""

    table: Table | None = None
    seed: int | None = None
    utility: bool = True

    def answer(self, message: Any) -> CaseOutcome | None:
        """Nothing for the table, an outcome for a case."""
        if self.table is None:
            self.table, self.seed, self.utility = message
            return None
        return run_case(message, self.table, self.seed, utility=self.utility)


if __name__ == "__main__":
    serve(Bench().answer)
