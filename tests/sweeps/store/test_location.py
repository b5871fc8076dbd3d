"""A store is a folder: addresses are refused, and nothing is made of them."""

from pathlib import Path

import pytest

from basepar_core.errors import FileError, StoreError, UsageError
from sweeps.run.standing import complete
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store, lock, make_root, store
from sweeps.store.location import folder
from tests.sweeps.fourbar import spec
from workflows.cli.main import main
from workflows.studies.reader import parse_study

ADDRESSES = [
    "s3://bucket/x.zarr",
    "gs://bucket/x.zarr",
    "http://host/x",
    "memory://x",
    "file:///tmp/x",
    "simplecache::s3://bucket/x",
    Path("s3://bucket/x.zarr"),  # which `pathlib` has made s3:/bucket/x.zarr of
]
SWEEP = "mechanism: four-bar\nspace: {plan: sobol, variables: {lx1: [0.2, 0.3]}, candidates: 4}\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_door_refuses_an_address(address, tmp_path):
    doors = [
        lambda: folder(address),
        lambda: complete(spec(address)),
        lambda: spec().at(str(address)),
        lambda: store.create(address, None),
        lambda: Store.open(address),
        lambda: lock.lock_file(address),
        lambda: make_root(address, ["a"]),
    ]
    for door in doors:
        with pytest.raises(UsageError, match=r"is an address.*Name a folder"):
            door()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["x.zarr", "a:b", "c:/x.zarr", "/tmp/s3:x", "runs/2026-11-22T10:00"]
)
def test_a_folder_may_have_a_colon(name):
    assert folder(name) == Path(name)


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
    assert main([*command, "s3://bucket/x.zarr"]) == 2
    assert "is an address" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_job_script_refuses_an_address(tmp_path, capsys):
    (profile := tmp_path / "hpc.yaml").write_text("kind: slurm\nworkers: 2\n")
    words = ["cluster", str(profile), "--script", "four-bar", "--store", "s3://bucket/x.zarr"]
    assert main(words) == 2
    assert "is an address" in " ".join(capsys.readouterr().err.split())


def test_files_that_name_an_address_say_where():
    with pytest.raises(FileError, match=r"store\.path.*is an address"):
        parse_sweep(f"{SWEEP}store: {{path: 's3://bucket/x'}}")
    with pytest.raises(FileError, match=r"store\.path.*is an address"):
        parse_study("mechanism: four-bar\nstore: {path: 's3://bucket/x'}\n")


def test_a_store_error_is_still_said_of_folders():
    with pytest.raises(StoreError, match="no store at"):
        Store.open("x.zarr")
