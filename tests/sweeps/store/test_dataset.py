"""A store as a dataset, against the one that xarray and Zarr make of the same files."""

import pickle
import shutil

import numpy as np
import pytest
import xarray as xr

from basepar_core.errors import StoreError
from sweeps.store import dataset, store
from sweeps.store.opened import Store
from sweeps.store.outputs import Output
from sweeps.store.store import Layout, Part

COUNT, CHUNK = 260, 64


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Columns of all kinds, labels and units; the third of five chunks is pending."""
    path = tmp_path_factory.mktemp("dataset") / "x.zarr"
    outputs = (
        Output("x", unit="m"),
        Output("beta", ("variant", "base"), "float32", units=("kg", "kg m²")),
        Output("wave", ("variant", "sample", "base"), "int64"),
        Output("ok", dtype="bool"),
    )
    coords = {"base": ["β_1", "β_2"], "sample": [3, 4, 5]}
    layout = Layout(COUNT, (Part(outputs, CHUNK),), coords, {"spec_hash": "x", "title": "t"})
    store.create(path, layout)
    held, rng = Store.open(path, "r+"), np.random.default_rng(1)
    for first in range(0, COUNT, CHUNK):
        if first // CHUNK == 2:
            continue
        stop = min(first + CHUNK, COUNT)
        arrays = {
            one.name: (100 * rng.random((stop - first, *rest))).astype(one.dtype)
            for one, rest in zip(outputs, ((), (2,), (3, 2), ()), strict=True)
        }
        plain = {"reason": np.int16, "reason_value": float, "status": np.int8}
        arrays |= {name: np.ones(stop - first, kind) for name, kind in plain.items()}
        store.write(held, layout.parts[0], first, stop, arrays)
    return path


@pytest.fixture(scope="module")
def theirs(path):
    return xr.open_zarr(path, chunks=None).load()


def test_a_small_one_is_lazy_without_dask(path, theirs):
    ours = store.read(path)
    assert ours.chunks == {}
    assert "[260 values with" in repr(ours.x)
    xr.testing.assert_identical(pickle.loads(pickle.dumps(ours)), theirs)
    assert "[260 values with" in repr(ours.x)  # nor is it remembered: a sweep may be at work
    xr.testing.assert_identical(
        (2 * ours.x + ours.beta.sum("base")), 2 * theirs.x + theirs.beta.sum("base")
    )


def test_identical_and_lazy(path, theirs, monkeypatch):
    monkeypatch.setattr(dataset, "ROWS", 2 * CHUNK + 1)
    monkeypatch.setattr(dataset, "LARGE", COUNT * 6 * 8)  # bytes of `wave`
    ours = store.read(path)
    xr.testing.assert_identical(ours, theirs)
    assert {n: one.dtype for n, one in ours.variables.items()} == {
        n: one.dtype for n, one in theirs.variables.items()
    }
    assert set(ours.coords) == set(theirs.coords)
    assert ours.chunks["variant"] == (128, 128, 4)  # whole chunks, several together
    again = pickle.loads(pickle.dumps(ours))  # as a client of Dask sends it
    xr.testing.assert_identical(again, theirs)


@pytest.mark.parametrize(
    "rows",
    [0, -1, slice(60, 70), slice(None, None, -7), slice(130, 250, 3), [259, 3, 64], slice(5, 5)],
    ids=str,
)
def test_rows_by_index(path, theirs, rows):
    ours = store.read(path)
    xr.testing.assert_identical(ours.isel(variant=rows), theirs.isel(variant=rows))
    two = {"variant": rows, "base": 1, "sample": slice(None, None, 2)}
    xr.testing.assert_identical(ours.isel(two), theirs.isel(two))


def test_written_elsewhere_it_is_the_same(path, theirs, tmp_path):
    found = store.read(path)
    found.to_zarr(tmp_path / "copy.zarr", consolidated=False)
    copy = xr.open_zarr(tmp_path / "copy.zarr", chunks=None, consolidated=False)
    xr.testing.assert_identical(copy, theirs)


def test_a_changed_chunk_is_named(path, tmp_path):
    changed = shutil.copytree(path, tmp_path / "changed.zarr")
    file = changed / "x/c/1"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)
    found = store.read(changed)
    assert found.x[:CHUNK].values.size == CHUNK  # what lies elsewhere is read
    with pytest.raises(StoreError, match=r"array 'x' cannot be read.*checksum"):
        found.x.load()


def test_many_chunks_are_few_tasks(tmp_path):
    """10⁸ variants in 10⁶ chunks: a task for each would be gigabytes."""
    count, chunk = 100_000_000, 100
    part = Part((Output("x"),), chunk)
    store.create(tmp_path / "x.zarr", Layout(count, (part,), attrs={"spec_hash": "x"}))
    found = store.read(tmp_path / "x.zarr")
    assert found.x.data.npartitions == -(-count // 65_500)
    assert np.isnan(found.x[-3:].values).all()


def test_a_relative_path_is_of_the_folder_where_it_was_opened(path, theirs, monkeypatch, tmp_path):
    """Dask's workers may have been started elsewhere, where a store of that name may lie too."""
    monkeypatch.chdir(path.parent)
    found = store.read(path.name)
    monkeypatch.chdir(tmp_path)
    xr.testing.assert_identical(pickle.loads(pickle.dumps(found)).load(), theirs)
