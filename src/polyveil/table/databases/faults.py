"""What drivers complain about, in one clear line: what, why, what to do next.

A driver's own words are passed on only where they speak of names (a missing column, a syntax error); a complaint about
values may quote a cell, so there only its code is given. Secrets are blacked out of everything, and the driver's error
itself loses its text, because Python keeps it in the chain of errors for whoever logs that.
"""

from __future__ import annotations

import re

from polyveil.errors import InputError, UnreadableTable
from polyveil.table.databases.place import Place

_LOST = re.compile(
    r"server closed the connection|terminating connection|no connection to the server|connection (not open|reset)|"
    r"could not receive data|could not send data|SSL connection has been closed|SSL SYSCALL|shutting down",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"cancel|timeout|out of memory|out of shared|disk full|no space|permission denied", re.IGNORECASE)
_READ_ONLY = re.compile(r"cannot execute [A-Z ]+ in a read-only transaction")  # errors within a stream have no code
_CONNECT_REMEDIES = (
    (
        r"password authentication failed|no password supplied|empty password",
        "Set PGPASSWORD, or put the password in ~/.pgpass or a service file",
    ),
    (
        r"timeout expired|refused|could not translate|No such file|Network is unreachable|No route",
        "Check host and port, and that the server runs",
    ),
    (r"database .* does not exist", "Check the name of the database after the host"),
    (r"role .* does not exist", "Check the user in the URL, or set PGUSER"),
    (r"no pg_hba.conf entry|SSL", "Ask the server's keeper how to connect; sslmode can be set in the URL"),
    (r"service", "Check the service file (PGSERVICEFILE or ~/.pg_service.conf)"),
)
_CODES = {
    "42601": "Write one SELECT statement",
    "25006": "Only reading is allowed: write a SELECT without side effects",
    "42501": "Ask for the privilege, or connect as another user",
    "42P06": "Another run made it just now; name another schema",
    "23505": "Another run made the same schema just now; name another one",
    "2BP01": "Other views or tables are built on the older release: drop them, or name a new schema",
    "55P03": "Others are using it; try again later, or name a new schema",
    "53100": "The server's disk is full. Free space there",
    "53200": "The server is out of memory",
    "53300": "The server has too many connections; try again later",
    "57014": "The server stopped it, perhaps for taking too long (statement_timeout)",
    "42939": "Choose a schema name that does not begin with pg_",
    "22021": "A text has a zero byte or is not valid in the server's encoding; mend it in the table",
}
_REFUSED = ("08", "25", "28", "42501", "53", "55", "57")
"""What a server says of connections, rights and its own limits; anything else it says while reading is about data."""
_MADE_OF = "what it is made of is damaged or not there"
_SAYS_NAMES_ONLY = ("42", "25", "2B", "3F", "0A", "55", "53", "57", "54")


def postgresql_fault(error: BaseException, place: Place, doing: str) -> InputError:
    """One line for an error of the PostgreSQL driver."""
    text = place.redacted(_taken_from(error))
    where = str(place.without_schema)
    if doing == "connecting":
        reason = _one_line(re.sub(r"^.*?Failed to connect: (connection to .*? failed: )?", "", text, flags=re.DOTALL))
        return InputError(f"cannot connect to {where}: {reason}. {_remedy(reason)}")
    code = getattr(error, "sqlstate", None) or _code_in(text) or ("25006" if _READ_ONLY.search(text) else None)
    if (code or "").startswith(("08", "57P")) or (code is None and _LOST.search(text)):
        return InputError(
            f"the connection to {where} was lost while {doing}. Nothing was written; check the server and try again"
        )
    if code is None:
        words = (
            f"{where}: {doing} was stopped by the server; its reason is not shown here, as it may quote a cell. "
            "Nothing was written; the server's log has the reason, or try the query in psql"
        )
        about_data = doing.startswith("reading") and not _STOPPED.search(text)
        return UnreadableTable(words, _MADE_OF) if about_data else InputError(words)
    said = f": {_message(text)}" if code.startswith(_SAYS_NAMES_ONLY) else ""
    remedy = _CODES.get(code, "Check the query" if doing.startswith("reading") else "Nothing was written")
    words = f"{where}: the server refused {doing} (code {code}){said}. {remedy}"
    if doing.startswith("reading") and not code.startswith(_REFUSED):
        return UnreadableTable(words, _MADE_OF)
    return InputError(words)


