"""The columns of a release: sensitive ones before and after with their distances, quasi-identifiers as released."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from polyveil.arrays import FloatArray, IntArray
from polyveil.cells import day_at
from polyveil.models import Model
from polyveil.reports.axes import ticks
from polyveil.reports.bars import Bar, bars
from polyveil.reports.charts import Bin, histogram
from polyveil.reports.facts import Facts
from polyveil.reports.language import current, say, say_known
from polyveil.reports.markup import Markup, fixed, number, percent, tag
from polyveil.reports.released_cells import Spread, counted_cells, spread_of

SHOWN = 12
"""Categories shown by name; the others are one bar."""
DISTANCE_WORDS = {
    "ordered": "earth mover's distance over the ordered values",
    "hierarchical": "earth mover's distance over the hierarchy",
    "equal": "total variation",
    "hellinger": "Hellinger distance",
    "kl": "Kullback-Leibler divergence in bits",
    "js": "Jensen-Shannon divergence in bits",
}
NUMBERS_AS_BARS = 15
"""Up to this many different numbers are shown one by one."""


def sensitive(facts: Facts) -> list[Markup]:
    """One part per sensitive column."""
    distances = {model.attribute: (model, values, sizes) for model, values, sizes in facts.distances()}
    parts: list[Markup] = []
    for name in facts.declared:
        kind = facts.manifest["sensitive"][name]["kind"]
        parts.append(tag("h3", name, " ", tag("span", say_known(kind), class_="kind")))
        if name in distances:
            measure = facts.manifest["sensitive"][name]["distance"]
            parts.append(distance_chart(name, *distances[name], words=DISTANCE_WORDS[measure]))
        parts.append(_drawn(name, partial(before_after, facts, name)))
    return parts


def _drawn(name: str, draw: Callable[[], Markup]) -> Markup:
    """A chart, or a sentence if its numbers are too large for one: a report never stands in a release's way."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return draw()
    except (ArithmeticError, ValueError):
        return tag("p", say("There is no chart of {column}: its values are too far apart to be drawn.", column=name))


