"""What a row must lose whatever its class, once rows have prices: the least of box - mean price around it.

A class has between k and 2k - 1 rows here: a larger one could be split, which costs no more. `least_reduced` searches
around each tuple, branch and bound. Its root is the bound by pairs: a box around the tuple costs at least as much as
the pair of the tuple and any other row of the box, so with the others sorted by that cost, a box of cost c holds only
those up to c, and the best class of it has the greatest prices among these. A branch fixes how far the box reaches
along one axis (a number has two, below and above; a hierarchy or a set one); what is left of each cost then bounds the
other axes. A search that runs out of steps counts what its open branches cost at least: the result is never too great.

Prices reward rows that nobody needs and punish those that everybody wants as partners; see `polyveil.bounds.prices`.
"""

from __future__ import annotations

import numpy as np

from polyveil.arrays import Codes, FloatArray, IntArray
from polyveil.bounds.branches import count_axes, measure_axes, next_reach, sort_by, within_reach
from polyveil.methods.kernels import njit

TIED = 1e-12


@njit
def relaxed(
    fixed: float,
    count: int,
    alive: Codes,
    rest: FloatArray,
    price: FloatArray,
    copies: IntArray,
    own: float,
    k: int,
    stop: float,
    top: FloatArray,
    top_of: Codes,
    best_of: Codes,
    size: IntArray,
) -> float:
    """The least of `fixed` + rest - mean price over the best rows up to each rest; `alive` is sorted by rest.

    `best_of` gets the candidates of that class and size[0] its rows, the tuple's own row included.
    """
    held, best = 0, stop
    for i in range(count):
        c = alive[i]
        for _ in range(min(copies[c], 2 * k - 2)):
            place = held
            if held == 2 * k - 2:
                if price[c] <= top[held - 1]:
                    break
                place -= 1
            else:
                held += 1
            while place > 0 and top[place - 1] < price[c]:
                top[place], top_of[place] = top[place - 1], top_of[place - 1]
                place -= 1
            top[place], top_of[place] = price[c], c
        if held < k - 1:
            continue
        total = own
        for j in range(k - 1):
            total += top[j]
        rows = k
        while rows - 1 < held and top[rows - 1] * rows > total:
            total += top[rows - 1]
            rows += 1
        value = fixed + rest[c] - total / rows
        if value < best:
            best = value
            size[0] = rows
            for j in range(rows - 1):
                best_of[j] = top_of[j]
    return best


