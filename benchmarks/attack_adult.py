"""What combining overlapping groups tells on Adult, beside one group and a model of other people.

    python benchmarks/attack_adult.py [METHOD ...]

The 30,162 complete training rows, k = 5 and t = 0.2 for occupation and education-num, seven quasi-identifiers. The rows
printed are those of docs/attacks.md.
"""

from __future__ import annotations

import sys
from typing import Any

from adult import DATA, HIERARCHY, QUASI, adult

import polyveil


def columns(frame: Any) -> dict[str, Any]:
    """Numbers as they are, categories below their hierarchies."""
    found: dict[str, Any] = {}
    for name in frame.columns:
        tree = DATA / "hierarchies" / f"adult_hierarchy_{HIERARCHY.get(name, name)}.csv"
        numeric = {"type": "numeric"} if frame[name].dtype.is_numeric() else {"hierarchy": str(tree)}
        found[name] = {"role": "quasi" if name in QUASI else "sensitive", **numeric}
    return found


def main(methods: list[str]) -> None:
    """One line per method."""
    frame = adult()
    print("| method | one group | all groups that fit | other people | whole table |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in methods:
        method = {"name": name, **({"effort": "fast"} if name == "sift" else {})}
        policy = {"columns": columns(frame), "privacy": {"k": 5, "t": 0.2}, "method": method}
        report = polyveil.attack(polyveil.anonymize(frame, policy, seed=1), frame)
        one, several = (report.named(attack, "occupation") for attack in ("homogeneity", "combining groups"))
        combined = "as one group" if several.verdict == "not run" else f"{several.success:.3f}"
        print(f"| {name} | {one.success:.3f} | {combined} | {one.baseline_population:.3f} | {one.baseline:.3f} |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["sift", "mondrian"])
