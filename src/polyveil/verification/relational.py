"""Verifying linked tables: what a reader gets by joining them, table by table.

Groups are numbers that all tables share. A view of a table is its rows with the quasi-identifier cells of all tables
joined to them by group: a release of one table, and checked as one. Before that, the tables must agree on the groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import BoolArray, IntArray
from polyveil.models import ClassStatistics, Verdict, from_classes, models_for
from polyveil.policy import Policy, from_public, public
from polyveil.policy.linked import plain_name, table_of, view_of
from polyveil.verification.attributes import declared_attributes
from polyveil.verification.claims import judge_promises, promise_name
from polyveil.verification.classes import class_of_row
from polyveil.verification.findings import Finding, Verification, fails, holds
from polyveil.verification.generalized import sensitive_codes, verify_generalized
from polyveil.verification.joint import with_joint
from polyveil.verification.orders import stand_alike
from polyveil.verification.people import PER_GROUP, counted

OF_VIEW = ("rows", "suppressed", "class_size", "privacy", "claims", "loss", "counts_of", "people")
"""What the manifest says of every table."""


@dataclass(frozen=True, eq=False)
class View:
    """A table with the quasi-identifiers of all tables, as a release of its own (a manifest, and a table)."""

    manifest: Mapping[str, Any]
    frames: Mapping[str, pl.DataFrame]
    groups: IntArray
    absent: BoolArray
    """Rows without any value."""

    @property
    def frame(self) -> pl.DataFrame:
        """The rows."""
        return self.frames["table"]


def views_of(
    manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], policy: Policy | None = None
) -> dict[str, View]:
    """Every table joined with the cells of the others; `policy` has other guarantees than the manifest's own."""
    policy = policy or from_public(manifest["policy"])
    group = manifest["relational"]["group"]
    named = qualified(manifest, tables)
    cells = {name: _cells(frame, policy, group, name) for name, frame in named.items()}
    views = {}
    for name, frame in named.items():
        absent = _absent(frame, policy, group)
        frame = frame.drop(cells[name].columns[1:])
        for found in cells.values():
            frame = frame.join(found, on=group, how="left", maintain_order="left")
        own = view_of(policy, name)
        about = manifest["relational"]["tables"][name]
        stated = {**public(own), "identifiers": manifest["policy"].get("identifiers", 0), "unit": "person"}
        described = {
            **{key: value for key, value in manifest.items() if key not in ("relational", "files", "tables")},
            **about,
            "form": "generalized",
            "policy": stated,
            "sensitive": {column: manifest["sensitive"][column] for column in own.having("sensitive")},
        }
        if "tables" in manifest:
            described["tables"] = manifest["tables"]  # a database keeps no order of rows
        groups = frame.get_column(group).cast(pl.Int64).to_numpy()
        views[name] = View(described, {"table": frame.select(list(own.columns))}, groups, absent.to_numpy())
    return views


def _absent(frame: pl.DataFrame, policy: Policy, group: str) -> pl.Series:
    """Rows without any value stand for people of whom a table knows nothing."""
    names = [c for c in frame.columns if c != group and policy.columns[c].role != "person"]
    if not names:
        return pl.Series([False] * frame.height, dtype=pl.Boolean)
    return frame.select(pl.all_horizontal(pl.col(name).is_null() for name in names)).to_series()


