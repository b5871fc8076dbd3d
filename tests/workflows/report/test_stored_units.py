"""Units of a store: each array's own, one per label where labels differ, none where they mix."""

from dataclasses import replace
from pathlib import Path

import pytest
import xarray as xr

from basepar_core.api import load
from sweeps.chunks.evaluator import prepare
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, Reduction, SweepSpec
from sweeps.store import store
from workflows.jobs import spread

#: By hand: the SCARA's base parameters are masses, first moments and inertias of its arms.
KINDS = {"m": "kg", "mx": "kg m", "my": "kg m", "mz": "kg m"}


@pytest.fixture(scope="module")
def scara(tmp_path_factory):
    """Two variants of the SCARA, three drives of which turn and one slides."""
    path = tmp_path_factory.mktemp("scara") / "scara.zarr"
    asked = Evaluation(
        "auto", Reduction(arrays=("generalised",)), ("torque_rms", "torque_peak", "mass")
    )
    plan = Random((("l1", 0.3, 0.35), ("l2", 0.25, 0.3)), 2, 1)
    spec = SweepSpec(load("scara"), plan, evaluation=asked, store=str(path))
    evaluator = prepare(spec)
    layout = layout_of(spec, evaluator, evaluator.precise)
    store.create(path, layout)
    stages = (Stage(evaluator, layout.parts[0]),)
    Work(str(path), "", plan, Filter.of(spec.mechanism, ()), stages)(Task(0, 0, 2))
    return path


def test_every_number_has_a_unit_or_mixes_some(scara):
    data = xr.open_zarr(scara)
    mixed = {name for name in data.data_vars if "units" not in data[name].attrs}
    assert mixed == {
        *("base_parameters", "generalised", "torque_rms", "torque_peak", "residual"),
        *("singular_values", "precise_singular_values"),
        *("precise_sigma_least", "precise_sigma_most"),
    }
    assert data["status"].attrs["units"] == data["reason"].attrs["units"] == "1"
    assert data["l1"].attrs["units"] == "m"
    assert data["mass"].attrs["units"] == "kg"


def test_labels_have_units_of_their_own(scara):
    data = xr.open_zarr(scara)
    drives = data["torque_rms"].coords["coordinate_unit"]
    units = dict(zip(data["coordinate"].values, drives.values, strict=True))
    assert units == {"q1": "N m", "q2": "N m", "q3": "N", "q4": "N m"}
    for name in ("base_parameters", "generalised"):
        found = data[name].coords["base_parameter_unit"]
        assert found.dims == ("base_parameter",)
        for parameter, unit in zip(data["base_parameter"].values, found.values, strict=True):
            assert unit == KINDS.get(parameter.split(".")[1], "kg m^2")


def test_reports_and_status_tables_print_them(scara):
    pytest.importorskip("matplotlib")
    from workflows.report import data as facts
    from workflows.report import results

    found = {metric.name: metric for metric in facts.gather(Path(scara)).metrics}
    assert found["torque_rms of q3"].unit == "N"
    assert found["torque_rms of q4"].unit == "N m"
    assert results.metric_title(found["torque_peak of q3"]) == "Peak drive force of q3"
    assert results.metric_title(found["torque_peak of q1"]) == "Peak drive torque of q1"
    one = replace(found["torque_peak of q1"], name="time_ratio_D")
    assert results.metric_title(one) == "Time ratio of D"
    assert results.metric_title(replace(one, name="transmission_angle_B_C_D")) == (
        "Transmission angle of B, C, D"
    )
    units = {row["name"]: row["unit"] for row in spread.extremes(scara)}
    assert units["mass"] == "kg"
    assert units["condition"] == "1"
    assert units["residual"] == ""  # m or rad
