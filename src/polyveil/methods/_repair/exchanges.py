"""People change groups: one moves, or two of different groups change places, with all their rows.

What is lowered is the loss of all rows, plus a price on how far groups break their guarantees. The price rises from
round to round, so that groups which break something are mended while loss is still easily traded; a change that costs d
is made with probability exp(-d / temperature), and the temperature falls (simulated annealing, Kirkpatrick et al.
1983). Candidates come from a person's neighbourhood in random orders in which near people are alike. People take turns
in these orders: what one of them looks at is then still near the processor for the next.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes
from polyveil.methods._kernels.compiled import njit
from polyveil.methods._repair.crowd import (
    Costs,
    Crowd,
    Groups,
    box_cost,
    box_without,
    broken,
    copy,
    count,
    join_box,
    least_cost,
    link,
    unlink,
)
from polyveil.methods._repair.crowd_judge import LEAST, Judges
from polyveil.methods._search.space import Flag, as_int64

LOOKS = 32
"""People passed over, at most, on the way to one in a group with loss or a broken guarantee."""
PARTNERS = 4
"""Members tried for an exchange where a move alone costs too much."""
COOLING_STEPS = 64
"""Attempts between two changes of the temperature."""


@njit
def exchange_people(
    costs: Costs,
    crowd: Crowd,
    judges: Judges,
    groups: Groups,
    orders: Codes,
    attempts: int,
    start: float,
    end: float,
    price: float,
    reach: float,
    seed: int,
    stop: Flag,
) -> float:
    """Try changes while the temperature falls from `start` to `end`; returns how much loss and price fell."""
    np.random.seed(seed)  # noqa: NPY002 - kernels have no generators
    n = len(groups.of_person)
    spare = len(groups.box) - 2
    k, at, p = np.random.randint(len(orders)), np.random.randint(n), 0  # noqa: NPY002
    temperature, fell = start, 0.0
    cooling = (end / start) ** (COOLING_STEPS / max(attempts, COOLING_STEPS)) if start > 0.0 else 1.0
    for attempt in range(attempts):
        if attempt % COOLING_STEPS == 0:
            temperature *= cooling
            if stop[0] != 0:
                break
        for _ in range(LOOKS):
            at += 1
            if at == n:
                k, at = (k + 1) % len(orders), 0
            p = as_int64(orders[k, at])
            if groups.loss[groups.of_person[p]] > 0.0 or groups.broken[groups.of_person[p]] > 0.0:
                break
        step = int(-reach * np.log(1.0 - np.random.random())) + 1  # noqa: NPY002
        place = at + (step if np.random.random() < 0.5 else -step)  # noqa: NPY002
        if place < 0 or place >= n:
            continue
        other = as_int64(orders[k, place])
        if groups.of_person[other] == groups.of_person[p]:
            continue
        allowed = -temperature * np.log(1.0 - np.random.random())  # noqa: NPY002
        fall, to, is_known = 0.0, as_int64(groups.of_person[other]), False
        if may_move(costs, crowd, groups, p, to, price, allowed):
            box_without(groups, p, spare)
            is_known = True
            fall = try_move(costs, crowd, judges, groups, p, to, price, allowed, spare)
        for _ in range(PARTNERS):
            if fall != 0.0 or other < 0:
                break
            following = as_int64(groups.after[other])
            if may_exchange(costs, crowd, groups, p, other, price, allowed):
                if not is_known:
                    box_without(groups, p, spare)
                    is_known = True
                fall = try_exchange(costs, crowd, judges, groups, p, other, price, allowed, spare)
            other = following
        fell += fall
    return fell


@njit
def cost_of(groups: Groups, c: int, loss: float, broken: float, price: float) -> float:
    """What group c adds to what is lowered, were its loss and what it breaks these."""
    return groups.rows[c] * (loss + price * broken)


@njit
def too_broken(groups: Groups, c: int, price: float, left: float) -> float:
    """From where on what group c breaks costs more than is left; a little more, so that rounding decides nothing."""
    return 1.001 * left / (price * groups.rows[c]) + LEAST


@njit
def may_move(costs: Costs, crowd: Crowd, groups: Groups, p: int, to: int, price: float, allowed: float) -> bool:
    """False only if p in another group costs too much, whatever the guarantees say; no members are looked up."""
    first = len(groups.of_person)
    own = as_int64(groups.of_person[p])
    rows, left = crowd.rows[p], 0.0
    if groups.people[own] > 1:
        member = another(groups, own, p)
        left = least_cost(costs, groups.box, groups.words, first + own, p, member, member)
    before = cost_of(groups, own, groups.loss[own], groups.broken[own], price)
    old = cost_of(groups, to, groups.loss[to], groups.broken[to], price)
    widened = box_cost(costs, groups.box, groups.words, p, first + to)
    return (groups.rows[to] + rows) * widened + (groups.rows[own] - rows) * left - old - before < allowed


@njit
def may_exchange(costs: Costs, crowd: Crowd, groups: Groups, p: int, other: int, price: float, allowed: float) -> bool:
    """False only if two people in each other's place cost too much, whatever the guarantees say."""
    first = len(groups.of_person)
    one, two = as_int64(groups.of_person[p]), as_int64(groups.of_person[other])
    before = cost_of(groups, one, groups.loss[one], groups.broken[one], price)
    before += cost_of(groups, two, groups.loss[two], groups.broken[two], price)
    more = crowd.rows[other] - crowd.rows[p]
    member = another(groups, two, other)
    least = least_cost(costs, groups.box, groups.words, first + two, other, member if member >= 0 else p, p)
    of_two = (groups.rows[two] - more) * least
    if of_two - before >= allowed:
        return False
    member = another(groups, one, p)
    least = least_cost(costs, groups.box, groups.words, first + one, p, member if member >= 0 else other, other)
    return (groups.rows[one] + more) * least + of_two - before < allowed