@njit
def least_reduced(
    shape: IntArray,
    cost: FloatArray,
    codes: Codes,
    counts: IntArray,
    prices: FloatArray,
    floor: FloatArray,
    near: Codes,
    liked: Codes,
    beyond: FloatArray,
    margin: FloatArray,
    k: int,
    steps: int,
    begin: int,
    value: FloatArray,
    demand: FloatArray,
) -> None:
    """Fill `value`, from tuple `begin` on, with a bound of cost less mean price of any class around the tuple.

    Candidates are the tuples in `near` and `liked` (-1: none). A pair with any other costs at least `beyond` of the
    tuple, and at least that other's price plus `margin`. Whatever its box, a class costs at least the `floor` of
    each of its tuples. `demand` counts how many rows of each tuple the best classes found take.
    """
    width, listed = codes.shape[1], near.shape[1]
    axes = count_axes(shape)
    most = listed + liked.shape[1] + 2
    of, copies = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64)
    price, ahead, far = np.empty(most), np.empty(most), np.empty((most, axes))
    least, due = np.empty(most), np.empty(most)
    alive, rest = np.empty((axes + 1, most), dtype=np.int32), np.empty((axes + 1, most))
    held = np.empty(axes + 1, dtype=np.int64)
    fixed, reach = np.empty(axes + 1), np.empty(axes + 1)
    top, top_of = np.empty(2 * k), np.empty(2 * k, dtype=np.int32)
    chosen, size = np.empty(2 * k, dtype=np.int32), np.empty(1, dtype=np.int64)
    members = np.empty(2 * k, dtype=np.int32)
    is_near = np.zeros(len(codes), dtype=np.uint8)
    for line in range(len(value)):
        r = begin + line
        own, found = prices[r], 0
        of[0], copies[0], price[0], rest[0, 0], found = r, counts[r] - 1, own, 0.0, 1
        least[0] = floor[r]
        is_near[r] = 1
        for i in range(listed + liked.shape[1]):
            j = near[line, i] if i < listed else liked[line, i - listed]
            if j >= 0 and is_near[j] == 0:
                is_near[j] = 1
                total = 0.0
                for a in range(width):
                    total += cost[shape[a, 2] + codes[r, a] * shape[a, 1] + codes[j, a]]
                of[found], copies[found], price[found], rest[0, found] = j, counts[j], prices[j], total
                least[found] = max(floor[j], floor[r])
                found += 1
        for i in range(found):
            is_near[of[i]] = 0
            alive[0, i] = i
        highest = own
        for i in range(found):
            highest = max(highest, price[i])
            due[i] = max(rest[0, i], least[i])
        sort_by(found, alive[0], due)
        best, taken = np.inf, 0
        if beyond[line] < np.inf:
            # A class with a row that is not listed costs at least `beyond`, and no less than each of its pairs.
            for i in range(found):
                rest[1, i] = 0.0
                alive[1, i] = i
                ahead[i] = price[i] - max(due[i], beyond[line])
            rest[1, found], alive[1, found], copies[found] = 0.0, found, 2 * k
            ahead[found] = -margin[line]
            alone = own - max(beyond[line], floor[r])
            best = relaxed(
                0.0, found + 1, alive[1], rest[1], ahead, copies, alone, k, np.inf, top, top_of, chosen, size
            )
        root = relaxed(0.0, found, alive[0], due, price, copies, own, k, best, top, top_of, chosen, size)
        if steps == 0 or root >= best - TIED:
            if root < best:
                best, taken = root, size[0]
                for j in range(taken - 1):
                    members[j] = of[chosen[j]]
        else:
            measure_axes(shape, cost, codes, r, of, found, far)
            # The true cost of the box around the class found by pairs is there to be beaten.
            real, mean = 0.0, own
            for axis in range(axes):
                reached = 0.0
                for j in range(size[0] - 1):
                    reached = max(reached, far[chosen[j], axis])
                real += reached
            real = max(real, floor[r])
            for j in range(size[0] - 1):
                mean += price[chosen[j]]
                real = max(real, least[chosen[j]])
            if real - mean / size[0] < best:
                best, taken = real - mean / size[0], size[0]
                for j in range(taken - 1):
                    members[j] = of[chosen[j]]
            level, visited = 0, 0
            held[0], fixed[0], reach[0] = found, 0.0, -1.0
            while level >= 0:
                further = next_reach(shape, level, held, alive, far, reach)
                if further == np.inf or fixed[level] + further - highest >= best - TIED:
                    level -= 1
                    continue
                reach[level] = further
                kept = within_reach(shape, level, held, alive, rest, far, reach)
                spent = fixed[level] + further
                for i in range(kept):
                    c = alive[level + 1, i]
                    due[c] = max(rest[level + 1, c], least[c] - spent)
                sort_by(kept, alive[level + 1], due)
                bound = relaxed(
                    spent,
                    kept,
                    alive[level + 1],
                    due,
                    price,
                    copies,
                    own,
                    k,
                    best - TIED,
                    top,
                    top_of,
                    chosen,
                    size,
                )
                if bound >= best - TIED:
                    continue
                visited += 1
                if level + 1 == axes or visited > steps:
                    best, taken = bound, size[0]
                    for j in range(taken - 1):
                        members[j] = of[chosen[j]]
                else:
                    level += 1
                    held[level], fixed[level], reach[level] = kept, spent, -1.0
        value[line] = best
        if taken > 0:
            share = counts[r] / taken
            demand[r] += share
            for j in range(taken - 1):
                demand[members[j]] += share
        else:
            demand[r] += counts[r]
