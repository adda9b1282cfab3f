"""The page about a release's files: small releases are made in every form, and what they consist of is listed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import polyveil

KEYS: Mapping[str, str] = {
    "format": "always `polyveil-release`",
    "format_version": "version of this layout",
    "polyveil": "version that made the release",
    "form": "`generalized`, `anatomized`, `sliced` or `relational`",
    "policy": "the policy without what only the steward should know",
    "method": "its name, its options, and what it chose by itself (`found`)",
    "rows": "rows of the input",
    "suppressed": "rows left out",
    "classes": "classes of rows that look alike",
    "class_size": "smallest, mean and largest class",
    "privacy": "k, and per sensitive column l and t, as measured on the release",
    "claims": "every guarantee: threshold, measured value, what it helps against and leaves open",
    "loss": "what the release cost: see [figures](figures.md)",
    "quasi": "kind and range of every quasi-identifier, so that a reader can measure the loss again",
    "sensitive": "distance, values and counts of every sensitive column in the input, to measure t again",
    "counts_of": "whose counts these are: input, or released if the input's would tell the values of rows left out",
    "linked": "of anatomized and sliced releases: the sensitive tables, their group columns and columns",
    "files": "every file with its SHA-256 checksum and size, tables with rows and columns",
}
FORMS: Mapping[str, dict[str, Any]] = {
    "generalized": {"method": {"name": "mondrian"}, "privacy": {"k": 3}},
    "anatomized": {"method": {"name": "mmdcf"}, "privacy": {"k": 3, "l": 3}},
    "sliced": {"method": {"name": "sloms", "slices": [["disease"], ["salary"]]}, "privacy": {"k": 3, "l": 3}},
}


def bundle() -> str:
    """Files and manifest keys of the three forms."""
    parts = [
        "A release is a folder. It is written beside its place, verified from the written files, and then renamed: it "
        "is whole or absent. Tables from CSV, Excel and statistics programs are released as "
        "`.csv` in place of `.parquet`; `release.format` chooses. In a database, every table "
        "of the release is a table, and the manifest is the one cell of the table `manifest`.",
        "For a table with the quasi-identifiers age and zip and the sensitive columns disease and salary:",
    ]
    seen: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for form, asked in FORMS.items():
            manifest = _made(Path(folder) / form, form, asked)
            seen[form] = set(manifest)
            parts.append(f"## {form}\n\n" + _files(manifest))
    parts.append(
        "## relational\n\n[Linked tables](../how-to/linked-tables.md): one file per table of the policy, that of "
        "people first, each with a column `group`. In the manifest, `rows`, `classes` and `loss` count people, and "
        "`relational` has the name of that column and, per table, the figures of its rows with the quasi-identifiers "
        "of all tables."
    )
    parts.append("`report.html` is a page for people (`--no-report` leaves it out), `manifest.json` for programs.")
    parts.append("## manifest.json\n\n" + _keys(seen))
    parts.append(
        "The manifest never holds the seed, the input's path, row numbers or identifiers. With `--private FOLDER`, "
        "`row_map.parquet` (the class of each input row) is written there, for the steward alone."
    )
    return "\n\n".join(parts)


def _made(folder: Path, form: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    count = 24
    frame = pl.DataFrame(
        {
            "age": [20 + i % 12 for i in range(count)],
            "zip": [str(11270 + i % 3) for i in range(count)],
            "disease": [("flu", "ulcer", "asthma", "HIV")[i % 4] for i in range(count)],
            "salary": [1000 * (1 + i % 6) for i in range(count)],
        }
    )
    columns = {name: {"role": "quasi"} for name in ("age", "zip")}
    columns |= {name: {"role": "sensitive"} for name in ("disease", "salary")}
    policy = {"columns": columns, **asked, "release": {"form": form}}
    polyveil.anonymize(frame, policy, out=folder, seed=1)
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def _files(manifest: Mapping[str, Any]) -> str:
    lines = ["| file | columns |", "| --- | --- |"]
    for name, about in sorted(manifest["files"].items()):
        if "columns" in about:
            lines.append(f"| `{name}` | {', '.join(f'`{column}`' for column in about['columns'])} |")
    return "\n".join(lines)


def _keys(seen: Mapping[str, set[str]]) -> str:
    every = set().union(*seen.values())
    if every != set(KEYS):
        raise SystemExit(f"the manifest's keys and their descriptions differ: {sorted(every ^ set(KEYS))}")
    lines = ["| key | holds |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{key}` | {words} |" for key, words in KEYS.items())])
