"""What the parts of a policy demand of each other; each part is already valid by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from polyveil.errors import listed
from polyveil.policy.broken import PolicyFinding
from polyveil.policy.guarantees import guarantee_keys, setting_keys
from polyveil.policy.patterns import entry_for
from polyveil.policy.rules import DateParts, Intervals, Order
from polyveil.policy.schema import DEFAULT_LEVEL, Column, Privacy, Role

_NO_KEYS: frozenset[str] = frozenset()
OF_QUASI = ("recode", "weight")
"""Keys that are read for quasi-identifiers only."""
FEWEST_FOR_A_MEAN = 3
"""Of two rows, each person learns the other's weight from the mean and their own."""


def keys_of_sensitive() -> tuple[str, ...]:
    """Keys that are read for sensitive columns only."""
    return (*guarantee_keys(Column), *setting_keys(Column), "publish")


def roles_of_keys() -> Mapping[str, tuple[Role, ...]]:
    """The keys that only some roles have."""
    return _roles_of(tuple(Column.model_fields))


@cache
def _roles_of(_: tuple[str, ...]) -> Mapping[str, tuple[Role, ...]]:
    """Found once for all columns; installed packages may add keys, and then it is found again."""
    return {
        **dict.fromkeys(OF_QUASI, ("quasi",)),
        **dict.fromkeys(keys_of_sensitive(), ("sensitive",)),
        "hierarchy": ("quasi", "sensitive"),
        "replace": ("identifier",),
        "shift": ("quasi", "sensitive", "insensitive"),
    }


@dataclass(frozen=True)
class ColumnDraft:
    """A column as far as it could be read; `lost` names the keys that were given but are faults themselves."""

    column: Column
    lost: frozenset[str] = _NO_KEYS

    def has(self, key: str) -> bool:
        """Whether the key was given, usable or not."""
        return key in self.lost or getattr(self.column, key) is not None


def check_column(name: str, sketch: ColumnDraft) -> Iterator[PolicyFinding]:
    """Keys that do not fit the role, the type or each other."""
    yield from _check_role(name, sketch.column)
    if "type" not in sketch.lost and "hierarchy" not in sketch.lost:
        yield from _check_type(name, sketch.column)
        yield from _check_distance(name, sketch.column)
        yield from _check_publish(name, sketch.column)
    yield from _check_recode(name, sketch)


def _check_role(name: str, column: Column) -> Iterator[PolicyFinding]:
    for key, roles in roles_of_keys().items():
        if key in column.model_fields_set and getattr(column, key) is not None and column.role not in roles:
            yield PolicyFinding(
                ("columns", name, key),
                f"{key} is for {listed(roles)} columns, and this column is {column.role}",
                f"Remove {key}, or give the column the role {listed(roles, 'or')}",
            )


def _check_type(name: str, column: Column) -> Iterator[PolicyFinding]:
    path, rule, kind = ("columns", name, "hierarchy"), column.hierarchy, column.type
    if kind == "ordinal" and not isinstance(rule, Order):
        at = path if rule else ("columns", name, "type")
        yield PolicyFinding(
            at, "type ordinal needs the order of the values", "Write hierarchy: {order: [lowest, ..., highest]}"
        )
    if isinstance(rule, Order) and kind not in (None, "ordinal"):
        yield PolicyFinding(
            path, f"an order is for type ordinal, the type is {kind}", "Write type: ordinal, or leave it out"
        )
    if isinstance(rule, Intervals) and kind not in (None, "numeric"):
        yield PolicyFinding(path, f"intervals are for type numeric, the type is {kind}", "Write type: numeric")
    if isinstance(rule, DateParts) and kind not in (None, "date"):
        yield PolicyFinding(path, f"date parts are for type date, the type is {kind}", "Write type: date")
    if column.shift is not None and kind not in (None, "date"):
        at = ("columns", name, "shift")
        yield PolicyFinding(at, f"shift is for dates, and the type is {kind}", "Write type: date, or remove shift")
    if column.date_format is not None and kind != "date":
        at = ("columns", name, "date_format")
        yield PolicyFinding(at, "date_format is for columns of type date", "Write type: date, or remove date_format")


def _check_distance(name: str, column: Column) -> Iterator[PolicyFinding]:
    path = ("columns", name, "distance")
    ranked = isinstance(column.hierarchy, Order)
    if column.distance == "hierarchical" and (column.hierarchy is None or ranked):
        remedy = "Use distance: ordered" if ranked else "Give the column a hierarchy, or use distance: equal"
        yield PolicyFinding(path, "hierarchical distance needs a hierarchy with groups", remedy)
    if column.distance == "ordered" and column.type == "categorical" and not ranked:
        remedy = "Give the order with type: ordinal, hierarchy: {order: [...]}, or use distance: equal"
        yield PolicyFinding(path, "ordered distance needs an order, and the type is categorical", remedy)


