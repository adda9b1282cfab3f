"""Forged release folders, each refused with a finding of its own, although the forger restamped everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import polyveil
from polyveil.errors import InputError, PolicyError, VerificationFailed
from polyveil.releases import linked
from polyveil.verification import verify
from polyveil.verification.canonical import manifest_text
from releases.test_relational import clinic as linked_tables
from releases.test_relational import policy as linked_policy
from verification.forgeries.forger import FORMS, ROWS, Forger, people, policy, publish, refused_for
from verification.forgeries.kinds import Forgery, kinds
from verification.forgeries.linked_forger import forger_of


@pytest.fixture(scope="session")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """A release in every form and format."""
    places = {}
    for form in FORMS:
        for file_format in ("csv", "parquet"):
            place = tmp_path_factory.mktemp("genuine") / "release"
            publish(form, file_format, place)
            assert verify(place).holds
            places[form, file_format] = place
    return places


def cases() -> list[Any]:
    return [
        pytest.param(form, file_format, forge, check, id=f"{form}-{file_format}-{name}")
        for form in FORMS
        for file_format in ("csv", "parquet")
        for name, (forge, check) in kinds(form, file_format).items()
    ]


@pytest.mark.parametrize("form", ["anatomized", "sliced"])
@pytest.mark.parametrize("names", [{}, {"flu": "x", "asthma": "y", "cold": "z"}])
def test_a_copy_of_a_sensitive_column_beside_the_quasi_identifiers_is_refused(
    tmp_path: Path, form: str, names: dict[str, str]
) -> None:
    """Published as insensitive and under another name, by whoever left the writer's own check out."""
    frame = people().with_columns(pl.col("illness").replace(names).alias("code"))
    asked = policy(form, "parquet")
    asked["columns"]["code"] = {"role": "insensitive"}
    with pytest.raises(PolicyError, match="one value for each value of illness"):
        polyveil.anonymize(frame, asked, out=tmp_path / "none")
    with patch.object(linked, "_refuse_copies"), pytest.raises(VerificationFailed, match="copy of illness: code has"):
        polyveil.anonymize(frame, asked)


def test_whole_numbers_that_models_cannot_tell_apart_are_refused() -> None:
    """Beyond 2^53 a neighbour has the same float, and so would be the same value to every model."""
    asked = policy("generalized", "parquet")
    release = polyveil.anonymize(people().with_columns(pl.col("salary").cast(pl.Int64)), asked)
    cells = pl.Series("salary", [2**53 + i % 2 for i in range(ROWS)])
    release.frames["table"] = release.frames["table"].with_columns(cells)
    release.manifest["sensitive"]["salary"] |= {"values": ["9007199254740992.0"], "counts": [ROWS]}
    assert "text of salary" in refused_for(verify(release))


