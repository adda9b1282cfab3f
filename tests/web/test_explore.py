"""What Explore shows: every quasi-identifier before and after, in its own order, nothing left undrawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyveil.pipeline import anonymize
from polyveil.policy import from_dict
from polyveil.web.explore import write_views

TOWNS = ("Cork", "Derry", "Galway", "Lisbon", "Porto")
TREE = {"Ireland": ["Derry", "Cork", "Galway"], "Portugal": ["Porto", "Lisbon"]}
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "type": "numeric"},
    "year": {"role": "quasi", "type": "categorical", "hierarchy": {"mask": 4}},
    "town": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "job": {"role": "quasi", "recode": "set"},
    "born": {"role": "quasi", "type": "date"},
    "ill": {"role": "sensitive", "l": 2},
}


def views(folder: Path, rows: int = 240, **release: str) -> dict[str, Any]:
    table = pl.DataFrame(
        {
            "age": [20 + i % 50 for i in range(rows)],
            "year": [str((1995, 2003, 999, 2010)[i % 4]) for i in range(rows)],
            "town": [TOWNS[i % 5] for i in range(rows)],
            "job": [f"job {(i * i) % 61}" for i in range(rows)],
            "born": [f"19{60 + i % 40}-0{1 + i % 9}-11" for i in range(rows)],
            "ill": [("flu", "gout", "HIV")[i % 3] for i in range(rows)],
        }
    )
    policy = {"columns": COLUMNS, "privacy": {"k": 5}, "method": {"name": "mondrian"}, "release": release}
    made = anonymize(table, from_dict(policy, folder=folder))
    assert made.original is not None
    assert made.class_of_row is not None
    of_row = made.original.of_coded_rows(made.class_of_row)
    write_views(folder / "private", made.manifest, made.frames, made.original, of_row)
    found: dict[str, Any] = json.loads((folder / "private" / "explore.json").read_text())
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return views(tmp_path_factory.mktemp("explore"))


@pytest.mark.parametrize("name", [name for name, about in COLUMNS.items() if about["role"] == "quasi"])
def test_every_quasi_identifier_has_all_its_rows_before_and_after(found: dict[str, Any], name: str) -> None:
    about = found["quasi"][name]
    assert len(about["labels"]) == len(about["before"]) == len(about["after"])
    assert sum(about["before"]) == pytest.approx(1.0)
    assert sum(about["after"]) == pytest.approx(1.0)


def test_values_are_in_the_order_of_their_column(found: dict[str, Any]) -> None:
    assert found["quasi"]["town"]["labels"] == ["Derry", "Cork", "Galway", "Porto", "Lisbon"]
    assert found["quasi"]["year"]["labels"] == ["999", "1995", "2003", "2010"]


def test_a_cell_counts_for_the_values_it_may_stand_for(tmp_path: Path) -> None:
    columns = {"town": {"role": "quasi", "hierarchy": {"tree": TREE}}, "ill": {"role": "sensitive"}}
    table = pl.DataFrame({"town": ["Cork", "Cork", "Derry", "Porto", "Porto", "Porto"], "ill": list("abcabc")})
    made = anonymize(table, from_dict({"columns": columns, "privacy": {"k": 3}}, folder=tmp_path))
    assert sorted(made.frames["table"]["town"].to_list()) == ["Ireland"] * 3 + ["Porto"] * 3
    assert made.original is not None
    assert made.class_of_row is not None
    of_row = made.original.of_coded_rows(made.class_of_row)
    write_views(tmp_path / "private", made.manifest, made.frames, made.original, of_row)
    about = json.loads((tmp_path / "private" / "explore.json").read_text())["quasi"]["town"]
    shares = {label: (b, a) for label, b, a in zip(about["labels"], about["before"], about["after"], strict=True)}
    assert shares["Cork"] == pytest.approx((1 / 3, 1 / 6))
    assert shares["Galway"] == pytest.approx((0.0, 1 / 6))
    assert shares["Porto"] == pytest.approx((1 / 2, 1 / 2))


def test_rarer_values_are_summed_and_named(found: dict[str, Any]) -> None:
    about = found["quasi"]["job"]
    rarer = [label for label in about["labels"] if label.endswith("rarer values")]
    assert rarer == [about["labels"][-1]]
    assert int(rarer[0].split()[0]) + len(about["labels"]) - 1 == 31  # squares modulo 61


def test_numbers_published_as_numbers_have_the_bins_of_the_original(tmp_path: Path) -> None:
    about = views(tmp_path, numbers="mean")["quasi"]["age"]
    assert len(about["before"]) == len(about["after"]) == len(about["labels"])
    assert sum(about["after"]) == pytest.approx(1.0)
