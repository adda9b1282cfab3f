"""Release forms and the bundle on disk."""

from polyveil.releases.generalized import generalized
from polyveil.releases.linked import linked
from polyveil.releases.release import Release

FORMS = {"generalized": generalized, "anatomized": linked, "sliced": linked}
"""Form -> function that makes the tables to publish from (bound policy, coded table, partition)."""

__all__ = ["FORMS", "Release"]
