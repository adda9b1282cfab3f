"""Release forms and the bundle on disk."""

from polyveil.releases.form import Form
from polyveil.releases.forms import FORMS, form_of, resolve_form
from polyveil.releases.release import Release

__all__ = ["FORMS", "Form", "Release", "form_of", "resolve_form"]
