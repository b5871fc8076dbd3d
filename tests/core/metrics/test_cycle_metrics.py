"""Metrics of a cycle: momentum by differences, Pinocchio, triangles, and sums by hand."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import motion, regressor
from basepar_core.dynamics.closure import prepare, trace
from basepar_core.dynamics.joint_tracks import tracks
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.metrics import ClosedCycle
from basepar_core.metrics.cycle import find, names, of_cycle
from basepar_core.metrics.registry import array_name, metric_of, words
from tests.core.dynamics.test_joint_tracks import four_bar_pins
from tests.mechanisms import nearby


def on_cycle(name, count=4):
    """Variants of a mechanism on their cycle."""
    mechanism = load(name)
    model = prepare(mechanism)
    values = nearby(mechanism, count, 0.04, seed=3)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    found = trace(model, values, moving.q)
    assert (found.outcome == 1).all()
    return ClosedCycle(model, values, moving, found.q)


def momenta(cycle, shift):
    """Momentum and angular momentum (3, variant, sample), the coordinates `shift` s later.

    From the bodies' positions a little before and after: no velocity of the program enters.
    """

    def positions(at):
        moving = cycle.motion
        q = moving.q + at * moving.q_dot + at**2 / 2 * moving.q_ddot
        return replace(cycle, q=trace(cycle.model, cycle.values, q).q)

    h = 1e-4
    before, now, after = (positions(shift + k * h) for k in (-1, 0, 1))
    mechanism = cycle.model.mechanism
    phi = cycle.parameters
    each = phi.shape[1] // len(mechanism.bodies)
    total = np.zeros((2, cycle.count, cycle.q.shape[2], 3))
    for place, body in enumerate(mechanism.bodies):
        entries = phi[:, place * each : (place + 1) * each]
        for weight, point in particles(mechanism.planar, entries, cycle.count):
            speed = (at(after, body, point) - at(before, body, point)) / (2 * h)
            push = weight[:, None, None] * speed
            total[0] += push
            total[1] += np.cross(at(now, body, point), push)
    return total


@pytest.mark.parametrize("name", ["watt-ii", "quick-return", "rssr"])
def test_few_variants_are_what_they_are_among_many(name):
    """The poses of few are kept; of many they are made anew, and no farther than asked for."""
    few = on_cycle(name)
    times = regressor.LANES // (few.count * few.q.shape[2]) + 1
    values = {symbol: np.tile(x, times) for symbol, x in few.values.items()}
    many = replace(few, values=values, q=np.tile(few.q, (1, times, 1)))
    assert few._kept
    assert not many._kept
    mechanism = few.model.mechanism
    body, joint = mechanism.bodies[-1].name, mechanism.joints[-1].name

    def seen(cycle):
        yield from (cycle.position(body), cycle.velocity(body), cycle.orientation(body))
        yield from (cycle.joint(joint), cycle.joint_rate(joint), cycle.regularity)
        if mechanism.has_inertias:
            yield cycle.torques
            yield from cycle.shaking

    for mine, whole in zip(seen(few), seen(many), strict=True):
        # Sums of a few numbers in another order.
        np.testing.assert_allclose(whole[: few.count], mine, rtol=1e-12, atol=1e-12)


def at(cycle, body, points):
    """Positions of one point per variant."""
    found = np.empty((cycle.count, cycle.q.shape[2], 3))
    for variant in range(cycle.count):
        found[variant] = cycle.position(body.name, points[variant])[variant]
    return found


def particles(planar, entries, count):
    """Particles of the same mass and first and second moments: (mass, point), (variant, …) each.

    Six at ±c along the principal directions of Σ m r rᵀ about the centre of mass.
    """
    m = entries[:, 0]
    if planar:
        first = np.column_stack([entries[:, 1:3], np.zeros(count)])
        J = entries[:, 3] - (first**2).sum(axis=1) / m
        second = np.zeros((count, 3, 3))
        second[:, 0, 0] = second[:, 1, 1] = J / 2
    else:
        first = entries[:, 1:4]
        I = np.zeros((count, 3, 3))
        for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            I[:, i, j] = I[:, j, i] = entries[:, 4 + k]
        half = np.trace(I, axis1=1, axis2=2) / 2
        second = half[:, None, None] * np.eye(3) - I
        second -= first[:, :, None] * first[:, None, :] / m[:, None, None]
    sizes, axes = np.linalg.eigh(second)
    centre = first / m[:, None]
    for k in range(3):
        step = np.sqrt(np.maximum(sizes[:, k], 0) * 3 / m)[:, None] * axes[:, :, k]
        for sign in (-1, 1):
            yield m / 6, centre + sign * step


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "rsur"])
@pytest.mark.slow
def test_shaking_is_the_rate_of_momentum(name):
    """Bodies as particles, their positions differentiated twice by Richardson's differences."""
    cycle = on_cycle(name, 2)
    steps = (2e-3, 1e-3)
    coarse, fine = ((momenta(cycle, h) - momenta(cycle, -h)) / (2 * h) for h in steps)
    rate = (4 * fine - coarse) / 3
    for found, expected in zip(cycle.shaking, rate, strict=True):
        size = np.abs(expected).max()
        # Closure to 1e-12 over (1e-4 times 1e-3) leaves 1e-5; third derivatives of a cycle of a
        # second or so, times (2e-3)⁴, are below that.
        np.testing.assert_allclose(found, -expected, rtol=0, atol=2e-5 * max(size, 1))
        assert size > 1e-3