def check_shifts(columns: Mapping[str, Column]) -> Iterator[PolicyFinding]:
    """One number of days for all dates, so that the time between two dates of a person stays."""
    days = {name: column.shift.days for name, column in columns.items() if column.shift is not None}
    for name in list(days)[1:]:
        if days[name] != next(iter(days.values())):
            rule = "all dates of a person are shifted alike, and another column has another number of days"
            yield PolicyFinding(("columns", name, "shift"), rule, "Write the same number of days everywhere")


def _check_publish(name: str, column: Column) -> Iterator[PolicyFinding]:
    if column.publish is None:
        return
    path = ("columns", name, "publish")
    if column.type not in (None, "numeric"):
        yield PolicyFinding(path, f"publish is for numbers, and the type is {column.type}", "Remove publish")
    if column.hierarchy is not None and not (isinstance(column.hierarchy, Intervals) and column.publish.round):
        remedy = "Remove the hierarchy: intervals are compared in their order"
        yield PolicyFinding(path, "publish makes values of its own, which the hierarchy does not have", remedy)


def _check_recode(name: str, sketch: ColumnDraft) -> Iterator[PolicyFinding]:
    column = sketch.column
    if column.recode == "set" and (column.hierarchy is not None or column.type == "ordinal"):
        yield PolicyFinding(
            ("columns", name, "recode"),
            "recode: set releases sets of values and uses no hierarchy and no order",
            "Remove recode: set, or the hierarchy",
        )


def check_levels(name: str, column: Column, known: frozenset[str] | None) -> Iterator[PolicyFinding]:
    """Values of a security level that the column's hierarchy does not have would silently get the default level."""
    if known is None:
        return
    for level, values in column.levels.items():
        unknown = sum(value not in known for value in values)
        if unknown:
            yield PolicyFinding(
                ("columns", name, "levels", str(level)),
                f"{unknown} of the {len(values)} values of security level {level} are not in the column's hierarchy",
                "Correct their spelling, or add them to the hierarchy",
            )


def check_privacy(
    privacy: Privacy, lost: frozenset[str], sketches: Mapping[str, ColumnDraft], complete: bool
) -> Iterator[PolicyFinding]:
    """What the guarantees demand of the columns. `complete` says whether the role of every column is known."""
    sensitive = {name: sketch for name, sketch in sketches.items() if sketch.column.role == "sensitive"}
    if complete and not sensitive:
        for key in guarantee_keys(Privacy, "column"):
            if getattr(privacy, key) is not None:
                rule = f"{key} protects sensitive columns, and there is none"
                yield PolicyFinding(("privacy", key), rule, f"Give a column the role sensitive, or remove {key}")
    if complete and not _anything_asked(privacy, lost, sensitive):
        rule = "the policy requires no guarantee"
        yield PolicyFinding(("privacy",), rule, "Add one, for example privacy: {k: 5}")
    yield from _check_settings(privacy, lost, sensitive)
    if privacy.risk is not None and privacy.risk.by_table:
        at = ("privacy", "risk", "population")
        for each in sketches.values():
            if each.column.role == "person":
                yield PolicyFinding(at, "a population table counts rows, and a person may have several", "Use k")
            if each.column.role == "quasi" and each.column.shift is not None:
                yield PolicyFinding(at, "shifted dates cannot be found in a population table", "Remove shift")
    if privacy.any is not None:
        yield from _check_any(privacy, lost, sketches)
    yield from _check_weights(privacy, lost, sketches, complete)
    if complete:
        yield from _check_joint(privacy, sketches)
    yield from _check_l(privacy, sensitive)


def _check_weights(
    privacy: Privacy, lost: frozenset[str], sketches: Mapping[str, ColumnDraft], complete: bool
) -> Iterator[PolicyFinding]:
    """One weight at most, for groups that share all quasi-identifiers; and one where a risk is counted by weights."""
    found = [name for name, each in sketches.items() if each.column.role == "weight"]
    if len(found) > 1:
        remedy = f"Keep {found[0]} or another, and give the rest the role drop"
        yield PolicyFinding(("columns",), f"{len(found)} columns have the role weight: {listed(found)}", remedy)
    if found and privacy.any is not None:
        rule = "a weight is published as the mean of its group, and any makes no groups"
        yield PolicyFinding(("privacy", "any"), rule, "Remove any, or give the weight the role drop")
    if found and privacy.any is None and not {"k", "risk"} & lost and privacy.least_group < FEWEST_FOR_A_MEAN:
        rule = (
            f"a weight is published as the mean of its group, and groups may have fewer than {FEWEST_FOR_A_MEAN} rows"
        )
        yield PolicyFinding(("columns", found[0], "role"), rule, f"Add k: {FEWEST_FOR_A_MEAN} or more to privacy")
    if complete and not found and privacy.risk is not None and privacy.risk.by_weights:
        rule = "the population is given by weights, and no column has the role weight"
        yield PolicyFinding(("privacy", "risk", "population"), rule, "Give the column of weights the role weight")


