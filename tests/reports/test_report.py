"""report.html: made from the release alone, says what it says, and nothing that the release does not."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil.cli import app
from polyveil.demo import write_example
from polyveil.errors import InputError, VerificationFailed
from polyveil.methods import method_class
from polyveil.models.closeness import TCloseness
from polyveil.reports import build
from polyveil.reports.distributions import distance_chart
from polyveil.reports.stored import report
from polyveil.verification import verify

ROWS = 200
MARK = "Zaphod Beeblebrox"


def table() -> pl.DataFrame:
    """People with an identifier that must vanish, one who is alone in everything, and names that are markup."""
    return pl.DataFrame(
        {
            "name": [f"{MARK} {i}" for i in range(ROWS)],
            "age": [*(20 + i % 43 for i in range(ROWS - 1)), 97],
            "town": [*(("<b>Ulm</b>", "Bonn", "Trier")[i % 3] for i in range(ROWS - 1)), "Atlantis"],
            "ill": [("flu", "asthma", '<script>alert("x")</script>', None)[i % 4] for i in range(ROWS)],
            "pay": [float(1000 + 7 * (i % 50)) for i in range(ROWS)],
        }
    )


def policy(**more: Any) -> dict[str, Any]:
    return {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi"},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive"},
            "pay": {"role": "sensitive", "type": "numeric"},
        },
        "privacy": {"k": 5, "t": 0.5},
        "method": {"name": "sift", "effort": "fast"},
        **more,
    }


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "release"
    polyveil.anonymize(table(), policy(), out=folder, seed=1)
    return folder


def text_of(page: str) -> str:
    """What a reader sees: without tags and style."""
    page = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("seed", range(20))
def test_a_chart_does_not_depend_on_the_order_of_groups(seed: int) -> None:
    """Else an honest page would not be the one that `verify` makes again: shares that end in 5 round both ways."""
    rng = np.random.default_rng(seed)
    sizes = rng.multinomial(400, np.full(40, 1 / 40))
    values, model = rng.integers(0, 20, 40) / 20, TCloseness(0.5, "ill")
    orders = [np.arange(40), *(rng.permutation(40) for _ in range(30))]
    assert len({distance_chart("ill", model, values[order], sizes[order], words="") for order in orders}) == 1


def test_the_bundle_holds_its_report_and_the_manifest_its_checksum(bundle: Path) -> None:
    assert "report.html" in json.loads((bundle / "manifest.json").read_text())["files"]
    assert verify(bundle).holds


def test_anyone_with_the_release_makes_the_same_report(bundle: Path) -> None:
    assert report(bundle) == (bundle / "report.html").read_text()


def test_no_identifier_and_no_value_that_was_generalized_away_is_in_it(bundle: Path) -> None:
    page = (bundle / "report.html").read_text()
    released = (pl.read_parquet(bundle / "table.parquet").cast(pl.String).write_csv()) + (
        bundle / "manifest.json"
    ).read_text()
    assert MARK not in page
    assert "name" not in json.loads((bundle / "manifest.json").read_text())["policy"]["columns"]
    for lone in ("Atlantis",):
        assert lone not in released
        assert lone not in page


def test_every_number_of_a_chart_follows_from_the_published_files(bundle: Path) -> None:
    """Built again with another table of the same shape, the page differs: nothing was kept from the input."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    frame = pl.read_parquet(bundle / "table.parquet")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert build(manifest, {"table": shuffled}) == build(manifest, {"table": frame})


