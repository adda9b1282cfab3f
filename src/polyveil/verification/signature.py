"""Who published a release: an Ed25519 signature over its manifest, which has the checksum of every file.

Beside it a folder may have a report, which whoever makes it again compares.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import Path

from polyveil.errors import InputError
from polyveil.verification.files import REPORT, SIGNATURE, manifest_bytes
from polyveil.verification.findings import Finding, fails, holds, unchecked

_TITLE = "polyveil-signature-1"


def signature_text(public_key: bytes, signature: bytes) -> str:
    """The file beside the manifest: who signed, and the signature."""
    return "\n".join([_TITLE, *(base64.b64encode(part).decode() for part in (public_key, signature)), ""])


def fingerprint_of(public_key: bytes) -> str:
    """A short name of a key, to be compared by people."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public_key).digest()).decode().rstrip("=")


def read_public_key(file: Path | str) -> bytes:
    """The 32 bytes of a public key in a PEM file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(Path(file).read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}). Name a public key file (.pub)") from None
    except ValueError:
        raise InputError(f"{file} is not a public key. Name the .pub file that `polyveil keys` made") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{file} is a key of another kind. polyveil signs with Ed25519 keys; see `polyveil keys`")
    return key.public_bytes_raw()


def check_beside(folder: Path, signer: Path | str | None = None) -> list[Finding]:
    """What is in a folder beside the tables and their manifest: the signature, and the report."""
    if not (folder / REPORT).is_file():
        return check_signature(folder, signer)
    message = f"{REPORT} is not compared with the tables here; `polyveil verify` makes it again and compares"
    return [*check_signature(folder, signer), unchecked("report", message)]


def check_signature(folder: Path, signer: Path | str | None = None) -> list[Finding]:
    """Whether the release is signed, by whom, and by the signer that is expected; without one, nobody is trusted."""
    expected = None if signer is None else read_public_key(signer)
    file = folder / SIGNATURE
    if not file.exists():
        if expected is None:
            return []
        return [fails("signature", f"the release is not signed, and {fingerprint_of(expected)} was expected")]
    found = _read(file)
    if found is None:
        return [fails("signature", f"{SIGNATURE} is not a signature")]
    public_key, signature = found
    name = fingerprint_of(public_key)
    if not _is_valid(public_key, signature, manifest_bytes(folder)):
        return [fails("signature", f"the signature by {name} is not of this manifest")]
    if expected is None:
        message = f"signed by {name}. Whether you trust that key is not checked; give it with --signer"
        return [unchecked("signature", message)]
    if public_key != expected:
        return [fails("signature", f"signed by {name}, not by the expected {fingerprint_of(expected)}")]
    return [holds("signature", f"signed by {name}, as expected")]


def check_file(file: Path) -> str | None:
    """Who signed a file, by the signature beside it; None if there is none. Raises InputError if it does not fit."""
    beside = file.with_name(f"{file.name}.sig")
    if not beside.exists():
        return None
    found = _read(beside)
    if found is None or not _is_valid(*found, file.read_bytes()):
        raise InputError(f"{beside.name} is not a signature of {file.name}. The file was changed after it was signed")
    return fingerprint_of(found[0])


def _read(file: Path) -> tuple[bytes, bytes] | None:
    try:
        text = file.read_bytes().decode("ascii")
        _, key, signature, _ = text.split("\n")
        parts = base64.b64decode(key, validate=True), base64.b64decode(signature, validate=True)
    except (OSError, ValueError, binascii.Error):
        return None
    return parts if text == signature_text(*parts) and [len(part) for part in parts] == [32, 64] else None


def _is_valid(public_key: bytes, signature: bytes, content: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True