def test_shaking_by_pinocchio():
    pin = pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    mechanism = load("ur10")
    model = prepare(mechanism)
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    found = ClosedCycle(model, {}, moving, trace(model, {}, moving.q).q)
    force, moment = found.shaking
    chain = Chain(mechanism, {})
    phi = found.parameters[0]
    for body, parameters in zip(mechanism.bodies, phi.reshape(-1, 10), strict=True):
        joint, placement = chain.carried[body.name]
        m, first = parameters[0], parameters[1:4]
        Ixx, Ixy, Ixz, Iyy, Iyz, Izz = parameters[4:]
        I = np.array([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
        c = first / m
        central = I - m * (c @ c * np.eye(3) - np.outer(c, c))
        inertia = placement.act(pin.Inertia(m, c, central))
        chain.model.inertias[joint] = chain.model.inertias[joint] + inertia
    data = chain.model.createData()
    order = [coordinate for coordinate, *_ in chain.moves]
    for sample in range(0, moving.t.size, 7):
        state = [x[order, sample] for x in (moving.q, moving.q_dot, moving.q_ddot)]
        pin.computeCentroidalMomentumTimeVariation(chain.model, data, *state)
        centre = pin.centerOfMass(chain.model, data, state[0])
        rate = data.dhg
        np.testing.assert_allclose(force[0, sample], -rate.linear, rtol=0, atol=1e-10)
        about = rate.angular + np.cross(centre, rate.linear)
        np.testing.assert_allclose(moment[0, sample], -about, rtol=0, atol=1e-10)


def test_sizes_of_shaking_and_mass():
    cycle = on_cycle("four-bar")
    found = of_cycle(cycle, ["mass", "shaking_force_rms", "shaking_moment_peak"])
    known = cycle.symbols
    lengths = known["lx1"] + np.hypot(known["lx2"], known["ly2"]) + known["lx3"]
    np.testing.assert_allclose(found["mass"], known["rho"] * lengths, rtol=1e-14)
    force, moment = cycle.shaking
    rms = np.sqrt((force**2).sum(-1).mean(-1))
    np.testing.assert_allclose(found["shaking_force_rms"], rms, rtol=1e-14)
    np.testing.assert_allclose(found["shaking_moment_peak"], np.abs(moment[..., 2]).max(-1))
    assert not moment[..., :2].any()  # the plane's moments are about its normal


def test_transmission_angle_by_triangles():
    cycle = on_cycle("four-bar")
    nominal = cycle.model.mechanism.nominal
    B, C, D = four_bar_pins(cycle.values, nominal, cycle.motion.q[0])
    between = np.abs(np.angle((B - C) / (D - C)))
    expected = np.minimum(between, np.pi - between).min(axis=1)
    found = of_cycle(cycle, ["transmission_angle(B,C,D)"])
    # Loops close to 1e-12 over half a metre.
    np.testing.assert_allclose(found["transmission_angle(B,C,D)"], expected, rtol=0, atol=1e-11)


def test_transmission_angle_of_a_slider():
    """At most the crank stands square to the slide: then its sine is lx1/lx2."""
    cycle = on_cycle("slider-crank")
    found = of_cycle(cycle, ["transmission_angle(B,C,D)"])["transmission_angle(B,C,D)"]
    crank = cycle.values["lx1"][:, None] * np.abs(np.sin(cycle.motion.q[0]))
    swing = np.arcsin(crank / cycle.values["lx2"][:, None]).max(axis=1)
    np.testing.assert_allclose(found, np.pi / 2 - swing, rtol=0, atol=1e-11)


def test_a_slide_of_the_plane_by_pythagoras_and_by_poses():
    """Metrics measure it by points that bodies carry."""
    cycle = on_cycle("slider-crank")
    values, motion = cycle.values, cycle.motion
    lx1, lx2 = values["lx1"][:, None], values["lx2"][:, None]
    expected = lx1 * np.cos(motion.q[0]) + np.sqrt(lx2**2 - (lx1 * np.sin(motion.q[0])) ** 2)
    found = cycle.joint("D")
    # Loops close to 1e-12 over half a metre.
    np.testing.assert_allclose(
        found - found[:, :1], expected - expected[:, :1], rtol=0, atol=1e-11
    )
    examples = Path(__file__).parents[3] / "workflows" / "examples" / "mechanisms"
    for name, slide in (("dwell-slide", "S"), ("press", "S")):
        cycle = on_cycle(examples / f"{name}.yaml")
        ((_, plain),) = tracks(cycle.model, cycle.values, cycle.q, [slide])
        # Sums of four vectors of at most a metre, in another order.
        np.testing.assert_allclose(cycle.joint(slide), plain, rtol=0, atol=2e-15)


def test_torques_and_positions_for_a_users_own_metric():
    cycle = on_cycle("four-bar")
    mechanism = cycle.model.mechanism
    seen = regressor.observe(cycle.model, cycle.values, cycle.motion)
    expected = np.einsum("vskp,vp->vsk", seen.W, cycle.parameters)
    np.testing.assert_allclose(cycle.torques, expected, rtol=1e-12)
    _, C, _ = four_bar_pins(cycle.values, mechanism.nominal, cycle.motion.q[0])
    found = cycle.position("rocker")  # its origin is C
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], C, rtol=0, atol=1e-11)
    with pytest.raises(MechanismError, match="no body 'rokcer'"):
        cycle.position("rokcer")


