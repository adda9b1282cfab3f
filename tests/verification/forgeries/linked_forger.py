"""The forger of linked tables: restamps every view, what the manifest says of all tables together, and people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

from polyveil.models import models_for
from polyveil.policy import from_public
from polyveil.policy.linked import view_of
from polyveil.releases.manifest import claim_of, figures_in_people, privacy_summary
from polyveil.verification import generalized, loss, people, verify_tables
from polyveil.verification.attributes import declared_attributes
from polyveil.verification.files import read_manifest
from verification.forgeries.forger import Forger


class LinkedForger(Forger):
    """A copy of a release of linked tables, opened."""

    @property
    def views(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of every table."""
        found: dict[str, dict[str, Any]] = self.manifest["relational"]["tables"]
        return found

    def cells(self, name: str, tables: Any = None) -> pl.Series:
        table, column = name.split(".", 1)
        return (self.tables if tables is None else tables)[table][column]

    def recount(self) -> None:
        for name, about in self.views.items():
            about["rows"] += self.tables[name].height - self.before[name].height
        first = next(iter(self.views))
        self.manifest["rows"] = self.views[first]["rows"]
        self.manifest["classes"] = self.tables[first][self.manifest["relational"]["group"]].n_unique()
        for about in (*self.views.values(), self.manifest):
            if about["people"]["count"] == self.before[first].height:
                about["people"]["count"] = self.manifest["rows"]
        self.recount_domains()

    def restate(self) -> None:
        policy = from_public(self.manifest["policy"])
        for name, about in self.views.items():
            own = view_of(policy, name)
            described = {"sensitive": {each: self.manifest["sensitive"][each] for each in own.having("sensitive")}}
            declared = declared_attributes(described, own)
            models = models_for(own, {each: known.attribute for each, known in declared.items()})
            about["claims"] = [claim_of(model, 0.0, 0.0) for model in models]
            section = about["people"]
            figures = figures_in_people(0, 0, (0, 0.0, 0), models, [float("inf")] * len(models))
            about["people"] = {**section, "claims": figures["claims"]}
        self.manifest["method"]["name"] = policy.method.name
        self.manifest["method"]["parameters"] |= policy.method.options

    def recompute(self) -> None:
        with _measured() as (claims, losses, counted):
            verify_tables(self.manifest, self.tables)
        for number, (about, (models, statistics)) in enumerate(zip(self.views.values(), claims, strict=False)):
            for claim, model in zip(about["claims"], models, strict=False):
                values = model.measure_all(statistics)
                claim |= {"measured": float(values[model.worst(values)]), "mean": float(np.mean(values))}
            about["class_size"] = _sizes(statistics.sizes)
            about["privacy"] = privacy_summary(int(statistics.sizes.min()), about["claims"])
            about["loss"] |= losses[number]
            if counted:
                own = next(found for attributes, found in counted if attributes == list(statistics.attributes))
                measured = [model.judge(own).value for model in models]
                sizes = tuple(_sizes(own.people).values())
                figures = figures_in_people(about["people"]["count"], int(own.people.sum()), sizes, models, measured)  # type: ignore[arg-type]
                about["people"] = {**about["people"], **figures}
            elif number == 0:
                self._count_people(statistics.sizes)
        self._sum_up()

    def _count_people(self, sizes: Any) -> None:
        """Without keys, the table of people says how many there are in each group."""
        for about in self.views.values():
            section = about["people"]
            section |= {"released": int(sizes.sum()), "class_size": _sizes(sizes)}
            for claim in section["claims"]:
                if claim["attribute"] is None:
                    claim["measured"] = float(sizes.min())
            section["privacy"] = privacy_summary(int(sizes.min()), section["claims"])

    def _sum_up(self) -> None:
        """What the manifest says of all tables together."""
        first = next(iter(self.views.values()))
        self.manifest |= {key: first[key] for key in ("rows", "suppressed", "class_size", "loss")}
        every = list(self.views.values())
        for whole, parts in ((self.manifest, every), (self.manifest["people"], [about["people"] for about in every])):
            if whole is not self.manifest:
                whole |= {key: parts[0][key] for key in ("count", "released", "class_size")}
            known = {(c["model"], c["attribute"]): c for part in reversed(parts) for c in part["claims"]}
            former = [(c["model"], c["attribute"]) for c in whole["claims"]]
            order = [key for key in former if key in known] + [key for key in known if key not in former]
            whole["claims"] = [known[key] for key in order]
            merged: dict[str, Any] = {}
            for part in parts:
                for key, value in part["privacy"].items():
                    merged[key] = (
                        {**merged.get(key, {}), **value} if isinstance(value, dict) else merged.get(key, value)
                    )
            whole["privacy"] = merged


def forger_of(genuine: Path, place: Path) -> Forger:
    """The forger of a release's form."""
    return (LinkedForger if "relational" in read_manifest(genuine) else Forger)(genuine, place)


def _sizes(sizes: Any) -> dict[str, Any]:
    return {"min": int(sizes.min()), "mean": float(sizes.mean()), "max": int(sizes.max())}


@contextmanager
def _measured() -> Iterator[tuple[list[Any], list[dict[str, Any]], list[Any]]]:
    """The figures of every view, in the order of the tables, and those in people where there are keys."""
    claims: list[Any] = []
    losses: list[dict[str, Any]] = []
    in_people: list[Any] = []

    def note_claims(_: Any, models: Any, statistics: Any) -> list[Any]:
        claims.append((models, statistics))
        losses.append({})
        return []

    def note_loss(name: str, _: Any, measured: Any, check: str = "") -> list[Any]:
        losses[-1][name] = measured
        return []

    def note_people(_: Any, __: Any, statistics: Any, *, how: str) -> list[Any]:
        in_people.append((list(statistics.attributes), statistics))
        return []

    with (
        patch.object(generalized, "check_claims", note_claims),
        patch.object(loss, "compare_parts", note_loss),
        patch.object(people, "judge_people", note_people),
    ):
        yield claims, losses, in_people
