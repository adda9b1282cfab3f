"""Data dictionaries: a CSV file that says what the columns of a table mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyveil.errors import InputError
from polyveil.table.profiling.vocabulary_files import parts_of
from polyveil.table.source import read

_DESCRIBING = {
    *(
        "description",
        "label",
        "meaning",
        "text",
        "question",
        "definition",
        "desc",
        "title",
        "beschreibung",
        "bedeutung",
    ),
    *("frage", "libelle", "etiquette", "descripcion", "etiqueta", "pregunta", "descricao", "rotulo", "descrizione"),
    *("etichetta", "omschrijving", "vraag", "描述", "说明", "标签", "含义"),
}


def read_dictionary(path: Path | str, columns: Sequence[str]) -> dict[str, str]:
    """Name -> description for the columns of a table.

    The names are in the column of the file that holds most of them; the descriptions in one that is called so
    (description, label, ...), else in the one with the longest texts.
    """
    table = read(path)
    frame = table.frame.cast(dict.fromkeys(table.frame.columns, str)) if table.width else table.frame
    lower = {name.lower(): name for name in columns}
    known = {header: frame[header].str.to_lowercase().is_in(list(lower)).sum() for header in frame.columns}
    names = max(known, key=lambda header: known[header], default=None)
    if names is None or not known[names] or frame.width < 2:
        raise InputError(
            f"{table.name} does not describe this table: no column of it holds the table's column names. "
            "A dictionary is a CSV file with a column of names and a column of descriptions"
        )
    others = [header for header in frame.columns if header != names]
    described = next((header for header in others if _DESCRIBING & set(parts_of(header))), None)
    if described is None:
        described = max(others, key=lambda header: frame[header].str.len_chars().mean() or 0)
    pairs = zip(frame[names].to_list(), frame[described].to_list(), strict=True)
    return {lower[name.lower()]: text for name, text in pairs if name and text and name.lower() in lower}
