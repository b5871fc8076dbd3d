"""Extremes in blocks equal those of whole columns."""

import numpy as np
import pytest

from sweeps.run.standing import layout_of
from sweeps.store import store
from sweeps.store.statuses import WITH_RESULTS, Status
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import by_hand
from workflows.jobs import spread as module
from workflows.jobs.spread import _Median, _ordered, _unordered, extremes


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return by_hand(spec(tmp_path_factory.mktemp("extremes") / "sweep.zarr"), FourBar())


def test_equal_to_whole_columns(path):
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
        "median_of": len(order),
        "max": stroke[order[-1]],
        "best": order[0],
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
    median = _Median()
    for start in range(0, 5001, 30):
        median.add(values[start : start + 30])
    # A bin keeps 9 bits of the mantissa; its middle is off by 2⁻¹⁰ at most.
    assert median.value == pytest.approx(np.median(values), rel=2.0**-10)


def test_medians_of_very_many_are_of_evenly_chosen_chunks(path, monkeypatch):
    monkeypatch.setattr(module, "CHUNKS", 5)
    (found,) = extremes(path)
    data = store.read(path)
    good = np.isin(data["status"].values, WITH_RESULTS)
    chosen = good & (np.arange(400) // 16 % 5 == 0)  # 25 chunks, every fifth
    assert found["median"] == np.median(data["stroke"].values[chosen])
    assert found["median_of"] == chosen.sum()
    assert found["count"] == good.sum()


def test_bits_keep_the_order_of_floats():
    values = np.array([-np.inf, -2.0, -1e-310, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1, 2), 1e308])
    keys = _ordered(values)
    assert (np.diff(keys.astype(object)) > 0).all()
    np.testing.assert_array_equal(_unordered(keys), values)
