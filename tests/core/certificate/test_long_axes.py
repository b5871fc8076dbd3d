"""Axes between points that are all symbols: joint rules and their check in seconds, and right.

A user's double wishbone, every hard point a symbol, whose damper slides along the line between
two of them: the quotients of its axis' square took the checker more than ten minutes. Its rank is
that of variable precision, which knows no joint rule; the certificate is checked by other
mechanics.
"""

import numpy as np
import pytest

from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics import prepare
from basepar_core.expressions import evaluate
from basepar_core.files import loads
from basepar_core.symbolic import GeometryField, Transfers

#: Hard points, m: hinges of the arms front and rear, balls, tie rod, damper, wheel.
POINTS = {
    "LF": (0.15, 0.35, 0.20),
    "LR": (-0.18, 0.36, 0.21),
    "LB": (0.01, 0.74, 0.17),
    "UF": (0.12, 0.42, 0.50),
    "UR": (-0.14, 0.43, 0.49),
    "UB": (-0.012, 0.69, 0.52),
    "TI": (0.11, 0.37, 0.245),
    "TO": (0.13, 0.72, 0.235),
    "DT": (-0.02, 0.47, 0.68),
    "DL": (0.005, 0.60, 0.19),
    "WC": (0.0, 0.76, 0.33),
}
NAMES = [f"{point}{axis}" for point in POINTS for axis in "xyz"]


def wishbone(symbols):
    """Body frames are the ground's in the drawn pose, as a user writes hard points down."""

    def at(point):
        entries = (
            name if (name := f"{point}{axis}") in symbols else f"{value} m"
            for axis, value in zip("xyz", POINTS[point], strict=True)
        )
        return list(entries)

    def joint(name, kind, bodies, point, axis=None):
        both = f"[{', '.join(at(point))}]"
        text = f"  {name}: {{type: {kind}, connects: [{bodies}], at: [{both}, {both}]"
        if axis:
            text += f", axis: [[{axis}], [{axis}]]"
        return text + "}"

    def along(one, two):
        return ", ".join(f"{b} - {a}" for a, b in zip(at(one), at(two), strict=True))

    values = {name: POINTS[name[:2]]["xyz".index(name[2])] for name in symbols}
    bodies = ("lower", "upper", "upright", "tie", "wheel", "tube", "rod")
    slender = ("tie", "tube", "rod")
    return "\n".join(
        [
            "name: wishbone",
            "space: spatial",
            "gravity: [0, 0, -9.81]",
            "geometry:",
            *(f"  {name}: {{value: {value}, unit: m}}" for name, value in values.items()),
            "bodies:",
            *(f"  {name}: {'{form: slender}' if name in slender else '{}'}" for name in bodies),
            "joints:",
            joint("L", "revolute", "ground, lower", "LF", along("LR", "LF")),
            joint("U", "revolute", "ground, upper", "UF", along("UR", "UF")),
            joint("LB", "spherical", "lower, upright", "LB"),
            joint("UB", "spherical", "upper, upright", "UB"),
            joint("TO", "spherical", "tie, upright", "TO"),
            joint("TI", "spherical", "ground, tie", "TI"),
            joint("W", "revolute", "upright, wheel", "WC", "0, 1, 0"),
            joint("DT", "spherical", "ground, tube", "DT"),
            joint("DS", "prismatic", "rod, tube", "DL", along("DL", "DT")),
            joint("DL", "spherical", "lower, rod", "DL"),
            "coordinates: [L, W]",
            "assembly:",
            "  L: 0",
            "  bodies:",
            *(f"    {name}: {{at: [0, 0, 0], rotation: [0, 0, 0]}}" for name in bodies),
            "excitation:",
            "  {kind: states, samples: 60, seed: 1, frequency: 1 Hz, amplitude: {L: 0.2, W: 1}}",
            "",
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("symbols", [["DTz", "DLz"], NAMES], ids=["two", "all"])
def test_wishbone_of_hard_points(symbols):
    model = prepare(loads(wishbone(symbols), "wishbone"))
    found = symbolic(model)
    assert found.rank == found.count == precise(model).rank == 25
    document = certify(model, found)
    assert verify(document).rank == 25
    assert document["grade"] == "theorem"


SLIDE = """
name: slide
space: spatial
gravity: [0, 0, -9.81]
geometry:
  a: {value: 0.1, unit: m}
  b: {value: 0.2, unit: m}
  c: {value: 0.5, unit: m}
bodies: {crank: {}, tube: {}, rod: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, tube], at: [[0.3, 0, 0], [0, 0, 0]]}
  S: {type: prismatic, connects: [tube, rod], axis: [[%s], [%s]], reference: [[%s], [%s]]}
coordinates: [A, B, S]
excitation: {kind: states, samples: 30, seed: 1, amplitude: {A: 1, B: 1, S: 0.1}, frequency: 1 Hz}
"""


@pytest.mark.parametrize(
    "frames",
    [
        ("a, b, c", "a, b, c", "1, 0, 0", "1, 0, 0"),  # parallel
        ("a, b, c", "b, c, a", "1, 0, 0", "0, 0, 1"),  # turned by 120°
        ("a, b, c", "3*a/5 + 4*b/5, 3*b/5 - 4*a/5, c", "1, 0, 0", "3/5, -4/5, 0"),
        ("a, b, c", "a, b, c", "1, 0, 0", "-1, 0, 0"),  # half a turn about what is swept
    ],
)
def test_rotation_of_a_slide_is_that_of_its_frames(frames):
    """Against the frames' axes in float64, at the file's geometry and at others."""
    model = prepare(loads(SLIDE % frames, "slide"))
    field = GeometryField.of(model.mechanism)
    transfers = Transfers(model.mechanism, field)
    joint = model.mechanism.joints[2]
    one, two = (transfers.frame(joint, side) for side in (0, 1))
    R = transfers.relative(one, two)
    for values in ({"a": 0.1, "b": 0.2, "c": 0.5}, {"a": -0.7, "b": 0.31, "c": 0.11}):

        def numbers(entries, values=values):
            return np.array(evaluate([field.to_expression(x) for x in entries], values), float)

        axes = []
        for frame in (one, two):
            z, x = numbers(frame.z), numbers(frame.x)
            z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
            axes.append(np.array([x, np.cross(z, x), z]))
        expected = axes[0].T @ axes[1]
        # Rounding of a product of two rotations.
        np.testing.assert_allclose(
            numbers([x for row in R for x in row]), expected.ravel(), atol=1e-14
        )
