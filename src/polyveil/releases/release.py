"""A release in memory: the tables to publish, their manifest, and what a caller wants to know about them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import polars as pl

from polyveil.arrays import IntArray
from polyveil.bounds import LossBound
from polyveil.errors import InputError, VerificationFailed
from polyveil.frames import FrameKind, as_kind
from polyveil.policy import from_public
from polyveil.releases.bundle import is_full
from polyveil.releases.publish import publish
from polyveil.releases.signing import signer_of
from polyveil.results import Outcome, Result, Row, counted, fragment, percent, table_html
from polyveil.table.bound import Bound
from polyveil.table.coded import CodedTable
from polyveil.table.register import Register
from polyveil.verification import StoredRelease, Verification, verify
from polyveil.verification.copies import COPY
from polyveil.verification.left_out import WITHHELD
from polyveil.verification.population import COUNTED

TableT = TypeVar("TableT")


SHOWN_ROWS = 8
"""Rows of the released table that a notebook shows."""


def _first(manifest: Mapping[str, Any], tables: Mapping[str, Any]) -> str:
    """The name of the table to show first."""
    linked = manifest.get("relational", {}).get("tables", ())
    return next(iter(linked), "table" if "table" in tables else "quasi")


def rows_of_tables(manifest: Mapping[str, Any]) -> dict[str, int]:
    """The rows of every table of a relational release."""
    return {name: about["rows"] - about["suppressed"] for name, about in manifest["relational"]["tables"].items()}


class DescribedRelease(Result, Generic[TableT]):
    """What a manifest says of a release's tables, whatever kind of table they are."""

    manifest: Mapping[str, Any]
    seconds: Mapping[str, float]
    notes: tuple[str, ...]
    verification: Verification | None
    bound: LossBound | None = None
    """What every release of the table with these guarantees must lose, where that was computed."""

    if TYPE_CHECKING:

        @property
        def tables(self) -> Mapping[str, TableT]:
            """The released tables by name."""

    @property
    def outcome(self) -> Outcome:
        """What the verifier said of it; not checked where it was not asked yet."""
        return "not checked" if self.verification is None else self.verification.outcome

    @property
    def form(self) -> str:
        """generalized, anatomized, sliced or relational."""
        return str(self.manifest["form"])

    @property
    def table(self) -> TableT:
        """The released table (of an anatomized or sliced release: the one with the quasi-identifiers; of several linked
        tables: the one of people)."""
        return self.tables[_first(self.manifest, self.tables)]

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

    def answer(self) -> str:
        """Rows, groups and what it cost, in one sentence."""
        size, left_out = self.manifest["class_size"], self.manifest["suppressed"]
        return (
            f"{counted(self.manifest['rows'] - left_out, 'row')} in {counted(self.manifest['classes'], 'group')} "
            f"of {size['min']:,} to {size['max']:,}, {left_out:,} left out; "
            f"{percent(self.loss['normalized_loss'], 0)} of the detail lost."
        )

    def records(self) -> Sequence[Row]:
        """One row per guarantee: what was asked for and what was reached."""
        return [
            {
                "guarantee": claim["model"],
                "column": claim["attribute"],
                "asked": claim["threshold"],
                "reached": claim["measured"],
                "helps_against": claim["helps_against"],
            }
            for claim in self.manifest["claims"]
        ]

    def to_frame(self) -> TableT:
        """The released table itself."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The figures of `polyveil anonymize --json`; `privacy` in people where a column says whom a row is about."""
        keys = ("rows", "suppressed", "classes", "class_size", "method", "privacy", "loss")
        people = self.manifest.get("people", {})
        return {
            **{key: self.manifest[key] for key in keys},
            "people": people.get("count", self.manifest["rows"]),
            **{key: people[key] for key in ("privacy",) if key in people},
            **({"tables": rows_of_tables(self.manifest)} if "relational" in self.manifest else {}),
            "seconds": dict(self.seconds),
            "notes": list(self.notes),
            **({} if self.bound is None else {"bound": self.bound.to_dict()}),
        }


