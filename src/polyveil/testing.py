"""Promises that every method and every model keeps, to run on one that comes from outside the package.

Both checks use small built-in tables with missing values, take seconds, and raise `PromiseBroken` with everything that
was found. They run what polyveil's own methods and models are tested with, as far as it needs no test tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from polyveil.arrays import FloatArray, IntArray
from polyveil.checkup import check
from polyveil.errors import PolicyError, Unsatisfiable
from polyveil.methods import METHODS, Method, make_method
from polyveil.models import MODELS, Attribute, Model, from_classes
from polyveil.models.ground import equal
from polyveil.pipeline import anonymize
from polyveil.plugins import PluginError
from polyveil.policy import Policy
from polyveil.policy.schema import Column, MethodChoice, Privacy
from polyveil.releases.release import Release

DEMANDS: tuple[dict[str, Any], ...] = ({"k": 3}, {"k": 2, "l": 2}, {"k": 2, "t": 0.6})
"""What a method is asked for, each with at most 30 % of the rows left out."""
_CLOSE = 1e-9


class PromiseBroken(AssertionError):
    """A method or model does not keep what all of them promise; lists everything that was found."""

    def __init__(self, name: str, broken: list[str]) -> None:
        self.broken = tuple(broken)
        super().__init__("\n".join([f"{name} breaks {len(broken)} promises:", *(f"  - {each}" for each in broken)]))


def check_method(method: type[Method[Any]], **options: Any) -> None:
    """Run a method, with some options, through the promises of all methods.

    Parameters
    ----------
    method
        The class; it does not need to be registered or installed.
    options
        Options of the method, as a policy would give them.

    Raises
    ------
    PromiseBroken
        With every promise that is broken.
    """
    broken: list[str] = []
    try:
        with METHODS.having(method.name, method):
            _unknown_option(method, broken)
            served = sum(_serves(method, options, demand, broken) for demand in DEMANDS)
    except PluginError as error:
        raise PromiseBroken(method.__name__, [str(error)]) from error
    if not served and not broken:
        broken.append("it refuses every demand: k = 3, k = 2 with l = 2, k = 2 with t = 0.6")
    if broken:
        raise PromiseBroken(method.name, broken)


def check_model(model: type[Model], threshold: float | None = None, **settings: Any) -> None:
    """Run a model through the promises of all models, by itself and in a release.

    Parameters
    ----------
    model
        The class; it does not need to be registered or installed.
    threshold
        One that a table of 60 rows with four sensitive values can reach; the start of the model's form field if it
        is not given.
    settings
        Other keys of `privacy` that the model needs, for example `diversity="entropy"`.

    Raises
    ------
    PromiseBroken
        With every promise that is broken.
    """
    if threshold is None and model.form is None:
        raise ValueError("the model has no form field; give a threshold")
    value: Any = threshold if threshold is not None or model.form is None else model.form.start
    if model.field is not None and model.field.kind is int:
        value = int(value)
    broken: list[str] = []
    try:
        with MODELS.having(model.key, model):
            _range(model, broken)
            asked = {model.parameter: value, **settings}
            made = _made(model, asked)
            if made is None:
                broken.append(f"a policy with {asked} does not make the model")
            else:
                _measures(made, broken)
                _in_a_release(made, {"k": 2, **asked}, broken)
    except PluginError as error:
        raise PromiseBroken(model.__name__, [str(error)]) from error
    if broken:
        raise PromiseBroken(model.key, broken)


def example_frame(seed: int = 0, rows: int = 60) -> pl.DataFrame:
    """A small table with missing values: two quasi-identifiers and two sensitive columns."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any], missing: float) -> list[Any]:
        chosen = rng.integers(0, len(values), rows)
        return [None if rng.random() < missing else values[i] for i in chosen]

    illness = [["flu", "cold", "asthma", "ulcer"][i % 4] for i in range(rows)]
    return pl.DataFrame(
        {
            "age": some([20, 25, 31, 38, 44, 52, 60], 0.05),
            "town": some(["Ayr", "Bly", "Cor"], 0.05),
            "illness": [None if i % 20 == 7 else value for i, value in enumerate(illness)],
            "cost": some([100, 200, 300, 400], 0.0),
        }
    )


def example_policy(privacy: Mapping[str, Any], **method: Any) -> dict[str, Any]:
    """A policy for `example_frame`."""
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "town": {"role": "quasi", "recode": "set"},
        "illness": {"role": "sensitive"},
        "cost": {"role": "sensitive", "type": "numeric"},
    }
    return {"columns": columns, "privacy": {"suppression_limit": 0.3, **privacy}, "method": method}


def _unknown_option(method: type[Method[Any]], broken: list[str]) -> None:
    try:
        make_method(MethodChoice.model_validate({"name": method.name, "no_such_option": 1}))
    except PolicyError as error:
        if "no_such_option" in str(error):
            return
    broken.append("an unknown option is not refused by name")


def _serves(method: type[Method[Any]], options: Mapping[str, Any], demand: dict[str, Any], broken: list[str]) -> bool:
    """Whether the method serves a demand; what it serves must keep every promise."""
    frame = example_frame()
    renamed = {"flu": "zoster", "cold": "apnea", "asthma": "measles", "ulcer": "burn"}
    run = partial(_release, method, options, demand)
    if run(frame, broken, f"{demand}") is None:
        return False
    run(frame.sample(fraction=1.0, shuffle=True, seed=3), broken, f"{demand}, rows in another order")
    run(frame.with_columns(pl.col("illness").replace(renamed)), broken, f"{demand}, values with other names")
    run(pl.concat([frame.head(1)] * 30 + [frame.tail(30)]), broken, f"{demand}, half of the rows equal")
    found = [release.class_of_row for _ in range(2) if (release := run(frame, broken, f"{demand}, again")) is not None]
    if len({None if labels is None else labels.tobytes() for labels in found}) > 1:
        broken.append(f"{demand}: the same seed gives different classes")
    return True


