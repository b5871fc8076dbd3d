"""Damage is found and named; mended, a sweep is what it was."""

import contextlib
import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from basepar_core.errors import StoreError
from sweeps.run.driver import sweep
from sweeps.run.standing import complete, layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.store import Store, check_and_repair, objects, safe_files, seal, status, store
from tests.sweeps.fourbar import Digits, FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return by_hand(spec(tmp_path_factory.mktemp("whole") / "sweep.zarr", 40), FourBar())


@pytest.fixture
def path(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "sweep.zarr")
    return tmp_path / "sweep.zarr"


def torn(path, array, chunk):
    file = path / array / chunk
    file.write_bytes(file.read_bytes()[:-5])


def edited(path, name, *keys, value="damaged"):
    """Change one entry of a JSON file; no value removes it."""
    file = path / name
    document = json.loads(file.read_text())
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    file.write_text(json.dumps(document))


def swapped(path, one, other):
    """Exchange two files below a store."""
    left, right = (path / name for name in (one, other))
    first, second = left.read_bytes(), right.read_bytes()
    left.write_bytes(second)
    right.write_bytes(first)


CHANGED = "its chunk is not what was written there"
#: What is done to a store, and the lines that are said of it.
BREAKAGES = {
    "torn": (lambda path: torn(path, "stroke", "c/1"), [f"stroke, variants 16 to 32: {CHANGED}"]),
    "torn, with a further axis": (
        lambda path: torn(path, "rocker", "c/2/0"),
        [f"rocker, variants 32 to 40: {CHANGED}"],
    ),
    "a torn status": (
        lambda path: torn(path, "status", "c/0"),
        [f"status, variants 0 to 16: {CHANGED}"],
    ),
    "a symbol gone": (
        lambda path: (path / "lx3/c/1").unlink(),
        ["lx3, variants 16 to 32: its chunk is missing"],
    ),
    "results gone": (
        lambda path: (path / "stroke/c/1").unlink(),
        ["stroke, variants 16 to 32: its chunk is missing"],
    ),
    "results gone, with a further axis": (
        lambda path: (path / "removed/c/0/0").unlink(),
        ["removed, variants 0 to 16: its chunk is missing"],
    ),
    "a status gone": (
        lambda path: (path / "status/c/1").unlink(),
        ["status, variants 16 to 32: its chunk is missing"],
    ),
    "chunks swapped within an array": (
        lambda path: swapped(path, "stroke/c/0", "stroke/c/1"),
        [f"stroke, variants 0 to 16: {CHANGED}", f"stroke, variants 16 to 32: {CHANGED}"],
    ),
    "chunks swapped between arrays": (
        lambda path: swapped(path, "lx1/c/1", "Dx/c/1"),
        [f"Dx, variants 16 to 32: {CHANGED}", f"lx1, variants 16 to 32: {CHANGED}"],
    ),
    "a chunk twice": (
        lambda path: shutil.copy(path / "stroke/c/0", path / "stroke/c/1"),
        [f"stroke, variants 16 to 32: {CHANGED}"],
    ),
    "a chunk where none was": (
        lambda path: (
            (path / "retries/c").mkdir(),
            shutil.copy(path / "reason/c/0", path / "retries/c/1"),
        ),
        ["retries, variants 16 to 32: has a chunk where none was written"],
    ),
    "a folder for a chunk": (
        lambda path: ((path / "stroke/c/1").unlink(), (path / "stroke/c/1").mkdir()),
        ["stroke, variants 16 to 32: its chunk is missing"],
    ),
    "a record gone": (
        lambda path: (path / "chunk-records/chunks/0/1").unlink(),
        [f"chunk-records/chunks, variants 16 to 32: {check_and_repair.UNFINISHED}"],
    ),
    "records swapped": (
        lambda path: swapped(path, "chunk-records/chunks/0/0", "chunk-records/chunks/0/1"),
        [
            "chunk-records/chunks, variants 0 to 16: the record of its chunk cannot be read (it "
            "is not the record of this chunk)",
            "chunk-records/chunks, variants 16 to 32: the record of its chunk cannot be read (it "
            "is not the record of this chunk)",
        ],
    ),
    "a folder for a record": (
        lambda path: (
            (path / "chunk-records/chunks/0/1").unlink(),
            (path / "chunk-records/chunks/0/1").mkdir(),
        ),
        ["chunk-records/chunks, variants 16 to 32: the record of its chunk cannot be read"],
    ),
    "metadata gone": (
        lambda path: (path / "reason/zarr.json").unlink(),
        ["reason: its metadata (zarr.json): is missing"],
    ),
    "metadata torn": (
        lambda path: (path / "stroke/zarr.json").write_text("{"),
        ["stroke: its metadata (zarr.json): cannot be read"],
    ),
    "another shape": (
        lambda path: edited(path, "Dx/zarr.json", "shape", value=[41]),
        ["Dx: its shape is [41], not [40]"],
    ),
    "another unit": (
        lambda path: edited(path, "stroke/zarr.json", "attributes", "units", value="m"),
        ["stroke: its attributes is"],
    ),
    "labels gone": (
        lambda path: (path / "parameter/c/0").unlink(),
        ["parameter: its labels are missing"],
    ),
    "labels of another axis": (
        lambda path: shutil.copy(path / "sample/c/0", path / "step/c/0"),
        ["step: its labels were changed"],
    ),
    "an attribute changed": (
        lambda path: edited(path, "zarr.json", "attributes", "spec"),
        ["zarr.json: does not match its digest"],
    ),
    "the first file gone": (lambda path: (path / "zarr.json").unlink(), ["zarr.json: is missing"]),
    "the first file torn": (
        lambda path: (path / "zarr.json").write_text("{"),
        ["zarr.json: cannot be read"],
    ),
    "the second copy changed": (
        lambda path: edited(path, "chunk-records/zarr.json", "attributes", "digest"),
        ["chunk-records/zarr.json: does not match its digest"],
    ),
}
#: What only the bytes of chunks tell; all else is known before a run, a report, a status.
ONLY_FOUND = (
    "torn",
    "torn, with a further axis",
    "a torn status",
    "chunks swapped within an array",
    "chunks swapped between arrays",
    "a chunk twice",
    "a record gone",
)


