"""Built-in example tables: seeded, of any size, and dependent enough that attacks on a careless release succeed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyveil.demo.census import CENSUS
from polyveil.demo.example import Example, Format, WrittenExample, write_files, write_table
from polyveil.demo.hospital import HOSPITAL
from polyveil.errors import InputError

EXAMPLES: Mapping[str, Example] = {example.name: example for example in (HOSPITAL, CENSUS)}

__all__ = ["EXAMPLES", "Example", "WrittenExample", "write_example", "write_table"]


def write_example(
    example: Example | str,
    folder: Path,
    *,
    rows: int | None = None,
    seed: int = 1,
    format: Format = "csv",  # noqa: A002
    overwrite: bool = False,
) -> WrittenExample:
    """Write an example's table, policy.yaml and hierarchy files into `folder`, ready to anonymize."""
    if isinstance(example, str):
        if example not in EXAMPLES:
            raise InputError(f"there is no example {example!r}. Choose one of: {', '.join(EXAMPLES)}.")
        example = EXAMPLES[example]
    size = example.default_rows if rows is None else rows
    return write_files(example, Path(folder), rows=size, seed=seed, format=format, overwrite=overwrite)
