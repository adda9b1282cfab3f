"""`polyveil schema`: the JSON schema of a policy or of a manifest, for editors and other programs."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from polyveil.cli.frame import print_json, reported_errors


def schema(
    name: Annotated[Literal["policy", "manifest"], typer.Argument(help="What the schema describes.")] = "policy",
) -> None:
    """Print the JSON schema of a policy file, or of a release's manifest."""
    with reported_errors():
        from polyveil.schemas import SCHEMAS

        print_json(SCHEMAS[name]())
