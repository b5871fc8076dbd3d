"""Reduced inertia by two routes, against other programs' curves and closed formulas."""

from pathlib import Path

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.compiled import compiled
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.joint_tracks import tracks
from basepar_core.errors import MechanismError, UsageError
from basepar_core.files.mechanism_file import library_names, loads
from basepar_core.single_dof.curves import through
from basepar_core.single_dof.range import find_way
from basepar_core.single_dof.reduced import inertias, reduce_inertia, samples_of
from basepar_core.single_dof.survey import survey

DATA = Path(__file__).parents[2] / "data" / "onedof"
#: Twelve significant digits are printed: half a unit of the last is 5e-12 of a number's decade.
PRINTED = 5e-12


def table(name):
    return np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)


@pytest.fixture(scope="module")
def models():
    return {name: prepare(load(name)) for name in ("bicycle", "dwell")}


@pytest.mark.parametrize("name", ["bicycle", "dwell"])
def test_inertia_is_the_reference_curve(models, name):
    rows = table(f"{name}_reduced")
    q = np.linspace(0, 2 * np.pi, len(rows))  # every 4°, as printed to twelve digits
    np.testing.assert_allclose(q, rows["phi"], atol=PRINTED)
    found = reduce_inertia(models[name], {}, q, inertias(models[name], {}))
    for ours, printed in ((found.m[0], rows["m"]), (found.m_prime[0], rows["m_prime"])):
        # Two derivations in float64 (1e-12 of the range), and the rounding of what is printed.
        allowed = 1e-12 * np.ptp(printed) + PRINTED * 10 ** np.ceil(np.log10(abs(printed)))
        assert (np.abs(ours - printed) <= allowed).all()
    # The energy route's kinetic energy of the same configurations.
    np.testing.assert_allclose(found.energy[0], found.m[0], rtol=1e-13)


@pytest.mark.parametrize("name", ["bicycle", "dwell"])
def test_inertia_is_what_a_driven_full_model_has(models, name):
    rows = table(f"{name}_inertia_exudyn")
    curves = survey(models[name]).curves
    m, slope = curves(rows["phi"])[0], curves(rows["phi"], 1)[0]
    off = np.abs(m / rows["m"] - 1)
    # The simulator's own error, as its documentation has it against the analytic curves (which
    # ours are to 1e-12): 2.9e-9 of m for the bicycle; for the dwell linkage 1.9e-7 where it
    # starts, and 3e-9 in the median.
    assert off.max() < {"bicycle": 3e-9, "dwell": 1.9e-7}[name]
    assert np.median(off) < 3e-9
    assert np.abs(slope - rows["m_prime"]).max() < 1.5e-6 * np.ptp(rows["m_prime"])


#: Every shipped mechanism of mobility one.
SHIPPED = [name for name in library_names() if len(load(name).coordinates) == 1]


#: Motions that do not come back: between dead points; never.
OPEN = ("parallelogram", "screw-jack")


def of_base(base, functions, values):
    """φ_b in the places of φ₁, nothing in those of φ₂."""
    found = functions.base_parameters(values)
    phi = np.zeros((len(found), len(base.parameters)))
    phi[:, list(base.kept)] = found
    return phi


@pytest.mark.parametrize(
    "name",
    # The gear's motion closes after many turns, 7 s.
    [pytest.param(n, marks=pytest.mark.slow) if n == "planetary-gear" else n for n in SHIPPED],
)
def test_routes_agree(name):
    """Inverse dynamics, energy and symbolic base parameters; a closed motion comes back."""
    model = prepare(load(name))
    found = survey(model)
    # Rounding of closed loops, 1e-13, and its growth in a spectral derivative of 60 harmonics, or
    # in that of a spline up to a hundredth's regularity.
    assert found.energy_errors["m"] < 1e-12
    assert found.energy_errors["m_prime"] < 1e-10
    assert found.energy_errors["potential_slope"] < 1e-10
    assert found.errors.max() < 1e-10
    way, count = found.way, 24
    assert way.closed == (name not in OPEN)
    q = np.linspace(way.low, way.high + way.length, 2 * count + 1)
    if not way.closed:  # its ends are near dead points, where m′ has lost six digits
        q = np.linspace(way.low + 0.1, way.high - 0.1, count)
    whole = reduce_inertia(model, {}, q, inertias(model, {}))
    base = symbolic(model)
    functions = compiled(base, model.mechanism)
    small = reduce_inertia(model, {}, q, of_base(base, functions, {}), whole.path)
    least = 1e-10 * np.abs(whole.m).max()  # a parallelogram's m′ is zero
    for of in ("inertia", "half_slope", "potential_slope"):
        ours, every = getattr(small, of)[0, 0], getattr(whole, of)[0, 0]
        # φ_b regroups terms of mixed sign: a few digits of float64.
        np.testing.assert_allclose(ours, every, rtol=0, atol=max(1e-10 * np.ptp(every), least))
        if way.closed:
            assert np.abs(every[count:] - every[: count + 1]).max() < max(
                1e-10 * np.ptp(every), 1e-3 * least
            )


