"""The built-in examples: reproducible, complete with policy and hierarchies, and dependent enough for attacks."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ruamel.yaml import YAML

from polyveil.demo import EXAMPLES, Example, example, write_example
from polyveil.errors import InputError
from polyveil.policy.hierarchy import from_paths
from polyveil.policy.schema import Policy

NAMES = ["hospital", "census"]
NULLS = {
    "hospital": ["zip", "nationality", "salary", "religion"],
    "census": ["workclass", "occupation", "native-country"],
}


def policy_of(name: str) -> dict:
    return YAML(typ="safe", pure=True).load(EXAMPLES[name].policy_yaml)


def mutual_information(table: pl.DataFrame, one: str, other: str) -> float:
    """How much one column says about another, in nats; 0 for independent columns."""
    joint = table.group_by(one, other).len()
    share = pl.col("len") / table.height
    product = pl.col("len").sum().over(one) * pl.col("len").sum().over(other) / table.height
    return joint.select((share * (pl.col("len") / product).log()).sum()).item()


@pytest.fixture(scope="module", params=NAMES)
def built(request: pytest.FixtureRequest) -> tuple[Example, pl.DataFrame]:
    chosen = EXAMPLES[request.param]
    return chosen, chosen.generate(20_000, 7)


@pytest.fixture(scope="module")
def hospital() -> pl.DataFrame:
    return EXAMPLES["hospital"].generate(40_000, 2)


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return EXAMPLES["census"].generate(100_000, 2)


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    file = Path(os.environ.get("POLYVEIL_DATA", beside)) / "adult.csv.gz"
    if not file.exists():
        pytest.skip("adult.csv.gz is not here; set POLYVEIL_DATA to its folder")
    return pl.read_csv(file, null_values="?").drop("split")


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_reproduces_the_table_and_another_seed_does_not(name: str) -> None:
    make = EXAMPLES[name].generate
    assert make(500, 1).equals(make(500, 1))
    assert not make(500, 1).equals(make(500, 2))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("hospital", "Example-00001000,68,Female,02006,2025-08-10,Nigerian,Thrombosis,12000,Unaffiliated,C"),
        (
            "census",
            "43,Private,380107,10th,6,Divorced,Machine-op-inspct,Not-in-family,Black,Female,3325,0,40,United-States,<=50K",
        ),
    ],
)
def test_row_1000_of_seed_1_is_the_same_on_every_machine(name: str, row: str) -> None:
    assert EXAMPLES[name].generate(1000, 1).tail(1).write_csv(include_header=False).strip() == row


def test_every_value_is_in_its_hierarchy_and_lines_end_at_the_root(built: tuple[Example, pl.DataFrame]) -> None:
    chosen, table = built
    for file, text in chosen.hierarchies.items():
        lines = [line.split(";") for line in text.splitlines()]
        assert len({len(line) for line in lines}) == 1, file
        assert {line[-1] for line in lines} == {"*"}, file
        values = set(table[file.removesuffix(".csv")].drop_nulls().cast(pl.String))
        assert values <= {line[0] for line in lines}, file


def test_the_policy_mentions_every_column_and_every_hierarchy(built: tuple[Example, pl.DataFrame]) -> None:
    chosen, table = built
    columns = policy_of(chosen.name)["columns"]
    assert list(columns) == table.columns
    named = {c["hierarchy"] for c in columns.values() if isinstance(c.get("hierarchy"), str)}
    assert named == set(chosen.hierarchies)


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_and_the_hierarchies_are_valid(name: str) -> None:
    policy = Policy.model_validate(policy_of(name))
    assert policy.privacy.k == 5
    assert len(policy.having("sensitive")) >= 2
    trees = {
        file: from_paths(line.split(";") for line in text.splitlines())
        for file, text in EXAMPLES[name].hierarchies.items()
    }
    deepest = trees["disease.csv" if name == "hospital" else "occupation.csv"]
    assert deepest.depth == 3


def test_security_levels_name_diseases_of_the_hierarchy() -> None:
    levels = policy_of("hospital")["columns"]["disease"]["levels"]
    leaves = {line.split(";")[0] for line in EXAMPLES["hospital"].hierarchies["disease.csv"].splitlines()}
    assert set(levels) == {0, 2}
    assert {value for values in levels.values() for value in values} <= leaves
    assert 40 <= len(leaves) <= 50


def test_only_the_columns_that_should_have_missing_cells(built: tuple[Example, pl.DataFrame]) -> None:
    chosen, table = built
    assert [name for name in table.columns if table[name].null_count()] == NULLS[chosen.name]


def test_sensitive_columns_of_the_hospital_follow_from_the_others(hospital: pl.DataFrame) -> None:
    table = hospital.with_columns(
        decade=pl.col("age") // 10, area=pl.col("zip").cast(pl.String).str.head(3), pay=pl.col("salary") // 10_000
    )
    pairs = [("disease", "decade"), ("disease", "sex"), ("disease", "area"), ("pay", "decade"), ("pay", "area")]
    for one, other in [*pairs, ("religion", "nationality"), ("religion", "area")]:
        assert mutual_information(table, one, other) > 0.02, (one, other)
    assert mutual_information(table, "ward", "disease") < 0.005  # released as it is, so it must give nothing away


def test_the_hospital_has_a_homogeneous_a_similar_and_a_skewed_place(hospital: pl.DataFrame) -> None:
    def share(start: str, *diseases: str) -> float:
        here = hospital.filter(pl.col("zip").cast(pl.String).str.starts_with(start))
        return here.select(pl.col("disease").cast(pl.String).is_in(list(diseases)).mean()).item()

    assert share("029", "Asbestosis") > 0.8
    assert share("022", "Gastric ulcer", "Gastritis", "Gastroenteritis", "Stomach cancer") > 0.8
    assert share("022", "Gastritis") < 0.5
    assert share("021", "HIV") > 10 * share("01", "HIV") > 0


def test_postal_codes_keep_their_leading_zero(hospital: pl.DataFrame) -> None:
    assert hospital["zip"].drop_nulls().cast(pl.String).str.contains(r"^0\d{4}$").all()


def test_sensitive_columns_of_the_census_follow_from_the_others(census: pl.DataFrame) -> None:
    pairs = {
        ("occupation", "education-num"): 0.15,
        ("age", "marital-status"): 0.15,
        ("income", "education-num"): 0.03,
        ("income", "hours-per-week"): 0.02,
        ("occupation", "sex"): 0.05,
        ("race", "native-country"): 0.05,
    }
    for (one, other), least in pairs.items():
        assert mutual_information(census, one, other) > least, (one, other)
    assert census.group_by("education").agg(pl.col("education-num").n_unique())["education-num"].max() == 1


def test_the_census_has_the_shape_of_adult(census: pl.DataFrame, adult: pl.DataFrame) -> None:
    assert census.columns == adult.columns
    for name in census.columns:
        if name == "fnlwgt":
            ratios = [census[name].quantile(q) / adult[name].quantile(q) for q in (0.1, 0.5, 0.9)]
            assert np.allclose(ratios, 1, atol=0.05)
            continue
        shares = [
            t.group_by(pl.col(name).cast(pl.String)).agg(pl.len() / t.height).rename({"len": f"share{i}"})
            for i, t in enumerate((census, adult))
        ]
        both = shares[0].join(shares[1], on=name, how="full", nulls_equal=True).fill_null(0.0)
        difference = (both["share0"] - both["share1"]).abs().sum() / 2
        assert difference < 0.03, name
        assert name.startswith("capital") or abs(census[name].n_unique() - adult[name].n_unique()) <= 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_written_in_chunks_it_is_the_table_made_whole(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "CHUNK_ROWS", 300)
    written = write_example(name, tmp_path / "new" / "folder", rows=1000, seed=4, format=kind)
    table = EXAMPLES[name].generate(1000, 4)
    read = pl.read_csv(written.data, schema=table.schema) if kind == "csv" else pl.read_parquet(written.data)
    assert read.equals(table)
    assert read.schema == table.schema
    assert written.policy.read_text() == EXAMPLES[name].policy_yaml
    expected = {written.data.name, "policy.yaml", *EXAMPLES[name].hierarchies}
    assert {path.name for path in written.policy.parent.iterdir()} == expected


def test_patients_are_numbered_on_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example, "CHUNK_ROWS", 300)
    assert EXAMPLES["hospital"].generate(1000, 1)["patient"].n_unique() == 1000


def test_existing_files_are_not_overwritten_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("mine")
    with pytest.raises(InputError, match=r"policy\.yaml"):
        write_example("census", tmp_path, rows=10)
    assert [path.name for path in tmp_path.iterdir()] == ["policy.yaml"]
    assert (tmp_path / "policy.yaml").read_text() == "mine"
    write_example("census", tmp_path, rows=10, overwrite=True)
    assert (tmp_path / "policy.yaml").read_text() == EXAMPLES["census"].policy_yaml


@pytest.mark.parametrize(
    ("options", "said"),
    [({"rows": 0}, "at least one row"), ({"seed": -1}, "negative"), ({"format": "xlsx"}, "csv or parquet")],
)
def test_wrong_options_are_refused_and_nothing_is_written(options: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        write_example("hospital", tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


def test_an_unknown_example_and_a_folder_that_is_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hospital, census"):
        write_example("school", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_example("census", tmp_path / "file", rows=10)


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(example._WRITERS, "csv", full)
    with pytest.raises(InputError, match="No space left"):
        write_example("hospital", tmp_path, rows=10)
    assert not list(tmp_path.iterdir())
