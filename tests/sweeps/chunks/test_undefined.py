"""Variants at which some expression has no value, among others that have one."""

import math

import numpy as np
import yaml

from basepar_core.compiled import Engine
from basepar_core.dynamics import prepare as assembled
from basepar_core.files import mechanism_file
from basepar_core.metrics import Target
from sweeps.chunks.evaluator import prepare
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from sweeps.store.statuses import Reason, Status

METRICS = ("torque_rms", "path_error(P,near)")
NEAR = Target("near", ((0.4, 0.4), (0.6, 0.5), (0.3, 0.6), (0.2, 0.5)))


def four_bar(**changes):
    text = yaml.safe_load(mechanism_file.load("four-bar").source)
    text["points"] = {"P": {"body": "coupler", "at": ["lx2/2", "0.2 m"]}}
    text["geometry"] |= changes.pop("geometry", {})
    return mechanism_file.loads(yaml.safe_dump(text | changes, sort_keys=False))


def evaluated(mechanism, columns):
    """As a chunk of a sweep."""
    (name, values), *_ = columns.items()
    space = Random(((name, float(values.min()), float(values.max())),), 1, 0)
    asked = Evaluation("none", metrics=METRICS, targets=(NEAR,))
    found = prepare(SweepSpec(mechanism, space, evaluation=asked))
    return found(columns, np.ones(len(values), bool))


def test_a_root_that_is_not_real_is_its_own_variants_affair():
    """Two sides of the coupler from its diagonal: the same as with both sides given."""
    diagonal, lx2 = np.hypot(0.7, 1.1), np.array([0.62, 1.31, 0.7, 0.75])
    geometry = {"l2": {"value": float(diagonal), "unit": "m"}, "ly2": {"value": 1.1, "unit": "m"}}
    tied = four_bar(geometry=geometry, relations={"ly2": "ly2^2 = l2^2 - lx2^2"})
    found = evaluated(tied, {"lx2": lx2})
    good = lx2 < diagonal
    ly2 = np.sqrt(diagonal**2 - lx2[good] ** 2)
    given = evaluated(four_bar(), {"lx2": lx2[good], "ly2": ly2})
    assert (given["status"] == Status.SOLVED).all()
    np.testing.assert_array_equal(found["status"][good], Status.SOLVED)
    assert found["status"][1] == Status.UNASSEMBLABLE
    assert found["reason"][1] == Reason.UNDEFINED
    for name in ("torque_rms", "path_error_P_near"):
        # A hundred roundings of lengths.
        np.testing.assert_allclose(found[name][good], given[name], rtol=1e-13)
        assert np.isnan(found[name][1]).all()


def test_a_point_without_a_place_is_its_own_variants_affair():
    points = {"P": {"body": "coupler", "at": ["lx2/2", "sqrt(lx1^2 - (0.28 m)^2)"]}}
    mechanism, lx1 = four_bar(points=points), np.array([0.3, 0.25, 0.32])
    found = evaluated(mechanism, {"lx1": lx1})
    alone = evaluated(mechanism, {"lx1": lx1[[0, 2]]})
    error = found["path_error_P_near"]
    np.testing.assert_array_equal(error[[0, 2]], alone["path_error_P_near"])
    assert np.isnan(error[1])
    assert np.isfinite(found["torque_rms"]).all()


def test_a_root_past_a_break_is_nobodys():
    """Along lx1 it has no value from 0.39 to 0.41 m, where none of eight steps is."""
    geometry = {"lx3": {"value": 1.3 * math.sqrt(0.99), "unit": "m"}}
    relation = {"lx3": "lx3^2 = 169*((lx1 - 0.4 m)^2 - 0.0001 m^2)"}
    dimensions = Engine(
        assembled(four_bar(geometry=geometry, relations=relation))
    ).kernels.dimensions
    far = {"lx1": np.array([0.8])}
    rows, way = dimensions.way(far, 8, last=True)
    table = dimensions.table(far, 1).reshape(-1, 1)
    assert np.isnan(table).any()
    np.testing.assert_array_equal(way[:, -1], table[rows])
    # On the way each step is judged by itself; the last one is the table's.
    _, steps = dimensions.way(far, 8)
    assert np.isfinite(steps).all()


def test_a_coupling_without_a_ratio_is_its_own_variants_affair():
    """Teeth of the sun that a symbol gives, but at one value: the same gear as with that many."""
    source = mechanism_file.load("planetary-gear").source
    gear = mechanism_file.loads(
        source.replace("zs,", "96/(zs - 20),").replace("zs +", "96/(zs - 20) +")
    )
    assert "S: 96/(zs - 20)" in gear.source
    zs = np.array([24.0, 20.0, 22.0])
    found = _torques(gear, zs)
    assert found["status"].tolist() == [Status.SOLVED, Status.UNASSEMBLABLE, Status.SOLVED]
    assert found["reason"][1] == Reason.UNDEFINED
    assert np.isnan(found["torque_rms"][1])
    plain = _torques(mechanism_file.loads(source), 96 / (zs[[0, 2]] - 20))
    np.testing.assert_allclose(found["torque_rms"][[0, 2]], plain["torque_rms"], rtol=1e-13)


def _torques(mechanism, zs):
    space = Random((("zs", float(zs.min()), float(zs.max())),), 1, 0)
    asked = Evaluation("none", metrics=("torque_rms",))
    return prepare(SweepSpec(mechanism, space, evaluation=asked))(
        {"zs": zs}, np.ones(len(zs), bool)
    )
