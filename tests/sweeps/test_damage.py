"""Damage is found and named; mended, a sweep is what it was."""

import shutil

import pytest

from basepar_core.errors import StoreError
from sweeps import damage, store
from sweeps.sweep import complete, layout_of, sweep

from .fourbar import Digits, FourBar, spec
from .test_sweep import assert_equal_arrays, by_hand


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


BREAKAGES = {
    "stroke, variants 16 to 32": lambda path: torn(path, "stroke", "c/1"),
    "rocker, variants 32 to 40": lambda path: torn(path, "rocker", "c/2/0"),
    "status, variants 0 to 16": lambda path: torn(path, "status", "c/0"),
    "lx3, variants 16 to 32: its chunk is missing": lambda path: (path / "lx3/c/1").unlink(),
    "reason: its metadata (zarr.json) are missing": lambda path: (
        path / "reason/zarr.json"
    ).unlink(),
    "removed: its metadata (zarr.json) are missing": lambda path: shutil.rmtree(path / "removed"),
    "stroke: its metadata (zarr.json) are unreadable": lambda path: (
        path / "stroke/zarr.json"
    ).write_text("{"),
    "Dx: its shape is [41], not [40]": lambda path: (path / "Dx/zarr.json").write_text(
        (path / "Dx/zarr.json").read_text().replace("40", "41")
    ),
}


def test_a_whole_store_has_none(path):
    assert damage.find(path) == []
    damage.check_metadata(path)


@pytest.mark.parametrize("named", BREAKAGES)
@pytest.mark.slow
def test_damage_is_named_and_mended(path, whole, client, named):
    BREAKAGES[named](path)
    found = damage.find(path)
    assert len(found) == 1
    assert str(found[0]).startswith(named)
    damage.repair(path, found)
    if not named.startswith("removed"):  # its chunks went too, which nothing tells from empty
        sweep(spec(path, 40), client, evaluator=FourBar())
        assert_equal_arrays(path, whole)
    assert damage.find(path) == []


@pytest.mark.parametrize("named", [name for name in BREAKAGES if "zarr.json" in name])
def test_damaged_metadata_are_refused_before_anything_starts(path, named):
    BREAKAGES[named](path)
    with pytest.raises(StoreError, match=r"is damaged:\n.*zarr\.json"):
        complete(spec(path, 40))


@pytest.mark.slow
def test_precise_chunks_are_made_again(tmp_path, client):
    path, evaluator = tmp_path / "sweep.zarr", FourBar(doubtful=0.9)
    sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    before = store.read(path).load()
    chunk = sorted((path / "precise_rank" / "c").iterdir())[0]
    chunk.write_bytes(b"torn")
    (found,) = damage.find(path)
    assert found.array == "precise_rank"
    assert found.stop - found.start == 8
    damage.repair(path, [found])
    assert sweep(spec(path), client, evaluator=evaluator, precise=Digits()).unsettled == 0
    assert store.read(path).load().equals(before)


def test_no_store(tmp_path):
    with pytest.raises(StoreError, match="is not the store of a sweep"):
        damage.find(tmp_path)


def test_the_first_file_of_a_store_is_gone(path):
    (path / "zarr.json").unlink()
    with pytest.raises(StoreError, match=r"damaged: its zarr\.json is missing"):
        damage.find(path)


def test_the_first_file_of_a_store_is_torn(path):
    (path / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match=r"its zarr\.json cannot be read"):
        damage.check_metadata(path)


def test_a_layout_of_another_program_is_no_damage(path):
    """What the store was made with is there; what is asked of it now is not."""
    layout = layout_of(spec(path, 40), FourBar(), Digits())
    damage.check_metadata(path)
    with pytest.raises(StoreError, match="'precise_rank' is missing"):
        store.check(path, layout)
