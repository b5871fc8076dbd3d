"""Any function as a sweep: labelled, resumable, by parts, and what it dies of is found."""

import numpy as np
import pytest

import basepar
from sweeps.store import Status, check_and_repair

SPACE = {"plan": "sobol", "variables": {"b": [-3, 3], "c": [-1, 1]}, "candidates": 200, "seed": 7}


def root(b, c):
    inner = b**2 - 4 * c
    real = inner >= 0
    found = np.where(real, (np.sqrt(np.maximum(inner, 0)) - b) / 2, np.nan)
    return {"root": found, "both": np.stack([found, -b - found], axis=1), "reason": 1 - real}


def made(function=root, **more):
    outputs = {"root": "m", "both": {"unit": "m", "dims": {"which": ["larger", "smaller"]}}}
    given = {"units": {"b": "m", "c": "m^2"}, "reasons": ["complex roots"], "chunk": 16} | more
    return basepar.FunctionSweep(function, SPACE, outputs, **given)


def test_a_function_is_swept(tmp_path):
    data = made().run(tmp_path / "roots.zarr", workers=2, quiet=True)
    rows = zip(data.b.values, data.c.values, strict=True)
    roots = np.array([np.sort_complex(np.roots([1, b, c])) for b, c in rows])
    real = (roots.imag == 0).all(axis=1)
    assert 0 < real.sum() < 200
    np.testing.assert_array_equal(data.status, np.where(real, Status.SOLVED, Status.SPECIAL))
    # Eigenvalues of the companion matrix: rounding of numbers of size one, of its square root
    # where both roots are nearly the same.
    np.testing.assert_allclose(data.root[real], roots[real].real[:, 1], atol=1e-7)
    np.testing.assert_allclose(
        data.both.sel(which="smaller")[real], roots[real].real[:, 0], atol=1e-7
    )
    assert (data.b.attrs["units"], data.c.attrs["units"]) == ("m", "m^2")
    assert check_and_repair.find(tmp_path / "roots.zarr") == []
    with pytest.raises(basepar.StoreError, match=r"function: .*here.*there"):
        made(version="2").run(tmp_path / "roots.zarr", quiet=True)


def test_parts_and_going_on(tmp_path):
    def never(b, c):
        raise AssertionError("evaluated again")

    sweep = made(version="1")
    sweep.prepare(tmp_path / "roots.zarr")
    assert sweep.part(tmp_path / "roots.zarr", 2, 3) == 64
    assert sweep.part(tmp_path / "roots.zarr", 2, 3) == 0
    found = sweep.run(tmp_path / "roots.zarr", workers=1, quiet=True)
    assert (found.status.values > 0).all()
    again = made(never, name="root", version="1").run(tmp_path / "roots.zarr", quiet=True)
    np.testing.assert_array_equal(found.root, again.root)


def test_what_returns_something_else_crashes(tmp_path):
    sweep = basepar.FunctionSweep(
        lambda b, c: {"root": b[:-1]}, SPACE | {"candidates": 8}, {"root": "m"}, version="1"
    )
    data = sweep.run(tmp_path / "roots.zarr", workers=1, quiet=True)
    assert (data.status == Status.CRASHED).all()


@pytest.mark.parametrize(
    ("space", "outputs", "said"),
    [
        ({"plan": "spiral"}, {"r": "m"}, "`plan` is one of grid, zip, random, lhs, sobol"),
        ({"plan": "grid"}, {"r": "m"}, "`variables` has values by name"),
        (SPACE | {"candidates": "many"}, {"r": "m"}, r"\[least, greatest\]"),
        (SPACE | {"seeds": 1}, {"r": "m"}, "unknown seeds"),
        (SPACE, {}, "none are stated"),
        (SPACE, {"b": "m"}, "'b' is a variable too"),
        (SPACE, {"r": {"units": "m"}}, "'r' has no 'units'"),
    ],
)
def test_what_makes_no_sense(space, outputs, said):
    with pytest.raises(basepar.UsageError, match=said):
        basepar.FunctionSweep(root, space, outputs)
