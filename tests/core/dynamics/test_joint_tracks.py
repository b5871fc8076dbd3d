"""Joint values along motions against triangles, in the tree and cut, in company and alone."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import kinematics, motion, regressor, spatial
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.joint_tracks import tracks
from basepar_core.files.mechanism_file import library_path, loads
from tests.mechanisms import nearby


def strokes(model, values, q, names):
    """Greatest less least value (variant,) by name."""
    return {name: np.ptp(track, axis=-1) for name, track in tracks(model, values, q, names)}


def on_cycle(name, count=5):
    """A mechanism's variants on their cycle: model, values, motion, configurations."""
    mechanism = load(name)
    model = prepare(mechanism)
    values = nearby(mechanism, count, 0.04, seed=3)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    seen = regressor.observe(model, values, moving)
    assert seen.closed.all()
    return model, values, moving, seen.trace.q


def four_bar_pins(values, nominal, angle):
    """Pins B, C, D as complex numbers (variant, sample), from two circles."""
    at = {name: values.get(name, np.array([nominal[name]]))[:, None] for name in nominal}
    B, D = at["lx1"] * np.exp(1j * angle), at["Dx"] + 1j * at["Dy"]
    coupler, span = np.hypot(at["lx2"], at["ly2"]), np.abs(D - B)
    along = (coupler**2 - at["lx3"] ** 2 + span**2) / (2 * span)
    across = np.sqrt(coupler**2 - along**2)
    return B, B + (along + 1j * across) * (D - B) / span, D + 0 * B


def test_four_bar_by_triangles():
    model, values, moving, q = on_cycle("four-bar")
    assert [model.mechanism.joints[cut.joint].name for cut in model.topology.cuts] == ["D"]
    B, C, D = four_bar_pins(values, model.mechanism.nominal, moving.q[0])
    crank, coupler, rocker = (np.unwrap(np.angle(x), axis=1) for x in (B, C - B, C - D))
    found = strokes(model, values, q, ["A", "B", "C", "D"])
    expected = {"A": crank, "B": coupler - crank, "C": rocker - coupler, "D": rocker}
    for name, track in expected.items():
        # Loops close to 1e-12; a pin's angle errs as much over a length of half a metre.
        np.testing.assert_allclose(found[name], np.ptp(track, axis=1), rtol=0, atol=1e-11)
    # The crank turns once, less the sample that would repeat the first.
    np.testing.assert_allclose(found["A"], 2 * np.pi * 127 / 128, rtol=1e-12)


def test_slider_by_pythagoras():
    model, values, moving, q = on_cycle("slider-crank")
    assert [model.mechanism.joints[cut.joint].name for cut in model.topology.cuts] == ["D"]
    lx1, lx2 = values["lx1"][:, None], values["lx2"][:, None]
    x = lx1 * np.cos(moving.q[0]) + np.sqrt(lx2**2 - (lx1 * np.sin(moving.q[0])) ** 2)
    found = strokes(model, values, q, ["D"])["D"]
    np.testing.assert_allclose(found, np.ptp(x, axis=1), rtol=0, atol=1e-11)
    # In line the slider travels two cranks; 128 samples miss each dead centre by at most
    # (2π/128/2)²/2 of a crank's curvature 1 + lx1/lx2.
    np.testing.assert_allclose(found, 2 * values["lx1"], rtol=1e-3)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "rsur"])
def test_alone_as_in_company(name):
    model, values, _, q = on_cycle(name)
    names = [value for joint in model.mechanism.joints for value in joint.values]
    together = strokes(model, values, q, names)
    assert all(np.isfinite(stroke).all() for stroke in together.values())
    for variant in range(5):
        own = {key: column[variant : variant + 1] for key, column in values.items()}
        alone = strokes(model, own, q[:, variant : variant + 1], names)
        for value in names:
            np.testing.assert_array_equal(alone[value], together[value][variant : variant + 1])