def test_a_value_that_is_markup_stays_text(bundle: Path) -> None:
    page = (bundle / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in page
    assert "<b>Ulm" not in page


def test_it_loads_nothing_and_forbids_scripts(bundle: Path) -> None:
    page = (bundle / "report.html").read_text()
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert "@import" not in page
    assert "url(" not in page
    assert len(page) < 150_000


def test_it_tells_what_was_asked_reached_lost_and_left_open(bundle: Path) -> None:
    page = text_of((bundle / "report.html").read_text())
    manifest = json.loads((bundle / "manifest.json").read_text())
    for claim in manifest["claims"]:
        assert claim["statement"] in page
        assert claim["helps_against"].split(";")[0].replace("'", "&#x27;") in page
    for name, loss in manifest["loss"]["by_attribute"].items():
        assert f"{name} {100 * loss:.1f} %" in page
    for heading in (
        "Guarantees and how well they are met",
        "Detail lost",
        "How many look alike",
        "What this does not cover",
    ):
        assert heading in page


def test_shares_before_and_after_are_both_shown_where_rows_were_left_out() -> None:
    lonely = policy(privacy={"k": 5, "t": 0.5, "suppression_limit": 0.1})
    release = polyveil.anonymize(table(), lonely, seed=1)
    if not release.manifest["suppressed"]:
        manifest = {**release.manifest, "suppressed": 1, "rows": ROWS + 1}
        manifest["sensitive"] = json.loads(json.dumps(manifest["sensitive"]))
        manifest["sensitive"]["ill"]["counts"][0] += 1
        manifest["sensitive"]["pay"]["counts"][0] += 1
    else:
        manifest = dict(release.manifest)
    page = text_of(build(manifest, release.tables))
    assert "Some rows were left out" in page
    assert "value input release" in page


FORMS = [(method, form) for method in ("mondrian", "mbf", "sloms") for form in method_class(method).forms]


@pytest.mark.parametrize(("method", "form"), FORMS)
def test_every_form_has_a_report(method: str, form: str, tmp_path: Path) -> None:
    asked = policy(privacy={"k": 2, "l": 2, "suppression_limit": 1.0}, method={"name": method}, release={"form": form})
    polyveil.anonymize(table(), asked, out=tmp_path / "release", seed=1)
    page = text_of((tmp_path / "release" / "report.html").read_text())
    assert "What can still be guessed" in page
    assert MARK not in page


def test_the_reports_of_both_examples_name_every_column(tmp_path: Path) -> None:
    for example in ("hospital", "census"):
        written = write_example(example, tmp_path / example, rows=400)
        release = polyveil.anonymize(written.data, written.policy, seed=1)
        page = text_of(build(release.manifest, release.tables))
        for column in release.table.columns:
            assert column in page


def test_without_a_report_there_is_none(tmp_path: Path) -> None:
    polyveil.anonymize(table(), policy(), out=tmp_path / "release", seed=1, report=False)
    assert not (tmp_path / "release" / "report.html").exists()
    assert verify(tmp_path / "release").holds


def test_a_release_that_does_not_hold_gets_no_report(bundle: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in bundle.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    frame = pl.read_parquet(changed / "table.parquet")
    frame.with_columns(ill=pl.lit("flu")).write_parquet(changed / "table.parquet")
    with pytest.raises(VerificationFailed, match="does not pass verification"):
        report(changed)


def test_the_command_writes_beside_never_into_a_release_and_never_over_a_file(bundle: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    out = tmp_path / "page.html"
    assert runner.invoke(app, ["report", str(bundle), "--out", str(out)]).exit_code == 0
    assert out.read_text() == (bundle / "report.html").read_text()
    assert runner.invoke(app, ["report", str(bundle), "--out", str(out)]).exit_code == 2
    assert runner.invoke(app, ["report", str(bundle), "--out", str(out), "--overwrite"]).exit_code == 0
    assert runner.invoke(app, ["report", str(bundle), "--out", str(bundle / "second.html")]).exit_code == 2
    assert runner.invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "x.html")]).exit_code == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["page.html"]


def test_a_value_the_manifest_does_not_know_is_refused_without_showing_it(bundle: Path) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())
    frame = pl.read_parquet(bundle / "table.parquet").with_columns(ill=pl.lit("plague"))
    with pytest.raises(InputError, match="ill") as caught:
        build(manifest, {"table": frame})
    assert "plague" not in str(caught.value)


def test_the_stewards_copy_adds_attacks_and_says_that_it_is_not_public(tmp_path: Path) -> None:
    original = tmp_path / "original.parquet"
    table().write_parquet(original)
    release = polyveil.anonymize(original, policy(), out=tmp_path / "release", seed=1)
    release.save_private(tmp_path / "private")
    out = tmp_path / "own.html"
    arguments = ["--original", str(original), "--row-map", str(tmp_path / "private" / "row_map.parquet")]
    done = CliRunner().invoke(app, ["report", str(tmp_path / "release"), "--out", str(out), *arguments])
    assert done.exit_code == 0, done.output
    page = text_of(out.read_text())
    assert "Do not publish it" in page
    assert "prosecutor linkage" in page
    assert "random count queries" in page
    assert MARK not in page
    assert "Simulated attacks" not in text_of((tmp_path / "release" / "report.html").read_text())
    alone = CliRunner().invoke(
        app, ["report", str(tmp_path / "release"), "--out", str(tmp_path / "x.html"), *arguments[2:]]
    )
    assert alone.exit_code == 2


@pytest.mark.parametrize("numbers", ["interval", "midpoint", "mean"])
def test_values_that_cannot_be_drawn_do_not_stand_in_the_way_of_a_release(tmp_path: Path, numbers: str) -> None:
    far = [dt.date(9999, 12, 31), dt.date(1, 1, 1)]
    frame = pl.DataFrame({"day": far * 10, "x": [1e308, -1e308] * 10, "s": ["a", "b"] * 10, "n": [1e308, 0.0] * 10})
    columns = {"day": "quasi", "x": "quasi", "s": "sensitive", "n": "sensitive"}
    policy = {
        "columns": {name: {"role": role} for name, role in columns.items()},
        "privacy": {"k": 2, "t": 0.5},
        "method": {"name": "mondrian"},
        "release": {"numbers": numbers},
    }
    polyveil.anonymize(frame, policy, out=tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text()
    assert "too far apart to be drawn" in page or "as released" in page
    assert not re.search(r"\bnan\b|\binf\b", page, re.IGNORECASE)