def distance_chart(name: str, model: Model, values: FloatArray, sizes: IntArray, *, words: str) -> Markup:
    """How far the classes are from the whole table, by the rows in them."""
    top = max(float(values.max(initial=0.0)), 1e-9)
    edges = np.linspace(0, top, 25)
    rows, _ = np.histogram(values, bins=edges, weights=sizes)
    shares = rows / max(int(sizes.sum()), 1)
    bins = [
        Bin(
            float(a),
            float(b),
            float(share),
            say("distance {low} to {high}: {share} of rows", low=fixed(a, 3), high=fixed(b, 3), share=percent(share)),
        )
        for a, b, share in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
    mean = math.fsum(values * sizes) / max(int(sizes.sum()), 1)
    return histogram(
        say("Distance of {column} in each group from the whole table", column=name),
        bins,
        x_label=say("{measure}; 0: the group looks like the whole table", measure=say(words)),
        note=say(
            "The farthest group is at {most}, rows are in groups at {mean} on average; the required limit is {limit}.",
            most=fixed(top, 3),
            mean=fixed(mean, 3),
            limit=number(model.threshold),
        ),
        limit=(model.threshold, say("limit {limit}", limit=number(model.threshold))),
        headers=(say("distance"), say("share of rows")),
    )


def before_after(facts: Facts, name: str) -> Markup:
    """The column in the input, as the manifest states it, and in the release."""
    before, after = facts.declared[name].attribute.whole, facts.released(name)
    labels = facts.labels(name)
    same = bool(np.array_equal(before, after))
    note = (
        say("Every value is published, so the distribution is that of the original.")
        if same
        else say("Some rows were left out, so the two differ.")
    )
    if facts.declared[name].kind == "numeric" and len(labels) > NUMBERS_AS_BARS:
        return _number_distribution(name, labels, before, after, note, same)
    order = (
        range(len(labels))
        if facts.declared[name].kind != "categorical"
        else sorted(range(len(labels)), key=lambda i: (-int(before[i]), labels[i]))
    )
    rows = [(labels[i], int(before[i]), int(after[i])) for i in order if before[i] or after[i]]
    return _category_bars(f"{say('Values of {column}', column=name)}. {note}", rows, same)


def _category_bars(caption: str, rows: Sequence[tuple[str, int, int]], same: bool) -> Markup:
    totals = sum(row[1] for row in rows) or 1, sum(row[2] for row in rows) or 1
    head, tail = (rows, []) if len(rows) <= SHOWN + 1 else (rows[:SHOWN], rows[SHOWN:])
    longest = max(max(before / totals[0], after / totals[1]) for _, before, after in head) or 1.0

    def bar(label: str, before: int, after: int, scale: float) -> Bar:
        pair = (after / totals[1],) if same else (before / totals[0], after / totals[1])
        return Bar(label, tuple(share * scale for share in pair), tuple(percent(share) for share in pair))

    shown = [bar(*row, 1 / longest) for row in head]
    if tail:
        # Not one value but many: a bar would outshine the values themselves.
        others = bar(
            say("{count} other values", count=number(len(tail))), sum(r[1] for r in tail), sum(r[2] for r in tail), 0.0
        )
        shown.append(Bar(others.label, (), others.figures))
    return bars(caption, [say("share")] if same else [say("input"), say("release")], shown, first=say("value"))


def _number_distribution(
    name: str, labels: Sequence[str], before: IntArray, after: IntArray, note: str, same: bool
) -> Markup:
    values = np.array([float(label) for label in labels if label != say("missing")])
    spread = Spread(values, values, after[: len(values)].astype(np.float64), 0)
    drawn = _bins(spread.bins(), None)
    missing = int(after[len(values) :].sum())
    share = percent(missing / max(int(after.sum()), 1))
    note += f" {say('{share} of rows have no value.', share=share)}" if missing else ""
    if not same:
        shift = _mean(values, after) - _mean(values, before)
        moved, mean = current().numbers(f"{shift:+.3g}"), number(_mean(values, after))
        note += f" {say('The mean moves by {shift} to {mean}.', shift=moved, mean=mean)}"
    return histogram(
        say("Values of {column}", column=name),
        drawn,
        x_label=name,
        note=note,
        headers=(say("value"), say("share of rows")),
    )


def _mean(values: FloatArray, counts: IntArray) -> float:
    return math.fsum(values * counts[: len(values)]) / max(int(counts[: len(values)].sum()), 1)


def _bins(found: Sequence[tuple[float, float, float]], day: Any) -> list[Bin]:
    whole = all(a % 1 == 0 and b % 1 == 0 for a, b, _ in found)
    write = day or number
    return [Bin(a, b, share, _bin_words(_span(a, b, whole, write), share)) for a, b, share in found]


def _bin_words(span: str, share: float) -> str:
    return say("{span}: {share} of rows", span=span, share=percent(share))


def _span(a: float, b: float, whole: bool, write: Any) -> str:
    if whole and b - a == 1:
        return str(write(a))
    return say("{low} to {high}", low=write(a), high=write(b - 1 if whole else b))


def quasi(facts: Facts) -> list[Markup]:
    """One part per quasi-identifier: what a reader of the release can still see of it."""
    parts: list[Markup] = []
    for name in facts.policy.having("quasi"):
        about = facts.manifest["quasi"][name]
        loss = facts.manifest["loss"]["by_attribute"].get(name, 0.0)
        cells = facts.quasi.get_column(name)
        parts.append(tag("h3", name, " ", tag("span", say_known(about["kind"]), class_="kind")))
        parts.append(_drawn(name, partial(_quasi_chart, name, cells, about, loss)))
    return parts


def _quasi_chart(name: str, cells: Any, about: Any, loss: float) -> Markup:
    spread = spread_of(cells, about)
    return _number_cells(name, spread, about, loss) if spread else _category_cells(name, cells, loss)


def _number_cells(name: str, spread: Spread, about: Any, loss: float) -> Markup:
    dates = about["kind"] == "date"
    bins = spread.bins()
    width = number(spread.median_width)
    wide = say("{count} days", count=width) if dates else width
    every = spread.rows.sum() + spread.unknown
    said = [
        say("{share} of rows have one exact value.", share=percent(spread.exact)),
        say("Half of the rows have a range of at most {width}.", width=wide),
        *([say("{share} of rows tell nothing.", share=percent(spread.unknown / every))] if spread.unknown else []),
        say("Detail lost: {share}.", share=percent(loss)),
    ]
    marks = [(t, day_at(t)) for t in ticks(bins[0][0], bins[-1][1], 6)] if dates else None
    return histogram(
        say("{column} as released", column=name),
        _bins(bins, day_at if dates else None),
        x_label=say("{column}; a row with a range is shared over the columns that its range covers", column=name),
        note=" ".join(said),
        x_ticks=marks,
        headers=(say("value"), say("share of rows")),
    )


def _category_cells(name: str, cells: Any, loss: float) -> Markup:
    found = counted_cells(cells)
    rows = [(say("anything (*)") if cell == "*" else cell, count, count) for cell, count in found]
    different = say("{column} as released: {count} different cells.", column=name, count=number(len(found)))
    caption = f"{different} {say('Detail lost: {share}.', share=percent(loss))}"
    return _category_bars(caption, rows, same=True)
