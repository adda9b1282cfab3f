"""The policy: what a steward declares about a table. Frozen, round-trips through YAML, imports no engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny, field_validator

from polyveil.policy.broken import BrokenRule
from polyveil.policy.forms import FormName
from polyveil.policy.guarantees import ABOUT_GROUPS, OF_COLUMN, OF_COLUMNS, Sets
from polyveil.policy.publishing import Publish
from polyveil.policy.risk import Risk
from polyveil.policy.rules import HierarchyRule, parse_rule
from polyveil.policy.scalars import Number, Text, Whole, Words, categories, plain_number, security_level

Role = Literal["person", "identifier", "quasi", "sensitive", "insensitive", "weight", "drop"]
ColumnType = Literal["numeric", "categorical", "ordinal", "date"]
Distance = Literal["ordered", "hierarchical", "equal", "hellinger", "kl", "js"]
Diversity = Literal["frequency", "distinct", "entropy", "recursive"]

_SYNONYMS: dict[str, Role] = {
    **dict.fromkeys(
        ["quasiidentifier", "quasiidentifiers", "quasiidentifying", "quasiidentifierattribute", "qi", "qid"], "quasi"
    ),
    **dict.fromkeys(["indirectidentifier", "keyvariable", "keyattribute"], "quasi"),
    **dict.fromkeys(["directidentifier", "explicitidentifier", "identifying"], "identifier"),
    **dict.fromkeys(["subject", "patient", "individual", "participant", "respondent", "personkey"], "person"),
    **dict.fromkeys(["confidential", "private", "secret", "target", "sensitiveattribute", "sa"], "sensitive"),
    **dict.fromkeys(["nonsensitive", "notsensitive", "public", "harmless", "nonconfidential"], "insensitive"),
    **dict.fromkeys(["samplingweight", "surveyweight", "sampleweight", "designweight", "weights"], "weight"),
    **dict.fromkeys(["remove", "exclude", "omit", "ignore", "suppress", "dropped", "delete"], "drop"),
}
"""Other names of the roles, without their spaces and hyphens."""


def role_of(given: Any) -> Any:
    """The role that a word means: `quasi-identifier` is quasi. Anything else stays as it is."""
    return _SYNONYMS.get("".join(re.findall(r"[a-z]+", given.lower())), given) if isinstance(given, str) else given


DEFAULT_LEVEL = 1
DEFAULT_METHOD = "sift"


def one_or_per_level(value: Any) -> Any:
    """An l is at least 1; one l per level does not fall as the level rises."""
    value = plain_number(value)
    if isinstance(value, Mapping):
        return _per_level(value)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BrokenRule(
            "l must be a whole number, or one whole number per security level", "Write l: 3 or l: {0: 1, 1: 2, 2: 3}"
        )
    if value is not None and value < 1:
        raise BrokenRule(f"l must be at least 1, not {value}", "Write l: 2 or more; l: 1 has no effect")
    return value


def _per_level(value: Mapping[Any, Any]) -> dict[int, int]:
    chosen = {security_level(level): plain_number(item) for level, item in value.items()}
    if len(chosen) != len(value):
        raise BrokenRule("a security level is given twice", "Give each level one l")
    if not chosen or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in chosen.values()):
        raise BrokenRule("each security level needs an l of at least 1", "Write whole numbers, as in l: {0: 1, 1: 2}")
    rising = [chosen[level] for level in sorted(chosen)]
    if rising != sorted(rising):
        raise BrokenRule("a higher security level must not have a smaller l", "Let l rise with the level")
    return chosen


def values_of_levels(value: Any) -> Any:
    """Security levels with their values: each value has one level."""
    if not isinstance(value, Mapping):
        raise BrokenRule(
            "levels must map each security level to its values", "Write levels: {2: [one, two], 0: [three]}"
        )
    chosen: dict[int, tuple[str, ...]] = {}
    seen: set[str] = set()
    for key, items in value.items():
        level = security_level(key)
        if level in chosen:
            raise BrokenRule(f"security level {level} is given twice", "Join the two lists", (key,))
        chosen[level] = categories(items)
        if seen & set(chosen[level]) or len(set(chosen[level])) < len(chosen[level]):
            raise BrokenRule("a value has two security levels", "Keep it in one level", (key,))
        seen |= set(chosen[level])
    return chosen


Levelled = Annotated[int | dict[int, int] | None, BeforeValidator(one_or_per_level)]
Refinement = Literal["fast", "balanced", "thorough"] | Annotated[Number, Field(gt=0)] | None
Markers = Annotated[tuple[str, ...], BeforeValidator(categories)]


class Part(BaseModel):
    """A part of a policy: unknown keys are faults, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Shift(Part):
    """How far dates are moved: by one random number of days per person."""

    days: Whole = Field(ge=1, le=3650, description="greatest number of days, forwards or backwards")