@pytest.mark.parametrize(
    "name",
    [
        "four-bar",
        "rsur",
        pytest.param("quick-return", marks=pytest.mark.slow),
        pytest.param("3-rrr", marks=pytest.mark.slow),
    ],
)
def test_velocities_are_the_slopes_of_positions(name):
    """Central differences of closed positions: no velocity of the program enters."""
    cycle, h = on_cycle(name), 1e-4
    q = (cycle.motion.q + s * h * cycle.motion.q_dot for s in (-1, 1))
    before, after = (replace(cycle, q=trace(cycle.model, cycle.values, x).q) for x in q)
    for body in [one.name for one in cycle.model.mechanism.bodies]:
        point = (0.1, -0.2) if cycle.model.mechanism.planar else (0.1, -0.2, 0.3)
        slope = (after.position(body, point) - before.position(body, point)) / (2 * h)
        size = 1 + abs(slope).max()
        # h² of the third derivative, and closing to 1e-13 over h.
        np.testing.assert_allclose(cycle.velocity(body, point), slope, rtol=0, atol=2e-6 * size)
        R, turned = cycle.orientation(body), after.orientation(body) - before.orientation(body)
        np.testing.assert_allclose(
            R @ R.swapaxes(2, 3), np.broadcast_to(np.eye(3), R.shape), atol=1e-12
        )
        spin = np.einsum("vsij,vskj->vsik", turned / (2 * h), R)  # Ṙ Rᵀ
        omega = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        size = 1 + abs(omega).max()
        np.testing.assert_allclose(cycle.angular_velocity(body), omega, rtol=0, atol=2e-6 * size)
        assert cycle.velocity(body).shape == (cycle.count, len(cycle.motion.t), 3)


