"""Where a database is, from a URL; what of it may be shown, and what never is.

    postgresql://[user[:password]@][host[:port]][/database][?schema=NAME&sslmode=require...]
    sqlite://relative/file.db[?schema=NAME]      sqlite:///absolute/file.db
    duckdb://relative/file.duckdb[?schema=NAME]  duckdb:///absolute/file.duckdb
    spark://catalog.schema                       spark://catalog.schema.table
    iceberg://catalog.namespace                  iceberg://catalog.namespace.table
    delta:///lake/release                        delta:///lake/table

`schema` names the schema of a release, or of the table to read. PostgreSQL's URL is taken apart here and handed to the
driver as separate settings: the driver's own parser quotes the whole URL, password included, in its complaints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, unquote

from polyveil.errors import InputError
from polyveil.table.databases.registry import DATABASES, known_scheme
from polyveil.table.stores import is_store

SECRET = ("password", "sslpassword", "oauth_client_secret")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_ENCODE = "In a URL, write @ : / ? # % of a user name or password as %40 %3A %2F %3F %23 %25; better, set PGPASSWORD"


@dataclass(frozen=True)
class Place:
    """One database. `settings` are the driver's own keywords and may hold a password, so they are never printed."""

    kind: str
    schema: str | None = None
    file: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The product's name."""
        return DATABASES[self.kind].title

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any text."""
        return tuple(self.settings[name] for name in SECRET if self.settings.get(name))

    def __str__(self) -> str:
        """A URL that reaches the same place and holds no secret."""
        if DATABASES[self.kind].names_table:
            where = "" if self.file is None else f"{quote(str(self.file)).removesuffix('/')}/"
            return f"{self.kind}://{where}{self.schema if self.file is None else quote(str(self.schema))}"
        schema = {"schema": self.schema} if self.schema is not None else {}
        if self.file is not None:
            return f"{self.kind}://{quote(str(self.file))}{_query(schema)}"
        known = dict(self.settings)
        user, host, port, database = (known.pop(name, "") for name in ("user", "host", "port", "dbname"))
        hosts, ports = host.split(","), port.split(",")
        ports = ports * len(hosts) if len(ports) == 1 else ports
        authority = ",".join(_host(*pair) for pair in zip(hosts, ports, strict=False))
        rest = {name: value for name, value in known.items() if name not in SECRET}
        login = f"{quote(user, safe='')}@" if user else ""
        return f"{self.kind}://{login}{authority}/{quote(database, safe='')}{_query(rest | schema)}"

    @property
    def without_schema(self) -> Place:
        """The database itself."""
        return Place(self.kind, None, self.file, self.settings)

    def redacted(self, text: str) -> str:
        """The text with every secret of this place blacked out."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def is_url(source: object) -> TypeGuard[str]:
    """Whether this is the URL of a database rather than a path, an object store or a frame; `C:\\data` is a path.

    A Path made from a URL has lost a slash, and its password would be shown with the path: refused here.
    """
    if (
        isinstance(source, Path)
        and source.parts
        and source.parts[0].endswith(":")
        and known_scheme(source.parts[0][:-1])
    ):
        raise InputError("a database URL must be a string, not a Path. Pass the URL as a string")
    return isinstance(source, str) and _URL.match(source) is not None and not is_store(source)


def shown(place: object) -> str:
    """A path as it is, a URL without its secrets: for everything that is printed."""
    return str(place_of(place)) if is_url(place) else str(place)


def place_of(url: str) -> Place:
    """The place a URL names; InputError, without quoting the URL, where it cannot be understood."""
    found = _URL.fullmatch(url)
    scheme = found[1].lower() if found else ""
    kind = known_scheme(scheme)
    if found is None or kind is None:
        *others, last = (f"{name}://" for name in DATABASES)
        raise InputError(
            f"{scheme}:// is not a supported database. Use {', '.join(others)} or {last}, s3://, gs:// or abfss:// for "
            "an object store, or the path of a file"
        )
    if DATABASES[kind].names_table and DATABASES[kind].names_file:
        folder = _file(found[2].rstrip("/"), scheme)
        if folder.name in ("", ".", ".."):
            raise InputError(f"a {scheme}:// URL names a folder: {scheme}:///lake/name. Add its name")
        return Place(kind, folder.name, folder.parent)
    if DATABASES[kind].names_table:
        return Place(kind, _name(found[2], scheme))
    main, _, query = found[2].partition("?")
    settings = _settings(query)
    schema = settings.pop("schema", None)
    if schema is not None and (not schema.strip() or "\0" in schema):
        raise InputError("the database URL has an empty schema. Write ?schema=NAME, or leave it out")
    if not DATABASES[kind].names_file:
        return Place(kind, schema, settings=_server(main) | settings)
    if settings:
        raise InputError(
            f"a {scheme}:// URL takes only ?schema=NAME. Remove the other settings after the question mark"
        )
    return Place(kind, schema, _file(main, scheme))


def _name(name: str, scheme: str) -> str:
    if not re.fullmatch(r"(`[^`\0]+`|[^`./:?\s\0]+)(\.(`[^`\0]+`|[^`./:?\s\0]+))*", name):
        raise InputError(
            f"a {scheme}:// URL is a name in a catalog: {scheme}://catalog.schema.table for a table, "
            f"{scheme}://catalog.schema for a release. Put a part with other signs in backquotes"
        )
    return name


def _settings(query: str) -> dict[str, str]:
    settings = {}
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        if not equals or not re.fullmatch(r"[a-z_]+", name):
            raise InputError(f"the database URL has a setting that is not of the form name=value. {_ENCODE}")
        settings[name] = unquote(value)
    return settings


def _server(main: str) -> dict[str, str]:
    authority, _, database = main.partition("/")
    login, _, hosts = authority.rpartition("@")
    user, _, password = login.partition(":")
    pairs = [re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]]*)(?::(\d*))?", host) for host in hosts.split(",")]
    if None in pairs or "@" in database:
        raise InputError(f"the host and port of the database URL cannot be understood. {_ENCODE}")
    names = ",".join(unquote(pair[1].strip("[]")) for pair in pairs if pair)
    ports = [pair[2] or "" for pair in pairs if pair]
    found = {
        "user": unquote(user),
        "password": unquote(password),
        "host": names if names.strip(",") else "",
        "port": ",".join(ports) if any(ports) else "",
        "dbname": unquote(database),
    }
    return {name: value for name, value in found.items() if value}


def _file(main: str, scheme: str) -> Path:
    path = unquote(main)
    if not path or path.startswith(":") or "\0" in path:
        raise InputError(
            f"a {scheme}:// URL names a file: {scheme}://folder/file, or {scheme}:///folder/file from the root"
        )
    return Path(path).expanduser()


def _host(host: str, port: str) -> str:
    name = f"[{host}]" if ":" in host else quote(host, safe="")
    return f"{name}:{port}" if port else name


def _query(settings: Mapping[str, str]) -> str:
    pairs = [f"{name}={quote(value, safe='/')}" for name, value in settings.items()]
    return f"?{'&'.join(pairs)}" if pairs else ""