def _taken_from(error: BaseException) -> str:
    text = str(error)
    error.args = ()
    return text


def _remedy(reason: str) -> str:
    for pattern, remedy in _CONNECT_REMEDIES:
        if re.search(pattern, reason, re.IGNORECASE):
            return remedy
    return "Check the URL and the server"


def _code_in(text: str) -> str | None:
    found = re.search(r"SQLSTATE: ([0-9A-Z]{5})", text)
    return found[1] if found else None


def _message(text: str) -> str:
    """The server's first line, without the statement that the driver repeats after it."""
    found = re.search(r"(?:ERROR|FATAL|PANIC):\s+(.*)", text)
    return _one_line(found[1] if found else text.split("Query was:")[0])


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text.split("\n")[0]).strip().rstrip(".!")


_NO_SUCH = r"no such (table|column|function): .*"
_MALFORMED = r"database disk image is malformed"
_SQLITE = (
    (_NO_SUCH, "Check the name"),
    (r'near ".*": syntax error|incomplete input|only one statement.*', "Write one SELECT statement"),
    (_MALFORMED, "Check the file"),
    (r"file is not a database", "Check the file"),
    (r"unable to open database file", "Check the path and its permissions"),
    (r"database( table)? is locked", "Another program is writing to it; try again when it is done"),
    (r"database or disk is full|disk I/O error", "Free space on the disk"),
    (
        r"(attempt to write a )?readonly database",
        "Change the permissions of the file and its folder; if a -journal file is beside it, a killed run left it, "
        "and SQLite undoes that run when a user who may write opens the file",
    ),
    (r"duplicate column name: .*", "SQLite does not tell upper from lower case in names; rename one"),
    (r"too many columns.*|too many terms.*", "Keep only the columns of the release"),
)


def sqlite_fault(error: BaseException, place: Place, doing: str) -> InputError:
    """One line for an error of the SQLite driver."""
    text = _taken_from(error).split("\nquery:")[0]
    for pattern, remedy in _SQLITE:
        found = re.search(pattern, text)
        if found:
            words = f"{place.without_schema}: {doing} failed: {_one_line(found[0])}. {remedy}"
            return UnreadableTable(words, _MADE_OF) if pattern in (_NO_SUCH, _MALFORMED) else InputError(words)
    words = f"{place.without_schema}: {doing} failed in the driver ({type(error).__name__}). Nothing was written"
    return UnreadableTable(words, _MADE_OF) if doing.startswith("reading") else InputError(words)


_DUCKDB_SAYS_NAMES_ONLY = (
    "CatalogException",
    "BinderException",
    "ParserException",
    "SyntaxException",
    "IOException",
    "PermissionException",
    "TransactionException",
)
_DUCKDB_REFUSED = ("OutOfMemoryException", "InterruptException", "PermissionException", "ConnectionException")
_DUCKDB_DAMAGE = ("Error", "InternalException", "SerializationException", "FatalException")
"""What it says of files whose beginning is right and whose rest is not."""


def duckdb_fault(error: BaseException, place: Place, doing: str) -> InputError:
    """One line for an error of DuckDB."""
    kind = type(error).__name__
    text = _one_line(re.sub(r"^[A-Z][\w ]* Error: ", "", _taken_from(error)))
    said = f": {text}" if kind in _DUCKDB_SAYS_NAMES_ONLY else ""
    remedy = "Check the query" if doing.startswith("reading") else "Nothing was written"
    if "lock" in said.lower():
        said, remedy = ": another program has the file open", "Close it there, then try again"
    elif "No space left" in said or "File too large" in said:
        said, remedy = ": the disk is full", "Free space on the disk. Nothing was written"
    words = f"{place.without_schema}: {doing} failed ({kind}){said}. {remedy}"
    about_data = (remedy == "Check the query" and kind not in _DUCKDB_REFUSED) or kind in _DUCKDB_DAMAGE
    return UnreadableTable(words, _MADE_OF) if about_data else InputError(words)
