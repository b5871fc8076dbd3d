"""Chunks written without Zarr, against the files that Zarr itself writes."""

import json
from pathlib import Path

import numpy as np
import pytest
import zarr

from sweeps.store import chunk_files, objects

RNG = np.random.default_rng(1)
#: Types, what follows the first axis, fill values: those that stores have.
KINDS = [
    ("float64", (), np.nan),
    ("float64", (12,), np.nan),
    ("int8", (), 0),
    ("int16", (3,), -1),
    ("int64", (), -1),
    ("bool", (), False),
    ("float64", (), 0.0),
]


def compressors(dtype):
    """As our arrays state them."""
    size = np.dtype(dtype).itemsize
    blosc = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size)
    return blosc, zarr.codecs.Crc32cCodec()


def array(folder, dtype, rest, fill, **others):
    options = {"compressors": compressors(dtype)} | others
    return zarr.create_array(
        folder,
        shape=(40, *rest),
        chunks=(16, *rest),
        dtype=dtype,
        fill_value=fill,
        **options,
    )


def of(made):
    """The chunks of an array as files, by its metadata."""
    root = Path(made.store_path.store.root)
    metadata = json.loads((root / "zarr.json").read_text())
    return chunk_files.of(objects.of(root.parent), root.name, metadata)


def files(folder):
    found = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


@pytest.mark.parametrize(("dtype", "rest", "fill"), KINDS)
def test_every_byte_is_what_zarr_writes(tmp_path, dtype, rest, fill):
    ours, theirs = (array(tmp_path / name, dtype, rest, fill) for name in ("ours", "theirs"))
    values = (RNG.random((40, *rest)) * 100).astype(dtype)
    values[:16][RNG.random((16, *rest)) < 0.5] = fill
    found = of(ours)
    for number, start in enumerate(range(0, 40, 16)):
        found.write(number, values[start : start + 16])
        theirs[start : min(start + 16, 40)] = values[start : start + 16]
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "ours")[:], values)


@pytest.mark.parametrize(("dtype", "rest", "fill"), KINDS)
def test_a_chunk_without_results_is_not_stored(tmp_path, dtype, rest, fill):
    made = array(tmp_path / "x", dtype, rest, fill)
    found = of(made)
    found.write(1, np.ones((16, *rest), dtype))
    assert objects.of(tmp_path).chunks("x", len(rest) + 1) == {1}
    found.write(1, np.full((16, *rest), fill, dtype))
    assert set(files(tmp_path / "x")) == {"zarr.json"}


@pytest.mark.parametrize(
    "others",
    [
        {"compressors": zarr.codecs.ZstdCodec()},  # as older stores are
        {"chunks": (16, 2)},
        {"chunk_key_encoding": {"name": "v2", "separator": "."}},
    ],
    ids=["codec", "chunks", "names"],
)
def test_whatever_is_less_simple_is_left_to_zarr(tmp_path, others):
    options = {"chunks": (16, 4), "compressors": compressors("float64")} | others
    made = zarr.create_array(tmp_path / "x", shape=(40, 4), dtype="float64", **options)
    assert of(made) is None


def test_stored_chunks_are_told(tmp_path):
    made = array(tmp_path / "x", "int8", (), 0)
    there = objects.of(tmp_path)
    assert there.chunks("x", 1) == set()
    for number in (2, 0):
        of(made).write(number, np.ones(8, np.int8))
    (tmp_path / "x/c/1.77-1.partial").touch()  # of a worker that was killed
    assert there.chunks("x", 1) == {0, 2}


@pytest.mark.parametrize(("dtype", "rest", "fill"), KINDS)
def test_chunks_are_those_that_zarr_reads(tmp_path, dtype, rest, fill):
    made = array(tmp_path / "x", dtype, rest, fill)
    values = (RNG.random((40, *rest)) * 100).astype(dtype)
    made[16:] = values[16:]  # the first chunk is not stored
    for number, rows in enumerate((slice(0, 16), slice(16, 32), slice(32, 40))):
        found = of(made).read(number)
        assert found.dtype == made.dtype
        np.testing.assert_array_equal(found[: rows.stop - rows.start], made[rows])


@pytest.mark.parametrize("spoil", [lambda data: data[:-9], lambda data: b"\0" + data[1:]])
def test_a_chunk_that_is_not_whole_is_not_read(tmp_path, spoil):
    made = array(tmp_path / "x", "float64", (), np.nan)
    made[:] = np.arange(40.0)
    file = tmp_path / "x/c/1"
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises((ValueError, RuntimeError)):
        of(made).read(1)
    np.testing.assert_array_equal(of(made).read(0), np.arange(16.0))
