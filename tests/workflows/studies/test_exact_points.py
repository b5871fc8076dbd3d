"""Nine points of a path met exactly: as many as a four-bar can be asked for.

What is found is held against the four-bar whose path the points are taken from, drawn by circles
that meet, and its own path against the points likewise.
"""

import numpy as np
import pytest
import yaml
from scipy.optimize import minimize

from cluster.client import connect
from cluster.places import Laptop
from workflows.studies.polishing import polish
from workflows.studies.reader import parse_study
from workflows.studies.study import study

pytestmark = pytest.mark.slow

#: Crank, then what is sought, over it: coupler, rocker, ground, and the point on the coupler.
CRANK, LENGTHS = 0.15, {"b": 0.578, "c": 0.241, "d": 0.580, "u": -0.05, "v": 0.038}
RANGES = {"b": [450, 700], "c": [180, 320], "d": [450, 700], "u": [-150, 100], "v": [-100, 150]}
MECHANISM = """\
name: nine
space: planar
gravity: [0, 0]
geometry:
  a: {value: 150, unit: mm}
  b: {value: 500, unit: mm}
  c: {value: 300, unit: mm}
  d: {value: 500, unit: mm}
  u: {value: 10, unit: mm}
  v: {value: 10, unit: mm}
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[b, 0], [c, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[d, 0], [0, 0]]}
coordinates: [A]
assembly: {A: 90 deg, points: {B: [0, 150 mm], C: [490 mm, 250 mm]}}
cycle: {joints: {A: {kind: constant_speed, speed: 60 rpm, turns: 1}}, samples: 128}
points: {P: {body: coupler, at: [u, v]}}
"""


def path(lengths, crank):
    """P in the ground's frame, as complex numbers, by circles that meet above B and D."""
    b, c, d, u, v = (lengths[name] for name in "bcduv")
    pin = CRANK * np.exp(1j * np.asarray(crank))
    reach = abs(d - pin)
    along = np.arccos((b**2 + reach**2 - c**2) / (2 * b * reach))
    return pin + (u + 1j * v) * np.exp(1j * (np.angle(d - pin) + along))


def missed(lengths, points, start):
    """Root mean square distance of a path from points, feet and similarity fitted."""

    def gap(cranks):
        feet = path(lengths, cranks)
        sides = np.stack([feet, np.ones_like(feet)], axis=1)
        factor = np.linalg.lstsq(sides, points, rcond=None)[0]
        return np.sqrt(np.mean(abs(sides @ factor - points) ** 2))

    return minimize(gap, start, method="Powell", options={"xtol": 1e-12, "ftol": 1e-15}).fun


def test_nine_points_exactly(tmp_path):
    cranks = np.array([0.3, 0.9, 1.8, 2.3, 3.1, 3.6, 4.4, 5.2, 5.9])
    points = (0.2 - 0.1j) + 1.1 * np.exp(0.7j) * path(LENGTHS, cranks)
    (tmp_path / "nine.yaml").write_text(MECHANISM)
    asked = {
        "mechanism": str(tmp_path / "nine.yaml"),
        "variables": RANGES,
        "targets": {
            "wanted": {
                "points": [[float(z.real), float(z.imag)] for z in points],
                "fit": ["timing", "position", "rotation", "scale"],
            }
        },
        "objectives": {"path_error(P, wanted)": "minimize"},
        "sampler": {"kind": "screen", "seed": 1},
        "trials": 512,
    }
    spec = parse_study(yaml.safe_dump(asked)).at(f"{tmp_path}/nine.zarr")
    with connect(Laptop(workers=1)) as client:
        study(spec, client)
        found = polish(spec, client, 3).after
    best = int(np.nanargmin(found.values[:, 0]))
    size = abs(points - points.mean()).max()
    # Zero but for the rounding of the fit: nine generic points leave finitely many four-bars.
    assert found.values[best, 0] < 1e-13 * size
    # The cubics between 128 samples, 1.4e-7 of the path's size, through the slopes of nine points.
    lengths = dict(zip(RANGES, found.parameters[best], strict=True))
    assert lengths == pytest.approx(LENGTHS, abs=1e-3)
    assert missed(lengths, points, cranks) < 1e-6 * size
