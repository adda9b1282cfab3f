"""Signatures: who published a release, and what a reader is told without, with and with the wrong key."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import polyveil
from polyveil.errors import InputError
from polyveil.releases.signing import PASSPHRASE, make_keys
from polyveil.verification import Verification, verify
from verification.forgeries.forger import people, policy


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    make_keys(tmp_path / "mine")
    made = policy("generalized", "csv")
    polyveil.anonymize(people(), made, out=tmp_path / "release", sign=tmp_path / "mine", seed=1, report=False)
    return tmp_path / "release"


def said(found: Verification) -> tuple[str, str]:
    one = next(finding for finding in found.findings if finding.check == "signature")
    return one.outcome, one.message


def test_a_signed_release_holds_for_its_signer(signed: Path) -> None:
    found = verify(signed, signer=signed.parent / "mine.pub")
    assert found.holds
    assert said(found)[0] == "holds"


def test_without_a_key_the_reader_is_told_who_signed_and_that_nobody_is_trusted(signed: Path) -> None:
    found = verify(signed)
    assert found.holds
    assert said(found)[0] == "not checked"
    assert "SHA256:" in said(found)[1]


def test_another_signer_a_missing_and_an_edited_signature_fail(signed: Path) -> None:
    make_keys(signed.parent / "other")
    other = signed.parent / "other.pub"
    assert said(verify(signed, signer=other))[0] == "fails"
    content = (signed / "manifest.sig").read_text()
    for text in (content + "\n", content.replace("polyveil", "Polyveil"), "Alice", content.upper()):
        (signed / "manifest.sig").write_text(text)
        assert said(verify(signed))[0] == "fails"
    (signed / "manifest.sig").unlink()
    assert said(verify(signed, signer=signed.parent / "mine.pub"))[0] == "fails"
    assert verify(signed).holds


def test_a_manifest_that_was_signed_otherwise_fails(signed: Path) -> None:
    file = signed / "manifest.json"
    file.write_text(file.read_text().replace('"identifiers": 0', '"identifiers": 1'))
    assert "signature" in {finding.check for finding in verify(signed).failures}


def test_a_private_key_is_its_owners_alone_and_never_replaced(tmp_path: Path) -> None:
    make_keys(tmp_path / "mine")
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="never replaced"):
        make_keys(tmp_path / "mine")


def test_a_locked_key_needs_its_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_keys(tmp_path / "mine", "open sesame")
    release = polyveil.anonymize(people(), policy("generalized", "csv"), seed=1)
    with pytest.raises(InputError, match=PASSPHRASE):
        release.save(tmp_path / "release", sign=tmp_path / "mine")
    monkeypatch.setitem(os.environ, PASSPHRASE, "wrong")
    with pytest.raises(InputError, match="wrong"):
        release.save(tmp_path / "release", sign=tmp_path / "mine")
    monkeypatch.setitem(os.environ, PASSPHRASE, "open sesame")
    release.save(tmp_path / "release", sign=tmp_path / "mine")
    assert verify(tmp_path / "release", signer=tmp_path / "mine.pub").holds


def test_a_release_in_a_database_is_not_signed_and_says_so(tmp_path: Path) -> None:
    make_keys(tmp_path / "mine")
    release = polyveil.anonymize(people(), policy("generalized", "parquet"), seed=1)
    url = f"sqlite://{tmp_path / 'tables.db'}?schema=release"
    with pytest.raises(InputError, match="database"):
        release.save(url, sign=tmp_path / "mine")
    release.save(url)
    assert said(verify(url, signer=tmp_path / "mine.pub"))[0] == "fails"


def test_a_signature_has_one_text(signed: Path) -> None:
    """Other line ends, or anything after it, would be a place for words."""
    content = (signed / "manifest.sig").read_bytes()
    for other in (content.replace(b"\n", b"\r\n"), content + b"\n", content + b"Alice", b"\xef\xbb\xbf" + content):
        (signed / "manifest.sig").write_bytes(other)
        assert said(verify(signed, signer=signed.parent / "mine.pub"))[0] == "fails"
