"""Tables and releases in an object store: a server that speaks S3, on this machine."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from typer.testing import CliRunner

import polyveil
from polyveil import pipeline
from polyveil.cli import app
from polyveil.errors import InputError, VerificationFailed
from polyveil.table.stores import Store, open_store
from polyveil.verification import Verification, verify
from verification.forgeries.forger import Forger, people, policy
from verification.forgeries.kinds import kinds

BUCKET = "hospital"
SIGNED = {"manifest.json", "manifest.sig", "report.html", "quasi.csv", "sensitive_1.csv"}
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture(autouse=True)
def bucket(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The address of a place of this test alone."""
    from pyarrow.fs import S3FileSystem

    keys = {"AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "steward", "AWS_SECRET_ACCESS_KEY": "quiet-word"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    S3FileSystem(endpoint_override=server, region="us-east-1", allow_bucket_creation=True).create_dir(BUCKET)
    return f"s3://{BUCKET}/{tmp_path.name}"


def upload(folder: Path, address: str) -> str:
    """Everything in a folder and nothing else, as anybody may put it there."""
    store = open_store(address)
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    for name, path in store.objects().items():
        if name not in files:
            store.delete(path)
    for name, file in files.items():
        store.put(file, f"{store.path}/{name}")
    return address


def published(address: str, **more: bool) -> str:
    polyveil.anonymize(people(), policy("generalized", "parquet"), out=address, seed=1, **more)
    return address


def test_from_a_file_in_a_store_to_a_signed_release_in_it(bucket: str, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    store = open_store(f"{bucket}/people.csv")
    store.put(tmp_path / "people.csv", store.path)
    (tmp_path / "policy.yaml").write_text(polyveil.Policy.from_dict(policy("anatomized", "csv")).to_yaml())
    out = f"{bucket}/release"

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == 0, done.output
        return done.output

    run("keys", str(tmp_path / "key"))
    chosen = ["--policy", str(tmp_path / "policy.yaml"), "--out", out, "--sign", str(tmp_path / "key")]
    assert out in run("anonymize", f"{bucket}/people.csv", *chosen)
    assert "All checks passed" in run("verify", out, "--signer", str(tmp_path / "key.pub"))
    run("attack", out, "--original", f"{bucket}/people.csv", "--trials", "50")
    assert set(open_store(out).objects()) == SIGNED
    assert polyveil.read(f"{bucket}/people.csv").frame.equals(polyveil.read(tmp_path / "people.csv").frame)


def test_every_forgery_is_refused_in_a_store_too(bucket: str, tmp_path: Path) -> None:
    published(str(tmp_path / "genuine"))

    def judge(folder: Path) -> Verification:
        return verify(upload(folder, f"{bucket}/release"))

    assert judge(tmp_path / "genuine").holds
    accepted = []
    every = kinds("generalized", "parquet")
    del every["symbolic link"]  # a store has none
    for number, (name, (forge, check)) in enumerate(every.items()):
        found = forge(Forger(tmp_path / "genuine", tmp_path / str(number), judge))
        if found.holds or check not in {finding.check for finding in found.failures}:
            accepted.append((name, check))
    assert not accepted


def test_a_folder_that_is_nothing_but_a_name_is_refused(bucket: str) -> None:
    store = open_store(published(f"{bucket}/release"))
    store.files.create_dir(f"{store.path}/person 17 is in the first group")
    assert not verify(store.address).holds


def test_an_object_named_like_another_with_a_slash_is_refused(bucket: str) -> None:
    import boto3

    store = open_store(published(f"{bucket}/release"))
    folder = store.path.removeprefix(f"{BUCKET}/")
    client = boto3.client("s3", region_name="us-east-1")
    client.put_object(Bucket=BUCKET, Key=f"{folder}/table.parquet/", Body=b"Alice has flu")
    with pytest.raises(InputError, match="with a slash at its end"):
        verify(store.address)


def test_nothing_is_replaced_unasked_and_nothing_but_a_release_ever(bucket: str, tmp_path: Path) -> None:
    out = published(f"{bucket}/release")
    with pytest.raises(InputError, match="exists already"):
        published(out)
    before = open_store(out).content(open_store(out).manifest)
    published(out, overwrite=True, report=False)
    assert verify(out).holds
    assert open_store(out).content(open_store(out).manifest) != before
    assert set(open_store(out).objects()) == {"manifest.json", "table.parquet"}
    (tmp_path / "notes.txt").write_text("kept")
    other = open_store(f"{bucket}/others")
    other.put(tmp_path / "notes.txt", f"{other.path}/notes.txt")
    with pytest.raises(InputError, match="no release"):
        published(other.address, overwrite=True)
    with pytest.raises(InputError, match="not a folder"):
        published(f"{other.address}/notes.txt")
    assert other.objects() == {"notes.txt": f"{other.path}/notes.txt"}


@pytest.mark.parametrize("reached", [0, 1, 2])
def test_a_write_that_is_cut_off_leaves_no_release_and_can_be_done_again(bucket: str, reached: int) -> None:
    put, done = Store.put, []

    def killed(self: Store, file: Path, path: str) -> None:
        if len(done) == reached:
            raise KeyboardInterrupt
        done.append(path)
        put(self, file, path)

    with patch.object(Store, "put", killed), pytest.raises(KeyboardInterrupt):
        published(f"{bucket}/release")
    with pytest.raises(InputError, match=r"manifest\.json|does not exist"):
        verify(f"{bucket}/release")
    if reached < 2:  # the mark of an unfinished release stands
        with pytest.raises(InputError, match="just being written"):
            published(f"{bucket}/release")
        assert verify(published(f"{bucket}/release", overwrite=True)).holds


def test_of_two_who_write_at_once_one_is_published_and_the_other_is_told(bucket: str) -> None:
    out, put, others = f"{bucket}/release", Store.put, []

    def overtaken(self: Store, file: Path, path: str) -> None:
        put(self, file, path)
        if file.name == "manifest.json" and not others:
            others.append(True)
            published(out, overwrite=True)

    with patch.object(Store, "put", overtaken), pytest.raises(InputError, match="changed by somebody else"):
        published(out)
    assert verify(out).holds


def test_two_who_spoil_each_other_leave_no_release(bucket: str) -> None:
    out, put = f"{bucket}/release", Store.put

    def spoiled(self: Store, file: Path, path: str) -> None:
        put(self, file, path)
        if file.name == "manifest.json":
            put(self, file, f"{self.path}/table.parquet")

    with patch.object(Store, "put", spoiled), pytest.raises(InputError, match="changed by somebody else"):
        published(out)
    with pytest.raises(InputError, match=r"manifest\.json"):
        verify(out)


def test_a_release_that_changes_while_it_is_read_is_read_again(bucket: str) -> None:
    out, fetch, again = published(f"{bucket}/release"), Store.fetch, []

    def disturbed(self: Store, path: str, file: Path) -> None:
        fetch(self, path, file)
        if not again:
            again.append(True)
            published(out, overwrite=True)

    with patch.object(Store, "fetch", disturbed), pytest.raises(InputError, match="changed while it was read"):
        verify(out)
    assert verify(out).holds


def test_a_release_that_its_verifier_refuses_never_reaches_the_store(bucket: str) -> None:
    refusal = VerificationFailed("it does not hold")
    with patch.object(pipeline, "refuse_unless", side_effect=refusal), pytest.raises(VerificationFailed):
        published(f"{bucket}/release")
    assert not open_store(f"{bucket}/release").objects()


def test_deleted_people_do_not_come_back_from_a_delta_table(bucket: str, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed (pip install 'polyveil[lakes]')")
    deltalake.write_deltalake(str(tmp_path / "lake"), people().to_arrow())
    deltalake.DeltaTable(str(tmp_path / "lake")).delete("age < 40")
    lake = upload(tmp_path / "lake", f"{bucket}/lake")
    assert polyveil.read(lake).frame["age"].min() == 40
    part = next(name for name in open_store(lake).objects() if name.endswith(".parquet"))
    with pytest.raises(InputError, match="part of the table"):
        polyveil.read(f"{lake}/{part}")


def test_a_folder_of_parquet_files_is_one_table(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for number, part in enumerate((people()[:100], people()[100:])):
        part.write_parquet(tmp_path / "parts" / f"{number}.parquet")
    found = polyveil.read(upload(tmp_path / "parts", f"{bucket}/parts")).frame
    assert found.sort(pl.all()).equals(people().sort(pl.all()))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://nobodys-bucket/people.csv", "no bucket|does not exist"),
        (f"s3://{BUCKET}/nothing.csv", "does not exist"),
        (f"s3://{BUCKET}", "form s3://bucket"),
        (f"s3://{BUCKET}/../x.csv", "form s3://bucket"),
        (f"s3://steward:quiet-word@{BUCKET}/people.csv", "AWS_ACCESS_KEY_ID"),
        (f"s3://{BUCKET}/people.csv?endpoint_override=quiet-word", "AWS_ENDPOINT_URL"),
    ],
)
def test_what_cannot_be_read_is_said_and_no_key_is_shown(address: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        polyveil.read(address)
    assert "quiet-word" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("AWS Error ACCESS_DENIED during PutObject operation: quiet-word", "Grant"),
        ("AWS Error NO_SUCH_BUCKET during CreateMultipartUpload operation: quiet-word", "no bucket"),
        ("AWS Error NETWORK_CONNECTION during HeadObject operation: quiet-word", "cannot be reached"),
        ("AWS Error SLOW_DOWN during PutObject operation: quiet-word", r"refuses it \(SLOW_DOWN\)"),
    ],
)
def test_what_a_store_refuses_is_said_with_what_to_grant(bucket: str, said: str, words: str) -> None:
    with patch.object(Store, "put", side_effect=OSError(said)), pytest.raises(InputError, match=words) as refused:
        published(f"{bucket}/release")
    assert "quiet-word" not in str(refused.value)
    assert "Nothing was published" in str(refused.value)


@pytest.fixture
def reader(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys that may list and read and nothing else, on a server that checks keys as long as this lasts."""
    import boto3

    def check_keys(after: str) -> None:
        plain = {"Content-Type": "text/plain"}
        asked = urllib.request.Request(f"{server}/moto-api/reset-auth", after.encode(), plain, method="POST")
        urllib.request.urlopen(asked, timeout=20).close()

    iam = boto3.client("iam", region_name="us-east-1")
    iam.create_user(UserName="reader")
    allowed = {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetObject"], "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_user_policy(UserName="reader", PolicyName="read", PolicyDocument=document)
    keys = iam.create_access_key(UserName="reader")["AccessKey"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])
    check_keys("0")
    yield
    check_keys("inf")


@pytest.mark.usefixtures("reader")
def test_who_may_only_read_is_told_at_once_what_to_grant(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused by the server itself, before anything is anonymized."""
    with pytest.raises(InputError, match=r"it is not allowed there\. Grant these keys reading, writing") as refused:
        published(f"{bucket}/release")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    with pytest.raises(InputError, match=r"it is not allowed there\. Grant these keys") as unknown:
        polyveil.read(f"{bucket}/people.csv")
    assert not any("\n" in str(each.value) for each in (refused, unknown))


def test_a_release_in_a_bucket_that_is_not_there_is_refused_at_once(bucket: str) -> None:
    with pytest.raises(InputError, match=r"there is no bucket nobodys-bucket\. Check the address"):
        published("s3://nobodys-bucket/release")


def test_a_store_that_is_not_there_is_said_at_once(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="cannot be reached"):
        polyveil.read(f"{bucket}/people.csv")


def test_a_path_made_from_an_address_is_refused() -> None:
    with pytest.raises(InputError, match="must be a string"):
        polyveil.read(Path("s3://bucket/people.csv"))
