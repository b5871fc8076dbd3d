"""Newton's equations of a fit, against differences of distances from a curve known in full."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from basepar_core.compiled import fit_equations, refine
from basepar_core.metrics import Target
from basepar_core.metrics.alignment import freedoms
from basepar_core.metrics.sampled_curves import Feet

#: So fine that cubics between samples err by 1e-10 m, and their second derivatives by 1e-5.
SAMPLES = 1024
#: Of a step of Newton's by differences with this one: the square, 4e-8, times a fourth derivative
#: of up to 100, and second derivatives as above; SciPy's feet, 1e-7 of the curve's parameter away,
#: cost 1e-14 m², over the square 3e-7.
STEP, CLOSE = 2e-4, 3e-5
#: Points, where on the curve they are near; the last beyond the end of an open one.
AT = np.array([0.3, 1.1, 2.0, 3.4, 4.4, 5.6])
END = 5.0


def curve(t, axes):
    return np.stack([np.cos(t), 0.6 * np.sin(t), 0.3 * np.cos(2 * t)])[:axes]


def placed(begun, parameters, free, size, point, middle):
    """A point of the curve where the fit has it, turned about a middle, grown and shifted; turns
    and growth count by what they move at a size, m."""
    axes, taken = len(point), 0
    about = begun[0] @ point + begun[1] - middle
    if "rotation" in free:
        vector = np.array([0, 0, parameters[0]]) if axes == 2 else parameters[:3]
        taken = 1 if axes == 2 else 3
        about = Rotation.from_rotvec(vector / size).as_matrix()[:axes, :axes] @ about
    if "scale" in free:
        about = about * np.exp(parameters[taken] / size)
    return middle + about + (parameters[-axes:] if "position" in free else 0.0)


def half_squares(begun, parameters, free, size, wanted, feet, middle, held):
    """Half the sum of distances² of points from the placed curve, each foot by SciPy."""
    total = 0.0
    for point, foot, ended in zip(wanted, feet, held, strict=True):

        def away(t, point=point):
            place = placed(begun, parameters, free, size, curve(t, len(point)), middle)
            return ((place - point) ** 2).sum() / 2

        if ended:
            total += away(foot)
            continue
        ends = (foot - 0.05, foot + 0.05)
        total += minimize_scalar(away, bounds=ends, method="bounded", options={"xatol": 1e-12}).fun
    return total


def differences(value, width):
    """Slopes and second derivatives at 0."""
    e = STEP * np.eye(width)
    g = np.array([(value(one) - value(-one)) / (2 * STEP) for one in e])

    def mixed(a, b):
        return value(a + b) - value(a - b) - value(b - a) + value(-a - b)

    return g, np.array([[mixed(a, b) for a in e] for b in e]) / (4 * STEP**2)


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize(
    ("axes", "free"),
    [
        (2, ("timing", "position", "rotation", "scale")),
        (2, ("timing", "position")),
        (2, ("timing", "rotation")),
        (2, ("timing", "scale")),
        (3, ("timing", "position", "rotation", "scale")),
        (3, ("timing", "rotation", "scale")),
    ],
)
def test_a_step_of_newtons_is_that_of_differences(axes, free, ring):
    """Two variants of one curve, each turned, grown and shifted by its own."""
    rng = np.random.default_rng(5)
    angles = np.array([[0.2, -0.1, 0.4], [0.0, 0.3, -0.9]])[:, 3 - (2 * axes - 3) :]
    vectors = np.pad(angles, ((0, 0), (3 - angles.shape[1], 0)))
    turn = Rotation.from_rotvec(vectors).as_matrix()[:, :axes, :axes]
    turn = turn * np.array([1.3, 0.8])[:, None, None]
    shift = rng.normal(0, 0.2, (2, axes))
    last = 2 * np.pi if ring else END
    t = np.linspace(0, last, SAMPLES, endpoint=not ring)
    track = np.repeat(np.ascontiguousarray(curve(t, axes)[None]), 2, axis=0)
    # Near the first variant's curve, and so that the second's are not far.
    wanted = curve(AT, axes).T @ turn[0].T + shift[0] + rng.normal(0, 0.03, (len(AT), axes))
    turn[1], shift[1] = 1.05 * turn[0], shift[0] + 0.02
    target = Target("wanted", tuple(map(tuple, wanted.tolist())), fit=free)
    inverse = [(wanted - s) @ np.linalg.inv(T).T for T, s in zip(turn, shift, strict=True)]
    closed = np.full(2, ring)
    feet = Feet.nearest(track, closed, np.array(inverse))
    makers, seconds, freed, *_, size = ways = freedoms(target, axes)
    width = len(makers) + axes * freed
    middles, H, g = np.empty((2, axes)), np.empty((2, width, width)), np.empty((2, width))
    here = (feet.at(3), feet.ends, turn, shift, wanted)
    fit_equations(*here, makers, seconds, freed, middles, H, g)
    after = turn.copy(), shift.copy(), np.empty(2)
    refine(track, closed, np.arange(2), wanted, ways, 1, *after)
    for v in range(2):
        begun, at = (turn[v], shift[v]), (feet.index + feet.share)[v] * (t[1] - t[0])
        here = feet.at()[0, v] @ turn[v].T + shift[v]
        middle = (here - shift[v]).mean(axis=0) + shift[v] if "position" in free else shift[v]
        known = (free, size, wanted, at, middle, feet.ends[v])
        slope, bend = differences(lambda x: half_squares(begun, x, *known), width)  # noqa: B023
        assert np.linalg.eigvalsh(bend).min() > 1e-2  # where the trust region plays no part
        expected = np.linalg.solve(bend, -slope)
        assert np.linalg.norm(expected) < size
        there = [placed(begun, expected, free, size, x, middle) for x in feet.at()[0, v]]
        found = feet.at()[0, v] @ after[0][v].T + after[1][v]
        # Turned by a whole rotation for its first order, as the program does.
        tolerance = CLOSE * np.abs(expected).max() + 1e-9
        np.testing.assert_allclose(found, np.array(there), rtol=0, atol=tolerance)
        promised = slope @ np.linalg.solve(bend, slope)
        assert g[v] @ np.linalg.solve(H[v], g[v]) == pytest.approx(promised, rel=10 * CLOSE)
    assert ring or feet.ends[:, -1].all()