def qualified(manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables with columns called table.column, as the policy calls them."""
    group = manifest["relational"]["group"]
    return {
        name: tables[name].rename({column: f"{name}.{column}" for column in tables[name].columns if column != group})
        for name in manifest["relational"]["tables"]
        if name in tables
    }


def _cells(frame: pl.DataFrame, policy: Policy, group: str, table: str) -> pl.DataFrame:
    """The cells of every group in one table: those of its rows with values, if it has any."""
    names = [name for name in policy.having("quasi") if table_of(name) == table]
    some = frame.filter(~_absent(frame, policy, group)).select(group, *names).unique()
    none = frame.select(group, *names).filter(~pl.col(group).is_in(some.get_column(group).to_list())).unique()
    return pl.concat([some, none]).sort(group)


def verify_relational(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> Verification:
    """The tables agree on the groups; every view keeps the guarantees; the manifest sums up what its views say."""
    broken = _check_layout(manifest, policy, tables) or _check_groups(manifest, policy, tables)
    if broken:
        return Verification(tuple(broken))
    views = views_of(manifest, tables, policy)
    keys = _by_keys(policy, views)
    if isinstance(keys, Finding):
        return Verification((keys,))
    findings = [holds("groups", f"{len(views)} tables agree on {manifest['classes']} groups and their cells")]
    verdicts: list[Verdict] = []
    for number, (name, view) in enumerate(views.items()):
        own = from_public(view.manifest["policy"])
        found = verify_generalized(view.manifest, own, view.frames, apart=None if keys is None else keys.groups[name])
        ours = [verdict for verdict in found.verdicts if verdict.attribute is not None or number == 0]
        verdicts += ours
        findings += _named(name, found.findings, {promise_name(verdict) for verdict in ours})
        findings += _check_present(name, view, own, None if keys is None else keys.parts[name])
    findings += _check_people(policy, views) + _check_summary(manifest, views)
    if "tables" not in manifest:  # a database keeps no order of rows
        for one, two in combinations(views, 2):
            findings += stand_alike(one, two, views[one].groups, views[two].groups)
    if keys is not None and policy.privacy.k is not None and keys.fewest < policy.privacy.k:
        words = f"only {keys.fewest} people of a group have values in the same tables, which their keys show"
        findings.append(fails("people", words))
    return Verification(tuple(findings), tuple(_in_order(verdicts)))


def _check_present(name: str, view: View, policy: Policy, apart: IntArray | None) -> list[Finding]:
    """The rows with values keep the guarantees by themselves: a reader may know whom a table knows something of."""
    declared = declared_attributes(view.manifest, policy)
    if not declared or (not view.absent.any() and apart is None):
        return []
    codes, _ = sensitive_codes(view.frame, declared)
    if len(codes) < len(declared):
        return []  # values that the manifest does not know are a finding already
    shown = {each: found[~view.absent] for each, found in codes.items()}
    single = {
        each: about.attribute.against(np.bincount(shown[each], minlength=about.attribute.size))
        for each, about in declared.items()
    }
    shown, attributes = with_joint(policy, shown, single)
    seen = (view.groups if apart is None else apart)[~view.absent]
    classes = np.unique(seen, return_inverse=True)[1].astype(np.int64)
    models = [model for model in models_for(policy, attributes) if model.attribute is not None]
    if apart is None:
        statistics: ClassStatistics = from_classes(classes, shown, attributes)
    else:
        keys = view.frame.get_column(policy.person or "").rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
        statistics = counted(classes, keys[~view.absent], shown, attributes)
    findings, _ = judge_promises(models, statistics)
    return [replace(f, check=f"{f.check} among those with values in {name}") for f in findings if f.outcome != "holds"]


def _in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda verdict: verdict.attribute is not None)


def _named(table: str, findings: Sequence[Finding], promises: set[str]) -> list[Finding]:
    """Findings say which table they are about, unless their column does."""
    return [f if f.check in promises else replace(f, check=f"{f.check} ({table})") for f in findings]


def _check_layout(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> list[Finding]:
    about = manifest["relational"]
    taken = {plain_name(name) for name in policy.columns}
    if list(about["tables"]) != list(policy.tables) or set(tables) != set(policy.tables):
        return [fails("tables", "the release does not have exactly the tables of its policy")]
    if about["group"] in taken or about["group"].rstrip("_") != "group":
        return [fails("tables", "the column that links the tables is not named as releases name it")]
    findings = []
    for name in policy.tables:
        expected = [about["group"], *(plain_name(each) for each in policy.columns if table_of(each) == name)]
        if tables[name].columns != expected:
            findings.append(fails("columns", f"{name} does not have exactly the columns its policy publishes"))
    return findings


def _check_groups(manifest: Mapping[str, Any], policy: Policy, tables: Mapping[str, pl.DataFrame]) -> list[Finding]:
    """The same groups in every table, numbered 1 to n, each with one cell per quasi-identifier, no two alike."""
    group, count = manifest["relational"]["group"], manifest["classes"]
    if len({tables[name].schema[group] for name in manifest["relational"]["tables"]}) > 1:
        return [fails("groups", "the numbers of the groups are not of one type in all tables")]
    findings = []
    cells: list[pl.DataFrame] = []
    for name, frame in qualified(manifest, tables).items():
        numbers = frame.get_column(group)
        if numbers.dtype == pl.String:  # as CSV has it
            numbers = numbers.cast(pl.Int64, strict=False)
        if not numbers.dtype.is_integer() or numbers.has_nulls() or set(numbers.unique()) != set(range(1, count + 1)):
            findings.append(fails("groups", f"{name} does not have exactly the groups 1 to {count}"))
            continue
        together = _cells(frame, policy, group, name)
        if together.height != count:
            findings.append(fails("groups", f"a group of {name} has rows with different quasi-identifiers"))
        cells.append(together.sort(pl.col(group).cast(pl.Int64)).drop(group))
    if not findings:
        every = pl.concat([each for each in cells if each.width], how="horizontal") if any(map(_wide, cells)) else None
        if every is not None and int(class_of_row(every, every.columns).max(initial=-1)) + 1 != count:
            findings.append(fails("groups", "two groups have the same quasi-identifiers in all tables"))
        elif every is None and count > 1:
            findings.append(fails("groups", "there are several groups and no quasi-identifiers that tell them apart"))
    return findings


def _wide(frame: pl.DataFrame) -> bool:
    return frame.width > 0


@dataclass(frozen=True, eq=False)
class _Keys:
    """What a reader of keys tells people apart by, for every row of every table."""

    groups: Mapping[str, IntArray]
    """People of a group with as many rows in every table."""
    parts: Mapping[str, IntArray]
    """Of these, people who have values in the same tables."""
    fewest: int
    """People in the smallest such part."""


def _by_keys(policy: Policy, views: Mapping[str, View]) -> _Keys | Finding | None:
    """People by their keys, which must be the same in every table; None if no keys are published."""
    column = {table_of(name): name for name in policy.having("person")}
    if not column:
        return None
    if set(column) != set(views):
        return fails("people", "some tables have keys and others do not")
    own = {name: view.frame.get_column(column[name]).cast(pl.String) for name, view in views.items()}
    first = own[next(iter(views))]
    everybody = first.unique().sort()
    if first.has_nulls() or len(everybody) != len(first):
        return fails("people", "a row of the table of people has no key, or the key of another")
    if any(cells.has_nulls() or not cells.unique().sort().equals(everybody, null_equal=True) for cells in own.values()):
        return fails("people", "the tables do not have the same keys")
    places = pl.Series(range(len(everybody)))
    number = {
        name: cells.replace_strict(everybody, places, return_dtype=pl.Int64).to_numpy() for name, cells in own.items()
    }
    group = np.zeros(len(everybody), dtype=np.int64)
    group[number[next(iter(views))]] = next(iter(views.values())).groups
    if any((group[number[name]] != view.groups).any() for name, view in views.items()):
        return fails("people", "the rows of one person are in several groups")
    rows = [np.bincount(found, minlength=len(everybody)) for found in number.values()]
    there = [np.bincount(number[n][~v.absent], minlength=len(everybody)) > 0 for n, v in views.items()]
    groups = np.unique(np.stack([group, *rows]), axis=1, return_inverse=True)[1].ravel()
    parts = np.unique(np.stack([group, *rows, *there]), axis=1, return_inverse=True)[1].ravel()
    return _Keys(
        {name: groups[found] for name, found in number.items()},
        {name: parts[found] for name, found in number.items()},
        int(np.bincount(parts).min(initial=len(everybody))),
    )


def _check_people(policy: Policy, views: Mapping[str, View]) -> list[Finding]:
    """The first table has one row per person, and every table is about the same people."""
    first = next(iter(views.values()))
    count = first.manifest["people"]["count"]
    if first.manifest["rows"] != count or any(view.manifest["people"]["count"] != count for view in views.values()):
        return [fails("people", "the tables are not about as many people as the table of people has rows")]
    if policy.having("person"):
        return []  # counted by keys
    sizes = np.bincount(first.groups)[1:]
    if any(_people_told(view) != _people_counted(sizes) for view in views.values()):
        return [fails("people", "the figures in people are not those of the table of people")]
    if any((np.bincount(view.groups, minlength=len(sizes) + 1)[1:] < sizes).any() for view in views.values()):
        return [fails("people", "a table has fewer rows of a group than the group has people")]
    return []


def _people_told(view: View) -> tuple[float, ...]:
    people = view.manifest["people"]
    return (people["released"], *(people["class_size"][key] for key in ("min", "mean", "max")))


def _people_counted(sizes: IntArray) -> tuple[float, ...]:
    return (
        int(sizes.sum()),
        int(sizes.min()) if len(sizes) else 0,
        float(sizes.mean()) if len(sizes) else 0.0,
        int(sizes.max(initial=0)),
    )


def _check_summary(manifest: Mapping[str, Any], views: Mapping[str, View]) -> list[Finding]:
    """What the manifest says of the whole release is what it says of its views."""
    first = next(iter(views.values())).manifest
    findings = [
        fails("figure", f"the manifest's {key} is not that of the table of people")
        for key in ("rows", "suppressed", "class_size", "loss")
        if manifest[key] != first[key]
    ]
    for part in (manifest, manifest["people"]):
        of = [view.manifest if part is manifest else view.manifest["people"] for view in views.values()]
        stated = {(claim["model"], claim["attribute"]): claim for claim in part["claims"]}
        known = {(c["model"], c["attribute"]): c for view in reversed(of) for c in view["claims"]}
        if stated != known or len(stated) != len(part["claims"]):
            findings.append(fails("claim", "the manifest's claims are not those of its tables"))
        if part["privacy"] != _merged([view["privacy"] for view in of]):
            findings.append(fails("figure", "the manifest's summary is not that of its tables"))
    own, every = manifest["people"], [view.manifest["people"] for view in views.values()]
    left_out = sum(each.get("rows_left_out", 0) for each in every)
    if any(own[key] != every[0][key] for key in ("count", "released", "class_size")) or left_out != own.get(
        "rows_left_out", 0
    ):
        findings.append(fails("people", "the manifest's figures in people are not those of its tables"))
    each = [view.manifest.get("counts_of") for view in views.values()]
    if manifest.get("counts_of") != ("released" if "released" in each else "input"):
        findings.append(fails("figure", "the manifest does not say which rows its counts are of"))
    return findings or [holds("summary", "what the manifest says of all tables is what it says of each")]


def _merged(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures by column from every table, the others from the table of people; whatever a manifest has there."""
    found: dict[str, Any] = {}
    for summary in summaries:
        for key, value in summary.items():
            known = found.setdefault(key, value)
            if isinstance(known, Mapping) and isinstance(value, Mapping):
                found[key] = {**known, **value}
    return found


__all__ = ["OF_VIEW", "PER_GROUP", "View", "qualified", "verify_relational", "views_of"]