def test_angles_of_bodies_of_a_plane():
    cycle = on_cycle("four-bar")
    B, C, D = four_bar_pins(cycle.values, cycle.model.mechanism.nominal, cycle.motion.q[0])
    assert cycle.angle("crank").shape == (cycle.count, len(cycle.motion.t))
    # The crank turns once: from its pin at the origin to B, not folded at π.
    np.testing.assert_allclose(cycle.angle("crank"), np.unwrap(np.angle(B), axis=1), atol=1e-11)
    assert np.ptp(cycle.angle("crank"), axis=1) == pytest.approx(2 * np.pi, rel=0.05)
    # The rocker's frame is in C, its x axis points to D.
    expected = np.unwrap(np.angle(D - C), axis=1)
    np.testing.assert_allclose(cycle.angle("rocker"), expected, atol=1e-11)
    with pytest.raises(MechanismError, match="no one angle"):
        on_cycle("rsur").angle("crank")


def test_the_page_has_all_that_a_cycle_offers():
    page = (Path(__file__).parents[3] / "docs" / "study-files.md").read_text(encoding="utf-8")
    cycle = on_cycle("four-bar")
    offered = {name for name in dir(cycle) if not name.startswith("_")} - {"model", "values", "q"}
    listed = re.findall(r"^\| `(?:cycle\.)?(\w+)[^`]*`(?:, `(\w+)`)* \|", page, re.MULTILINE)
    assert offered <= {name for row in listed for name in row}


@pytest.mark.slow
def test_symbols_have_units():
    cycle = on_cycle("four-bar")
    assert cycle.symbols.keys() == cycle.units.keys()
    assert {cycle.units[name] for name in ("lx1", "ly2", "Dx")} == {"m"}
    assert cycle.units["rho"] == "kg/m"
    turned = on_cycle("sla-suspension")
    angles = {one.name for one in turned.model.mechanism.geometry if one.is_angle}
    assert angles == {name for name, unit in turned.units.items() if unit == "rad"}
    assert all(x.shape == (cycle.count,) for x in cycle.symbols.values())


def test_names():
    mechanism = load("four-bar")
    known = names(mechanism)
    assert "transmission_angle(B,C,D)" in known
    assert "stroke(D)" in known
    assert "transmission_angle(C,B,A)" in known  # the rocker drives
    assert not any("A,D" in name for name in known)  # at the frame nothing is transmitted
    assert find(mechanism, "transmission_angle(B, C, D)") is not None
    assert find(mechanism, "stroke(X)") is None
    assert array_name("transmission_angle(B, C, D)") == "transmission_angle_B_C_D"
    assert array_name("stroke(J.2)") == "stroke_J.2"


def test_bodies_without_inertias_are_named():
    from basepar_core.metrics.cycle import check

    mechanism = load("four-bar")
    crank, coupler, rocker = mechanism.bodies
    bare = replace(mechanism, bodies=(crank, replace(coupler, parameters=None), rocker))
    check(bare, ["stroke(D)"])
    with pytest.raises(MissingDataError, match=r"mass of 'four-bar' needs .* coupler states none"):
        check(bare, ["mass", "stroke(C)"])


@pytest.mark.parametrize("name", ["four-bar", "dwell", "ur10"])
def test_every_metric_that_a_mechanism_has_is_in_the_table(name):
    """What is computed of cycles and regimes against the table that readers ask."""
    mechanism = load(name)
    kinds = set()
    for metric in names(mechanism):
        entry = metric_of(metric)
        assert entry is not None, metric
        assert entry.kind in ("cycle", "regime"), metric
        assert bool(entry.arguments) == ("(" in metric)
        kinds.add(metric.partition("(")[0])
    regimes = set(words("regime")) if mechanism.motors else set()
    assert kinds >= {*words("cycle"), *regimes} - {
        word for word in words("cycle") if metric_of(f"{word}(P)")
    }


@pytest.mark.parametrize("name", ["stroke", "mass(D)", "torque_rms(A)", "no_such", "stroke_D"])
def test_names_that_are_no_metrics(name):
    assert metric_of(name) is None
