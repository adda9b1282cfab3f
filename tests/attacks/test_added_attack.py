"""An attack from outside the package is one file: the page that shows one is installed and its results are read."""

from __future__ import annotations

from pathlib import Path

from outside_package import install, run_beside

USE = """
import polars as pl, polyveil
from polyveil.attacks import attack

people = pl.DataFrame({"age": [n % 20 for n in range(60)], "ill": ["flu", "flu", "ulcer"] * 20})
columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
policy = {"columns": columns, "privacy": {"k": 5}, "method": {"name": "mondrian"}}
report = attack(polyveil.anonymize(people, policy), people)
found = report.named("commonest", "ill")
assert round(found.success, 3) == round(found.baseline, 3) == 0.667, found
assert found.verdict == "no promise"
assert report.named("homogeneity", "ill").trials > 0
"""


def test_an_attack_from_outside_is_one_file(tmp_path: Path) -> None:
    install(tmp_path, "add-an-attack.md")
    done = run_beside(tmp_path, USE)
    assert done.returncode == 0, done.stderr
    assert [file.suffix for file in tmp_path.iterdir() if file.is_file()] == [".py"]