class Column(Part):
    """One column: its role, and what that role needs."""

    role: Role = Field(
        description="person: who the row is about, never published as it is; identifier, drop: removed; "
        "quasi: generalized; sensitive: protected; insensitive: published unchanged; "
        "weight: sampling weight, published as the mean of the group"
    )
    type: ColumnType | None = Field(default=None, description="detected from the data by default")
    hierarchy: SerializeAsAny[HierarchyRule] | None = Field(
        default=None, description="a CSV file, a nested tree, or a rule: mask, intervals, date, order"
    )
    recode: Literal["hierarchy", "set"] = Field(
        default="hierarchy", description="release as a node or as a set of values"
    )
    weight: Number = Field(default=1.0, gt=0, description="how much a quasi-identifier counts in distances")
    missing: Markers = Field(default=(), description="cells of this column that mean 'missing'")
    date_format: Text | None = Field(default=None, description="strptime format of a date column; ISO 8601 by default")
    replace: Literal["pseudonym"] | None = Field(
        default=None, description="pseudonym: an identifier is published as random keys instead of being removed"
    )
    shift: Shift | None = Field(
        default=None, description="{days: N}: dates are moved by one random number of days per person, at most N"
    )
    publish: Publish | None = Field(
        default=None, description="a sensitive number is published rounded, or as an interval"
    )
    t: Annotated[Number | None, OF_COLUMN] = Field(
        default=None, ge=0, le=1, description="t-closeness threshold of this sensitive column"
    )
    distance: Annotated[Distance | None, Sets("t")] = Field(default=None, description="how closeness is measured")
    l: Annotated[Levelled, OF_COLUMN] = Field(  # noqa: E741
        default=None, description="l-diversity of this column, or one l per level"
    )
    levels: Annotated[dict[int, tuple[str, ...]], BeforeValidator(values_of_levels), Sets("l")] = Field(
        default_factory=dict, description="security level -> values"
    )
    alpha: Annotated[Number | None, OF_COLUMN] = Field(
        default=None, gt=0, le=1, description="greatest share of any one value in a group"
    )
    beta: Annotated[Number | None, OF_COLUMN] = Field(default=None, gt=0, description="beta-likeness")
    delta: Annotated[Number | None, OF_COLUMN] = Field(default=None, gt=0, description="delta-disclosure privacy")

    @field_validator("role", mode="before")
    @classmethod
    def _any_word(cls, value: Any) -> Any:
        return role_of(value)

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _any_notation(cls, value: Any) -> Any:
        return None if value is None else parse_rule(value)

    @field_validator("date_format")
    @classmethod
    def _has_parts(cls, value: str | None) -> str | None:
        if value is not None and "%" not in value:
            raise BrokenRule("a date format names the date's parts", "Write it like %d.%m.%Y")
        return value


class Joint(Part):
    """Sensitive columns that must be close to the whole table together, and how close."""

    columns: Annotated[tuple[str, ...], BeforeValidator(categories)] = Field(
        min_length=2, description="two or more sensitive columns"
    )
    t: Number = Field(ge=0, le=1, description="greatest joint distance of a group")

    @field_validator("columns")
    @classmethod
    def _named_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise BrokenRule("a column appears twice in one combination", "Name each column once")
        return value


class RowsPerPerson(Part):
    """How many rows a person may have; of people with more, rows by chance are left out."""

    at_most: Whole = Field(ge=1, description="greatest number of rows of a person")


class Privacy(Part):
    """The guarantees asked for. What is not asked for is not checked; a column's own value wins over these."""

    k: Annotated[Whole | None, ABOUT_GROUPS] = Field(
        default=None, ge=2, description="least number of rows that look alike"
    )
    any: Annotated[Whole | None, ABOUT_GROUPS] = Field(
        default=None, ge=1, description="k is about any so many quasi-identifiers, instead of all of them together"
    )
    risk: Annotated[Risk | None, ABOUT_GROUPS] = Field(
        default=None,
        description="greatest or mean chance of finding a person: {max: 0.09} or {average: 0.09, strict_k: 3}",
    )
    l: Annotated[Levelled, OF_COLUMN] = Field(  # noqa: E741
        default=None, description="l-diversity, or one l per security level"
    )
    diversity: Annotated[Diversity, Sets("l")] = Field(default="frequency", description="what l means")
    c: Annotated[Number, Sets("l")] = Field(default=2.0, gt=0, description="c of recursive (c,l)-diversity")
    t: Annotated[Number | None, OF_COLUMN] = Field(
        default=None, ge=0, le=1, description="t-closeness of every sensitive column"
    )
    p: Annotated[Whole | None, OF_COLUMN] = Field(
        default=None, ge=2, description="p-sensitive k-anonymity: distinct values per group"
    )
    alpha: Annotated[Number | None, OF_COLUMN] = Field(default=None, gt=0, le=1, description="(alpha,k)-anonymity")
    beta: Annotated[Number | None, OF_COLUMN] = Field(default=None, gt=0, description="beta-likeness")
    beta_kind: Annotated[Literal["basic", "enhanced"], Sets("beta")] = Field(
        default="enhanced", description="which beta-likeness"
    )
    delta: Annotated[Number | None, OF_COLUMN] = Field(default=None, gt=0, description="delta-disclosure privacy")
    joint: Annotated[tuple[Joint, ...], OF_COLUMNS] = Field(
        default=(), description="joint t-closeness: [{columns: [a, b], t: 0.3}]"
    )
    rows_per_person: RowsPerPerson | None = Field(
        default=None, description="{at_most: m}: of people with more than m rows, rows by chance are left out"
    )
    suppression_limit: Number = Field(
        default=0.0, ge=0, le=1, description="greatest share of rows that may be left out"
    )

    @property
    def least_group(self) -> int:
        """The least number of people of a group that is asked for directly, by k or by a risk; 1 if nothing is."""
        k = self.k if self.any is None else None
        return max(k or 1, 1 if self.risk is None else self.risk.least_group)


