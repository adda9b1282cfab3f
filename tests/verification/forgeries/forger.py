"""A forger: opens a release, changes anything, and restamps checksums, counts, claims, figures and losses to fit.

It uses the verifier's own measuring, as a forger who has polyveil would, so that only what is forged can tell.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

import polyveil
from polyveil.cells import place_of as place_of_value
from polyveil.cells import read_range, read_set
from polyveil.models import models_for
from polyveil.policy import from_public
from polyveil.releases.manifest import claim_of, privacy_summary
from polyveil.table.databases import opened, place_of
from polyveil.table.databases.exact import storable
from polyveil.verification import Verification, generalized, linked, load_release, loss, verify, verify_tables
from polyveil.verification.attributes import declared_attributes
from polyveil.verification.canonical import manifest_text, write_table
from polyveil.verification.fingerprint import fingerprint

ROWS = 240
FORMS = {
    "generalized": {"method": {"name": "mondrian"}, "release": {}},
    "anatomized": {"method": {"name": "mbf"}, "release": {"form": "anatomized"}},
    "sliced": {"method": {"name": "mbf"}, "release": {"form": "sliced"}},
}


def people() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "town": rng.choice(["Bern", "Basel", "Paris", "Lyon"], ROWS),
            "illness": rng.permutation(np.repeat(["flu", "asthma", "cold"], ROWS // 3)),
            "salary": rng.permutation(np.repeat([10.5, 20.5, 30.5, 40.5], ROWS // 4)),
            "ward": rng.choice(["a", "b", "c", "d", "e"], ROWS),
        }
    )


def policy(form: str, file_format: str) -> dict[str, Any]:
    chosen = FORMS[form]
    return {
        "columns": {
            "age": {"role": "quasi"},
            "town": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "salary": {"role": "sensitive", "type": "numeric"},
            "ward": {"role": "insensitive"},
        },
        "privacy": {"k": 4, "l": 2} if form == "generalized" else {"l": 2},
        "method": chosen["method"],
        "release": {**chosen["release"], "format": file_format},
    }


def publish(form: str, file_format: str, place: Path | str) -> None:
    polyveil.anonymize(people(), policy(form, file_format), out=place, seed=1)


class Forger:
    """A copy of a release, opened; `restamp` writes it back as if it had been published so."""

    def __init__(self, genuine: Path, place: Path, judge: Callable[[Path], Verification] = verify) -> None:
        self.folder = Path(shutil.copytree(genuine, place))
        self.judge = judge
        self.open(self.folder)

    def again(self, genuine: Path) -> None:
        """Begin anew with the files of the release that was opened before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(genuine, self.folder)
        self.manifest, self.tables = json.loads(self.read), dict(self.before)

    def open(self, place: Path | str) -> None:
        """Read what is there."""
        manifest, tables, _ = load_release(place)
        self.read = json.dumps(manifest)
        self.manifest: dict[str, Any] = json.loads(self.read)
        self.tables: dict[str, pl.DataFrame] = dict(tables)
        self.before = tables
        self.ending = "." + from_manifest(self.manifest)
        self.first = "table" if "table" in self.tables else "quasi"
        self.of = {name: table for table, frame in self.tables.items() for name in frame.columns}

    def file(self, table: str) -> Path:
        """The file of a table, or the first of its parts."""
        return self.files(table)[0]

    def files(self, table: str) -> list[Path]:
        parts = sorted((self.folder / table).glob("part-*"))
        return parts or [self.folder / f"{table}{self.ending}"]

    def edit(self, table: str, change: Any) -> None:
        self.tables[table] = change(self.tables[table])

    def recompute(self) -> None:
        """Claims, figures and losses as the changed tables give them."""
        with _measured() as (claims, losses):
            verify_tables(self.manifest, self.tables)
        for models, statistics in claims:
            for claim, model in zip(self.manifest["claims"], models, strict=False):
                values = model.measure_all(statistics)
                figures = {"measured": float(values[model.worst(values)]), "mean": float(np.mean(values))}
                claim |= {name: value if np.isfinite(value) else None for name, value in figures.items()}
            sizes = statistics.sizes
            self.manifest["classes"] = statistics.classes
            self.manifest["class_size"] = {
                "min": int(sizes.min()), "mean": float(sizes.mean()), "max": int(sizes.max())
            }  # fmt: skip
            self.manifest["privacy"] = privacy_summary(int(sizes.min()), self.manifest["claims"])
        self.manifest["loss"] |= losses

    def write_tables(self) -> None:
        for name, frame in self.tables.items():
            files = self.files(name)
            ends = np.linspace(0, frame.height, len(files) + 1).astype(int).tolist()
            for file, first, last in zip(files, ends, ends[1:], strict=False):
                rows = frame[first:last]
                with file.open("wb") as sink:
                    write_table(rows, sink, self.ending)
                about = self.manifest["files"][file.relative_to(self.folder).as_posix()]
                about |= {"rows": rows.height, "columns": rows.columns}

    def restate(self) -> None:
        """Claims and options as the changed policy asks for them; their figures are measured by `recompute`."""
        policy = from_public(self.manifest["policy"])
        declared = declared_attributes(self.manifest, policy)
        models = models_for(policy, {name: known.attribute for name, known in declared.items()})
        self.manifest["claims"] = [claim_of(model, 0.0, 0.0) for model in models]
        self.manifest["method"]["name"] = policy.method.name
        self.manifest["method"]["parameters"] |= policy.method.options

    def recount(self) -> None:
        """Rows, groups, the counts of sensitive values and the domains as the changed tables give them."""
        self.manifest["rows"] += self.tables[self.first].height - self.before[self.first].height
        for part in self.manifest.get("linked", {}).get("slices", ()):
            part["groups"] = self.tables[part["table"]][part["group"]].n_unique()
        self.recount_domains()

    def cells(self, name: str, tables: Mapping[str, pl.DataFrame] | None = None) -> pl.Series:
        """The cells of a column, by default those of the changed tables."""
        return (self.tables if tables is None else tables)[self.of[name]][name]

    def recount_domains(self) -> None:
        """The counts of sensitive values, and the domains of quasi-identifiers."""
        for name, about in self.manifest["sensitive"].items():
            labels = [*about["values"], *[None] * (len(about["counts"]) - len(about["values"]))]
            counts = Counter(dict(zip(labels, about["counts"], strict=True)))
            counts.update(map(label_of, self.cells(name)))
            counts.subtract(map(label_of, self.cells(name, self.before)))
            there = [label for label in counts if counts[label] and label is not None]
            there.sort(key=float if about["kind"] == "numeric" else None)  # type: ignore[arg-type]
            nulls = [counts[None]] if counts[None] else []
            about |= {"values": there, "counts": [*(counts[label] for label in there), *nulls]}
        for name, about in self.manifest["quasi"].items():
            cells = self.cells(name).unique().cast(pl.String).to_list()
            if "low" in about:
                ends = [end for cell in cells if cell not in (None, "*") for end in read_range(about["kind"], cell)]
                ends.sort(key=lambda end: place_of_value(about["kind"], end))
                about |= {"low": ends[0], "high": ends[-1], "missing": None in cells or "*" in cells}
            elif about["kind"] == "set":
                members = {member for cell in cells for member in read_set(cell)}
                about |= {"values": len(members), "missing": None in members}
            elif "values" not in about:
                about["missing"] = None in cells

    def restamp(self, *, text: str | None = None) -> Verification:
        """Everything stamped, and what the verifier says."""
        self.stamp(text=text)
        return self.judge(self.folder)

    def stamp(self, *, text: str | None = None) -> None:
        """Checksums and sizes of all files that are listed, and the manifest's text."""
        for name, about in self.manifest["files"].items():
            content = (self.folder / name).read_bytes()
            about |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        (self.folder / "manifest.json").write_text(text or manifest_text(self.manifest), encoding="utf-8")

    def forged(self) -> Verification:
        """Everything again from the changed tables."""
        self.recompute()
        self.write_tables()
        return self.restamp()

    def list_file(self, name: str, content: bytes) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
        (self.folder / name).write_bytes(content)
        files = {**self.manifest["files"], name: {"sha256": "0" * 64, "bytes": 0}}
        self.manifest["files"] = dict(sorted(files.items()))


