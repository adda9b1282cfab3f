"""Object stores: `s3://bucket/name`, `gs://bucket/name`, `abfss://container@account.dfs.core.windows.net/name`.

What is read is copied to this machine first, into a folder of its own that is gone afterwards. A release is made here
and copied there, its manifest last and read first: without a manifest there is no release. Keys come from the
environment, as the stores' own programs take them, and never from an address.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from polyveil.errors import InputError

SCHEMES = ("s3", "gs", "abfss")
MANIFEST = "manifest.json"
_KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_ENDPOINT_URL for a store of your own)",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfss": "AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET",
}
_LAKE_LOGS = ("_delta_log", ".hoodie")
_DENIED = re.compile(r"ACCESS_DENIED|FORBIDDEN|\b403\b|PermissionDenied|Unauthorized|INVALID_ACCESS|SIGNATURE", re.I)
_NO_BUCKET = re.compile(r"NO_SUCH_BUCKET|bucket does not exist|ContainerNotFound", re.I)
_NO_NETWORK = re.compile(r"NETWORK_CONNECTION|curlCode|could not connect|resolve host|timed? ?out", re.I)


def is_store(place: object) -> TypeGuard[str]:
    """Whether this is an address in an object store; a Path made from one has lost a slash and is refused."""
    if isinstance(place, Path) and place.parts and place.parts[0] in [f"{scheme}:" for scheme in SCHEMES]:
        raise InputError("the address of an object store must be a string, not a Path. Pass it as a string")
    return isinstance(place, str) and place.partition("://")[0].lower() in SCHEMES and "://" in place


@dataclass(frozen=True)
class Store:
    """A place in an object store: the file system that reaches it, and the path there."""

    address: str
    files: Any
    path: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def manifest(self) -> str:
        """The path of the manifest, if this is a release."""
        return f"{self.path}/{MANIFEST}"

    def objects(self) -> dict[str, str]:
        """The paths of all objects below this place, by their names from here."""
        return self._below("File")

    def folders(self) -> dict[str, str]:
        """The paths of all folders below this place, which may be nothing but a name, by their names from here."""
        return self._below("Directory")

    def _below(self, kind: str) -> dict[str, str]:
        from pyarrow.fs import FileSelector

        found = self.files.get_file_info(FileSelector(self.path, recursive=True, allow_not_found=True))
        if len({one.path for one in found}) < len(found):
            raise InputError(
                f"{self.address} holds an object whose name is that of another with a slash at its end. Remove it"
            )
        return {one.path[len(self.path) + 1 :]: one.path for one in found if one.type.name == kind}

    def is_object(self, path: str) -> bool:
        """Whether there is an object with exactly this path."""
        from pyarrow.fs import FileType

        return bool(self.files.get_file_info(path).type == FileType.File)

    def content(self, path: str) -> bytes | None:
        """What an object holds; None if there is none."""
        if not self.is_object(path):
            return None
        with self.files.open_input_stream(path) as source:
            return bytes(source.read())

    def sha256(self, path: str) -> str | None:
        """An object's checksum, read in pieces; None if there is no object."""
        if not self.is_object(path):
            return None
        digest = hashlib.sha256()
        with self.files.open_input_stream(path) as source:
            while piece := source.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()

    def fetch(self, path: str, file: Path) -> None:
        """Copy an object to a file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with self.files.open_input_stream(path) as source, file.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

    def put(self, file: Path, path: str) -> None:
        """Copy a file to an object."""
        with file.open("rb") as source, self.files.open_output_stream(path) as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

    def delete(self, path: str) -> None:
        """Remove an object if it is there."""
        with suppress(FileNotFoundError):
            self.files.delete_file(path)


def open_store(address: str) -> Store:
    """The store that an address names. InputError, without quoting it, where it holds what it must not."""
    scheme, _, rest = address.partition("://")
    scheme, host = scheme.lower(), rest.partition("/")[0]
    if "?" in rest or "#" in rest or (scheme != "abfss" and "@" in host) or (scheme == "abfss" and ":" in host):
        raise InputError(
            "the address of an object store names a bucket and a path and nothing else. Keys and settings come from "
            f"the environment: {_KEYS[scheme]}"
        )
    parts = rest.rstrip("/").split("/")
    if len(parts) < 2 or not all(_plain(part) for part in parts):
        raise InputError(f"an object store's address has the form {scheme}://bucket/folder/name. Name a path in it")
    shown = f"{scheme}://{'/'.join(parts)}"
    try:
        if scheme == "s3":
            return Store(shown, _s3(parts[0]), "/".join(parts))
        from pyarrow.fs import FileSystem

        files, path = FileSystem.from_uri(shown)
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise _refused(shown, error) from None
    return Store(shown, files, path)


def _plain(part: str) -> bool:
    return part not in ("", ".", "..") and not re.search(r"[\\\0]", part)


def _s3(bucket: str) -> Any:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None:
        region = "us-east-1" if endpoint else resolve_s3_region(bucket)
    return S3FileSystem(
        endpoint_override=endpoint,
        region=region,
        connect_timeout=20,
        request_timeout=60,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=4),
    )


@contextmanager
def said_plainly(address: str, then: str = "") -> Iterator[None]:
    """What a store refuses, in one sentence."""
    try:
        yield
    except OSError as error:
        raise _refused(address, error, then) from None


def _refused(address: str, error: Exception, then: str = "") -> InputError:
    scheme, _, rest = address.partition("://")
    bucket, said = rest.partition("/")[0], str(error)
    if _NO_BUCKET.search(said):
        why = f"there is no bucket {bucket}. Check the address, and that the endpoint is the right one"
    elif _DENIED.search(said):
        why = f"it is not allowed there. Grant these keys reading, writing, deleting and listing: {_KEYS[scheme]}"
    elif _NO_NETWORK.search(said):
        why = "the store cannot be reached. Check the network, and AWS_ENDPOINT_URL for a store of your own"
    elif isinstance(error, ImportError | NotImplementedError):
        why = f"this build of pyarrow cannot reach {scheme}:// stores. Install pyarrow from its own wheels"
    else:
        code = re.search(r"AWS Error (\w+)", said)
        why = f"the store refuses it{f' ({code[1]})' if code else ''}. Keys come from the environment: {_KEYS[scheme]}"
    return InputError(f"{address}: {why}{then}")


@contextmanager
def local_copy(address: str) -> Iterator[Path]:
    """A copy of the object, or of all objects below the path, in a folder for this process alone."""
    store = open_store(address)
    with tempfile.TemporaryDirectory(prefix="polyveil-") as folder:
        target = Path(folder) / store.name
        with said_plainly(store.address):
            _copy(store, target)
        yield target


def _copy(store: Store, target: Path) -> None:
    if store.is_object(store.path):
        _refuse_part_of_lake(store)
        store.fetch(store.path, target)
        return
    before = store.content(store.manifest)
    found, folders = store.objects(), store.folders()
    if not found:
        raise InputError(f"{store.address} does not exist. Check the address")
    strange = [name for name in (*found, *folders) if not all(_plain(part) for part in name.split("/"))]
    if strange:
        raise InputError(f"{store.address} holds {len(strange)} objects whose names are no file names. Remove them")
    if any(re.fullmatch(r"metadata/.*\.metadata\.json", name) for name in found):
        raise InputError(
            f"{store.address} is an Iceberg table, which names its files by their places in the store. Read it with "
            "Spark, or from a database that knows it"
        )
    _refuse_part_of_lake(store)
    for name in ("", *folders):
        (target / name).mkdir(parents=True, exist_ok=True)
    for name, path in found.items():
        store.fetch(path, target / name)
    if store.content(store.manifest) != before or any(not (target / name).is_file() for name in store.objects()):
        raise InputError(f"{store.address} was changed while it was read. Read it again")


def _refuse_part_of_lake(store: Store) -> None:
    """A file of a lake by itself gives deleted people back."""
    from pyarrow.fs import FileSelector, FileType

    for folder in PurePosixPath(store.path).parents:
        if len(folder.parts) < 1:
            continue
        logs = store.files.get_file_info([f"{folder}/{name}" for name in _LAKE_LOGS])
        listed = store.files.get_file_info(FileSelector(f"{folder}/metadata", allow_not_found=True))
        iceberg = any(one.path.endswith(".metadata.json") for one in listed)
        if iceberg or any(one.type == FileType.Directory for one in logs):
            whole = f"{store.address.partition('://')[0]}://{folder}"
            raise InputError(
                f"{store.address} is a part of the table in {whole}, whose log says which of its rows were deleted. "
                f"Read {whole} instead"
            )