def _release(
    method: type[Method[Any]],
    options: Mapping[str, Any],
    demand: dict[str, Any],
    frame: pl.DataFrame,
    broken: list[str],
    case: str,
) -> Release | None:
    """The release, verified; None if the method refuses, which it may do with PolicyError and Unsatisfiable only."""
    policy = example_policy(demand, name=method.name, **options)
    try:
        release = anonymize(frame, {**policy, "release": {"form": method.forms[0]}}, seed=1)
    except (PolicyError, Unsatisfiable):
        return None
    except Exception as error:
        broken.append(f"{case}: {type(error).__name__}: {error}")
        return None
    if not release.verify().holds:
        broken.append(f"{case}: the release, measured again, does not satisfy its policy")
    return release


def _range(model: type[Model], broken: list[str]) -> None:
    """Values beyond the declared range are refused."""
    field = model.field
    if field is None:
        return
    outside = [(field.ge, -1), (field.gt, 0), (field.le, 1), (field.lt, 0)]
    for bound, step in outside:
        if bound is not None and not _refused(model, bound + step):
            broken.append(f"the policy accepts {model.parameter} = {bound + step}, which is out of its range")
    if all(bound is None for bound, _ in outside):
        broken.append(f"the policy key {model.parameter} has no range")


def _refused(model: type[Model], value: Any) -> bool:
    try:
        Policy.from_dict(example_policy({model.parameter: value}))
    except PolicyError:
        return True
    return False


def _made(model: type[Model], asked: Mapping[str, Any]) -> Model | None:
    """The model as a policy makes it, about an attribute called `x`."""
    column, privacy = Column(role="sensitive"), Privacy.model_validate(asked)
    wide = model.for_table(Policy(columns={"x": column}, privacy=privacy))
    return wide[0] if wide else model.for_column("x", column, privacy)


def _measures(model: Model, broken: list[str]) -> None:
    """What the model measures on random classes of a nominal attribute with four values, one of them missing."""
    if model.attribute is not None and "x" not in model.statement():
        broken.append("its statement does not name the column")
    found: set[str] = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes, owner = rng.integers(0, 4, 30), np.unique(rng.integers(0, 4, 30), return_inverse=True)[1]
        values = _values(model, owner, codes)
        promises: dict[str, Callable[[], bool]] = {
            "it measures something that is not a number": partial(_numbers, values),
            "the order of rows matters": partial(_same_in_any_order, model, owner, codes, values, rng),
            "the names of values matter": partial(_same_with_other_names, model, owner, codes, values, rng),
            "merging two groups weakens it, but it says monotone": partial(_merges, model, owner, codes, values),
        }
        found |= {words for words, kept in promises.items() if not kept()}
    broken += sorted(found)


def _numbers(values: FloatArray) -> bool:
    return not np.isnan(values).any()


def _values(model: Model, owner: IntArray, codes: IntArray) -> FloatArray:
    about = Attribute("x", 4, np.bincount(codes, minlength=4), equal(4), np.ones(4, dtype=np.int64))
    return model.measure_all(from_classes(owner, {"x": codes}, {"x": about}))


def _same_in_any_order(
    model: Model, owner: IntArray, codes: IntArray, values: FloatArray, rng: np.random.Generator
) -> bool:
    rows = rng.permutation(len(codes))
    return np.allclose(_values(model, owner[rows], codes[rows]), values, rtol=_CLOSE, atol=_CLOSE)


def _same_with_other_names(
    model: Model, owner: IntArray, codes: IntArray, values: FloatArray, rng: np.random.Generator
) -> bool:
    return np.allclose(_values(model, owner, rng.permutation(4)[codes]), values, rtol=_CLOSE, atol=_CLOSE)


def _merges(model: Model, owner: IntArray, codes: IntArray, values: FloatArray) -> bool:
    """Two groups that hold make a group that holds; and merging gives nothing worse than the worse of the two."""
    if not model.monotone or len(values) < 2:
        return True
    merged, two = _values(model, np.maximum(owner - 1, 0), codes)[0], values[:2]
    if model.direction == "at least":
        return bool(merged >= two.min() - _CLOSE)
    return bool(merged <= two.max() + _CLOSE)


def _in_a_release(model: Model, asked: Mapping[str, Any], broken: list[str]) -> None:
    """A method keeps it, the manifest claims it, the verifier judges it again, `check` measures it."""
    frame = example_frame()
    try:
        release = anonymize(frame, example_policy(asked, name="mondrian"), seed=1)
    except (PolicyError, Unsatisfiable) as error:
        broken.append(f"no release of the example table keeps {dict(asked)}: {error}")
        return
    if model.key not in {claim["model"] for claim in release.manifest["claims"]}:
        broken.append("the manifest does not claim it")
    verification = release.verify()
    if not verification.holds or not any(finding.check.startswith(model.key) for finding in verification.findings):
        broken.append("the verifier does not judge it again, or finds that it fails")
    measured = check(frame, Policy.from_dict(example_policy(asked))).measurements
    if model.key not in {each.model for each in measured}:
        broken.append("check does not measure it")
