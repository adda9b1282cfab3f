"""The part of the evidence that needs the original table: the risk before anonymization, and simulated attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from polyveil.errors import InputError
from polyveil.models import models_for
from polyveil.policy import Policy, PolicyLike, fitted, load_policy
from polyveil.progress import Progress
from polyveil.reports.dossier.facts import NOTHING, WITH_ORIGINAL, Fact, FactTable
from polyveil.reports.facts import Facts
from polyveil.reports.markup import number, percent
from polyveil.results import MOST_PRINTED
from polyveil.table.source import Table, read
from polyveil.verification import ReleaseLike

if TYPE_CHECKING:
    from polyveil.attacks import Attack, AttackReport


def measured_with(
    original: Any,
    release: ReleaseLike,
    known: Facts,
    *,
    policy: PolicyLike | None,
    trials: int,
    reading: Mapping[str, Any],
    progress: Progress,
) -> tuple[dict[str, Fact], dict[str, FactTable]]:
    """Facts and tables; `policy` names the column that says whom a row is about, which a release does not."""
    from polyveil.attacks import attack

    table = read(original, **reading)
    person = None if policy is None else _same_guarantees(policy, known, table).person
    tried = attack(release, table, policy=policy, trials=trials, progress=progress)
    shown = {"attacks": _attack_table(tried), "attackers": _attackers(tried)}
    return _before(known, table, person) | _of_attacks(tried), shown


def _same_guarantees(given: PolicyLike, known: Facts, table: Table) -> Policy:
    """Attacks are compared with the guarantees of this policy, so it must be the release's own."""
    policy = fitted(load_policy(given), table.columns)
    asked = models_for(policy, known.statistics.attributes)
    if {model.statement() for model in asked} != {model.statement() for model in known.models}:
        raise InputError("the policy has other guarantees than the release. Give the policy of the release")
    return policy


def _before(known: Facts, table: Table, person: str | None) -> dict[str, Fact]:
    """The risk of the original table with the same quasi-identifiers, unprotected; of people if guarantees count them.

    A person with several rows is found by the one that fits the fewest people.
    """
    quasi, in_people = known.policy.having("quasi"), "people" in known.manifest
    if not set(quasi) <= set(table.columns) or (in_people and person not in table.columns):
        return {}
    counted = pl.len() if person is None or not in_people else pl.col(person).n_unique()
    whose = person if in_people else pl.int_range(pl.len())
    chances = table.frame.select(person=whose, chance=1.0 / counted.over(quasi))
    highest = chances.group_by("person").agg(pl.col("chance").max())["chance"].to_numpy()
    check = f"{WITH_ORIGINAL}group sizes before"
    return {
        "unique_before": Fact(percent(float((highest == 1.0).sum()) / len(highest)), check),
        "highest_before": Fact(percent(float(highest.max())), check),
        "average_before": Fact(percent(float(highest.mean())), check),
    }


def _of_attacks(tried: AttackReport) -> dict[str, Fact]:
    run = [each for each in tried.attacks if each.verdict != "not run"]
    facts = {
        "attacks_run": Fact(number(len(run)), f"{WITH_ORIGINAL}attack"),
        "attacks_broken": Fact(number(len(tried.broken)), f"{WITH_ORIGINAL}attack"),
        "attacks_not_run": Fact(number(len(tried.attacks) - len(run)), f"{WITH_ORIGINAL}attack"),
        # The sentences speak to the steward, a dossier to a reviewer.
        "attacks_said": Fact(tried.answer().replace("your guarantees", "the guarantees"), f"{WITH_ORIGINAL}attack"),
    }
    for criterion in ("singling out", "linkability", "inference"):
        some = [each for each in run if each.criterion == criterion]
        if some:
            most = max(some, key=lambda each: each.success - each.baseline)
            key = criterion.replace(" ", "_")
            check = f"{WITH_ORIGINAL}attack: {_title(most)}"
            facts[f"{key}_success"] = Fact(percent(most.success), check)
            facts[f"{key}_baseline"] = Fact(percent(most.baseline), check)
    return facts


def _attack_table(tried: AttackReport) -> FactTable:
    def share(value: float | None) -> str:
        return NOTHING if value is None or value != value else percent(value)

    def row(each: Attack, stands_for: int) -> tuple[str, ...]:
        shares = (each.success, each.baseline, each.low, each.high, each.bound)
        right, without, low, high, bound = map(share, shares)
        interval = low if low == high == NOTHING else f"{low} to {high}".replace(" ", "\u00a0")
        verdict = f"{each.verdict}: {each.note}" if each.verdict == "not run" and each.note else each.verdict
        title = _title(each) if stands_for == 1 else f"{_title(each)} (worst of {number(stands_for)})"
        return (title, each.criterion, right, without, interval, bound, verdict)

    headers = ("attack", "risk", "right", "without the release", "95 % interval", "allowed", "verdict")
    caption = "Simulated attacks (“no promise”: no guarantee limits the attack)"
    rows = tuple(row(*each) for each in tried.worst_of_kinds(MOST_PRINTED))
    return FactTable(caption, headers, rows, f"{WITH_ORIGINAL}attack")


def _attackers(tried: AttackReport) -> FactTable:
    """One line for each kind of attack; what differs by column is told of the first, as an example."""
    known = [(_title(each) if differs else each.name, each.adversary) for each, differs in tried.kinds()]
    return FactTable("Who attacks", ("attack", "the attacker"), tuple(known), f"{WITH_ORIGINAL}attack")


def _title(each: Attack) -> str:
    return each.title.replace(" -> ", " → ")
