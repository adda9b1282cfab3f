"""Release forms and the bundle on disk."""

from polyveil.releases.form import Form
from polyveil.releases.forms import FORMS, form_of, resolve_form, with_format
from polyveil.releases.release import Release

__all__ = ["FORMS", "Form", "Release", "form_of", "resolve_form", "with_format"]
