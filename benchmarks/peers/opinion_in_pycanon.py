"""What pycanon measures in the CSV files of a folder; run by the Python of its own environment (see second_opinion.py).

    python opinion_in_pycanon.py FOLDER

Nothing of polyveil is imported here.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from pycanon import anonymity


def main() -> None:
    folder = Path(sys.argv[1])
    found: dict[str, Any] = {"version": version("pycanon")}
    for name, about in json.loads((folder / "releases.json").read_text(encoding="utf-8")).items():
        quasi, numeric = about["quasi"], set(about["numeric"])
        text = {column: str for column in (*quasi, *about["sensitive"]) if column not in numeric}
        frame = pd.read_csv(folder / f"{name}.csv", dtype=text, keep_default_na=False)
        found[name] = {"k": int(anonymity.k_anonymity(frame, quasi))}
        for column in about["sensitive"]:
            found[name][column] = {
                "distinct": int(anonymity.l_diversity(frame, quasi, [column])),
                "frequency": 1.0 / float(anonymity.alpha_k_anonymity(frame, quasi, [column])[0]),
                "t": float(anonymity.t_closeness(frame, quasi, [column])),
            }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
