"""Rows left out, and rows whose value was withheld, are a group that a reader can form, and are judged as one.

Where a manifest gives the input's counts, what is left when the released values are taken away are the values of the
rows without them: of the rows left out, and of those that a linked table marks as withheld. Every guarantee must hold
in that group, k included. It is compared with the input's distribution, which a reader needs to form it at all. Columns
that are judged together are compared one by one there, because no reader learns which values go together. Where a
person may have several rows, the people left out are judged as well.

A manifest that gives the released rows' counts tells nothing about the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyveil.arrays import IntArray
from polyveil.models import Attribute, ClassStatistics, JointAttribute, Model, TCloseness
from polyveil.models.statistics import Sparse
from polyveil.verification.claims import promise_finding
from polyveil.verification.findings import Finding, fails, holds, not_checked

WITHHELD = "withheld values"
"""The check that says which people no guarantee covers, where the publisher chose to withhold values one by one."""


def check_left_out(
    manifest: Mapping[str, Any],
    withheld_by_name: bool,
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    released: Mapping[str, IntArray],
) -> list[Finding]:
    """What a reader can tell of the rows left out; `withheld_by_name`: the policy asks to withhold single values."""
    suppressed = int(manifest["suppressed"])
    withheld = int(manifest["linked"]["rows_with_suppressed_values"]) if manifest["form"] != "generalized" else 0
    if not suppressed + withheld:
        return []
    if manifest.get("counts_of", "input") == "input":
        people = manifest["people"]["count"] - manifest["people"]["released"] if "people" in manifest else None
        findings = judge_left_out(models, attributes, released, people)
        words = f"the {suppressed + withheld} rows left out or with withheld values keep every guarantee as a group"
        return findings or [holds("rows left out", words)]
    if not withheld:
        return [holds("rows left out", f"nothing in the release tells the values of the {suppressed} rows left out")]
    if not withheld_by_name:
        return [fails(WITHHELD, f"{withheld} rows show that a value was withheld, which the policy does not ask for")]
    words = f"{withheld} rows show that a value was withheld, and why it was can tell much about it"
    return [not_checked(WITHHELD, f"{words}: no guarantee covers the withheld values of these people")]


def judge_left_out(
    models: Sequence[Model],
    attributes: Mapping[str, Attribute],
    released: Mapping[str, IntArray],
    people: int | None = None,
) -> list[Finding]:
    """The guarantees that do not hold in the group of rows left out; none if nobody was left out.

    `people` is how many these rows are about, where a person may have several. Then k counts people, and as many have a
    value as there are rows with it, but no more than all: a reader of the counts cannot rule that out.
    """
    rest = {
        name: about.whole - released[name]
        for name, about in attributes.items()
        if not isinstance(about, JointAttribute) and name in released
    }
    rest = {name: counts for name, counts in rest.items() if counts.any() and (counts >= 0).all()}
    findings = []
    for model in (model for model in models if model.per_group and not model.weighted):
        for one, name in _as_single(model, attributes):
            sizes = [int(counts.sum()) for key, counts in rest.items() if name in (None, key)]
            if not sizes:
                continue
            counts = None if name is None else rest[name]
            verdicts = [one.judge(_one_group(sizes, counts, name, attributes))]
            if people is not None and (name is None or one.unit == "having"):
                having = None if counts is None else np.minimum(counts, people)
                verdicts.append(one.judge(_one_group([people], having, name, attributes)))
            for verdict, of in zip(verdicts, ("rows", "people"), strict=False):
                if not verdict.holds:
                    finding = promise_finding(verdict, len(sizes))
                    findings.append(replace(finding, check=f"{finding.check} in the {of} left out"))
    return findings


def _as_single(model: Model, attributes: Mapping[str, Attribute]) -> list[tuple[Model, str | None]]:
    """The model and its attribute; several attributes together one by one, each with the threshold of all."""
    about = attributes.get(model.attribute or "")
    if not isinstance(about, JointAttribute):
        return [(model, model.attribute)]
    return [(TCloseness(model.threshold, part, attributes[part].ground.distance), part) for part in about.parts]


def _one_group(
    sizes: Sequence[int], counts: IntArray | None, name: str | None, attributes: Mapping[str, Attribute]
) -> ClassStatistics:
    if counts is None or name is None:
        return ClassStatistics(np.array(sizes, dtype=np.int64), {}, {})
    code = np.flatnonzero(counts).astype(np.int64)
    sparse = Sparse(np.array([0, len(code)], dtype=np.int64), code, counts[code])
    return ClassStatistics(np.array(sizes, dtype=np.int64), {name: attributes[name]}, {name: sparse})