def test_base_parameters_carry_everything(models):
    model = prepare(load("four-bar"))
    base = symbolic(model)
    functions = compiled(base, model.mechanism)
    lengths = {"lx1": np.array([0.25, 0.3, 0.35]), "Dx": np.array([0.9, 1.0, 1.1])}
    q = samples_of(find_way(model), 48)
    whole = reduce_inertia(model, lengths, q, inertias(model, lengths))
    small = reduce_inertia(model, lengths, q, of_base(base, functions, lengths))
    assert len(small.m) == 3
    for one, other in ((small.m, whole.m), (small.half_slope, whole.half_slope)):
        # φ_b regroups terms of mixed sign: a few digits of float64.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
    np.testing.assert_allclose(
        small.potential_slope, whole.potential_slope, atol=1e-12 * abs(whole.potential_slope).max()
    )


def test_slider_crank_by_hand():
    """x = a cos q + √(l² − a² sin² q): one line of a textbook, crank and rod without mass."""
    model = prepare(
        loads(
            """
name: hand
space: planar
gravity: [0, -9.81]
bodies:
  crank: {mass: 2, centre: [0.05, 0], central_inertia: 0.01}
  rod: {mass: 0, centre: [0, 0], inertia: 0}
  slider: {mass: 3, centre: [0, 0], inertia: 1}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[0.1, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, slider], at: [[0.4, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, slider], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, B: -49.3 deg, C: 9.3 deg, D: 0.471 m}
springs: {S: {joint: D, rest: 0.3 m, stiffness: 50 N/m}}
"""
        )
    )
    found = survey(model)
    q, a, l = found.table.q, 0.1, 0.4
    root = np.sqrt(l**2 - a**2 * np.sin(q) ** 2)
    x = a * np.cos(q) + root
    x_dash = -a * np.sin(q) - a**2 * np.sin(q) * np.cos(q) / root
    m = 0.01 + 2 * 0.05**2 + 3 * x_dash**2
    np.testing.assert_allclose(found.table.m[0], m, rtol=1e-12)
    slope = 2 * 9.81 * 0.05 * np.cos(q) + 50 * (x - 0.3) * x_dash
    np.testing.assert_allclose(found.table.slope[0], slope, atol=1e-12 * np.abs(slope).max())
    height = 2 * 9.81 * 0.05 * np.sin(q) + 25 * (x - 0.3) ** 2
    np.testing.assert_allclose(
        found.table.potential[0], height - height[0], atol=1e-12 * np.ptp(height)
    )


def test_parallelogram_ends_at_its_flat_positions():
    way = find_way(prepare(load("parallelogram")))
    assert not way.closed
    # A dead point is approached until configurations, like the square root, lose half the digits.
    np.testing.assert_allclose(way.dead_points, [0, np.pi], atol=1e-6)
    assert 0 < way.low < 0.01
    assert np.pi - 0.03 < way.high < np.pi


def test_rocker_that_cannot_turn_has_two_dead_points():
    """Triangle inequality: the rocker's limits are where crank and coupler are in line."""
    model = prepare(load("four-bar"))
    [(_, angle)] = tracks(model, {}, model.assembled.q[:, None, None], ["D"])
    text = load("four-bar").source.replace("coordinates: [A]", "coordinates: [D]")
    text = text.replace("C: -203.8 deg}", f"C: -203.8 deg, D: {angle.item()!r}}}")
    text = text.replace("actuated: [A]", "actuated: [D]").replace(
        "amplitude: {A:", "amplitude: {D:"
    )
    text = text.replace("joints: {A:", "joints: {D:").replace("noise: {A:", "noise: {D:")
    way = find_way(prepare(loads(text)))
    assert not way.closed
    a, b, c = 0.3, np.hypot(0.7, 1.1), 1.3
    d = np.hypot(1.0, 0.1)
    swing = [np.arccos((c**2 + d**2 - reach**2) / (2 * c * d)) for reach in (b - a, b + a)]
    found = np.ptp(way.dead_points)
    assert found == pytest.approx(abs(swing[1] - swing[0]), abs=1e-6)


