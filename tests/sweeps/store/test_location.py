"""A store is a folder or a prefix of a bucket: other addresses are refused, and make nothing."""

from pathlib import Path

import pytest

from basepar_core.errors import FileError, StoreError, UsageError
from sweeps.run.standing import complete
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store, lock, make_root, store
from sweeps.store.bucket import Bucket
from sweeps.store.bucket_requests import in_words
from sweeps.store.location import beside, folder, locate, untaken
from tests.sweeps.fourbar import spec
from workflows.cli.main import main
from workflows.studies.reader import parse_study

#: Of kinds that are not supported; and of those that are, none that a store can have.
ADDRESSES = [
    "http://host/x",
    "memory://x",
    "abfss://container@account/x",
    "simplecache::s3://bucket/x",
    Path("http://host/x.zarr"),  # which `pathlib` has made http:/host/x.zarr of
    "file://elsewhere/x.zarr",
    "file:///tmp/x.zarr?mode=w",
    "s3://bucket",
    "s3://bucket/",
    "s3://bucket/a/../x.zarr",
    "s3://bucket/a//x.zarr",
    "s3://bucket/x y",
    "s3://buc ket/x",
]
SWEEP = "mechanism: four-bar\nspace: {plan: sobol, variables: {lx1: [0.2, 0.3]}, candidates: 4}\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_door_refuses_an_address(address, tmp_path):
    doors = [
        lambda: complete(spec(address)),
        lambda: spec().at(str(address)),
        lambda: store.create(address, None),
        lambda: Store.open(address),
        lambda: make_root(address, ["a"]),
    ]
    for door in doors:
        with pytest.raises(UsageError, match=r"address of a kind|names no|has characters"):
            door()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("s3://bucket/x.zarr", "s3://bucket/x.zarr"),
        ("s3://bucket/a/b/x.zarr/", "s3://bucket/a/b/x.zarr"),
        (Path("s3://bucket/x.zarr"), "s3://bucket/x.zarr"),
        ("gs://bucket/x.zarr", "gs://bucket/x.zarr"),
        ("az://container/x.zarr", "az://container/x.zarr"),
    ],
)
def test_prefixes_of_buckets_are_named_as_paths_are(given, url):
    found, path = locate(given), Path(url.removeprefix("s3://"))
    assert found == Bucket(url)
    assert (found.name, found.stem, str(found.parent / "y")) == (
        path.name,
        path.stem,
        f"{url.rpartition('/')[0]}/y",
    )
    assert found.absolute() == locate(str(found)) == found
    assert beside(found, ".html") == Path("x.html")


def test_a_password_in_an_address_is_not_repeated():
    with pytest.raises(UsageError, match="credentials are taken from the environment") as found:
        locate("s3://AKIA123:secret@bucket/x.zarr")
    assert "secret" not in f"{found.value}{found.value.where}"


@pytest.mark.parametrize("address", ["S3://AKIA1:secret@b/x", "https://u:secret@h/x"])
def test_nor_in_an_address_of_another_kind(address):
    for door in (locate, folder):
        with pytest.raises(UsageError, match="is an address") as found:
            door(address)
        assert "secret" not in f"{found.value}{found.value.where}"


def test_nor_is_an_endpoint_s():
    error = OSError("Error performing GET http://user:secret@127.0.0.1:9/b/x in 1 s")
    said = in_words("s3://b/x", "zarr.json", error)
    assert "127.0.0.1" in str(said)
    assert "secret" not in str(said)


def test_addresses_of_files_are_paths():
    assert locate("file:///tmp/a%20b.zarr") == Path("/tmp/a b.zarr")
    assert locate("file://localhost/tmp/x.zarr") == Path("/tmp/x.zarr")


@pytest.mark.parametrize("address", ["s3://bucket/x.zarr", "file:///x", Bucket("s3://b/x")])
def test_locks_are_files_of_folders(address):
    doors = [lambda: folder(address), lambda: lock.lock_file(address)]
    for door in doors:
        with pytest.raises(UsageError, match=r"is an address.*Name a folder"):
            door()


@pytest.mark.parametrize(
    "name", ["x.zarr", "a:b", "c:/x.zarr", "/tmp/s3:x", "runs/2026-11-22T10:00"]
)
def test_a_folder_may_have_a_colon(name):
    assert folder(name) == locate(name) == Path(name)


@pytest.mark.parametrize(
    "command",
    [
        ["sweep", "four-bar", "--store"],
        ["sweep", "--store", "y.zarr", "--from"],
        ["study", "four-bar", "--store"],
        *(["sweep", "four-bar", *part, "--store"] for part in (["--prepare"], ["--part", "1/2"])),
        ["status"],
        ["report"],
        ["explore"],
        ["explore", "--serve"],
        ["polish"],
        ["pictures"],
        ["around", "-o", "x.yaml"],
        ["tolerances", "--tolerance", "lx1=1mm"],
    ],
)
def test_every_command_refuses_an_address(command, tmp_path, capsys):
    assert main([*command, "memory://bucket/x.zarr"]) == 2
    assert "is an address" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_job_script_refuses_an_address(tmp_path, capsys):
    (profile := tmp_path / "hpc.yaml").write_text("kind: slurm\nworkers: 2\n")
    words = ["cluster", str(profile), "--script", "four-bar", "--store", "memory://x.zarr/x"]
    assert main(words) == 2
    assert "is an address" in " ".join(capsys.readouterr().err.split())


def test_files_that_name_an_address_say_where():
    with pytest.raises(FileError, match=r"store\.path.*is an address"):
        parse_sweep(f"{SWEEP}store: {{path: 'memory://bucket/x'}}")
    with pytest.raises(FileError, match=r"store\.path.*is an address"):
        parse_study("mechanism: four-bar\nstore: {path: 'memory://bucket/x'}\n")


def test_a_store_error_is_still_said_of_folders():
    with pytest.raises(StoreError, match="no store at"):
        Store.open("x.zarr")


def test_a_store_to_take_instead():
    """The next number of which neither a store nor a journal is there."""
    Path("one.zarr").mkdir()
    assert untaken("one.zarr") == untaken("one") == "one-2.zarr"
    Path("one-2.zarr").mkdir()
    Path("one-3.journal").touch()
    assert untaken("one.zarr") == untaken("one-2.zarr") == "one-4.zarr"
    assert untaken("s3://bucket/one.zarr/") == "s3://bucket/one-2.zarr"
    assert untaken("run-2026-11-27.zarr") == "run-2026-11-27-2.zarr"
    assert untaken("run-2026.zarr") == "run-2026-2.zarr"
