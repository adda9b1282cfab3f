"""Keys to sign releases with, and the signing. Only its owner can read the file of a private key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyveil.errors import InputError
from polyveil.table.databases.place import is_url
from polyveil.verification.files import SIGNATURE, manifest_bytes
from polyveil.verification.signature import fingerprint_of, signature_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PASSPHRASE = "POLYVEIL_KEY_PASSPHRASE"  # noqa: S105 - the name of the variable
"""The environment variable with the passphrase of a private key."""


def make_keys(file: Path, passphrase: str | None = None) -> str:
    """Write a new private key to `file` and its public key to `file` + .pub; returns the key's fingerprint."""
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    locked = pem.BestAvailableEncryption(passphrase.encode()) if passphrase else pem.NoEncryption()
    private = key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, locked)
    public = key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
    _write_new(file, private, 0o600)
    _write_new(file.with_name(file.name + ".pub"), public, 0o644)
    return fingerprint_of(key.public_key().public_bytes_raw())


def _write_new(file: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise InputError(f"{file} exists already, and a key is never replaced. Name another file") from None
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}). Name another place") from None
    with os.fdopen(descriptor, "wb") as sink:
        sink.write(content)


def read_private_key(file: Path | str) -> Ed25519PrivateKey:
    """The private key in a PEM file; its passphrase, if it has one, comes from the environment."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    passphrase = os.environ.get(PASSPHRASE)
    try:
        content = Path(file).read_bytes()
        try:
            key = load_pem_private_key(content, passphrase.encode() if passphrase else None)
        except TypeError:  # a passphrase if none is needed, or none if one is
            if not passphrase:
                raise InputError(f"{file} is locked with a passphrase. Put it into {PASSPHRASE}") from None
            key = load_pem_private_key(content, None)
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}). Name a private key file") from None
    except ValueError:
        raise InputError(
            f"{file} cannot be used as a private key: it is none, or the passphrase in {PASSPHRASE} is wrong"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{file} is a key of another kind. Make an Ed25519 key with `polyveil keys`")
    return key


def sign_folder(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the signature of a finished release folder beside its manifest."""
    (folder / SIGNATURE).write_text(_signature(manifest_bytes(folder), key), encoding="ascii")


def sign_file(file: Path, key: Ed25519PrivateKey) -> Path:
    """Write the signature of a file beside it, and return that file."""
    beside = file.with_name(f"{file.name}.sig")
    beside.write_text(_signature(file.read_bytes(), key), encoding="ascii")
    return beside


def _signature(content: bytes, key: Ed25519PrivateKey) -> str:
    return signature_text(key.public_key().public_bytes_raw(), key.sign(content))


Signer = Callable[[Any], None]
"""Signs what was written, a folder or what an engine says of one, before it is verified and gets its name."""


def signer_of(key: Path | str | None, out: Path | str | None) -> Signer:
    """What signs a release with this key; without one, nothing is signed. Raises InputError early."""
    if key is None:
        return lambda _: None
    if out is None or is_url(out):
        where = "Only a published release is signed" if out is None else "A release in a database cannot be signed"
        raise InputError(f"{where}. Publish to a folder, or leave the key out")
    private = read_private_key(key)
    return lambda written: sign_folder(written[0] if isinstance(written, tuple) else Path(written), private)