NEARLY_FLAT = """
name: kite
space: planar
gravity: [0, 0]
bodies: {{crank: {{}}, coupler: {{}}, rocker: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, coupler], at: [[0.3, 0], [0, 0]]}}
  C: {{type: revolute, connects: [coupler, rocker], at: [[1, 0], [{c}, 0]]}}
  D: {{type: revolute, connects: [ground, rocker], at: [[1, 0], [0, 0]]}}
coordinates: [A]
assembly: {{A: 61 deg, B: -61 deg, C: 61 deg}}
"""


def test_nearly_singular_stretches_are_found_between_samples():
    """Ground and coupler alike, the rocker a little longer than the crank: nearly flat twice."""
    wide, tight = (find_way(prepare(loads(NEARLY_FLAT.format(c=c)))) for c in (0.31, 0.30001))
    assert wide.near == ()
    assert tight.closed
    assert len(tight.near) == 2
    for (low, high), flat in zip(tight.near, (np.pi, 2 * np.pi), strict=True):
        assert low < flat < high < low + 0.1
    # Triangles: what is left of the angle goes with the root of the excess, to 1 % of 0.01.
    assert wide.margin / tight.margin == pytest.approx(np.sqrt(1000), rel=1e-2)


def test_two_degrees_of_freedom_are_refused():
    with pytest.raises(MechanismError, match="2 degrees of freedom"):
        find_way(prepare(load("five-bar")))


GEARS = """
name: gears
space: planar
gravity: [0, -9.81]
bodies: {rotor: {}, middle: {}, link: {mass: 1, centre: [0.1, 0], central_inertia: 0.05}}
joints:
  A: {type: revolute, connects: [ground, rotor]}
  B: {type: revolute, connects: [ground, middle], at: [[0.1, 0], [0, 0]]}
  C: {type: revolute, connects: [ground, link], at: [[0.2, 0], [0, 0]]}
couplings: {one: {values: {A: 1, B: RATIO}}, two: {values: {B: 1, C: RATIO}}}
coordinates: [C]
"""


@pytest.mark.parametrize("ratio", [15, 1000])
def test_a_fixed_ratio_is_no_dead_point(ratio):
    """Two stages, and a jack driven by its slide: m is constant, so is the distance."""
    text = GEARS.replace("RATIO", str(ratio))
    jack = load("screw-jack").source.replace("N.2", "G").replace("20 rad", "0.1 m")
    jack = jack.replace("speed: 60 rad/s", "speed: 50 mm/s").replace("0.05 N*m", "1 N")
    for model in (prepare(loads(text)), prepare(loads(jack))):
        way = find_way(model, (0.0, 0.01))
        assert way.near == ()
        assert way.margin == pytest.approx(1, rel=1e-9)  # and not that of [[1, 1], [0, 1]], 2/3


RACK = """
name: rack
space: planar
gravity: [0, 0]
bodies: {slide: {}, pinion: {}}
joints:
  K: {type: prismatic, connects: [ground, slide], axis: [[1, 0], [1, 0]]}
  M: {type: revolute, connects: [ground, pinion], at: [[0, 0.5], [0, 0]]}
couplings: {rack: {values: {K: 1, M: -1 mm}}}
coordinates: [K]
"""


def test_a_coupled_slide_wants_a_range():
    with pytest.raises(MechanismError, match=r"Nothing ends the sliding coordinate 'K' .*range"):
        find_way(prepare(loads(RACK)))


def test_a_range_beyond_a_dead_point_is_refused():
    with pytest.raises(UsageError, match="dead point"):
        find_way(prepare(load("parallelogram")), (0.5, 4.0))


def test_fourier_sum_and_spline_through_a_known_function():
    q = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    period = through(
        q, np.array([np.exp(np.sin(q)), q + np.cos(q)]), 2 * np.pi, np.array([0, 1.0])
    )
    x = np.linspace(-3, 9, 50)
    # Coefficients of exp(sin) fall below 1e-16 at 15; derivatives multiply rounding by them.
    np.testing.assert_allclose(period(x)[0], np.exp(np.sin(x)), atol=1e-14)
    np.testing.assert_allclose(period(x, 1)[0], np.cos(x) * np.exp(np.sin(x)), atol=1e-12)
    np.testing.assert_allclose(period(x)[1], x + np.cos(x), atol=1e-13)
    np.testing.assert_allclose(period(x, 1)[1], 1 - np.sin(x), atol=1e-12)
    ends = np.linspace(0, 1, 65)
    spline = through(ends, np.array([np.exp(ends)]))
    inside = np.linspace(0, 1, 33) * 0.99
    # Spacing^8 = 3e-15 times a constant near 1.
    np.testing.assert_allclose(spline(inside)[0], np.exp(inside), rtol=1e-13)
