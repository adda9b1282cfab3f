"""The first page of a report, for people who decide and do not know the field: read in two minutes.

Every term is explained in the sentence that uses it first; a test computes how easy the page is to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyveil.measure import measure_risk
from polyveil.policy.schema import About
from polyveil.reports.facts import Facts, claims_in_people
from polyveil.reports.language import say
from polyveil.reports.markup import Markup, fixed, number, percent, tag
from polyveil.reports.page import Section


def lead(facts: Facts, *, with_original: bool = False) -> Markup:
    """What the page is, and the key figures; `with_original` says that parts of the page need more than the release."""
    manifest = facts.manifest
    rows = manifest["rows"] - manifest["suppressed"]
    source = (
        say(
            "It is made from the published files and, in the parts that say so, from the original table. "
            "Do not publish it."
        )
        if with_original
        else say("It is made from the published files only.")
    )
    text = say("This page tells you what is published, how people are protected, and what is not covered.")
    cards = [
        (
            say("rows released"),
            number(rows),
            say("of {rows}, {left} left out", rows=number(manifest["rows"]), left=number(manifest["suppressed"])),
        ),
        (
            say("groups of rows that look alike"),
            number(manifest["classes"]),
            say("{mean} rows on average", mean=fixed(manifest["class_size"]["mean"], 1)),
        ),
        _smallest(manifest),
        (
            say("detail lost"),
            percent(manifest["loss"]["normalized_loss"]),
            say("0 % is unchanged, 100 % is nothing left"),
        ),
    ]
    shown = [
        tag("div", tag("dt", name), tag("dd", tag("span", value, class_="big"), tag("span", note, class_="note")))
        for name, value, note in cards
    ]
    return Markup(tag("p", f"{text} {source}", class_="lead") + tag("dl", *shown, class_="cards"))


def _smallest(manifest: Mapping[str, Any]) -> tuple[str, str, str]:
    """The smallest group, in people where they are counted."""
    counted = manifest.get("people", manifest)
    sizes = counted["class_size"]
    least = number(sizes["min"])
    unit = say("{count} people", count=least) if "people" in manifest else say("{count} rows", count=least)
    return say("smallest group"), unit, say("largest {count}", count=number(sizes["max"]))


def summary(facts: Facts) -> Section:
    """The release in questions and answers."""
    answers = (
        (say("What is published?"), _published(facts)),
        (say("How are people protected?"), _protected(facts)),
        (say("Is that what was required?"), _required(facts)),
        (say("What does it cost?"), _cost(facts)),
        (say("What can still happen?"), _open(facts)),
        (say("How can I be sure?"), _sure()),
    )
    shown = [tag("div", tag("dt", question), tag("dd", " ".join(said))) for question, said in answers]
    return Section("summary", say("In two minutes"), (tag("dl", *shown, class_="facts"),))


def _published(facts: Facts) -> list[str]:
    manifest = facts.manifest
    rows, people = number(manifest["rows"] - manifest["suppressed"]), manifest.get("people")
    about = (
        say("{rows} rows. Each row is about one person.", rows=rows)
        if people is None
        else say("{rows} rows about {people} people.", rows=rows, people=number(people["released"]))
    )
    several = len(facts.published)
    tables = (
        say("They are in one table.") if several == 1 else say("They are in {count} tables.", count=number(several))
    )
    left = manifest["suppressed"]
    return [about, tables, *([say("{count} rows are left out.", count=number(left))] if left else [])]


def _protected(facts: Facts) -> list[str]:
    manifest, policy = facts.manifest, facts.policy
    least = manifest["class_size"]["min"]
    said = [
        say("Some columns can point to a person if someone puts them together. They are called quasi-identifiers."),
        say("Here they are {columns}.", columns=", ".join(policy.having("quasi"))),
    ]
    if facts.exact_quasi:
        return [
            *said,
            say("They are published as they are."),
            say("What must stay private is in another table. It is linked to several rows at once, called a group."),
            say("The smallest group has {count} rows.", count=number(least)),
        ]
    others = number(least - 1)
    return [
        *said,
        say("They were made less exact, until each row looks the same as at least {count} others.", count=others),
        say("Rows that look the same are called a group."),
    ]


def _required(facts: Facts) -> list[str]:
    sensitive = facts.policy.having("sensitive")
    said = (
        [say("These columns must stay private: {columns}. They are called sensitive.", columns=", ".join(sensitive))]
        if sensitive
        else []
    )
    count = len(claims_in_people(facts.manifest))
    if not count:
        return [*said, say("The publisher set no requirement. Nothing is guaranteed.")]
    met = (
        say("The publisher set one requirement. It is met.")
        if count == 1
        else say("The publisher set {count} requirements. All of them are met.", count=number(count))
    )
    return [*said, met, say("A requirement that is met is called a guarantee. They are listed below.")]


def _cost(facts: Facts) -> list[str]:
    lost = facts.manifest["loss"]["normalized_loss"]
    return [
        say("The quasi-identifiers lost {share} of their detail.", share=percent(lost)),
        say("At 0 % they would be unchanged. At 100 % nothing of them would be left."),
    ]


def _open(facts: Facts) -> list[str]:
    risk = measure_risk(facts.statistics.sizes).prosecutor.highest
    who = say("Someone may know that a person is in the table, and what the quasi-identifiers say about them.")
    if facts.exact_quasi:
        found = say("They can find the group of the person. In it, each row is equally likely to be the right one.")
    elif "people" in facts.manifest:  # in a group of n people with more rows than that, 1 / rows would be too low
        risk = 1.0 / facts.manifest["people"]["class_size"]["min"]
        found = say("The chance to name the right person is then at most {share}.", share=percent(risk))
    else:
        found = say("The chance to pick the right row is then at most {share}.", share=percent(risk))
    return [who, found, say('No guarantee covers everything. See "What this does not cover".')]


def _sure() -> list[str]:
    return [say("A program checks every guarantee and every figure again, from the published files.")]


def about(words: About) -> list[Section]:
    """What the publisher says of the release; nothing if nothing is said."""
    titles = {
        "purpose": say("purpose"),
        "controller": say("published by"),
        "recipients": say("for"),
        "reasons": say("why these guarantees"),
        "contact": say("questions to"),
        "date": say("approved"),
    }
    said = [(title, text) for key, title in titles.items() if (text := getattr(words, key)) is not None]
    if not said:
        return []
    shown = tag("dl", *(tag("div", tag("dt", title), tag("dd", text)) for title, text in said), class_="facts")
    note = tag("p", say("These are the publisher's own words. No check confirms them."), class_="soft")
    return [Section("about", say("About this release"), (shown, note))]


def approval(words: About) -> list[Section]:
    """Room for a signature, where the policy says who answers for the release."""
    if words.controller is None:
        return []
    names = (say("name"), say("role"), say("date"), say("signature"))
    lines = [tag("div", tag("dt", name), tag("dd", "")) for name in names]
    ask = say(
        "For {name}: I have read this report, and I agree that the release is given to its recipients.",
        name=words.controller,
    )
    return [Section("approval", say("Approval"), (tag("p", ask), tag("dl", *lines, class_="facts sign")))]