def _check_joint(privacy: Privacy, sketches: Mapping[str, ColumnDraft]) -> Iterator[PolicyFinding]:
    seen: set[frozenset[str]] = set()
    for number, joint in enumerate(privacy.joint):
        path = ("privacy", "joint", number, "columns")
        entries = {name: entry_for(name, sketches) for name in joint.columns}
        unfit = [name for name, own in entries.items() if own is None or sketches[own].column.role != "sensitive"]
        if unfit:
            rule = f"joint closeness is for sensitive columns of the policy, which {listed(unfit)} is not"
            yield PolicyFinding(path, rule, "Name sensitive columns, or give the column the role sensitive")
        if frozenset(joint.columns) in seen:
            yield PolicyFinding(path, "these columns are listed twice", "Keep the smaller t")
        seen.add(frozenset(joint.columns))


def _anything_asked(privacy: Privacy, lost: frozenset[str], sensitive: Mapping[str, ColumnDraft]) -> bool:
    if lost - set(Privacy.model_fields) or any(s.lost - set(Column.model_fields) for s in sensitive.values()):
        return True  # a misspelt key is a fault already, and it may have been the one that asks
    asked = [key in lost or getattr(privacy, key) is not None for key in guarantee_keys(Privacy, "groups", "column")]
    own = [sketch.has(key) for sketch in sensitive.values() for key in guarantee_keys(Column)]
    return any(asked) or any(own) or bool(privacy.joint) or "joint" in lost


def _check_settings(
    privacy: Privacy, lost: frozenset[str], sensitive: Mapping[str, ColumnDraft]
) -> Iterator[PolicyFinding]:
    """Settings that change a guarantee nobody asked for: the steward expects something else than happens."""

    def asked(key: str) -> bool:
        return key in lost or getattr(privacy, key) is not None or any(s.has(key) for s in sensitive.values())

    defaults = Privacy()
    if privacy.c != defaults.c and privacy.diversity != "recursive" and "diversity" not in lost:
        yield PolicyFinding(
            ("privacy", "c"), "c is for recursive diversity only", "Add diversity: recursive, or remove c"
        )
    if privacy.diversity != defaults.diversity and not asked("l"):
        yield PolicyFinding(
            ("privacy", "diversity"), "diversity says what l means, and no l is given", "Add l: 2 or more"
        )
    if privacy.beta_kind != defaults.beta_kind and not asked("beta"):
        yield PolicyFinding(("privacy", "beta_kind"), "beta_kind changes beta, and no beta is given", "Add beta")


def _check_any(privacy: Privacy, lost: frozenset[str], sketches: Mapping[str, ColumnDraft]) -> Iterator[PolicyFinding]:
    """k about any few quasi-identifiers makes no groups of people, which every other guarantee is about."""
    at = ("privacy", "any")
    if privacy.k is None and "k" not in lost:
        rule = "any says how many quasi-identifiers k is about, and no k is given"
        yield PolicyFinding(at, rule, "Add k, for example privacy: {k: 5, any: 3}")
    keys = [key for key in guarantee_keys(Privacy) if key not in ("k", "any")]
    asked = [key for key in keys if getattr(privacy, key) not in (None, ())]
    asked += [f"{key} of {name}" for name, each in sketches.items() for key in guarantee_keys(Column) if each.has(key)]
    if asked:
        rule = f"{listed(asked)} is about groups that share all quasi-identifiers, which any does not make"
        yield PolicyFinding(at, rule, "Remove any, or the other guarantees")
    for name, each in sketches.items():
        if each.column.role == "person":
            rule = "any counts rows, and a person may have several"
            yield PolicyFinding(at, rule, "Remove any, or make a table with one row per person")
        if each.column.recode == "set":
            rule = "any divides columns into ranges and groups of a hierarchy, and recode: set has neither"
            yield PolicyFinding(("columns", name, "recode"), rule, "Remove recode: set, or give a hierarchy")


def _check_l(privacy: Privacy, sensitive: Mapping[str, ColumnDraft]) -> Iterator[PolicyFinding]:
    """One l per security level (Definition 10 of xiao2020): one for every level in use, for frequency diversity."""
    by_level = isinstance(privacy.l, dict)
    for name, sketch in sensitive.items():
        column = sketch.column
        chosen = column.l if column.l is not None else privacy.l
        if not isinstance(chosen, dict) or {"l", "levels"} & sketch.lost:
            continue
        by_level = True
        without = sorted({*column.levels, DEFAULT_LEVEL} - set(chosen))
        if without:
            own = column.l is not None
            default = f"; values without a level have level {DEFAULT_LEVEL}" if DEFAULT_LEVEL in without else ""
            yield PolicyFinding(
                ("columns", name, "l" if own else "levels"),
                f"security level{'s' if len(without) > 1 else ''} {listed(without)} of this column "
                f"{'have' if len(without) > 1 else 'has'} no l{default}",
                f"Add {listed(f'{level}: ...' for level in without)} to {'its l' if own else 'privacy.l'}",
            )
    if by_level and privacy.diversity != "frequency":
        rule = "one l per security level is defined for frequency diversity"
        yield PolicyFinding(("privacy", "diversity"), rule, "Remove diversity, or give one l for all levels")