def test_a_whole_store_has_none(path):
    assert check_and_repair.find(path) == []
    check_and_repair.check(path)


@pytest.mark.parametrize("named", BREAKAGES)
def test_damage_is_named_and_mended(path, whole, named):
    spoil, lines = BREAKAGES[named]
    spoil(path)
    found = check_and_repair.find(path)
    assert len(found) == len(lines)
    assert all(str(one).startswith(line) for one, line in zip(found, lines, strict=True))
    check_and_repair.repair(path, found)
    assert check_and_repair.find(path) == []
    done_again(path)
    assert_equal_arrays(path, whole)
    assert check_and_repair.find(path) == []
    assert xr.open_zarr(path).attrs == xr.open_zarr(whole).attrs


def done_again(path):
    """Do what is pending, and nothing else."""
    job = spec(path, 40)
    layout = layout_of(job, FourBar())
    group = store.check(path, layout)
    work = Work(
        str(path),
        str(time.monotonic_ns()),
        job.plan,
        Filter.of(job.mechanism, job.where),
        (Stage(FourBar(), layout.parts[0]),),
    )
    for start, stop in status.take(group).pending:
        work(Task(0, start, stop))


@pytest.mark.parametrize("named", BREAKAGES)
def test_what_needs_no_contents_is_refused_before_anything_starts(path, named):
    BREAKAGES[named][0](path)
    if named in ONLY_FOUND:
        check_and_repair.check(path)
        return
    with pytest.raises(StoreError, match=r"(?s)is damaged.*`repair=`"):
        complete(spec(path, 40))


def test_only_damaged_chunks_are_made_pending(path):
    (path / "stroke/c/1").unlink()
    check_and_repair.repair(path, check_and_repair.find(path))
    assert status.take(Store.open(path)).pending == [(16, 32)]


def test_repair_follows_no_link(path, whole, tmp_path):
    """An array that is a link to somebody's folder: the link goes, the folder stays."""
    mine = tmp_path / "mine"
    shutil.copytree(path / "stroke", mine)
    shutil.rmtree(path / "stroke")
    (path / "stroke").symlink_to(mine)
    before = sorted(mine.rglob("*"))
    found = check_and_repair.find(path)
    assert str(found[0]).startswith("stroke: is a link")
    check_and_repair.repair(path, found)
    assert check_and_repair.find(path) == []
    done_again(path)
    assert_equal_arrays(path, whole)
    assert sorted(mine.rglob("*")) == before


@pytest.mark.parametrize("name", ["../outside", "/tmp/x", "a/b", "..", ".hidden", "lx1/../../x"])
def test_names_that_lead_elsewhere_are_refused(path, name):
    """Even in a copy whose digest is right."""
    sealed = seal.read_copy(objects.of(path))
    strange = replace(sealed, metadata={**sealed.metadata, name: sealed.metadata["lx1"]})
    (path / seal.COPY).write_text(json.dumps(strange.copy()))
    (path / seal.ROOT).write_text(json.dumps(strange.root({})))
    with pytest.raises(StoreError, match="names arrays that no store has"):
        check_and_repair.find(path)
    with pytest.raises(StoreError, match="names arrays that no store has"):
        check_and_repair.repair(path, [check_and_repair.Damage(name, "")])