def test_spherical_joint_is_the_rotation_between_its_bodies():
    model, values, _, q = on_cycle("rsur")
    found = dict(tracks(model, values, q, ["B.1", "B.2", "B.3"]))
    vector = np.stack([found[f"B.{k}"] for k in (1, 2, 3)])
    # It passes half a turn; a jump to the other representative would be by 2π.
    assert np.sqrt((vector**2).sum(axis=0)).max() > 4
    assert np.abs(np.diff(vector, axis=-1)).max() < 1
    at = kinematics.poses(
        model.topology, kinematics.geometry(model.mechanism, values).over_samples(), q
    )
    joint = next(k for k, j in enumerate(model.mechanism.joints) if j.name == "B")
    turned = spatial.compose(at.X1[joint], spatial.matrix(vector))
    np.testing.assert_allclose(turned, at.X2[joint], rtol=0, atol=1e-12)  # some roundings


def test_rotation_vectors_continue_past_half_a_turn():
    angle = np.linspace(0.1, 6.2, 40)
    axis = np.array([2.0, -1.0, 2.0]) / 3
    true = axis[:, None, None] * angle
    measured = spatial.rotation_vector(spatial.matrix(true))
    assert np.abs(measured - true).max() > 3
    # Near a whole turn the measured angle is small, and its axis known to 1e-15/0.08.
    np.testing.assert_allclose(spatial.unwrapped(measured), true, rtol=0, atol=1e-12)


def test_a_rotation_vector_goes_on_through_a_whole_turn():
    """Exactly at the turn a vector has no axis of its own."""
    angle = np.array([5.0, 5.5, 6.0, 2 * np.pi, 6.5, 7.0])
    true = np.array([0.0, 0.0, 1.0])[:, None] * angle
    measured = true.copy()
    measured[:, 3:] -= np.array([0, 0, 2 * np.pi])[:, None]
    assert not measured[:, 3].any()
    np.testing.assert_allclose(spatial.unwrapped(measured), true, rtol=0, atol=1e-14)


def test_cut_joint_that_turns_round():
    """The four-bar cut at the crank pin instead, which turns once: no jump at π."""
    text = library_path("four-bar").read_text().splitlines(keepends=True)
    pin = next(k for k, line in enumerate(text) if line.startswith("  B: {type"))
    rocker_pin = next(k for k, line in enumerate(text) if line.startswith("  D: {type"))
    text.insert(rocker_pin + 1, text[pin])
    del text[pin]
    found = {}
    for source in (library_path("four-bar").read_text(), "".join(text)):
        model = prepare(loads(source))
        moving = motion.cycle(model.mechanism, model.assembled.coordinates)
        q = regressor.observe(model, {}, moving).trace.q
        cut = model.mechanism.joints[model.topology.cuts[0].joint].name
        found[cut] = strokes(model, {}, q, ["A", "B", "C", "D"])
    assert found["B"]["B"] > 5
    for name, stroke in found["D"].items():
        np.testing.assert_allclose(found["B"][name], stroke, rtol=0, atol=1e-11)


def test_coarse_cycle_of_a_driven_joint():
    """Two samples to a turn: what is driven is followed, not guessed."""
    mechanism = loads("""
name: pendulum
space: planar
gravity: [0, -9.81]
geometry: {l: {value: 500, unit: mm}}
bodies: {rod: {mass: 2 kg, centre: [l/2, 0], central_inertia: 1/100}}
joints: {A: {type: revolute, connects: [ground, rod]}}
coordinates: [A]
assembly: {A: 10 deg}
cycle: {joints: {A: {kind: constant_speed, speed: 5 rad/s, turns: 3}}, samples: 4}
""")
    model = prepare(mechanism)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    q = regressor.observe(model, {"l": np.array([0.4])}, moving).trace.q
    found = strokes(model, {"l": np.array([0.4])}, q, ["A"])["A"]
    np.testing.assert_allclose(found, 6 * np.pi * 3 / 4, rtol=1e-14)
