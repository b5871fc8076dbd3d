"""The shipped study of the dwell linkage, run small on a real worker."""

import numpy as np
import pytest

from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store
from sweeps.store.statuses import Status
from workflows.studies.feasibility import judge
from workflows.studies.gradients import Landscape, column
from workflows.studies.polishing import descend
from workflows.studies.study import load_job, study


def test_results_of_a_regime_are_found_by_their_names():
    arrays = {"dwell_Q": np.array([2.0, 2.1]), "speed_fluctuation": np.array([0.1, 0.2])}
    for name, array in (("dwell(Q)", "dwell_Q"), ("speed_fluctuation", "speed_fluctuation")):
        np.testing.assert_array_equal(column(None, arrays, name), arrays[array])


@pytest.mark.slow
def test_a_few_trials(tmp_path):
    spec = load_job("dwell", str(tmp_path / "dwell.zarr"), trials=6)
    with connect(Laptop(workers=1)) as client:
        assert study(spec, client).summary.done
    verdict = judge(spec, Store.open(spec.path), 0, 6)
    good = verdict.results["speed_fluctuation"][verdict.settled]
    assert good.size
    # Objectives are the stored metric and the variable itself, told as they are.
    np.testing.assert_array_equal(verdict.values[verdict.settled, 0], good)
    flywheel = verdict.parameters[:, spec.names.index("flywheel")]
    np.testing.assert_array_equal(verdict.values[verdict.settled, 1], flywheel[verdict.settled])
    # Losses keep the motor below its no-load speed:
    # mean speed < U/(K n).
    gear = verdict.parameters[:, spec.names.index("gear")]
    speed = verdict.results["mean_speed"]
    assert (speed[verdict.settled] < 12 / (0.064 * gear[verdict.settled])).all()
    status = np.asarray(Store.open(spec.path)["status"][:])
    assert np.isin(status, [s.value for s in Status if s != Status.PENDING]).all()


@pytest.mark.slow
def test_a_descent_along_the_bound_of_the_dwell(tmp_path, monkeypatch):
    """The dwell is no step: lengths trade it, and it stays at its bound while the speed evens."""
    monkeypatch.setattr("workflows.studies.descents.ITERATIONS", 3)
    landscape = Landscape.of(load_job("dwell", str(tmp_path / "dwell.zarr")))
    start = {"AB": 0.0289, "OC": 0.074, "gear": 8.9, "flywheel": 0.0139}
    design = descend(landscape, start).design
    before, after = (landscape.at(x).values for x in (start, design))
    assert after["dwell(Q)"] >= np.radians(120)
    assert after["mean_speed"] >= 20
    assert after["speed_fluctuation"] <= before["speed_fluctuation"] * (1 + 1e-9)
    assert after["flywheel"] < 0.95 * before["flywheel"]
