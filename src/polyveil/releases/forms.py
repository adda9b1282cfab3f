"""The release forms by name, and the form that a policy and its method agree on."""

from __future__ import annotations

from typing import Any, Literal

from polyveil.errors import Fault, PolicyError
from polyveil.methods.base import Method
from polyveil.plugins import Registry
from polyveil.policy import Policy
from polyveil.policy.forms import GROUP, HOMES, SEVERAL_TABLES
from polyveil.policy.schema import MethodChoice
from polyveil.releases.form import Form


def _wrong(name: str, form: Any) -> str:
    if not (isinstance(form, type) and issubclass(form, Form)):
        return "it is not a subclass of polyveil.releases.Form"
    return "" if form.name == name else f"it calls itself {form.name!r}"


FORMS: Registry[type[Form]] = Registry(GROUP, HOMES, _wrong)
"""Form name -> class. Installed packages add theirs through the entry point group `polyveil.forms`."""
OPTIONS = ("generalize", "counts")
"""The keys of `release` that only some forms take."""


def form_of(policy: Policy) -> Form:
    """The form of a policy in which it is filled in."""
    return form_named(policy.release.form or "generalized")


def form_named(name: str) -> Form:
    """A form by its name, which the policy's schema has checked."""
    return FORMS[name]()


def resolve_form(policy: Policy, method: Method[Any]) -> Policy:
    """The policy with the form it leaves open filled in and options as the method reads them; or PolicyError."""
    release = policy.release
    form = form_named(release.form or (SEVERAL_TABLES if policy.tables else method.forms[0]))
    faults = []
    if (form.name == SEVERAL_TABLES) != bool(policy.tables):
        rule = f"a policy {'with several tables is' if policy.tables else 'without tables: is not'} {SEVERAL_TABLES}"
        faults.append(Fault("release.form", rule, "Remove release.form"))
    elif form.name not in (*method.forms, SEVERAL_TABLES):
        remedy = f"{method.name} can be released as: {', '.join(method.forms)}"
        faults.append(Fault("release.form", f"{method.name} does not make {form.name} releases", remedy))
    takers = [name for name in method.forms if set(OPTIONS) <= form_named(name).options]
    faults += [
        Fault(
            f"release.{key}",
            f"the {form.name} form does not take it",
            f"Remove it, or set release.form to {' or '.join(takers)}" if takers else "Remove it",
        )
        for key in OPTIONS
        if getattr(release, key) and key not in form.options
    ]
    if policy.person is None:
        asked = {
            "release.person": release.person != "none",
            "privacy.rows_per_person": policy.privacy.rows_per_person is not None,
        }
        remedy = "Give the column that says whom a row is about the role person, or remove it"
        faults += [Fault(key, "no column has the role person", remedy) for key, is_asked in asked.items() if is_asked]
    faults += _faults_of_weights(policy, form)
    filled = {"form": form.name, **form.fill_in(policy, method)}
    options = method.options.model_dump(mode="json", include=set(policy.method.options))
    choice = MethodChoice.model_validate({**policy.method.model_dump(), **options})  # "3" becomes the number it means
    resolved = policy.model_copy(update={"release": release.model_copy(update=filled), "method": choice})
    faults += form.faults(resolved, method)
    if faults:
        raise PolicyError(faults)
    return resolved


def _faults_of_weights(policy: Policy, form: Form) -> list[Fault]:
    """A weight is the mean of a group, which nothing but the group's quasi-identifiers may tell from another."""
    if policy.sampling_weight is None:
        return []
    place, remedy = f"columns.{policy.sampling_weight}.role", "or give the weight the role drop"
    if form.name != "generalized":
        rule = f"weights are published for groups that share all quasi-identifiers, which the {form.name} form has not"
        return [Fault(place, rule, f"Use form: generalized and one table, {remedy}")]
    if policy.release.person != "none":
        rule = "keys of people tell rows of a group apart, and a weight is published for the whole group"
        return [Fault("release.person", rule, f"Remove it, {remedy}")]
    return []


def with_format(policy: Policy, natural: Literal["parquet", "csv"]) -> Policy:
    """The policy with the natural format of its table, unless it asks for one."""
    if policy.release.format is not None or natural == "parquet":
        return policy
    return policy.model_copy(update={"release": policy.release.model_copy(update={"format": natural})})
