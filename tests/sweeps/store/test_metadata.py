"""Metadata and labels written without Zarr, against those that Zarr itself writes."""

import json

import numpy as np
import pytest
import zarr

from sweeps.store import metadata, objects
from tests.sweeps.store.test_chunk_files import KINDS, compressors, files

UNITS = {"long_name": "x", "units": "m"}


def document(folder):
    return json.loads((folder / "zarr.json").read_text())


@pytest.mark.parametrize(("dtype", "rest", "fill"), [*KINDS, ("float32", (0,), np.inf)])
def test_columns_are_what_zarr_writes(tmp_path, dtype, rest, fill):
    dims = ["variant", *("k" * bool(rest))]
    zarr.create_array(
        tmp_path / "x",
        shape=(40, *rest),
        chunks=(16, *(max(1, length) for length in rest)),
        dtype=dtype,
        fill_value=fill,
        compressors=compressors(dtype),
        dimension_names=dims,
        attributes=UNITS,
    )
    ours = metadata.columns((40, *rest), 16, dtype, fill, dims, UNITS)
    assert ours == document(tmp_path / "x")
    assert list(ours) == list(document(tmp_path / "x"))  # so that bytes are equal as well


@pytest.mark.parametrize(
    "names", [["a", "β_1", "", "kg m²"], [""], [0], list(range(-3, 500)), [0, 0], []]
)
def test_labels_are_what_zarr_writes(tmp_path, names):
    text = any(isinstance(name, str) for name in names)
    theirs = zarr.create_array(
        tmp_path / "theirs",
        shape=(len(names),),
        chunks=(max(1, len(names)),),
        dtype=str if text else "int64",
        dimension_names=["k"],
        attributes=UNITS,
    )
    if names:
        theirs[:] = np.array(names, object if text else np.int64)
    ours, chunk = metadata.labels(names, "k", UNITS)
    there = objects.of(tmp_path)
    there.put("ours/zarr.json", json.dumps(ours, indent=2).encode())
    if chunk is not None:
        there.put("ours/c/0", chunk)
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")
    assert list(zarr.open_array(tmp_path / "ours")[:]) == names


def test_a_group_is_what_zarr_writes(tmp_path):
    zarr.create_group(tmp_path / "g", zarr_format=3, attributes=UNITS)
    theirs = document(tmp_path / "g")
    theirs.pop("consolidated_metadata", None)
    assert metadata.group(UNITS) == theirs
