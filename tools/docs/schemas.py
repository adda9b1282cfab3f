"""Writes docs/schemas from the code: `python tools/docs/schemas.py`. A test compares the files with the code."""

from __future__ import annotations

import json
from pathlib import Path

from polyveil.schemas import SCHEMAS

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, make in SCHEMAS.items():
        text = json.dumps(make(), indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
