"""Random policies that are sound, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from polyveil.policy import Policy

AWKWARD = [
    "no", "yes", "on", "off", "y", "n", "true", "False", "null", "~", "", " ", "007", "1e3", "0x1F", "0o17", "12:30",
    "12:30:45", "2024-01-31", ".inf", "-.nan", "1_000", "<<", "=", "- a", "a: b", "a #b", "#a", "*", "&a", "!x", "%",
    "@a",
    "`", "[", "]", "{", "}", ",", "'", '"', "\\", "\t", "\n", "a\nb", "\x7f", "\x85", "\u2028", "\ufeff", "é", "日本",
    "😀",
    "<=50K", ">50K", "?", "N/A", "a;b", " lead", "trail ", "tree", "order", "mask", "csv", "date", "intervals",
]  # fmt: skip
texts = st.sampled_from(AWKWARD) | st.text(st.characters(codec="utf-8"), max_size=6)
shares = st.floats(0, 1, allow_nan=False, width=32).map(float)
positive = st.floats(1e-6, 1e6, allow_nan=False)
words = texts.map(lambda text: " ".join(text.split())).filter(lambda text: text and text.isprintable())
markers = st.lists(texts, max_size=3).map(tuple)


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """A nested tree in which every label stands once and none is the root's."""
    labels = draw(st.lists(texts.filter(lambda label: label != "*"), min_size=1, max_size=12, unique=True))

    def grow(names: list[str], depth: int) -> Any:
        if depth == 0 or draw(st.booleans()):
            return names
        cuts = sorted(draw(st.sets(st.integers(0, len(names) - 1), max_size=3)) | {0})
        groups = [names[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(names)], strict=True)]
        tree = {group[0]: grow(group[1:], depth - 1) if group[1:] else None for group in groups}
        return [tree] if draw(st.booleans()) else tree

    return grow(labels, 3)


@st.composite
def edges(draw: st.DrawFn) -> Any:
    numbers = draw(st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique=True).map(sorted))
    inner = draw(st.sets(st.sampled_from(numbers[1:-1]))) if len(numbers) > 2 else set()
    return [numbers, [numbers[0], *sorted(inner), numbers[-1]]]


equal_intervals = st.fixed_dictionaries(
    {"width": positive},
    optional={
        "levels": st.integers(1, 20),
        "fanout": st.integers(2, 100),
        "origin": st.floats(-1e6, 1e6, allow_nan=False),
    },
)
masks = st.fixed_dictionaries(
    {"mask": st.integers(1, 64)},
    optional={"side": st.sampled_from(["left", "right"]), "char": st.sampled_from("*#x·")},
)
orders = st.lists(texts, min_size=1, max_size=5, unique=True).map(lambda order: {"order": order})
date_parts = st.sampled_from(
    [["month"], ["month", "year"], ["quarter", "decade"], ["month", "quarter", "year", "decade"]]
)
tree_rules = st.builds(
    lambda tree, root: {"tree": tree, "root": root}, trees(), st.sampled_from(["*", "All of it"])
).filter(lambda rule: rule["root"] not in str(rule["tree"]))
rules = st.one_of(
    masks, orders, tree_rules, st.builds(lambda i: {"intervals": i}, equal_intervals | edges()),
    date_parts.map(lambda date: {"date": date}),
)  # fmt: skip
FITTING_TYPES = {"order": "ordinal", "intervals": "numeric", "date": "date"}


@st.composite
def columns(draw: st.DrawFn, role: str) -> dict[str, Any]:
    data: dict[str, Any] = {"role": role}
    if draw(st.booleans()):
        data["missing"] = draw(markers)
    if role in ("identifier", "insensitive"):
        return data
    rule = draw(st.none() | rules)
    fitting = FITTING_TYPES.get(next(iter(rule))) if rule else None
    if rule is not None:
        data["hierarchy"] = rule
    if draw(st.booleans()):
        data["type"] = fitting or draw(st.sampled_from(["numeric", "categorical", "date"]))
    if data.get("type") == "date" and draw(st.booleans()):
        data["date_format"] = draw(st.sampled_from(["%d.%m.%Y", "%Y: %m # %d"]))
    if role == "quasi":
        data |= draw(st.fixed_dictionaries({}, optional={"weight": positive}))
        if rule is None and draw(st.booleans()):
            data["recode"] = "set"
        return data
    data |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "t": shares,
                "distance": st.sampled_from(["equal", "hellinger", "kl", "js"]),
                "l": st.integers(1, 9) | st.just({0: 1, 1: 2, 2: 2, 7: 5}),
                "alpha": positive.map(lambda x: min(x, 1.0)),
                "beta": positive,
                "delta": positive,
            },
        )
    )
    if rule is None:
        values = draw(st.lists(texts, max_size=6, unique=True))
        data["levels"] = {2: values[:2], 0: values[2:4], 7: values[4:]}
    return data


privacies = st.fixed_dictionaries(
    {"k": st.integers(2, 10**6)},
    optional={"t": shares, "p": st.integers(2, 5), "alpha": st.just(0.5), "suppression_limit": shares},
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """A policy that loads."""
    names = draw(st.lists(texts, min_size=2, max_size=6, unique=True))
    roles = [
        "quasi",
        "sensitive",
        *(draw(st.sampled_from(["quasi", "sensitive", "identifier", "insensitive"])) for _ in names[2:]),
    ]
    data: dict[str, Any] = {
        "columns": {name: draw(columns(role)) for name, role in zip(names, roles, strict=True)},
        "privacy": draw(privacies),
        "method": {
            "name": draw(texts.filter(bool)),
            **draw(st.dictionaries(texts.filter(lambda k: k not in ("name", "refine")), plain, max_size=2)),
        },
        "missing": draw(markers),
        "about": draw(st.dictionaries(st.sampled_from(["title", "reasons"]), words, max_size=2)),
    }
    data["release"] = draw(
        st.fixed_dictionaries(
            {}, optional={"form": st.just("sliced"), "format": st.just("csv"), "numbers": st.just("mean")}
        )
    )
    sensitive = [name for name, role in zip(names, roles, strict=True) if role == "sensitive"]
    if len(sensitive) > 1 and draw(st.booleans()):
        data["privacy"]["joint"] = [{"columns": sensitive, "t": draw(shares)}]
    return Policy.from_dict(data)
