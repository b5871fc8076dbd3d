"""Atlases: paths nearest in shape against circles that meet, and studies that begin with them."""

import numpy as np
import pytest
import yaml

import basepar
from basepar_core.errors import FileError, UsageError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store
from tests.core.dynamics.test_points import four_bar, pins
from tests.core.metrics.test_curve_shapes import aligned, moved
from workflows.studies.feasibility import judge
from workflows.studies.reader import parse_study
from workflows.studies.study import study

pytestmark = pytest.mark.slow

RANGES = {"lx1": [0.25, 0.6], "lx2": [0.5, 0.9], "lx3": [1.0, 1.6], "Dx": [0.8, 1.4]}
HIDDEN = {"lx1": 0.41, "lx2": 0.63, "lx3": 1.17, "Dx": 1.05}


def path(values, crank):
    B, _, coupler, _ = pins(values, crank, 1)
    return B + coupler * (values["lx2"] / 2 + 1j * values["ly2"] / 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An atlas of 512 four-bars, its mechanism and a moved copy of a path that is not in it."""
    found = tmp_path_factory.mktemp("atlas")
    (found / "bars.yaml").write_text(four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}").source)
    space = {"plan": "sobol", "candidates": 512, "variables": RANGES}
    asked = {"rank": "none", "metrics": ["fourier_descriptors(P)"]}
    sweep = {"mechanism": str(found / "bars.yaml"), "space": space, "evaluate": asked}
    basepar.sweep(sweep, str(found / "atlas.zarr"), workers=1)
    crank = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    nominal = four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}").nominal
    z = moved(path(nominal | HIDDEN, crank), np.random.default_rng(4))
    points = np.stack([z.real, z.imag], axis=1)
    np.savetxt(found / "curve.csv", points, delimiter=",", header="x,y", comments="")
    return found


def even(values):
    """A path at even lengths, 128 points; None where it is not closed."""
    z = path(values, np.linspace(0, 2 * np.pi, 2001))
    at = np.concatenate([[0], np.cumsum(np.abs(np.diff(z)))])
    place = np.linspace(0, at[-1], 128, endpoint=False)
    return np.interp(place, at, z.real) + 1j * np.interp(place, at, z.imag)


def test_the_nearest_shape_is_that_of_a_search(folder):
    store = Store.open(folder / "atlas.zarr")
    points = np.loadtxt(folder / "curve.csv", delimiter=",", skiprows=1)
    found, far = basepar.nearest_curves(folder / "atlas.zarr", "P", points, 512)
    nominal = four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}").nominal
    wanted = even(nominal | HIDDEN)
    columns = {name: np.asarray(store[name][:]) for name in RANGES}
    with np.errstate(invalid="ignore"):
        variants = [{n: c[k] for n, c in columns.items()} for k in found[::6]]
        expected = np.array([aligned(even(nominal | one), wanted) for one in variants])
    assert np.isfinite(expected).all()
    assert sorted(found) == list(range(512))
    # Ten harmonics leave up to 1.3 % out, and a spline through 30 points a part of a percent.
    np.testing.assert_allclose(far[::6], expected, atol=0.015)
    assert np.argmin(expected) == 0
    assert (np.diff(far) >= 0).all()


def asked(folder, name, **others):
    text = {
        "mechanism": str(folder / "bars.yaml"),
        "variables": RANGES,
        "targets": {
            "wanted": {
                "points": np.loadtxt(folder / "curve.csv", delimiter=",", skiprows=1).tolist(),
                "fit": ["timing", "position", "rotation", "scale"],
            }
        },
        "objectives": {"path_error(P, wanted)": "minimize"},
        "sampler": {"kind": "screen"},
        "trials": 128,
        "warm_start": str(folder / "atlas.zarr"),
    }
    return parse_study(yaml.safe_dump(text | others)).at(f"{folder}/{name}.zarr")


def test_a_study_begins_with_the_nearest(folder):
    """Its first round are these, in their order; its second descends from them to the path."""
    spec = asked(folder, "begun")
    with connect(Laptop(workers=1)) as client:
        result = study(spec, client)
    assert result.beginning.proposed == 64
    found = judge(spec, Store.open(spec.path), 0, 128)
    points = np.loadtxt(folder / "curve.csv", delimiter=",", skiprows=1)
    near, _ = basepar.nearest_curves(folder / "atlas.zarr", "P", points, 64)
    atlas = Store.open(folder / "atlas.zarr")
    expected = np.stack([np.asarray(atlas[name][:])[near] for name in spec.names], axis=1)
    np.testing.assert_array_equal(found.parameters[:64], expected)
    size = np.abs(points - points.mean(axis=0)).max()
    # A path that meets its target to the cubics' own error with 24 samples.
    begun, descended = np.nanmin(found.values[:64]), np.nanmin(found.values[64:])
    assert descended < 1e-3 * size
    assert descended < begun / 4


def test_a_target_that_is_open_is_rejected(folder):
    along = {"wanted": {"points": [[0, 0], [1, 0], [2, 0.1], [3, 0], [4, 1]]}}
    spec = asked(folder, "open", targets=along)
    with (
        connect(Laptop(workers=1)) as client,
        pytest.raises(UsageError, match="target wanted is not"),
    ):
        study(spec, client)


def test_shapes_are_no_quantity(folder):
    with pytest.raises(FileError, match="fourier_descriptors"):
        asked(folder, "none", objectives={"fourier_descriptors(P)": "minimize"})


def test_a_point_without_shapes_is_named(folder):
    with pytest.raises(UsageError, match=r"sweep the metric fourier_descriptors\(Q\)"):
        basepar.nearest_curves(folder / "atlas.zarr", "Q", np.zeros((9, 2)))


@pytest.mark.parametrize(
    ("points", "count", "said"),
    [
        (np.ones((9, 2)), 1, "5 different points"),
        ([[0, 0], [1, 0]] * 4, 1, "5 different points"),
        (np.full((9, 2), np.nan), 1, "5 different points"),
        (np.zeros((9, 2)), 0, "count=0: at least 1"),
    ],
)
def test_curves_that_are_none(folder, points, count, said):
    with pytest.raises(UsageError, match=said):
        basepar.nearest_curves(folder / "atlas.zarr", "P", points, count)