def test_a_writer_of_files_is_not_a_place_for_words(genuine: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    forger = Forger(genuine["generalized", "parquet"], tmp_path / "release")
    file = forger.file("table")
    own = str(pq.ParquetFile(file).metadata.created_by).encode()
    content = file.read_bytes()
    for words in (b"alice", b"\xe1lice"):
        file.write_bytes(content.replace(own, own[:26] + words.ljust(len(own) - 26)))
        assert "metadata" in refused_for(forger.restamp())


@pytest.mark.parametrize(("form", "file_format", "forge", "check"), cases())
def test_a_forgery_is_refused(
    genuine: dict[tuple[str, str], Path], tmp_path: Path, form: str, file_format: str, forge: Forgery, check: str
) -> None:
    forger = Forger(genuine[form, file_format], tmp_path / "release")
    assert check in refused_for(forge(forger))


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_restamping_without_a_forgery_holds(
    genuine: dict[tuple[str, str], Path], tmp_path: Path, form: str, file_format: str
) -> None:
    """So what the others are refused for is the forgery alone."""
    forger = Forger(genuine[form, file_format], tmp_path / "release")
    before = manifest_text(forger.manifest)
    found = forger.forged()
    assert found.holds, found.failures
    assert np.isclose(json.loads(before)["loss"]["entropy"], forger.manifest["loss"]["entropy"])


def test_there_are_sixty_forgeries_and_more() -> None:
    assert len(cases()) >= 60


DESCRIBED = {
    "missing cells of nobody": ("quasi", "person.age", "missing"),
    "lowest value of nobody": ("quasi", "person.age", "low"),
    "more values than there are": ("quasi", "person.sex", "values"),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_domain_of_linked_tables_that_no_row_shows_is_refused(tmp_path: Path, name: str) -> None:
    polyveil.anonymize(linked_tables(60), linked_policy(), out=tmp_path / "genuine", seed=1, report=False)
    forger = Forger(tmp_path / "genuine", tmp_path / "release")
    part, column, key = DESCRIBED[name]
    forger.manifest[part][column][key] = {"missing": True, "low": "3", "values": 9}[key]
    assert f"domain of {column}" in refused_for(forger.restamp())


def test_what_only_a_cell_without_values_can_hide_is_named_as_not_checked(tmp_path: Path) -> None:
    """A group that mixes missing cells and values shows `*`: what is described beyond the other cells is not shown."""
    few = pl.int_range(pl.len()) < 2  # fewer than k, so they are among people who have a value
    hidden = people().with_columns(pl.when(~few).then(pl.col(name)).alias(name) for name in ("age", "town"))
    polyveil.anonymize(hidden, policy("generalized", "parquet"), out=tmp_path / "genuine", seed=1, report=False)
    for number, (name, key, value) in enumerate((("age", "high", "97"), ("town", "missing", True))):
        forger = Forger(tmp_path / "genuine", tmp_path / str(number))
        assert "*" in forger.tables["table"][name].to_list()
        assert None not in forger.tables["table"][name].to_list()
        forger.manifest["quasi"][name][key] = value
        found = forger.forged()
        assert found.holds, found.failures
        (named,) = [finding for finding in found.findings if finding.check == "domains"]
        assert (named.outcome, name in named.message) == ("not checked", True)


def test_summaries_of_linked_tables_that_are_none_are_refused(tmp_path: Path) -> None:
    """Each in the place of a figure, or of the figures of all columns."""
    polyveil.anonymize(linked_tables(60), linked_policy(), out=tmp_path / "genuine", seed=1, report=False)
    for number, value in enumerate((None, "Alice", [], {"person.wage": None}, 10**400, {"Alice": {}})):
        for key in ("k", "l"):
            forger = Forger(tmp_path / "genuine", tmp_path / f"{number} {key}")
            forger.manifest["relational"]["tables"]["visit"]["privacy"][key] = value
            assert "figure" in {check.split(" (")[0] for check in refused_for(forger.restamp())}


def test_linked_tables_that_do_not_say_whose_counts_they_give_are_refused(tmp_path: Path) -> None:
    polyveil.anonymize(linked_tables(60), linked_policy(), out=tmp_path / "genuine", seed=1, report=False)
    forger = Forger(tmp_path / "genuine", tmp_path / "release")
    del forger.manifest["counts_of"]
    assert "version" in refused_for(forger.restamp())


RULES = {
    "mask": ("town", {"mask": 5}, lambda cell: cell if cell == "*" else f"{cell[:-1]}!*"),
    "mask of another length": ("town", {"mask": 5}, lambda cell: cell + "*" * cell.startswith("300")),
    "width": ("age", {"intervals": {"width": 5}}, lambda cell: f"{cell} Alice"),
    "other edges": ("age", {"intervals": [[0, 30, 45, 99]]}, lambda cell: cell.replace("30", "31")),
    "decade": ("born", {"date": ["year", "decade"]}, lambda cell: cell.replace("s", "ies")),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_that_its_rule_does_not_make_is_refused(tmp_path: Path, rule: str) -> None:
    """Cells of masks, intervals and parts of dates are no place for words."""
    column, hierarchy, change = RULES[rule]
    frame = people().with_columns(
        pl.Series("town", [str(30000 + i * 37 % 400) for i in range(ROWS)]),
        pl.Series("born", [f"19{50 + i % 40}-01-{1 + i % 28:02d}" for i in range(ROWS)]),
    )
    asked = policy("generalized", "csv") | {"other_columns": "drop"}
    asked["columns"] = {column: {"role": "quasi", "hierarchy": hierarchy}, "illness": {"role": "sensitive"}}
    polyveil.anonymize(frame, asked, out=tmp_path / "genuine", seed=1, report=False)
    forger = Forger(tmp_path / "genuine", tmp_path / "release")
    before = forger.tables["table"][column]
    forger.edit("table", lambda f: f.with_columns(pl.Series(column, [change(cell) for cell in before])))
    assert forger.tables["table"][column].to_list() != before.to_list()
    assert f"text of {column}" in refused_for(forger.forged())


KEYS = {
    "numbered": lambda frame: [f"{number:016x}" for number in np.random.default_rng(0).permutation(frame.height)],
    "by salary": lambda frame: [f"{int(rank * 7e16):016x}" for rank in frame["salary"].rank("random", seed=1)],
    "words": lambda frame: [f"alice{number:03d}".encode().hex() for number in range(frame.height)],
}


@pytest.mark.parametrize("keys", KEYS)
def test_keys_that_tell_something_are_refused(tmp_path: Path, keys: str) -> None:
    asked = policy("generalized", "parquet")
    asked["columns"]["pid"] = {"role": "identifier", "replace": "pseudonym"}
    frame = people().with_columns(pl.Series("pid", [f"p{i}" for i in range(ROWS)]))
    polyveil.anonymize(frame, asked, out=tmp_path / "genuine", seed=1, report=False)
    forger = Forger(tmp_path / "genuine", tmp_path / "release")
    forger.edit("table", lambda f: f.with_columns(pl.Series("pid", KEYS[keys](f))))
    assert "keys of pid" in refused_for(forger.forged())


def twice() -> pl.DataFrame:
    """Some people with two equal rows."""
    who = pl.Series("who", [i - i % 2 if i < 60 else i for i in range(ROWS)])
    return people()[who].with_columns(who)


@pytest.mark.parametrize("without", [1, ROWS])
def test_people_without_a_key_are_refused(tmp_path: Path, without: int) -> None:
    asked = policy("generalized", "parquet")
    asked["columns"]["who"] = {"role": "person"}
    asked["release"] = {**asked["release"], "person": "pseudonym"}
    release = polyveil.anonymize(twice(), asked, seed=1)
    gone = pl.when(pl.int_range(pl.len()) < without).then(None).otherwise(pl.col("who"))
    release.frames["table"] = release.frames["table"].with_columns(gone.alias("who"))
    assert "people" in refused_for(verify(release))


def test_a_source_in_which_somebody_has_no_key_is_not_the_source() -> None:
    asked = policy("generalized", "parquet")
    asked["columns"]["who"] = {"role": "person"}
    frame = twice()
    release = polyveil.anonymize(frame, asked, seed=1)
    assert "source" not in {finding.check for finding in verify(release, source=frame, person="who").failures}
    gone = frame.with_columns(pl.when(pl.col("who") == 0).then(None).otherwise(pl.col("who")).alias("who"))
    assert "source" in refused_for(verify(release, source=gone, person="who"))


@pytest.mark.parametrize("keys", [None, 7, "x"])
def test_keys_that_are_none_are_refused(tmp_path: Path, keys: Any) -> None:
    asked = policy("generalized", "parquet")
    asked["columns"]["pid"] = {"role": "identifier", "replace": "pseudonym"}
    frame = people().with_columns(pl.Series("pid", [f"p{i}" for i in range(ROWS)]))
    release = polyveil.anonymize(frame, asked, seed=1)
    release.frames["table"] = release.frames["table"].with_columns(pl.lit(keys).alias("pid"))
    assert "text of pid" in refused_for(verify(release))


def test_linked_tables_in_one_order_are_refused(tmp_path: Path) -> None:
    """People at the same place of every table can be joined without a key."""
    polyveil.anonymize(linked_tables(90), linked_policy(), out=tmp_path / "genuine", seed=1, report=False)
    forger = forger_of(tmp_path / "genuine", tmp_path / "release")
    wanted = forger.tables["person"]["group"].to_list()
    rows = forger.tables["visit"].with_row_index("row")
    places = {group: found["row"].to_list() for (group,), found in rows.group_by("group")}
    order = [places[group].pop() for group in wanted]
    order += [row for left in places.values() for row in left]
    forger.edit("visit", lambda f: f[order])
    assert "row order" in refused_for(forger.forged())


def test_settings_of_another_form_in_linked_tables_are_refused(tmp_path: Path) -> None:
    polyveil.anonymize(linked_tables(60), linked_policy(), out=tmp_path / "genuine", seed=1, report=False)
    for number, (key, value) in enumerate((("counts", True), ("generalize", "kaca"))):
        forger = forger_of(tmp_path / "genuine", tmp_path / str(number))
        forger.manifest["policy"]["release"] |= {key: value}
        assert "policy" in refused_for(forger.restamp())


@pytest.mark.parametrize("name", ["*", "^.*$", "^town$"])
def test_a_name_that_stands_for_other_columns_is_refused(tmp_path: Path, name: str) -> None:
    """Selected by such a name, groups would be formed by another column, and others would be published."""
    frame = people().with_columns(pl.col("ward").alias(name))
    asked = policy("generalized", "csv")
    asked["columns"][name] = {"role": "insensitive"}
    with pytest.raises(InputError, match="stand for other columns"):
        polyveil.anonymize(frame, asked)
    publish("generalized", "csv", tmp_path / "genuine")
    forger = Forger(tmp_path / "genuine", tmp_path / "release")
    columns = forger.manifest["policy"]["columns"].items()
    forger.manifest["policy"]["columns"] = {name if each == "ward" else each: about for each, about in columns}
    forger.edit("table", lambda f: f.rename({"ward": name}))
    forger.write_tables()
    with pytest.raises(InputError, match="stands for other columns"):
        forger.restamp()


def test_rows_over_the_limit_are_named_as_not_checked() -> None:
    """Nobody can count from the files how many rows a person had before."""
    who = pl.Series("who", [i // 3 if i < 90 else i for i in range(ROWS)])
    asked = policy("generalized", "parquet")
    asked["columns"]["who"] = {"role": "person"}
    asked["release"]["person"] = "pseudonym"
    asked["privacy"]["rows_per_person"] = {"at_most": 2}
    found = verify(polyveil.anonymize(people()[who].with_columns(who), asked, seed=1))
    assert found.holds
    assert "rows over the limit" in {finding.check for finding in found.findings if finding.outcome == "not checked"}