@njit
def try_move(
    costs: Costs,
    crowd: Crowd,
    judges: Judges,
    groups: Groups,
    p: int,
    to: int,
    price: float,
    allowed: float,
    spare: int,
) -> float:
    """Move p to another group if that costs less than `allowed`; returns by how much loss and price fell.

    Box `spare` is that of p's group without p.
    """
    first = len(groups.of_person)
    own = as_int64(groups.of_person[p])
    before = cost_of(groups, own, groups.loss[own], groups.broken[own], price)
    old = cost_of(groups, to, groups.loss[to], groups.broken[to], price)
    widened = box_cost(costs, groups.box, groups.words, p, first + to)
    rows = crowd.rows[p]
    alone = groups.people[own] == 1
    left = 0.0
    if not alone:
        left = box_cost(costs, groups.box, groups.words, spare, spare)
    if (groups.rows[to] + rows) * widened + (groups.rows[own] - rows) * left - old - before >= allowed:
        return 0.0
    count(crowd, groups, own, p, -1)
    count(crowd, groups, to, p, 1)
    rise = cost_of(groups, own, left, 0.0, price) + cost_of(groups, to, widened, 0.0, price) - old - before
    worse = 0.0 if alone else broken(judges, groups, own, too_broken(groups, own, price, allowed - rise))
    rise += cost_of(groups, own, 0.0, worse, price)
    now = broken(judges, groups, to, too_broken(groups, to, price, allowed - rise)) if rise < allowed else 0.0
    rise += cost_of(groups, to, 0.0, now, price)
    if rise >= allowed or rise == 0.0:
        count(crowd, groups, to, p, -1)
        count(crowd, groups, own, p, 1)
        return 0.0
    unlink(groups, p)
    link(groups, to, p)
    if not alone:
        copy(groups, spare, first + own)
    join_box(groups, first + to, p)
    groups.loss[own], groups.loss[to] = left, widened
    groups.broken[own], groups.broken[to] = worse, now
    return -rise


@njit
def try_exchange(
    costs: Costs,
    crowd: Crowd,
    judges: Judges,
    groups: Groups,
    p: int,
    other: int,
    price: float,
    allowed: float,
    spare: int,
) -> float:
    """Let two people of different groups change places if that costs less than `allowed`; returns the fall.

    Box `spare` is that of p's group without p, the next one is free.
    """
    first = len(groups.of_person)
    one, two = as_int64(groups.of_person[p]), as_int64(groups.of_person[other])
    before = cost_of(groups, one, groups.loss[one], groups.broken[one], price)
    before += cost_of(groups, two, groups.loss[two], groups.broken[two], price)
    loss = box_cost(costs, groups.box, groups.words, spare, other)
    more = crowd.rows[other] - crowd.rows[p]
    of_one = (groups.rows[one] + more) * loss
    box_without(groups, other, spare + 1)
    other_loss = box_cost(costs, groups.box, groups.words, spare + 1, p)
    if of_one + (groups.rows[two] - more) * other_loss - before >= allowed:
        return 0.0
    swap_counts(crowd, groups, one, two, p, other)
    rise = cost_of(groups, one, loss, 0.0, price) + cost_of(groups, two, other_loss, 0.0, price) - before
    worse = broken(judges, groups, one, too_broken(groups, one, price, allowed - rise))
    rise += cost_of(groups, one, 0.0, worse, price)
    other_worse = broken(judges, groups, two, too_broken(groups, two, price, allowed - rise)) if rise < allowed else 0.0
    rise += cost_of(groups, two, 0.0, other_worse, price)
    if rise >= allowed or rise == 0.0:
        swap_counts(crowd, groups, one, two, other, p)
        return 0.0
    unlink(groups, p)
    unlink(groups, other)
    link(groups, two, p)
    link(groups, one, other)
    copy(groups, spare, first + one)
    join_box(groups, first + one, other)
    copy(groups, spare + 1, first + two)
    join_box(groups, first + two, p)
    groups.loss[one], groups.loss[two] = loss, other_loss
    groups.broken[one], groups.broken[two] = worse, other_worse
    return -rise


@njit
def another(groups: Groups, c: int, p: int) -> int:
    """A member of c other than its member p (-1: there is none)."""
    head = as_int64(groups.head[c])
    return head if head != p else as_int64(groups.after[p])


@njit
def swap_counts(crowd: Crowd, groups: Groups, one: int, two: int, gone: int, come: int) -> None:
    """Count `gone` in group `two` instead of `one`, and `come` the other way round."""
    count(crowd, groups, one, gone, -1)
    count(crowd, groups, two, gone, 1)
    count(crowd, groups, two, come, -1)
    count(crowd, groups, one, come, 1)
