"""Stores of very many chunks are looked at by chosen ones, file by file; what is lost there."""

import pytest

from basepar_core.errors import StoreError
from sweeps.run.standing import layout_of
from sweeps.store import check_and_repair, objects, presence, records, store
from sweeps.store import status as survey
from sweeps.store.opened import Store
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.store.test_store import results

COUNT, CHUNK = 64 * 4, 4


@pytest.fixture
def path(tmp_path, monkeypatch):
    """64 chunks, of which 3 of every 16 are looked at."""
    for name, value in (("ALL", 32), ("CHOSEN", 12), ("CHOSEN_THERE", 4), ("RANGES", 4)):
        monkeypatch.setattr(presence, name, value)
    monkeypatch.setattr(objects.Folder, "chunks", None)  # which would list all that there are
    path = tmp_path / "x.zarr"
    layout = layout_of(spec(path, COUNT, chunk=CHUNK), FourBar())
    store.create(path, layout)
    for first in (0, 16 * CHUNK, 32 * CHUNK, 35 * CHUNK, COUNT - CHUNK):
        arrays = results(first, first + CHUNK)
        store.write(Store.open(path, "r+"), layout.parts[0], first, first + CHUNK, arrays)
    return path


def test_whole(path):
    check_and_repair.check(path)


@pytest.mark.parametrize("chunk", [0, 16, 32])
def test_a_chunk_is_missing(path, chunk):
    (path / f"stroke/c/{chunk}").unlink()
    with pytest.raises(StoreError, match=rf"stroke.*{chunk * CHUNK}.*its chunk is missing"):
        check_and_repair.check(path)


def test_a_chunk_that_was_never_written(path):
    (path / "retries/c").mkdir()
    (path / "retries/c/16").write_bytes(b"x")
    with pytest.raises(StoreError, match="has a chunk where none was written"):
        check_and_repair.check(path)


def test_a_link_is_no_chunk(path):
    (path / "stroke/c").rename(path / "elsewhere")
    (path / "stroke/c").symlink_to(path / "elsewhere")
    with pytest.raises(StoreError, match="its chunk is missing"):
        check_and_repair.check(path)


def test_records_of_many_folders(path, monkeypatch):
    """Folders that are there are looked up first where there may be many."""
    monkeypatch.setattr(records, "GROUP", 4)
    known = Store.open(path, "r+").records()
    for number in known.objects.names(f"{known.folder}/0"):
        content = known.objects.get(f"{known.folder}/0/{number}")
        known.objects.put(known.name(int(number)), content)
    assert known.numbers(0, 64) == [0, 16, 32, 35, 63]
    assert known.numbers_of([(1, 17), (17, 18), (30, 64)]) == [[16], [], [32, 35, 63]]
    pending = survey.take(Store.open(path)).pending
    assert pending == [(4, 64), (68, 128), (132, 140), (144, 252)]
