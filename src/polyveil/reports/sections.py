"""The sections of a release report, in the order a reader asks for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.measure import METRICS, measure_risk
from polyveil.models import MODELS, Model
from polyveil.policy.forms import sentence_of
from polyveil.reports import distributions
from polyveil.reports.axes import LEFT, LETTER, RIGHT, WIDTH
from polyveil.reports.bars import Bar, bars, meter
from polyveil.reports.charts import Bin, histogram
from polyveil.reports.facts import Facts, claims_in_people
from polyveil.reports.language import say, say_known
from polyveil.reports.markup import number, percent, table, tag
from polyveil.reports.page import Section


def promises(facts: Facts) -> Section:
    """What was asked, what was reached, and against whom it helps."""
    known = MODELS
    claims = claims_in_people(facts.manifest)
    method = facts.manifest["method"]
    title = say("Guarantees and how well they are met")
    words = say(
        "Made with the method {method}, as {form}.", method=method["name"], form=say_known(sentence_of(facts.form))
    )
    made = tag("p", words, class_="soft")
    if not claims:
        nothing = tag("p", say("The policy has no requirement. This release has no guarantee."))
        return Section("promises", title, (nothing, made))
    rows = [
        (
            say_known(claim["statement"]),
            f"{_sign(known.get(claim['model']))} {number(claim['threshold'])}".strip(),
            _reached(claim),
            meter(_used(claim, known.get(claim["model"]))),
        )
        for claim in claims
    ]
    meanings = {
        claim["model"]: (
            say_known(known[claim["model"]].title) if claim["model"] in known else claim["model"],
            say_known(claim["helps_against"]),
            say_known(claim["leaves_open"]),
        )
        for claim in claims
    }
    parts = (
        tag(
            "p",
            say(
                "Every guarantee holds in every group that a reader of the files can form. "
                "A group is a set of rows that look alike. "
                "The bar shows how much of the limit the weakest group uses."
            ),
        ),
        table(
            (say("guarantee"), say("required"), say("weakest group"), say("limit used")),
            rows,
            caption=say("Guarantees"),
            numbers=[1, 2],
        ),
        table(
            (say("guarantee"), say("protects against"), say("does not cover")),
            meanings.values(),
            caption=say("What each guarantee covers"),
        ),
        made,
    )
    return Section("promises", title, parts)


def _sign(model: type[Model] | None) -> str:
    return {"at least": "≥", "at most": "≤", "below": "<"}[model.direction] if model else ""


def _reached(claim: Mapping[str, Any]) -> str:
    return "–" if claim["measured"] is None else number(round(claim["measured"], 6))


def _used(claim: Mapping[str, Any], model: type[Model] | None) -> float:
    """The share of the limit that the worst class uses; 1 is right at the limit."""
    value, limit = claim["measured"], claim["threshold"]
    if value is None or model is None:
        return 1.0
    if model.direction == "at least":
        return float(limit / value) if value else 1.0
    return float(value / limit) if limit else 1.0


def loss(facts: Facts) -> Section:
    """Loss by attribute, then every measure with its direction."""
    found = facts.manifest["loss"]
    ordered = sorted(found["by_attribute"].items(), key=lambda item: -item[1])
    rows = [Bar(name, (value,), (percent(value),)) for name, value in ordered]
    measures = [
        (
            say_known(METRICS[name].title if name in METRICS else name.replace("_", " ")),
            number(round(value, 6)) if isinstance(value, float) else number(value),
            say("higher is better") if name in METRICS and METRICS[name].better == "higher" else say("lower is better"),
            say_known(METRICS[name].description) if name in METRICS else "",
        )
        for name, value in found.items()
        if isinstance(value, int | float)
    ]
    parts = [
        tag("p", say("0 % means that a column is published unchanged, 100 % that nothing of it is left.")),
        bars(say("Detail lost in each quasi-identifier, most first"), [say("detail lost")], rows, first=say("column")),
        tag(
            "details",
            tag("summary", say("All measures of detail lost")),
            table(
                (say("measure"), say("value"), say("direction"), say("what it is")),
                measures,
                caption=say("Measures of detail lost"),
                numbers=[1],
            ),
        ),
    ]
    return Section("loss", say("Detail lost"), tuple(parts))


def classes(facts: Facts) -> Section:
    """How many rows look alike, and how likely a row is found."""
    sizes = facts.statistics.sizes
    risk = measure_risk(sizes)
    what = (
        say("Sensitive values are hidden in groups; the larger the group, the better a person is hidden.")
        if facts.exact_quasi
        else say("Rows that look alike form a group; the larger the group, the better a person is hidden.")
    )
    k = facts.policy.privacy.least_group
    chart = histogram(
        say("Rows by the size of their group"),
        size_bins(sizes),
        x_label=say("rows in the group"),
        x_ticks=size_ticks(sizes),
        note=f"{what} {say('At least {k} are required.', k=number(k))}" if k > 1 else what,
        headers=(say("rows in the group"), say("share of rows")),
    )
    rows = [
        (
            say("prosecutor linkage"),
            say(
                "knows which group a person is in, because the person fits its quasi-identifiers; picks one of its rows"
            ),
            percent(risk.prosecutor.highest),
            percent(risk.prosecutor.average),
        ),
    ]
    found = table(
        (say("attack"), say("the attacker"), say("at most"), say("on average")),
        rows,
        caption=say("Chance of picking a person's sensitive values within a group")
        if facts.exact_quasi
        else say("Chance of identifying the right row"),
        numbers=[2, 3],
    )
    return Section("classes", say("How many look alike"), (chart, found))


def size_bins(sizes: IntArray) -> list[Bin]:
    """Rows by class size: one column per size while they are few, else columns that widen by a constant factor."""
    edges = _size_edges(sizes)
    rows, _ = np.histogram(sizes, bins=edges, weights=sizes)
    counts, _ = np.histogram(sizes, bins=edges)
    total = max(int(sizes.sum()), 1)
    return [
        Bin(
            float(i),
            float(i + 1),
            float(share) / total,
            _size_words(_sizes(a, b), int(count), percent(share / total)),
        )
        for i, (a, b, share, count) in enumerate(zip(edges[:-1], edges[1:], rows, counts, strict=True))
    ]


def _size_words(sizes: str, groups: int, share: str) -> str:
    if groups == 1:
        return say("{sizes} rows: 1 group, {share} of rows", sizes=sizes, share=share)
    return say("{sizes} rows: {groups} groups, {share} of rows", sizes=sizes, groups=number(groups), share=share)


def size_ticks(sizes: IntArray) -> list[tuple[float, str]]:
    """A text under every column, or under every second or third where they are many or the texts are long."""
    edges = _size_edges(sizes)
    texts = [_sizes(a, b) for a, b in pairwise(edges)]
    room = (WIDTH - LEFT - RIGHT) / LETTER
    step = max(1, math.ceil(len(texts) * (max(map(len, texts)) + 1) / room))
    return [(i + 0.5, texts[i]) for i in range(0, len(texts), step)]


def _size_edges(sizes: IntArray) -> IntArray:
    least, most = (int(sizes.min()), int(sizes.max())) if len(sizes) else (1, 1)
    if most - least < 24:
        return np.arange(least, most + 2)
    edges = [least]
    while edges[-1] <= most:
        edges.append(max(edges[-1] + 1, round(edges[-1] * 1.3)))
    return np.array(edges)


def _sizes(a: int, b: int) -> str:
    return number(int(a)) if b - a == 1 else f"{number(int(a))}–{number(int(b) - 1)}"


GUESSES = (
    "sensitive column",
    "right without the release",
    "right with it, on average",
    "highest certainty for any one person",
    "released people whose value is certain",
)


def guess_rows(facts: Facts) -> list[tuple[str, ...]]:
    """For each sensitive column what GUESSES names, as seen from the release alone."""
    rows: list[tuple[str, ...]] = []
    for name in facts.declared:
        block = facts.statistics.block(name)
        top, total = block.greatest(block.count), max(int(block.sizes.sum()), 1)
        certain = int(block.sizes[block.distinct == 1].sum())
        rows.append(
            (
                name,
                percent(float(block.attribute.whole_share.max(initial=0.0))),
                percent(float(top.sum()) / total),
                percent(float((top / block.sizes).max(initial=0.0))),
                percent(certain / total) if certain else say("nobody"),
            )
        )
    return rows


def guesses(facts: Facts) -> Section:
    """The simplest adversary: bets on the commonest value of the class. Seen from the release alone."""
    parts = (
        tag(
            "p",
            say(
                "Homogeneity: an attacker who knows which group a person is in guesses its most common value. "
                "Without the release, the same attacker guesses the most common value of the whole table."
            ),
        ),
        table(
            [say(header) for header in GUESSES],
            guess_rows(facts),
            caption=say("Guessing a sensitive value"),
            numbers=[1, 2, 3, 4],
        ),
    )
    return Section("guesses", say("What can still be guessed"), parts)


def sensitive(facts: Facts) -> Section:
    return Section("sensitive", say("The sensitive columns"), tuple(distributions.sensitive(facts)))


def quasi(facts: Facts) -> Section:
    note = (
        say("The quasi-identifiers are published unchanged.")
        if facts.exact_quasi
        else say("What a reader of the release can see. The original values are not published, so they are not shown.")
    )
    return Section("quasi", say("The quasi-identifiers as released"), (tag("p", note), *distributions.quasi(facts)))


def limits(facts: Facts) -> Section:
    """What no guarantee here covers, in plain words."""
    open_ends = list(dict.fromkeys(say_known(claim["leaves_open"]) for claim in facts.manifest["claims"]))
    insensitive, people = facts.policy.having("insensitive"), facts.manifest.get("people")
    unit = say("Each row is treated as one person. A person with several rows is protected less.")
    if people is not None:
        unit = say(
            "Guarantees count people as well as rows: {people} people, at least {least} in every group.",
            people=number(people["count"]),
            least=number(people["class_size"]["min"]),
        )
        if facts.policy.person is None:
            hidden = say("The files do not show whose rows belong together, so people cannot be counted from them.")
            unit = f"{unit} {hidden}"
    words = [
        *(f"{text[0].upper()}{text[1:]}." for text in open_ends if text),
        say(
            "A second release about the same people can be combined with this one. "
            "What both reveal together is not limited by these guarantees."
        ),
        unit,
        say(
            "What the whole table says about everybody, for example how common an illness is, is published on purpose."
        ),
    ]
    if facts.manifest["suppressed"]:
        words.append(
            say("Rows that were left out still count in the published totals of the input's sensitive values.")
        )
    if facts.policy.sampling_weight is not None:
        words.append(
            say(
                "{column} is the mean sampling weight of each group, in three digits, so that it tells no row from "
                "another. Guarantees other than t and a risk by weights count rows without it.",
                column=facts.policy.sampling_weight,
            )
        )
    if insensitive:
        named = ", ".join(insensitive)
        words.append(say("Insensitive columns are published unchanged: {columns}.", columns=named))
    return Section(
        "limits", say("What this does not cover"), (tag("ul", *(tag("li", text) for text in words), class_="plain"),)
    )


def check(facts: Facts) -> Section:
    """How a reader checks all of it."""
    frames = [(name, number(frame.height), ", ".join(frame.columns)) for name, frame in facts.published.items()]
    parts = (
        tag(
            "p",
            say("You do not have to trust this page:"),
            " ",
            tag("code", "polyveil verify"),
            " ",
            say("re-checks every guarantee and every figure from the published files."),
            " ",
            tag("code", "polyveil report"),
            " ",
            say("makes this page again."),
        ),
        table((say("table"), say("rows"), say("columns")), frames, caption=say("Published tables"), numbers=[1]),
    )
    return Section("check", say("Checking it yourself"), parts)
