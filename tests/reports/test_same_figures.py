"""One figure, one value: the report says what `verify --json` and `attack --json` say, on releases of every kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

import polars as pl
import pytest

import polyveil
from polyveil.attacks import population
from polyveil.reports.markup import number, percent

ROWS = 300
BASE: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "town": {"role": "quasi", "recode": "set"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "sensitive", "type": "numeric"},
}
POLICIES: dict[str, dict[str, Any]] = {
    "k": {"privacy": {"k": 5}},
    "t": {"privacy": {"k": 4, "t": 0.3}},
    "l": {"privacy": {"k": 3, "l": 2}},
    "suppressed": {"privacy": {"k": 8, "t": 0.25, "suppression_limit": 0.05}},
    "distinct": {"privacy": {"k": 3, "l": 3, "diversity": "distinct"}},
    "mondrian": {"privacy": {"k": 6}, "method": {"name": "mondrian"}},
    "pca": {"privacy": {"k": 3, "t": 0.4}, "method": {"name": "pca"}},
    "anatomized": {"privacy": {"l": 2}, "method": {"name": "mbf"}},
    "entropy": {"privacy": {"k": 3, "l": 2, "diversity": "entropy"}},
    "recursive": {"privacy": {"k": 3, "l": 2, "c": 4, "diversity": "recursive"}},
    "beta": {"privacy": {"k": 3, "beta": 4}},
    "delta": {"privacy": {"k": 3, "delta": 3}},
    "alpha": {"privacy": {"k": 3, "alpha": 0.6}},
    "risk": {"privacy": {"risk": {"max": 0.1}}},
    "average risk": {"privacy": {"risk": {"average": 0.2, "strict_k": 3}}},
    "kaca": {"privacy": {"k": 4}, "method": {"name": "kaca"}},
    "fcm": {"privacy": {"k": 3, "t": 0.4}, "method": {"name": "fcm"}},
    "sloms": {"privacy": {"k": 3, "l": 2}, "method": {"name": "sloms"}},
    "msdcf": {"privacy": {"l": 2}, "method": {"name": "msdcf"}},
    "people": {"privacy": {"k": 3, "t": 0.5}, "columns": {**BASE, "who": {"role": "person"}}},
}


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "who": [f"p{i // 2}" for i in range(ROWS)],
            "age": [20 + (i // 2) * 7 % 50 for i in range(ROWS)],
            "town": [("Cork", "Derry", "Galway", "Lisbon")[(i // 2) % 4] for i in range(ROWS)],
            "ill": [("flu", "gout", "HIV", "cold", "asthma")[i * i % 5] for i in range(ROWS)],
            "pay": [100 * (1 + i * 3 % 7) for i in range(ROWS)],
        }
    )


@pytest.fixture(scope="module", autouse=True)
def small_forests() -> Iterator[None]:
    """The learned attacks take nearly all of the time, and their figures are compared, not judged, here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population, "TREES", 3)
        yield


@pytest.fixture(scope="module", params=POLICIES)
def made(request: pytest.FixtureRequest) -> tuple[polyveil.Release, pl.DataFrame]:
    asked = {"columns": BASE, "method": {"name": "sift", "effort": "fast"}, **POLICIES[request.param]}
    table = people() if "who" in asked["columns"] else people().drop("who")
    return polyveil.anonymize(table, asked, seed=1), table


def tables_of(page: str) -> dict[str, list[list[str]]]:
    """Every table of a page by its caption, as text."""
    found = {}
    for caption, body in re.findall(r"<caption>(.*?)</caption>.*?<tbody>(.*?)</tbody>", page, re.DOTALL):
        rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")]
        found[unescape(caption)] = [[unescape(re.sub("<[^>]+>", "", cell)) for cell in row] for row in rows if row]
    return found


def of_attack(report: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [each for each in report["attacks"] if each["name"] == name and each["verdict"] != "not run"]


def test_the_report_says_what_verify_says(made: tuple[polyveil.Release, pl.DataFrame]) -> None:
    release, table = made
    page = polyveil.report(release)
    verification = (
        polyveil.verify(release, source=table, person="who") if "who" in table.columns else polyveil.verify(release)
    )
    verified = {each["check"]: each["message"] for each in verification.to_dict()["findings"]}
    assert verification.holds
    claims = release.manifest["claims"]
    in_people = release.manifest.get("people", {}).get("claims", claims)
    shown = tables_of(page)["Guarantees"]
    for claim, counted, (statement, _, weakest, _) in zip(claims, in_people, shown, strict=True):
        check = claim["model"] + (f" of {claim['attribute']}" if claim.get("attribute") else "")
        told = float(verified[check].rsplit("measured ", 1)[1])
        assert claim["measured"] == pytest.approx(told, rel=1e-5), statement
        assert weakest == number(round(counted["measured"], 6)), statement
    loss = release.manifest["loss"]
    told = float(re.findall(r"information_loss ([\d.e-]+) as measured", verified["loss"])[0])
    assert told == pytest.approx(loss["information_loss"], rel=1e-5)
    assert f'<span class="big">{percent(loss["normalized_loss"])}</span>' in page
    assert f'<span class="big">{number(release.manifest["classes"])}</span>' in page


def test_the_report_says_what_attack_says(made: tuple[polyveil.Release, pl.DataFrame]) -> None:
    release, table = made
    page = polyveil.report(release, original=table)
    assert "published files only" not in page
    found = polyveil.attack(release, table).to_dict()
    shown = tables_of(page)
    assert found["sentences"]
    for each, row in zip(found["attacks"], shown["Simulated attacks"], strict=True):
        assert row[0] == each["name"]
        if each["verdict"] != "not run":
            allowed = "–" if each["bound"] is None else percent(each["bound"])
            assert (row[3], row[4], row[7]) == (percent(each["success"]), percent(each["baseline"]), allowed)
    # The public part names two of the same adversaries; it knows no more than the release, and says the same.
    guesses = {row[0]: row for row in shown["Guessing a sensitive value"]}
    for each in of_attack(found, "homogeneity"):
        assert guesses[each["attribute"]][2] == percent(each["success"]), each["attribute"]
    linkage = of_attack(found, "prosecutor linkage")
    for row, each in zip(shown.get("Chance of identifying the right row", []), linkage, strict=False):
        assert row[3] == percent(each["success"])


def test_the_public_report_says_that_nothing_else_was_used(made: tuple[polyveil.Release, pl.DataFrame]) -> None:
    assert "It is made from the published files only." in polyveil.report(made[0])
