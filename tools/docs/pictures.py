"""Draws the pictures of the documentation: `python tools/docs/pictures.py` writes docs/pictures/*.svg."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import architecture_pictures
import concept_pictures
import method_pictures

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
PICTURES = {**architecture_pictures.PICTURES, **concept_pictures.PICTURES, **method_pictures.PICTURES}


def drawn() -> dict[str, str]:
    """File name -> SVG text of every picture."""
    return {f"{name}.svg": picture().svg() for name, picture in PICTURES.items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in drawn().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