def test_both_copies_damaged_are_not_mended(path):
    edited(path, "zarr.json", "attributes", "spec")
    edited(path, "chunk-records/zarr.json", "attributes", "digest")
    with pytest.raises(StoreError, match="remove it and run again"):
        check_and_repair.find(path)


def test_a_writer_that_was_killed_is_no_damage(path, whole):
    """Before the record: pending, and rejected nowhere."""
    (path / "chunk-records/chunks/0/1").unlink()
    assert complete(spec(path, 40)) is None
    done_again(path)
    assert check_and_repair.find(path) == []
    assert_equal_arrays(path, whole)


@pytest.mark.parametrize("files", range(13))
def test_a_chunk_written_anew_is_pending_until_it_is_whole(path, monkeypatch, files):
    """A retry that is killed after so many files: never a chunk of two writers with a record."""
    layout = layout_of(spec(path, 40), FourBar())
    arrays = store.check(path, layout)
    values = {name: np.asarray(array[:16]) for name, array in arrays.items()}
    values = {name: one for name, one in values.items() if len(one) == 16}
    values["stroke"] = values["stroke"] + 1
    values["retries"] = np.ones(16, np.int16)
    left = [files]

    def counted(keep):
        def until(self, *given):
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            keep(self, *given)

        return until

    with monkeypatch.context() as patch:
        for name in ("put", "remove"):
            patch.setattr(objects.Folder, name, counted(getattr(objects.Folder, name)))
        with contextlib.suppress(KeyboardInterrupt):
            store.write(arrays, layout.parts[0], 0, 16, values)
    check_and_repair.check(path)
    assert {one.what for one in check_and_repair.find(path)} <= {check_and_repair.UNFINISHED}
    pending = status.take(Store.open(path)).pending
    assert pending == ([] if files == 0 or left[0] else [(0, 16)])


def test_sums_are_those_of_their_records(path, monkeypatch):
    """A chunk that is replaced or forgotten is in no sum, and a wrong sum goes."""
    monkeypatch.setattr(status, "SOME", 3)  # fewer chunks than that have no sum
    known = Store.open(path).records()
    before = known.survey()
    known.add_up(0, 2, known.records(0, 2).facts)
    status.sum_up(Store.open(path))
    assert known.ranges() == [(0, 3)]
    assert check_and_repair.find(path) == []
    assert known.survey() == before
    known.forget(1)
    assert known.ranges() == []
    assert status.take(Store.open(path)).pending == [(16, 32)]
    done_again(path)
    known.add_up(0, 2, before.facts)
    (found,) = check_and_repair.find(path)
    assert str(found) == "chunk-records/sums/0-2: it is not the sum of its records"
    check_and_repair.repair(path, [found])
    assert known.survey() == before


@pytest.mark.parametrize("files", range(16))
def test_an_extension_that_was_killed_is_done_to_its_end(path, monkeypatch, files):
    """After any of its files: readable, not damaged, and as long as it was asked to be."""
    document = json.dumps(json.loads(Store.open(path).attrs["spec"]) | {"rows": 72})
    left = [files]

    def until(root, file, content, keep=safe_files.replace):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        keep(root, file, content)

    with monkeypatch.context() as patch:
        patch.setattr(safe_files, "replace", until)
        with contextlib.suppress(KeyboardInterrupt):
            store.extend(path, 72, document)
    check_and_repair.check(path)
    assert xr.open_zarr(path)["status"].sizes["variant"] == (72 if files > 12 else 40)  # 13 files
    store.settle(path)
    assert check_and_repair.find(path) == []
    if files:
        assert Store.open(path)["status"].shape == (72,)
        assert Store.open(path).records().count == 5


@pytest.mark.slow
def test_precise_chunks_are_made_again(tmp_path, client):
    path, evaluator = tmp_path / "sweep.zarr", FourBar(doubtful=0.9)
    sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    before = store.read(path).load()
    chunk = sorted((path / "precise_rank" / "c").iterdir())[0]
    chunk.write_bytes(b"torn")
    (found,) = check_and_repair.find(path)
    assert found.array == "precise_rank"
    assert found.stop - found.start == 16
    check_and_repair.repair(path, [found])
    assert sweep(spec(path), client, evaluator=evaluator, precise=Digits()).unsettled == 0
    assert store.read(path).load().equals(before)


def test_no_store(tmp_path):
    with pytest.raises(StoreError, match="is not the store of a sweep"):
        check_and_repair.find(tmp_path)


def test_a_layout_of_another_program_is_no_damage(path):
    """What the store was made with is there; what is asked of it now is not."""
    layout = layout_of(spec(path, 40), FourBar(), Digits())
    check_and_repair.check(path)
    with pytest.raises(StoreError, match="'precise_rank' is missing"):
        store.check(path, layout)
