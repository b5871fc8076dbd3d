"""Extremes in blocks equal those of whole columns."""

import numpy as np
import pytest

from sweeps.run.driver import layout_of
from sweeps.store import status, store
from sweeps.store.statuses import WITH_RESULTS, Status
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import by_hand
from workflows.jobs import spread as module
from workflows.jobs.spread import _ordered, _Spread, _unordered, extremes


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return by_hand(spec(tmp_path_factory.mktemp("extremes") / "sweep.zarr"), FourBar())


@pytest.mark.parametrize("rows", [16, 64, 1 << 20])
def test_equal_to_whole_columns(path, monkeypatch, rows):
    monkeypatch.setattr(status, "SURVEY_ROWS", rows)
    (found,) = extremes(path)
    data = store.read(path)
    good = np.isin(data["status"].values, WITH_RESULTS)
    stroke = data["stroke"].values
    order = np.flatnonzero(good)[np.argsort(stroke[good], kind="stable")]
    assert found == {
        "name": "stroke",
        "unit": "rad",
        "min": stroke[order[0]],
        "median": np.median(stroke[good]),
        "max": stroke[order[-1]],
        "best": order[:3].tolist(),
        "worst": order[np.argmax(stroke[order] == stroke[order[-1]])],
        "count": len(order),
    }


def test_nothing_solved(tmp_path):
    empty = spec(tmp_path / "sweep.zarr")
    store.create(tmp_path / "sweep.zarr", layout_of(empty, FourBar()))
    assert extremes(tmp_path / "sweep.zarr") == []
    assert Status.PENDING == 0


@pytest.mark.parametrize("scale", [1.0, -3.0, 1e-200])
def test_median_of_more_numbers_than_are_kept(monkeypatch, scale):
    monkeypatch.setattr(module, "EXACT", 100)
    values = scale * np.random.default_rng(3).lognormal(size=5001)
    spread = _Spread(3)
    for start in range(0, 5001, 500):
        block = values[start : start + 500]
        spread.add(start, block, np.ones(block.size, bool))
    # A bin keeps 9 bits of the mantissa; its middle is off by 2⁻¹⁰ at most.
    assert spread.median == pytest.approx(np.median(values), rel=2.0**-10)
    assert [variant for _, variant in spread.least] == np.argsort(values)[:3].tolist()


def test_ties_go_to_the_first_variants():
    spread = _Spread(3)
    for start in (0, 50):
        spread.add(start, np.zeros(50), np.ones(50, bool))
    assert spread.least == [(0.0, 0), (0.0, 1), (0.0, 2)]


def test_bits_keep_the_order_of_floats():
    values = np.array([-np.inf, -2.0, -1e-310, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1, 2), 1e308])
    keys = _ordered(values)
    assert (np.diff(keys.astype(object)) > 0).all()
    np.testing.assert_array_equal(_unordered(keys), values)
