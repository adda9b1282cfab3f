"""The profile of a table, kept beside its draft: a first look at a million rows takes about a minute.

It names values of the table (the lowest, the highest, texts that stand for missing cells). So it lies where the draft
and uploaded data lie, in a folder that only its owner may read, and is deleted with the table.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from polyveil.table.profiling.column import ColumnProfile
from polyveil.table.profiling.profile import column_profiles
from polyveil.table.source import Table
from polyveil.version import __version__
from polyveil.web.store import write_json

FILE = "profile.json"
Profiles = tuple[ColumnProfile, ...]
_COLUMNS = TypeAdapter(Profiles)


def profiles_of(table: Table, folder: Path, source: str) -> Profiles:
    """The profile of a table; `source` names the file as it is now, so that a profile of an older one is not taken."""
    made_of = f"{source}, polyveil {__version__}"
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if kept["made_of"] == made_of:
            return _COLUMNS.validate_json(kept["columns"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none, or it is damaged: the table is looked at again
    found = column_profiles(table)
    columns = _COLUMNS.dump_json(found).decode()
    if folder.is_dir() and _COLUMNS.validate_json(columns) == found:  # only what comes back as it was
        write_json(folder / FILE, {"made_of": made_of, "columns": columns})
    return found