class LinkedTable(Part):
    """One of several tables about the same people."""

    source: Text | None = Field(
        default=None, description="file in the folder, or table of the database; by default the name of the table"
    )


class About(Part):
    """What the first page of the report tells of a release beside its figures: the publisher's own words."""

    title: Words | None = Field(default=None, description="what the release is called")
    purpose: Words | None = Field(default=None, description="what it is published for")
    controller: Words | None = Field(default=None, description="who answers for it")
    recipients: Words | None = Field(default=None, description="who gets it, and under which terms")
    contact: Words | None = Field(default=None, description="where questions go")
    date: Words | None = Field(default=None, description="when it was approved")
    reasons: Words | None = Field(default=None, description="why these guarantees, and not stricter or looser ones")


class MethodChoice(BaseModel):
    """The method's name; its options are checked by the method itself."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: Text = Field(default=DEFAULT_METHOD, min_length=1, description="the method, as `polyveil methods` lists it")
    refine: Refinement = Field(
        default=None,
        description="improve the groups of the method so that less detail is lost: fast, balanced, thorough or seconds",
    )

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ReleaseChoice(Part):
    """How the release is published."""

    form: FormName | None = Field(default=None, description="what is published; by default the method's own form")
    format: Literal["parquet", "csv"] | None = Field(
        default=None,
        description="how files are written; by default csv for tables from text, Excel and statistics programs, "
        "parquet for others",
    )
    numbers: Literal["interval", "midpoint", "mean"] = Field(
        default="interval", description="how a generalized number is written"
    )
    generalize: Literal["none", "kaca", "range"] | None = Field(
        default=None,
        description="quasi-identifiers of an anatomized or sliced release: none, as they are; kaca, k rows alike; "
        "range, what each group has in common",
    )
    person: Literal["none", "pseudonym"] = Field(
        default="none",
        description="none: nothing tells whose rows belong together; pseudonym: a random key per person",
    )
    counts: bool = Field(default=False, description="write equal rows of a sensitive table once, with their count")

    @property
    def file_format(self) -> Literal["parquet", "csv"]:
        """How files are written; a published policy that does not say it means Parquet."""
        return self.format or "parquet"

    @property
    def exact_quasi(self) -> bool:
        """Whether quasi-identifiers are published as they are, and only groups hide the sensitive values."""
        return self.form not in (None, "generalized") and self.generalize == "none"


class Policy(Part):
    """Everything declared about one table, or about several that are linked by a person's key."""

    version: Literal[1] = 1
    about: About = Field(default_factory=About)
    columns: dict[str, Column] = Field(min_length=1)
    privacy: Privacy = Field(default_factory=Privacy)
    method: MethodChoice = Field(default_factory=MethodChoice)
    release: ReleaseChoice = Field(default_factory=ReleaseChoice)
    missing: Markers = Field(default=(), description="cells of any column that mean 'missing', for example '?'")
    other_columns: Literal["error", "drop"] = Field(
        default="error", description="columns of the table that the policy does not name: a fault, or left out"
    )

    tables: dict[str, LinkedTable] = Field(
        default_factory=dict,
        description="several tables about the same people, the first with one row per person; "
        "columns are then called table.column",
    )

    folder: Path = Field(default=Path(), exclude=True, description="where hierarchy files are looked up")

    @property
    def person(self) -> str | None:
        """The column that says who a row is about, if there is one."""
        return next(iter(self.having("person")), None)

    @property
    def sampling_weight(self) -> str | None:
        """The column that says how many people of the population a row stands for, if there is one."""
        return next(iter(self.having("weight")), None)

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The identifiers that are published as random keys, in order."""
        return tuple(name for name in self.having("identifier") if self.columns[name].replace is not None)

    @property
    def shifted(self) -> tuple[str, ...]:
        """The columns whose dates are shifted, in order."""
        return tuple(name for name, column in self.columns.items() if column.shift is not None)

    def having(self, role: Role) -> tuple[str, ...]:
        """The names of the columns of one role, in order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: Path | str = ".") -> Policy:
        """Build from plain data; raises PolicyError with every fault."""
        from polyveil.policy.load import from_dict

        return from_dict(data, folder=Path(folder))

    @classmethod
    def from_yaml(cls, path: Path | str) -> Policy:
        """Read a policy file; raises PolicyError with every fault, each with its line."""
        from polyveil.policy.load import from_file

        return from_file(Path(path))

    def to_yaml(self) -> str:
        """The policy as a YAML file's text; reading it back gives an equal policy."""
        from polyveil.policy.to_yaml import to_yaml

        return to_yaml(self)
