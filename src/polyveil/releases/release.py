"""A release in memory: the tables to publish, their manifest, and what a caller wants to know about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl

from polyveil.arrays import IntArray
from polyveil.errors import InputError, VerificationFailed
from polyveil.policy import from_public
from polyveil.releases.publish import publish
from polyveil.table.bind import Bound
from polyveil.table.coded import CodedTable
from polyveil.verification import StoredRelease, Verification, verify, verify_tables

TableT = TypeVar("TableT")


class DescribedRelease(Generic[TableT]):
    """What a manifest says of a release's tables, whatever kind of table they are."""

    tables: Mapping[str, TableT]
    manifest: Mapping[str, Any]
    seconds: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def form(self) -> str:
        return str(self.manifest["form"])

    @property
    def table(self) -> TableT:
        """The released table (of an anatomized or sliced release: the one with the quasi-identifiers)."""
        return self.tables["table" if "table" in self.tables else "quasi"]

    @property
    def privacy(self) -> Mapping[str, Any]:
        """What was reached: k, l and t as measured on the release."""
        found: Mapping[str, Any] = self.manifest["privacy"]
        return found

    @property
    def loss(self) -> Mapping[str, Any]:
        """What it cost."""
        found: Mapping[str, Any] = self.manifest["loss"]
        return found

    def summary(self) -> dict[str, Any]:
        """The figures of `polyveil anonymize --json`."""
        keys = ("rows", "suppressed", "classes", "class_size", "method", "privacy", "loss")
        return {**{key: self.manifest[key] for key in keys}, "seconds": dict(self.seconds), "notes": list(self.notes)}


@dataclass(frozen=True, eq=False)
class Original:
    """The table a release was made of: the policy bound to it, and its codes."""

    bound: Bound
    coded: CodedTable


@dataclass(frozen=True, eq=False)
class Release(DescribedRelease[pl.DataFrame]):
    """What will be published. `tables` and `manifest` are public.

    `seconds`, `class_of_row` (the class of each input row, -1 where it is suppressed), `notes` (what to know about how
    the policy was read) and `original` are for the caller alone.
    """

    tables: Mapping[str, pl.DataFrame]
    manifest: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    class_of_row: IntArray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    original: Original | None = field(default=None, repr=False)

    @property
    def file_format(self) -> str:
        """How the tables are written: parquet or csv."""
        return from_public(self.manifest["policy"]).release.format

    def verify(self) -> Verification:
        """Check the tables against the manifest, by the code that checks strangers' releases."""
        return verify_tables(self.manifest, self.tables)

    def save(self, path: Path | str, *, overwrite: bool = False, report: bool = True) -> None:
        """Write the bundle, or into the database a URL names; it appears only once the verifier has passed it."""
        publish(
            path,
            self.tables,
            self.manifest,
            file_format=self.file_format,
            overwrite=overwrite,
            report=report,
            accept=require_verified,
        )

    def save_private(self, folder: Path | str) -> None:
        """Write what must never be published - which class each input row went to - for the steward's own files."""
        if self.class_of_row is None:
            raise InputError("this release does not know where its rows came from. Make it with anonymize")
        target = Path(folder)
        try:
            target.mkdir(parents=True, mode=0o700, exist_ok=True)
            rows = pl.DataFrame({"row": range(1, len(self.class_of_row) + 1), "class": self.class_of_row})
            rows.write_parquet(target / "row_map.parquet")
        except OSError as error:
            raise InputError(f"{target} cannot be written ({error.strerror}). Name another place") from None


def require_verified(written: Path | StoredRelease) -> None:
    """Raise unless what was written, to a folder or into a database, passes verification."""
    refuse_unless(verify(written))


def refuse_unless(verification: Verification) -> None:
    """No release that its own verifier has not passed."""
    if not verification.holds:
        seen = "\n".join(f"  - {finding.check}: {finding.message}" for finding in verification.failures)
        raise VerificationFailed(
            "the release did not pass its own verification, so nothing was published. "
            f"This is a fault in polyveil, not in your data; please report it.\n{seen}"
        )
