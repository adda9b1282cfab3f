"""The sections of a release report, in the order a reader asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.measure import METRICS, measure_risk
from polyveil.models import MODELS, Model
from polyveil.policy.forms import sentence_of
from polyveil.policy.schema import About
from polyveil.reports import distributions
from polyveil.reports.bars import Bar, bars, meter
from polyveil.reports.charts import Bin, histogram
from polyveil.reports.facts import Facts, claims_in_people
from polyveil.reports.markup import Markup, number, percent, table, tag
from polyveil.reports.page import Section


def lead(facts: Facts, *, with_original: bool = False) -> Markup:
    """The release in three sentences, and its key figures; `with_original` says that parts of the page need more."""
    manifest = facts.manifest
    rows = manifest["rows"] - manifest["suppressed"]
    least = manifest["class_size"]["min"]
    alike = (
        f"The sensitive values of every person are hidden among those of at least {number(least)} rows."
        if facts.exact_quasi
        else f"Every row has the same quasi-identifiers as at least {number(least - 1)} others."
    )
    people = manifest.get("people")
    about = "people" if people is None else f"{number(people['released'])} people"
    if people is not None:
        alike += f" Every group has at least {number(people['class_size']['min'])} people, with all their rows."
    text = (
        f"{number(rows)} rows about {about}, published as {sentence_of(facts.form)}. {alike} "
        "This page shows the guarantees, how well they are met, how much detail was lost, and what is not covered. "
        + (
            "It is made from the published files and, in the parts that say so, from the original table. "
            "Do not publish it."
            if with_original
            else "It is made from the published files only."
        )
    )
    loss = manifest["loss"]
    cards = [
        ("rows released", number(rows), f"of {number(manifest['rows'])}, {number(manifest['suppressed'])} left out"),
        (
            "groups",
            number(manifest["classes"]),
            f"{manifest['class_size']['mean']:.1f} rows on average",
        ),
        _smallest(manifest),
        ("detail lost", percent(loss["normalized_loss"]), "of the quasi-identifiers, on average"),
    ]
    shown = [
        tag("div", tag("dt", name), tag("dd", tag("span", value, class_="big"), tag("span", note, class_="note")))
        for name, value, note in cards
    ]
    return Markup(tag("p", text, class_="lead") + tag("dl", *shown, class_="cards"))


def about(words: About) -> list[Section]:
    """What the publisher says of the release; nothing if nothing is said."""
    titles = {
        "purpose": "purpose",
        "controller": "published by",
        "recipients": "for",
        "reasons": "why these guarantees",
        "contact": "questions to",
        "date": "approved",
    }
    said = [(title, text) for key, title in titles.items() if (text := getattr(words, key)) is not None]
    if not said:
        return []
    shown = tag("dl", *(tag("div", tag("dt", title), tag("dd", text)) for title, text in said), class_="facts")
    note = tag("p", "These are the publisher's own words. No check confirms them.", class_="soft")
    return [Section("about", "About this release", (shown, note))]


def approval(words: About) -> list[Section]:
    """Room for a signature, where the policy says who answers for the release."""
    if words.controller is None:
        return []
    lines = [tag("div", tag("dt", name), tag("dd", "")) for name in ("name", "role", "date", "signature")]
    ask = f"For {words.controller}: I have read this report, and I agree that the release is given to its recipients."
    return [Section("approval", "Approval", (tag("p", ask), tag("dl", *lines, class_="facts sign")))]


def _smallest(manifest: Mapping[str, Any]) -> tuple[str, str, str]:
    """The smallest group, in people where they are counted."""
    unit, counted = ("people", manifest["people"]) if "people" in manifest else ("rows", manifest)
    sizes = counted["class_size"]
    return "smallest", f"{number(sizes['min'])} {unit}", f"largest {number(sizes['max'])}"


def promises(facts: Facts) -> Section:
    """What was asked, what was reached, and against whom it helps."""
    known = MODELS
    claims = claims_in_people(facts.manifest)
    method = facts.manifest["method"]
    made = tag("p", f"Made with the method {method['name']}.", class_="soft")
    if not claims:
        nothing = tag("p", "The policy has no requirement. This release has no guarantee.")
        return Section("promises", "Guarantees and how well they are met", (nothing, made))
    rows = [
        (
            claim["statement"],
            f"{_sign(known.get(claim['model']))} {number(claim['threshold'])}".strip(),
            _reached(claim),
            meter(_used(claim, known.get(claim["model"]))),
        )
        for claim in claims
    ]
    meanings = {
        claim["model"]: (
            known[claim["model"]].title if claim["model"] in known else claim["model"],
            claim["helps_against"],
            claim["leaves_open"],
        )
        for claim in claims
    }
    parts = (
        tag(
            "p",
            "Every guarantee holds in every group that a reader of the files can form. "
            "A group is a set of rows that look alike. "
            "The bar shows how much of the limit the weakest group uses.",
        ),
        table(("guarantee", "required", "weakest group", "limit used"), rows, caption="Guarantees", numbers=[1, 2]),
        table(
            ("guarantee", "protects against", "does not cover"), meanings.values(), caption="What each guarantee covers"
        ),
        made,
    )
    return Section("promises", "Guarantees and how well they are met", parts)


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
            METRICS[name].title if name in METRICS else name.replace("_", " "),
            number(round(value, 6)) if isinstance(value, float) else number(value),
            f"{METRICS[name].better} is better" if name in METRICS else "lower is better",
            METRICS[name].description if name in METRICS else "",
        )
        for name, value in found.items()
        if isinstance(value, int | float)
    ]
    parts = [
        tag("p", "0 % means that a column is published unchanged, 100 % that nothing of it is left."),
        bars("Detail lost in each quasi-identifier, most first", ["detail lost"], rows, first="column"),
        tag(
            "details",
            tag("summary", "All measures of detail lost"),
            table(
                ("measure", "value", "direction", "what it is"),
                measures,
                caption="Measures of detail lost",
                numbers=[1],
            ),
        ),
    ]
    return Section("loss", "Detail lost", tuple(parts))


def classes(facts: Facts) -> Section:
    """How many rows look alike, and how likely a row is found."""
    sizes = facts.statistics.sizes
    risk = measure_risk(sizes)
    what = "Sensitive values are hidden in groups" if facts.exact_quasi else "Rows that look alike form a group"
    k = facts.policy.privacy.least_group
    chart = histogram(
        "Rows by the size of their group",
        size_bins(sizes),
        x_label="rows in the group",
        x_ticks=size_ticks(sizes),
        note=f"{what}; the larger the group, the better a person is hidden."
        + (f" At least {k} are required." if k > 1 else ""),
        headers=("rows in the group", "share of rows"),
    )
    rows = [
        (
            "prosecutor linkage",
            "knows which group a person is in, because the person fits its quasi-identifiers; picks one of its rows",
            percent(risk.prosecutor.highest),
            percent(risk.prosecutor.average),
        ),
    ]
    found = table(
        ("attack", "the attacker", "at most", "on average"),
        rows,
        caption="Chance of identifying the right row"
        if not facts.exact_quasi
        else "Chance of picking a person's sensitive values within a group",
        numbers=[2, 3],
    )
    return Section("classes", "How many look alike", (chart, found))


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
            f"{_sizes(a, b)} rows: {number(int(count))} {'groups' if count != 1 else 'group'}, "
            f"{percent(share / total)} of rows",
        )
        for i, (a, b, share, count) in enumerate(zip(edges[:-1], edges[1:], rows, counts, strict=True))
    ]


def size_ticks(sizes: IntArray) -> list[tuple[float, str]]:
    """A text under every column, or under every second or third where they are many."""
    edges = _size_edges(sizes)
    step = max(1, -(-(len(edges) - 1) // 14))
    return [(i + 0.5, _sizes(edges[i], edges[i + 1])) for i in range(0, len(edges) - 1, step)]


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
                percent(certain / total) if certain else "nobody",
            )
        )
    return rows


def guesses(facts: Facts) -> Section:
    """The simplest adversary: bets on the commonest value of the class. Seen from the release alone."""
    parts = (
        tag(
            "p",
            "Homogeneity: an attacker who knows which group a person is in guesses its most common value. "
            "Without the release, the same attacker guesses the most common value of the whole table.",
        ),
        table(GUESSES, guess_rows(facts), caption="Guessing a sensitive value", numbers=[1, 2, 3, 4]),
    )
    return Section("guesses", "What can still be guessed", parts)


def sensitive(facts: Facts) -> Section:
    return Section("sensitive", "The sensitive columns", tuple(distributions.sensitive(facts)))


def quasi(facts: Facts) -> Section:
    note = (
        "The quasi-identifiers are published unchanged."
        if facts.exact_quasi
        else "What a reader of the release can see. The original values are not published, so they are not shown."
    )
    return Section("quasi", "The quasi-identifiers as released", (tag("p", note), *distributions.quasi(facts)))


def limits(facts: Facts) -> Section:
    """What no guarantee here covers, in plain words."""
    open_ends = list(dict.fromkeys(claim["leaves_open"] for claim in facts.manifest["claims"]))
    insensitive, people = facts.policy.having("insensitive"), facts.manifest.get("people")
    unit = "Each row is treated as one person. A person with several rows is protected less."
    if people is not None:
        unit = (
            f"Guarantees count people as well as rows: {number(people['count'])} people, at least "
            f"{number(people['class_size']['min'])} in every group."
        )
        if facts.policy.person is None:
            unit += " The files do not show whose rows belong together, so people cannot be counted from them."
    words = [
        *(f"{text[0].upper()}{text[1:]}." for text in open_ends if text),
        "A second release about the same people can be combined with this one. "
        "What both reveal together is not limited by these guarantees.",
        unit,
        "What the whole table says about everybody, for example how common an illness is, is published on purpose.",
    ]
    if facts.manifest["suppressed"]:
        words.append("Rows that were left out still count in the published totals of the input's sensitive values.")
    if insensitive:
        words.append(f"Insensitive columns are published unchanged: {', '.join(insensitive)}.")
    return Section(
        "limits", "What this does not cover", (tag("ul", *(tag("li", text) for text in words), class_="plain"),)
    )


def check(facts: Facts) -> Section:
    """How a reader checks all of it."""
    frames = [(name, number(frame.height), ", ".join(frame.columns)) for name, frame in facts.published.items()]
    parts = (
        tag(
            "p",
            "You do not have to trust this page: ",
            tag("code", "polyveil verify"),
            " re-checks every guarantee and every figure from the published files. ",
            tag("code", "polyveil report"),
            " makes this page again.",
        ),
        table(("table", "rows", "columns"), frames, caption="Published tables", numbers=[1]),
    )
    return Section("check", "Checking it yourself", parts)
