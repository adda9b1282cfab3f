"""How much detail any release of a table must lose: a number that no method, however long it searches, can go below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyveil.bounds.result import LossBound
from polyveil.errors import InputError
from polyveil.models import attributes_of, models_for
from polyveil.policy import PolicyLike, load_policy
from polyveil.progress import Progress, shown
from polyveil.table.bind import bind
from polyveil.table.encode import encode
from polyveil.table.source import read

SECONDS = 20.0
"""How long `polyveil.bound` takes at most, unless asked."""


def bound(
    source: Any,
    policy: PolicyLike,
    *,
    seconds: float = SECONDS,
    progress: Progress | bool = False,
    reading: Mapping[str, Any] | None = None,
) -> LossBound:
    """Compute a loss that no release of a table with these guarantees can go below, by any method.

    Parameters
    ----------
    source : path, frame, Table or database address
        The table.
    policy : Policy, dict or path
        What each column is, and which guarantees a release must give. Its method plays no part.
    seconds : float
        How long to look for a greater bound. The bound holds whenever it is stopped.
    progress : Progress or bool
        True shows a bar, in a terminal or a notebook.
    reading : dict, optional
        Options of `polyveil.read`, such as ``{"delimiter": ";"}``.

    Returns
    -------
    LossBound
        The bound, in the unit of `information_loss` and as the share of the detail that is lost.

    Raises
    ------
    PolicyError, InputError
        The policy or the table cannot be used, or the policy asks for a form other than generalized, for
        rows_per_person or for shift.

    Examples
    --------
    >>> import polars as pl, polyveil
    >>> people = pl.DataFrame({"age": [30, 31, 52, 54], "disease": ["flu", "asthma", "flu", "asthma"]})
    >>> policy = {"columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}, "privacy": {"k": 2}}
    >>> print(f"{polyveil.bound(people, policy).normalized_loss:.4f}")
    0.0625
    >>> print(f"{polyveil.anonymize(people, policy).loss['normalized_loss']:.4f}")
    0.0625
    """
    from polyveil.bounds.of_table import bound_of  # kernels are slow to load

    chosen = load_policy(policy)
    if chosen.release.form not in (None, "generalized"):
        raise InputError(
            f"there is no bound for the form {chosen.release.form}: it publishes quasi-identifiers without groups of "
            "rows that look alike. Ask for the generalized form"
        )
    if chosen.privacy.rows_per_person is not None:
        raise InputError(
            "there is no bound with rows_per_person before a run: chance decides which rows stay. Use anonymize with "
            "the bound"
        )
    if chosen.shifted:
        raise InputError(
            "there is no bound with shift before a run: chance moves the dates. Use anonymize with the bound"
        )
    with shown(progress) as listening:
        listening.stage("read")
        table = read(source, **(reading or {}))
        listening.stage("encode")
        coded = encode(bind(chosen, table))
        listening.stage("bound")
        attributes = attributes_of(coded)
        return bound_of(coded, models_for(chosen, attributes), attributes, chosen.privacy, seconds)
