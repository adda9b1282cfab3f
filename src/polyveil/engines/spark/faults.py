"""When Spark itself fails: one line that says what, and never a cell, instead of Java's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from polyveil.errors import InputError

_ON_WORKER = re.compile(r"WorkerFault: (an unexpected \w+ at [\w.]+:\d+)")
_NO_CLASS = re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): (?:Class )?([\w.$/]+)")
_NO_SCHEME = re.compile(r"No FileSystem for scheme \"?(\w+)")
PACKAGES = {
    "delta": "io.delta:delta-spark",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime",
    "s3": "org.apache.hadoop:hadoop-aws",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "azure": "org.apache.hadoop:hadoop-azure",
    "gcs": "com.google.cloud.bigdataoss:gcs-connector",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
    "amazonaws": "org.apache.hadoop:hadoop-aws",
    "awssdk": "org.apache.hadoop:hadoop-aws",
    "postgresql": "org.postgresql:postgresql",
}
"""What Spark needs for lakes and object stores, by a word in the name of the class or scheme that it lacks."""
_GRANTS = "USE CATALOG, USE SCHEMA, SELECT and, to publish, CREATE SCHEMA and CREATE TABLE"
_NO_CATALOG = "Spark has no such catalog. Set spark.sql.catalog.NAME, and start Spark with its package"
_CATALOG = {
    "CATALOG_NOT_FOUND": _NO_CATALOG,
    "REQUIRES_SINGLE_PART_NAMESPACE": _NO_CATALOG,  # the name is then looked for in Spark's own catalog
    "SCHEMA_NOT_FOUND": "there is no such schema. Check the name, and that you may see it",
    "TABLE_OR_VIEW_NOT_FOUND": "there is no such table or view. Check the name, and that you may read it",
    "UNSUPPORTED_FEATURE.TIME_TRAVEL": "this table has no older versions that Spark can read. Leave --as-of out",
    "TABLE_OR_VIEW_ALREADY_EXISTS": "somebody else just made this table. Name another schema, or wait for them",
    "LOCATION_ALREADY_EXISTS": "files of a table that a killed run began are still there. Remove the folder of the "
    "schema where Spark keeps its tables, or name another schema",
}
"""What a catalog refuses, and what to do about it, by Spark's name for it."""
_DENIED = re.compile(r"PERMISSION|ACCESS.?DENIED|FORBIDDEN|UNAUTHORIZED|AccessControlException|(?<!:)\b403\b", re.I)
_NO_BUCKET = re.compile(r"NoSuchBucket|UnknownStoreException|bucket .*does not exist|container does not exist", re.I)
_UNWRITABLE = re.compile(r"Mkdirs failed to create|ParentNotDirectory|Read-only file system|Operation not permitted")
_UNREADABLE = re.compile(r"AccessDeniedException|AccessControlException|[:(] ?Permission denied")
_DAMAGED = re.compile(
    r"\[(FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA|TABLE_OR_VIEW_NOT_FOUND|"
    r"DELTA_FILE_NOT_FOUND|DELTA_LOG_FILE_NOT_FOUND|INVALID_VIEW|INCOMPATIBLE_VIEW_SCHEMA_CHANGE)|"
    r"is not a Parquet file|ParquetDecodingException|ChecksumException|FileNotFoundException|NotFoundException: File|"
    r"Input path does not exist|FileReadException|CorruptedFileException"
)
_UNREACHED = re.compile(
    r"UnknownHost|ConnectException|ConnectionException|[Tt]imeoutException|SdkClient|NoAuthWith|SocketEx"
)
_OTHER_VERSION = re.compile(
    r"(NoSuchMethodError|NoSuchFieldError|AbstractMethodError|IncompatibleClassChangeError|UnsupportedClassVersionError|"
    r"ServiceConfigurationError|IllegalAccessError|ExceptionInInitializerError)"
)
_MISSING = re.compile(r"No module named '(\w+)")


@contextmanager
def as_input_errors() -> Iterator[None]:
    """Raise InputError for what Spark reports; nothing was published then."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise InputError(_reason(error.getCondition() or type(error).__name__, _with_causes(error))) from None
    except Py4JJavaError as error:  # what Java raises before Spark can give it a name
        raise InputError(_reason("an error in Java", str(error))) from None


def _with_causes(error: Exception) -> str:
    """What Spark says, and what a server, a store or a class loader told it, which is in its trace alone."""
    trace = getattr(error, "_stackTrace", None) or getattr(error, "_stacktrace", None) or ""
    return "\n".join([str(error), *(line for line in str(trace).splitlines() if line.startswith("Caused by:"))])


def refusal(error: Exception) -> str | None:
    """What a catalog says, in one sentence with the remedy; None if it is no refusal that is known."""
    condition = getattr(error, "getCondition", lambda: None)() or ""
    if _DENIED.search(condition):
        return f"permission is denied. Grant {_GRANTS}"
    return next((words for name, words in _CATALOG.items() if condition.startswith(name)), None)


def unreadable(error: Exception) -> str | None:
    """What storage says to a reader without the right to read, with what to grant; None if it said something else."""
    if _UNREADABLE.search(str(error)):
        return "Spark's account is not allowed to read it. Grant it reading and listing"
    return None


def damage(error: Exception) -> str | None:
    """What is wrong with the files of a table or with what a view is made of; None if that is not what failed."""
    text = _with_causes(error)
    other = (_NO_BUCKET, _UNREADABLE, _DENIED, _UNREACHED, _NO_CLASS, _NO_SCHEME, _ON_WORKER, _MISSING)
    if _DAMAGED.search(text) and not any(pattern.search(text) for pattern in other):
        return "files of it are damaged or not there"
    return None


def _reason(condition: str, text: str) -> str:
    if _NO_BUCKET.search(text):
        return "the bucket or container of that address does not exist. Check the address; nothing was published"
    if _UNWRITABLE.search(text):
        return (
            "Spark cannot make a folder where the catalog keeps its tables. Grant its account writing to the folder of "
            "that schema; nothing was published"
        )
    if _DENIED.search(condition) or _DENIED.search(text):
        return f"Spark is not allowed there. Grant its account reading, writing and listing, or {_GRANTS}"
    missing, fault = _MISSING.search(text), _ON_WORKER.search(text)
    absent = _NO_CLASS.search(text) or _NO_SCHEME.search(text)
    if absent:
        name = absent[1].replace("/", ".")
        package = next((package for kind, package in PACKAGES.items() if kind in name.lower()), "that brings it")
        return (
            f"Spark has no code for {name}. Start it with the package {package}, in the version that goes with it; "
            "nothing was published"
        )
    if other := _OTHER_VERSION.search(text):
        return (
            f"a package that Spark was started with is of another version than Spark ({other[1]}). Take the one that "
            "goes with this version of Spark, of Scala and of Java; nothing was published"
        )
    if missing:
        return (
            f"Spark's workers have no Python module {missing[1]}. Install polyveil[spark] where they run, and let "
            "spark.pyspark.python name that Python; nothing was published"
        )
    what = fault[1] if fault else condition
    return f"Spark stopped ({what}); nothing was published. Spark's own log says more, and may hold data"