@dataclass(frozen=True, eq=False)
class Original:
    """The table a release was made of: the policy bound to it, and its codes."""

    bound: Bound
    coded: CodedTable
    kind: FrameKind = "polars"
    kept: IntArray | None = None
    """The rows that rows_per_person left in; None: all."""
    read: int = 0
    """Rows of the table that was read."""
    hint: str | None = None
    """What else the steward can do with the release."""
    register: Register | None = None
    """The population, where the policy names a table of it."""
    cells: tuple[IntArray, ...] = ()
    """The parts that the rows are released with, if columns were recoded one by one (see `Partition`)."""

    def of_all_rows(self, class_of_row: IntArray) -> IntArray:
        """The class of every row that was read; -1 for those left out."""
        if self.kept is None:
            return class_of_row
        found = np.full(self.read, -1, dtype=np.int64)
        found[self.kept] = class_of_row
        return found

    def of_coded_rows(self, class_of_row: IntArray) -> IntArray:
        """The other way round: the class of every row of `coded`."""
        return class_of_row if self.kept is None else class_of_row[self.kept]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know."""
        hint = (self.hint,) if self.hint is not None else ()
        left_out = 0 if self.kept is None else self.read - len(self.kept)
        limit = self.bound.policy.privacy.rows_per_person
        if not left_out or limit is None:
            return (*self.bound.notes, *hint)
        words = f"{left_out:,} of {self.read:,} rows were left out by chance, so that nobody has more than"
        return (*self.bound.notes, f"{words} {limit.at_most} rows (privacy.rows_per_person).", *hint)


@dataclass(frozen=True, eq=False, repr=False)
class Release(DescribedRelease[Any]):
    """What will be published. `frames` (`tables`, as polars) and `manifest` are public.

    `seconds`, `class_of_row` (the class of each input row, -1 if it is suppressed), `notes` (what to know about how
    the policy was read) and `original` are for the caller alone.
    """

    frames: Mapping[str, pl.DataFrame]
    manifest: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    class_of_row: IntArray | None = None
    notes: tuple[str, ...] = ()
    verification: Verification | None = None
    original: Original | None = None
    bound: LossBound | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy on disk or in another process has no original data."""
        return {**self.__dict__, "original": None}

    @property
    def tables(self) -> Mapping[str, Any]:
        """The released tables by name, as the kind of frame that went in."""
        return {name: as_kind(frame, self.frame_kind) for name, frame in self.frames.items()}

    def _repr_html_(self) -> str:
        shown = self.frames[_first(self.manifest, self.frames)].head(SHOWN_ROWS)
        first = '<p class="polyveil-more">the first rows of the released table</p>'
        return fragment(self.outcome, self.answer(), table_html(self.records()), first, table_html(shown.to_dicts()))

    @property
    def file_format(self) -> str:
        """How the tables are written: parquet or csv."""
        return from_public(self.manifest["policy"]).release.file_format

    def verify(self) -> Verification:
        """Check the tables against the manifest, by the code that checks strangers' releases."""
        return verify(self)

    def save(
        self, path: Path | str, *, overwrite: bool = False, report: bool = True, sign: Path | str | None = None
    ) -> None:
        """Write a release folder, or into the database that a URL names; it appears only if the verifier passes it.

        `sign` is a private key, as `polyveil keys` makes it.
        """
        signed = signer_of(sign, path)

        def accept(written: Path | StoredRelease) -> None:
            signed(written)
            require_verified(written)

        publish_release(self, path, overwrite=overwrite, report=report, accept=accept)

    def save_private(self, folder: Path | str) -> None:
        """Write what must never be published - which class each input row went to - for the steward's own files."""
        if self.class_of_row is None:
            raise InputError("this release does not know where its rows came from. Make it with anonymize")
        target = Path(folder)
        try:
            target.mkdir(parents=True, mode=0o700, exist_ok=True)
            rows = pl.DataFrame({"row": range(1, len(self.class_of_row) + 1), "class": self.class_of_row})
            _write_for_owner(rows, target / "row_map.parquet")
            if self.original is not None and self.original.bound.pseudonyms.width:
                of_row = range(self.original.read) if self.original.kept is None else self.original.kept
                numbers = pl.Series("row", [int(row) + 1 for row in of_row])
                keys = self.original.bound.pseudonyms
                _write_for_owner(pl.DataFrame([numbers, *keys.get_columns()]), target / "pseudonyms.parquet")
        except OSError as error:
            why = "the disk is full" if is_full(error) else error.strerror or type(error).__name__
            raise InputError(f"{target} cannot be written ({why}). Name another place") from None


def _write_for_owner(frame: pl.DataFrame, file: Path) -> None:
    """Write whole or not at all, readable by nobody but the owner at any moment, whatever the folder allows."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as sink:
            frame.write_parquet(sink)
            sink.flush()
            os.fsync(descriptor)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def publish_release(
    release: Release, out: Path | str, *, overwrite: bool, report: bool, accept: Callable[[Any], None]
) -> None:
    """Write the tables and the manifest; they appear once `accept` has passed what was written."""
    publish(
        out,
        release.frames,
        release.manifest,
        file_format=release.file_format,
        overwrite=overwrite,
        report=report,
        accept=accept,
    )


def require_verified(written: Path | StoredRelease) -> Verification:
    """Raise unless what was written, to a folder or into a database, passes verification."""
    return refuse_unless(verify(written))


def refuse_unless(verification: Verification) -> Verification:
    """No release that its own verifier has not passed, but for values that the policy withholds by name."""
    unsure = [f for f in verification.findings if f.outcome == "not checked" and not f.note and f.check[:4] != "loss"]
    if verification.failures or any(finding.check not in (WITHHELD, COUNTED) for finding in unsure):
        seen = "\n".join(f"  - {finding.check}: {finding.message}" for finding in verification.failures)
        if verification.failures and all(finding.check.startswith(COPY) for finding in verification.failures):
            raise VerificationFailed(
                "a published column tells the values of a sensitive one, so nothing was published. "
                f"Give it role: drop, or use form: generalized.\n{seen}"
            )
        raise VerificationFailed(
            "the release did not pass its own verification, so nothing was published. "
            f"This is a fault in polyveil, not in your data; please report it.\n{seen}"
        )
    return verification
