"""Linked tables: everything a reader gets by joining them, counted again by plain Python from the files and the map."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.errors import InputError, PolicyError, Unsatisfiable
from polyveil.policy import load_policy
from polyveil.reports.stored import with_report

METHODS = ("sift", "mondrian", "kaca", "pca", "swap", "mbf")
K, L, T = 3, 2, 0.6

Tables = dict[str, pl.DataFrame]


def clinic(people: int = 50, seed: int = 0) -> Tables:
    """People, what they suffered from (some from nothing), and their visits, of which everybody has one or two."""
    rng = np.random.default_rng(seed)
    suffering = np.repeat(np.arange(people), rng.integers(0, 4, people))
    visiting = np.repeat(np.arange(people), rng.integers(1, 3, people))
    return {
        "person": pl.DataFrame(
            {
                "id": [f"p{number}" for number in range(people)],
                "age": rng.integers(20, 60, people),
                "sex": rng.choice(["f", "m"], people),
                "wage": rng.integers(0, 6, people),
            }
        ),
        "condition": pl.DataFrame(
            {
                "who": [f"p{number}" for number in suffering],
                "code": rng.choice(list("abcdefgh"), len(suffering)),
                "year": rng.integers(2000, 2010, len(suffering)),
            }
        ),
        "visit": pl.DataFrame(
            {"who": [f"p{number}" for number in visiting], "ward": rng.choice(list("stuvwx"), len(visiting))}
        ),
    }


def policy(method: str = "mondrian", *, keys: bool = False, **privacy: Any) -> dict[str, Any]:
    return {
        "tables": {"person": {}, "condition": {}, "visit": {}},
        "columns": {
            "person.id": {"role": "person"},
            "person.age": {"role": "quasi", "type": "numeric"},
            "person.sex": {"role": "quasi"},
            "person.wage": {"role": "sensitive", "type": "numeric"},
            "condition.who": {"role": "person"},
            "condition.code": {"role": "sensitive"},
            "condition.year": {"role": "quasi", "type": "numeric"},
            "visit.who": {"role": "person"},
            "visit.ward": {"role": "sensitive"},
        },
        "privacy": {"k": K, **privacy},
        "method": {"name": method, **({"effort": "fast"} if method == "sift" else {})},
        "release": {"person": "pseudonym"} if keys else {},
    }


SENSITIVE = (("person", "wage"), ("condition", "code"), ("visit", "ward"))
KEY = {"person": "id", "condition": "who", "visit": "who"}


def rows_of_people(tables: Tables) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Per table and person their rows; people without rows have one in which everything is missing."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, frame in tables.items():
        own: dict[str, list[dict[str, Any]]] = {who: [] for who in tables["person"]["id"]}
        for row in frame.iter_rows(named=True):
            own[row[KEY[name]]].append({key: value for key, value in row.items() if key != KEY[name]})
        nothing = dict.fromkeys(column for column in frame.columns if column != KEY[name])
        found[name] = {who: rows or [nothing] for who, rows in own.items()}
    return found


def shares(people: Iterable[list[Any]]) -> dict[Hashable, float]:
    """The distribution in which every person weighs the same, shared over their rows."""
    everybody = list(people)
    total: dict[Hashable, float] = defaultdict(float)
    for values in everybody:
        for value in values:
            total[value] += 1 / len(values) / len(everybody)
    return total


def apart(one: Mapping[Hashable, float], two: Mapping[Hashable, float], ordered: bool) -> float:
    values = sorted({*one, *two}, key=lambda value: (value is None, value))
    if not ordered:
        return sum(max(one.get(v, 0.0) - two.get(v, 0.0), 0.0) for v in values)
    upto = moved = 0.0
    for value in values[:-1]:
        upto += one.get(value, 0.0) - two.get(value, 0.0)
        moved += abs(upto)
    return moved / max(len(values) - 1, 1)


def check_people(
    groups: Mapping[Any, list[str]], rows: Mapping[str, Mapping[str, list[dict[str, Any]]]], t: float
) -> None:
    """k, l and t in every group, in people and in rows, with and without those of whom a table knows nothing."""
    for table, column in SENSITIVE:
        whole = {who: [row[column] for row in own] for who, own in rows[table].items()}
        for who in groups.values():
            values = {each: whole[each] for each in who}
            some = {each: own for each, own in values.items() if own != [None]}
            every = {each: own for each, own in whole.items() if own != [None]}
            for members, reference in ((values, whole), (some, every)):
                if not members:
                    continue
                having = Counter(value for own in members.values() for value in set(own))
                seen = Counter(value for own in members.values() for value in own)
                assert max(having.values()) <= len(members) / L + 1e-9
                assert max(seen.values()) <= seen.total() / L + 1e-9
                of_rows = Counter(value for own in reference.values() for value in own)
                pairs = (
                    (shares(members.values()), shares(reference.values())),
                    (
                        {value: n / seen.total() for value, n in seen.items()},
                        {value: n / of_rows.total() for value, n in of_rows.items()},
                    ),
                )
                for ours, theirs in pairs:
                    assert apart(ours, theirs, column == "wage") <= t + 1e-3


def inside(value: Any, cell: str | None) -> bool:
    """Whether a value lies in a published cell: a range, a single value, or anything."""
    if cell == "*" or value is None:
        return True
    if cell is None or not cell.startswith("["):
        return str(value) == cell
    low, high = cell.strip("[]").split("-")
    return float(low) <= float(value) <= float(high)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_reader_gets_by_joining_keeps_every_guarantee(method: str, seed: int, tmp_path: Path) -> None:
    tables = clinic(seed=seed)
    t = 1.0 if method == "mbf" else T
    asked = policy(method, l=L, **({} if method == "mbf" else {"t": T}))
    release = polyveil.anonymize(tables, asked, out=tmp_path / "r", seed=seed)
    assert release.class_of_row is not None
    groups: dict[int, list[str]] = defaultdict(list)
    for who, group in zip(tables["person"]["id"], release.class_of_row, strict=True):
        groups[int(group) + 1].append(who)
    rows = rows_of_people(tables)
    assert min(map(len, groups.values())) >= K
    check_people(groups, rows, t)
    for name in tables:  # the files hold exactly these people's values, in cells that cover all their rows
        frame = pl.read_parquet(tmp_path / "r" / f"{name}.parquet")
        sensitive = [column for table, column in SENSITIVE if table == name]
        released: dict[int, Counter[Any]] = defaultdict(Counter)
        cells: dict[tuple[int, str], set[Any]] = defaultdict(set)
        for row in frame.iter_rows(named=True):
            released[row["group"]][tuple(row[column] for column in sensitive)] += 1
            for column in {"age", "sex", "year"} & set(frame.columns):
                if any(row[each] is not None for each in frame.columns if each != "group"):
                    cells[row["group"], column].add(row[column])
        for group, members in groups.items():
            own = [row for who in members for row in rows[name][who]]
            assert released[group] == Counter(tuple(row[column] for column in sensitive) for row in own)
            for column in {"age", "sex", "year"} & set(frame.columns):
                assert len(cells[group, column]) <= 1
                assert all(inside(row[column], *cells[group, column]) for row in own if cells[group, column])


@pytest.mark.parametrize("method", ["sift", "mondrian"])
def test_keys_and_row_counts_single_nobody_out(method: str, tmp_path: Path) -> None:
    """From the files alone: people of a group with as many rows in every table, and with values in the same tables."""
    asked = policy(method, keys=True, l=L, rows_per_person={"at_most": 1})
    release = polyveil.anonymize(clinic(150, seed=3), asked, out=tmp_path / "r")
    published = {name: pl.read_parquet(tmp_path / "r" / f"{name}.parquet") for name in KEY}
    rows = rows_of_people({name: frame.drop("group") for name, frame in published.items()})
    group_of = dict(zip(published["person"]["id"], published["person"]["group"], strict=True))
    for name, frame in published.items():
        assert all(group_of[who] == group for who, group in zip(frame[KEY[name]], frame["group"], strict=True))
    strata: dict[Any, list[str]] = defaultdict(list)
    for who, group in group_of.items():
        there = tuple(any(value is not None for row in rows[name][who] for value in row.values()) for name in KEY)
        strata[group, tuple(len(rows[name][who]) for name in KEY), there].append(who)
    assert min(map(len, strata.values())) >= K
    for table, column in SENSITIVE:
        for members in strata.values():
            having = Counter(value for who in members for value in {row[column] for row in rows[table][who]})
            if set(having) != {None}:
                assert max(having.values()) <= len(members) / L + 1e-9
    assert not set(group_of) & set(clinic(150, seed=3)["person"]["id"])
    assert release.manifest["people"]["rows_left_out"] > 0


def test_an_attacker_who_intersects_the_tables_gains_nothing() -> None:
    """Tables made k-anonymous one by one can be intersected; a linked release has one group in all of them."""
    tables = clinic(60, seed=5)
    asked = policy(l=L)
    one_by_one = []
    for name in ("person", "condition"):
        columns = {key.split(".")[1]: about for key, about in asked["columns"].items() if key.startswith(name)}
        alone = {"columns": columns, "privacy": {"k": K, "l": L}, "method": {"name": "mondrian"}}
        release = polyveil.anonymize(tables[name], alone)
        assert release.class_of_row is not None
        one_by_one.append(dict(zip(tables[name][KEY[name]], release.class_of_row, strict=True)))
    both = Counter((one_by_one[0][who], group) for who, group in one_by_one[1].items())
    assert min(both.values()) < K  # vulnerable
    linked = polyveil.anonymize(tables, asked)
    rows = rows_of_people(tables)
    cells: dict[int, dict[str, Any]] = defaultdict(dict)
    size: Counter[int] = Counter(linked.tables["person"]["group"])
    for frame in linked.tables.values():
        for row in frame.iter_rows(named=True):
            cells[row["group"]] |= {key: value for key, value in row.items() if value is not None}
    for who in tables["person"]["id"]:
        known = [row for table in rows.values() for row in table[who]]
        fitting = [
            group
            for group, shown in cells.items()
            if all(
                inside(row[c], shown.get(c)) for row in known for c in ("age", "sex", "year") if row.get(c) is not None
            )
        ]
        assert sum(size[group] for group in fitting) >= K  # protected


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linked")
    made = polyveil.anonymize(clinic(seed=7), policy(l=L), out=folder / "r", seed=1)
    made.save_private(folder / "private")
    return folder


def forged(release: Path, to: Path, table: str, frame: pl.DataFrame) -> list[str]:
    """The checks that fail once a table is replaced and its checksum with it."""
    manifest = json.loads((release / "r" / "manifest.json").read_text())
    frames = {name: pl.read_parquet(release / "r" / f"{name}.parquet") for name in KEY} | {table: frame}

    class Edited:
        pass

    edited = Edited()
    edited.manifest, edited.frames = manifest, frames  # type: ignore[attr-defined]
    return [finding.check for finding in polyveil.verify(edited).failures]  # type: ignore[arg-type]


def test_forged_and_moved_rows_are_found(release: Path, tmp_path: Path) -> None:
    visit = pl.read_parquet(release / "r" / "visit.parquet")
    condition = pl.read_parquet(release / "r" / "condition.parquet")
    person = pl.read_parquet(release / "r" / "person.parquet")
    groups = int(person["group"].max())  # type: ignore[arg-type]
    assert groups > 1
    other = pl.col("group") % groups + 1
    assert forged(release, tmp_path, "visit", visit) == []
    assert forged(release, tmp_path, "visit", visit.with_columns(group=other))  # groups renamed in one table
    first = pl.int_range(pl.len()) == 0
    moved = visit.with_columns(group=pl.when(first).then(other).otherwise("group"))
    assert forged(release, tmp_path, "visit", moved)
    assert forged(release, tmp_path, "visit", visit.with_columns(group=pl.lit(1, pl.Int64)))
    for dtype in (pl.Int32, pl.UInt64, pl.Float64, pl.String, pl.Binary):
        assert forged(release, tmp_path, "visit", visit.with_columns(pl.col("group").cast(pl.String).cast(dtype)))
    assert forged(release, tmp_path, "visit", visit.head(visit.height - 1))
    year = condition.with_columns(year=pl.when(first).then(pl.lit("[2000-2001]")).otherwise("year"))
    assert forged(release, tmp_path, "condition", year)
    age = person.with_columns(age=pl.lit("[20-59]"), sex=pl.lit("*"))
    assert forged(release, tmp_path, "person", age)
    assert forged(release, tmp_path, "person", person.drop("sex"))
    assert forged(release, tmp_path, "more", visit) == ["tables"]


def test_a_table_more_or_less_in_the_folder_is_found(release: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(release / "r", tmp_path / "r")
    shutil.copy(tmp_path / "r" / "visit.parquet", tmp_path / "r" / "more.parquet")
    assert "extra file" in [finding.check for finding in polyveil.verify(tmp_path / "r").failures]
    (tmp_path / "r" / "more.parquet").unlink()
    (tmp_path / "r" / "visit.parquet").unlink()
    assert {"missing file"} <= {finding.check for finding in polyveil.verify(tmp_path / "r").failures}


def test_figures_of_the_manifest_are_compared(release: Path) -> None:
    original = json.loads((release / "r" / "manifest.json").read_text())
    frames = {name: pl.read_parquet(release / "r" / f"{name}.parquet") for name in KEY}

    class Edited:
        def __init__(self, manifest: Any) -> None:
            self.manifest, self.frames = manifest, frames

    def with_changed(path: tuple[str, ...], value: Any) -> Any:
        manifest = json.loads(json.dumps(original))
        part = manifest
        for key in path[:-1]:
            part = part[key]
        assert part[path[-1]] != value
        part[path[-1]] = value
        return Edited(manifest)

    assert polyveil.verify(Edited(original)).holds
    for path, value in (
        (("rows",), 10),
        (("people", "count"), 51),
        (("privacy", "l", "visit.ward"), 7.0),
        (("relational", "tables", "visit", "rows"), 3),
        (("relational", "tables", "visit", "people", "count"), 49),
        (("relational", "tables", "condition", "class_size", "min"), 1),
        (("relational", "group"), "link"),
        (("loss", "normalized_loss"), 0.0),
    ):
        assert polyveil.verify(with_changed(path, value)).failures, path


def test_the_source_counts_people_exactly(release: Path) -> None:
    tables, asked = clinic(seed=7), policy(l=L)
    alone = polyveil.verify(release / "r")
    assert alone.holds
    assert any(finding.check.startswith("people per group") for finding in alone.findings)
    assert polyveil.verify(release / "r", policy=asked, source=tables).holds
    row_map = release / "private" / "row_map.parquet"
    exact = polyveil.verify(release / "r", policy=asked, source=tables, row_map=row_map)
    assert exact.holds
    assert not any(finding.check.startswith("people per group") and finding.note for finding in exact.findings)
    swapped = tables["visit"].with_columns(who=pl.col("who").reverse())
    assert polyveil.verify(release / "r", policy=asked, source={**tables, "visit": swapped}, row_map=row_map).failures
    fewer = {**tables, "condition": tables["condition"].head(5)}
    assert "source" in [f.check for f in polyveil.verify(release / "r", policy=asked, source=fewer).failures]
    with pytest.raises(InputError, match="--policy"):
        polyveil.verify(release / "r", source=tables)


def test_attackers_who_join_the_tables_stay_within_the_bounds(release: Path) -> None:
    report = polyveil.attack(release / "r", clinic(seed=7), policy=policy(l=L), trials=50)
    assert not report.broken
    tried = {(found.name, found.attribute) for found in report.attacks if found.verdict != "not run"}
    assert ("prosecutor linkage of all rows", None) in tried
    assert {("homogeneity", f"{table}.{column}") for table, column in SENSITIVE} <= tried


def test_a_table_of_people_without_sensitive_columns_is_attacked_as_well() -> None:
    tables = clinic(seed=8)
    tables = {**tables, "person": tables["person"].drop("wage")}
    asked = policy(l=L)
    del asked["columns"]["person.wage"]
    report = polyveil.attack(polyveil.anonymize(tables, asked), tables, policy=asked, trials=20)
    assert not report.broken
    assert {found.attribute for found in report.attacks} == {None, "condition.code", "visit.ward"}


def test_the_report_shows_every_table(release: Path) -> None:
    page = (release / "r" / "report.html").read_text()
    assert all(f"{table}.{column}" in page for table, column in SENSITIVE)
    again = with_report(polyveil.verify(release / "r"), release / "r")
    assert [finding.outcome for finding in again.findings if finding.check == "report"] == ["holds"]


def test_policies_that_do_not_fit_several_tables() -> None:
    def refused(**changes: Any) -> str:
        with pytest.raises(PolicyError) as error:
            polyveil.anonymize(clinic(), {**policy(l=L), **changes})
        return str(error.value)

    columns = policy()["columns"]
    assert "sloms groups every slice" in refused(method={"name": "sloms"})
    assert "does not say which table" in refused(columns={**columns, "age": {"role": "quasi"}})
    assert "no k says how many" in refused(privacy={"l": 2})
    assert "no column says whom" in refused(columns={**columns, "visit.who": {"role": "identifier"}})
    joint = [{"columns": ["person.wage", "visit.ward"], "t": 0.5}]
    assert "different tables" in refused(privacy={"k": 3, "joint": joint})
    assert "relational" in refused(release={"form": "anatomized"})
    twice = clinic() | {"person": pl.concat([clinic()["person"]] * 2)}
    with pytest.raises(PolicyError, match="one row per person"):
        polyveil.anonymize(twice, policy(l=L))
    stranger = clinic() | {"visit": pl.DataFrame({"who": ["nobody"], "ward": ["s"]})}
    with pytest.raises(PolicyError, match="about nobody in person"):
        polyveil.anonymize(stranger, policy(l=L))
    with pytest.raises(InputError, match="tables:"):
        polyveil.anonymize(clinic(), {"columns": {"age": {"role": "quasi"}}, "privacy": {"k": 2}})
    with pytest.raises(Unsatisfiable):
        polyveil.anonymize(clinic(), policy(l=40))


def test_a_folder_of_files_and_a_database(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    tables = clinic(seed=9)
    (tmp_path / "in").mkdir()
    for name, frame in tables.items():
        frame.write_csv(tmp_path / "in" / f"{name}.csv")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        for name in tables:
            database.execute(f"create table {name} as from read_csv('{tmp_path / 'in' / name}.csv')")
    suggested = tmp_path / "suggested.yaml"
    done = CliRunner().invoke(
        app, ["inspect", str(tmp_path / "in"), "--tables", ",".join(tables), "--out", str(suggested)]
    )
    assert done.exit_code == 0, done.output
    assert list(load_policy(suggested).tables) == list(tables)
    for source in (tmp_path / "in", f"duckdb://{tmp_path / 'clinic.duckdb'}"):
        made = polyveil.anonymize(source, policy(l=L), seed=1)
        assert made.manifest["rows"] == 50
        assert set(made.tables) == set(tables)
