"""`polyveil keys`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyveil.cli.frame import print_json, reported_errors


def keys(
    file: Annotated[Path, typer.Argument(help="Where to write the private key; the public key gets .pub after it.")],
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Lock the private key with a passphrase that you are asked for.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make a pair of keys to sign releases with: `anonymize --sign FILE`, and `verify --signer FILE.pub`.

    Keep the private key to yourself and give the public key to your readers by a way they trust. The passphrase can
    also be in the environment variable POLYVEIL_KEY_PASSPHRASE, where `anonymize --sign` looks for it.
    """
    with reported_errors(as_json=as_json):
        import os

        from polyveil.releases.signing import PASSPHRASE, make_keys

        secret = os.environ.get(PASSPHRASE)
        if passphrase and not secret:
            secret = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
        fingerprint = make_keys(file, secret)
        if as_json:
            print_json({"private": str(file), "public": f"{file}.pub", "fingerprint": fingerprint})
        else:
            typer.echo(f"Private key {file}, public key {file}.pub, fingerprint {fingerprint}")