class StoredForger(Forger):
    """The same in a database, whose schema is written anew from a release that was opened before."""

    def __init__(self, genuine: Forger, url: str) -> None:
        self.url, self.ending, self.first, self.of = url, genuine.ending, genuine.first, genuine.of
        self.manifest = json.loads(json.dumps(genuine.manifest))
        self.manifest.pop("files")
        self.tables, self.before = dict(genuine.tables), genuine.before
        self.describe()

    def describe(self) -> None:
        """What the manifest says of each table."""
        stored = {name: storable(frame) for name, frame in self.tables.items()}
        self.manifest["tables"] = {
            name: {"sha256": fingerprint(frame), "rows": frame.height, "columns": frame.columns}
            for name, frame in stored.items()
        }

    def write_tables(self) -> None:
        """Nothing is written before everything is."""

    def list_file(self, name: str, content: bytes) -> None:
        self.tables[Path(name).stem.strip(".").replace("-", "_")] = people()

    def restamp(self, *, text: str | None = None) -> Verification:
        place = place_of(self.url)
        schema = str(place.schema)
        with opened(place, writable=True) as session:
            for name in session.relations(schema):
                session.drop(session.stored(schema, name))
            session.create_schema(schema)
            for name, frame in self.tables.items():
                session.create(session.stored(schema, name), storable(frame))
            self.describe()
            document = pl.DataFrame({"document": [text or manifest_text(self.manifest)]})
            session.create(session.stored(schema, "manifest"), document)
            session.commit()
        return verify(self.url)


def label_of(value: Any) -> str | None:
    """A sensitive cell as the manifest lists it."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return None if value is None else str(value)


def from_manifest(manifest: dict[str, Any]) -> str:
    return str(manifest["policy"].get("release", {}).get("format", "parquet"))


@contextmanager
def _measured() -> Iterator[tuple[list[Any], dict[str, Any]]]:
    claims: list[Any] = []
    losses: dict[str, Any] = {}

    def note_claims(_: Any, models: Any, statistics: Any) -> list[Any]:
        claims.append((models, statistics))
        return []

    def note_loss(name: str, _: Any, measured: Any, check: str = "") -> list[Any]:
        losses[name] = measured
        return []

    with (
        patch.object(generalized, "check_claims", note_claims),
        patch.object(linked, "check_claims", note_claims),
        patch.object(loss, "compare_parts", note_loss),
    ):
        yield claims, losses


def refused_for(verification: Verification) -> set[str]:
    assert not verification.holds
    return {finding.check for finding in verification.failures}
