"""Polish and tolerances where symbols follow others: slopes through the formulas."""

import numpy as np
import pytest

from cluster.client import connect
from cluster.places import Laptop
from tests.oracles.four_bar_design import designs
from workflows.studies.gradients import Landscape, _Found
from workflows.studies.polishing import polish
from workflows.studies.reader import parse_study
from workflows.studies.study import study
from workflows.studies.tolerances import Tolerances, spread

FOLLOWED = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6]}
derive: {lx3: lx1 + 0.9 m, Dx: "lx3*lx3/(1.2 m) - lx1/4"}
objectives: {"torque_rms/lx3": minimize}
constraints: ["stroke(D) >= 40 deg"]
sampler: {kind: qmc}
trials: 6
batch: 6
"""


def question(lx1):
    """Objective and swing by triangles."""
    lx1 = np.atleast_1d(lx1)
    lx3 = lx1 + 0.9
    torque, swing = designs(lx1, lx3, lx3**2 / 1.2 - lx1 / 4, start=0.59341194567807205)
    return torque / lx3, swing


def test_slopes_through_formulas():
    landscape = Landscape.of(parse_study(FOLLOWED))
    point = landscape.at({"lx1": 0.3})
    assert point.values["Dx"] == pytest.approx(1.2**2 / 1.2 - 0.3 / 4, rel=1e-15)
    assert point.slopes["lx3"] == pytest.approx([1.0], rel=1e-15)
    assert point.slopes["Dx"] == pytest.approx([2 * 1.2 / 1.2 - 1 / 4], rel=1e-14)
    _, around = _Found(landscape, {"lx1": np.array([0.3])})._differences("torque_rms")
    # Differences over 1e-6 of the range err by 1e-15/1e-6 of the value, a few times.
    np.testing.assert_allclose(around, point.slopes["torque_rms"], rtol=1e-7)
    step = 1e-4
    (up, wide), (down, narrow) = question(0.3 + step), question(0.3 - step)
    torque = point.slopes["torque_rms"] / 1.2 - point.values["torque_rms"] / 1.2**2
    # Steps of 1e-4 in lengths near 0.3 err by some (1e-4/0.3)² = 1e-7 of the slope; the two
    # formulations' torques differ by 2e-9, over the step 1e-5.
    np.testing.assert_allclose((up - down) / (2 * step), torque, rtol=3e-5)
    np.testing.assert_allclose((wide - narrow) / (2 * step), point.slopes["stroke(D)"], rtol=1e-5)


@pytest.mark.slow
def test_slopes_where_a_formula_names_a_root():
    """r3 is √3 by its relation; constant as it is, it has a value and no slope of its own."""
    text = """
mechanism: delta
variables: {l1: [0.3, 0.4]}
derive: {k1: 2*l1*r3, R: k1/8 + l1/r3}
objectives: {k1 + R: minimize}
trials: 1
"""
    point = Landscape.of(parse_study(text)).at({"l1": 0.35})
    root = np.sqrt(3)
    assert point.values["k1"] == pytest.approx(0.7 * root, rel=1e-15)
    assert point.slopes["k1"] == pytest.approx([2 * root], rel=1e-14)
    assert point.slopes["R"] == pytest.approx([root / 4 + 1 / root], rel=1e-14)


@pytest.mark.slow
def test_polish_and_tolerances_of_a_followed_design(tmp_path):
    spec = parse_study(FOLLOWED).at(f"{tmp_path}/followed.zarr")
    lengths = np.linspace(0.2, 0.6, 4001)
    values, swing = question(lengths)
    best = np.min(values[swing >= np.radians(40)])
    with connect(Laptop(workers=1)) as client:
        assert study(spec, client).summary.done
        found = polish(spec, client, 1)
        assert found.after.feasible.all()
        # The grid is 1e-4 wide: near 0.3 the objective changes by 1e-3 of itself at most.
        assert found.after.values[0, 0] == pytest.approx(best, rel=1e-3)
        assert found.after.values[0, 0] < found.before.values[found.rows[0], 0] * (1 - 1e-3)
        half = {"lx1": 2e-5, "lx3": 1e-5}
        made = spread(spec, client, Tolerances(half, "normal", 400, 3))
    lx1 = found.after.parameters[0, 0]
    assert made.design == pytest.approx(
        {"lx1": lx1, "lx3": lx1 + 0.9, "Dx": (lx1 + 0.9) ** 2 / 1.2 - lx1 / 4}, rel=1e-14
    )
    assert made.verdict.values[0, 0] == pytest.approx(found.after.values[0, 0], rel=1e-12)
    # The deviation of 400 samples is known to 1/sqrt(800) = 3.5 %; four of those.
    assert made.samples[:, 0].std() == pytest.approx(made.predicted[0], rel=0.15)
