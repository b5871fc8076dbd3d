"""A pin in a slot: a massless block between a slide and a pin, and a Scotch yoke by hand."""

import json

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.extended import extended_observation
from basepar_core.base.product_route import product
from basepar_core.base.symbolic_route import black_box, numeric, symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.make import certify
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import closure, columns, motion, observe
from basepar_core.errors import FileError
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof.reduced import inertias, reduce_inertia
from basepar_core.torque_code import torque_program
from tests.core.certificate.test_checker_rules import rules_of
from workflows.export.torque_code import write

#: The yoke slides along x, its slot is along y.
YOKE = """
name: scotch yoke
space: planar
gravity: [0, -9.81]
geometry: {{r: {{value: 0.2, unit: m}}}}
bodies:
  crank: {{mass: 1.5, centre: [0.07, 0.02], central_inertia: 0.03}}
  yoke: {{mass: 2.5, centre: [0.1, 0.3], central_inertia: 0.1}}
joints:
  {first}
  S: {{type: pin_slot, connects: [yoke, crank], at: [[0, 0], [r, 0]], reference: [[0, 1], [0, 1]]}}
  {last}
coordinates: [{coordinate}]
assembly: {{A: 0.6 rad, S.1: 0.11 m, S.2: 0.6 rad, C: 0.165 m}}
excitation: {{kind: fourier, harmonics: 4, base_frequency: 0.5 Hz, samples: 40, seed: 2,
             amplitude: {{{coordinate}: 0.8 rad}}}}
friction: {{S.1: [viscous], S.2: [viscous]}}
"""
PIN = "A: {type: revolute, connects: [ground, crank]}"
RAIL = "C: {type: prismatic, connects: [ground, yoke], axis: [[1, 0], [1, 0]]}"
#: The slot cut; kept, from crank to yoke (its second body first); kept, from yoke to crank.
YOKES = {"cut": (PIN, RAIL, "A"), "backward": (PIN, RAIL, "S.2"), "forward": (RAIL, PIN, "S.2")}


def yoke(how):
    first, last, coordinate = YOKES[how]
    return closure.prepare(loads(YOKE.format(first=first, last=last, coordinate=coordinate)))


def by_hand(moving):
    """W (sample, parameter): d'Alembert on a yoke at x = r cos θ."""
    q, speed, rate = (x[0] for x in (moving.q, moving.q_dot, moving.q_ddot))
    r, g, c, s = 0.2, 9.81, np.cos(q), np.sin(q)
    still = 0 * q
    crank = [still, g * c, -g * s, rate]
    return np.stack([*crank, r * r * s * (c * speed**2 + s * rate), still, still, still], axis=1)


@pytest.mark.parametrize("how", YOKES)
def test_the_scotch_yoke_is_as_by_hand(how):
    model = yoke(how)
    node = [one for one in model.topology.tree if one.kind == "pin_slot"]
    assert [one.forward for one in node] == {"cut": [], "backward": [False], "forward": [True]}[
        how
    ]
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    expected = by_hand(moving)
    # Both of one closed triangle: some ten roundings of the largest entry, about 50.
    for W in (observe(model, {}, moving).W, Engine(model).observe({}, moving).W):
        np.testing.assert_allclose(W[0, :, 0], expected, rtol=0, atol=1e-12)
    phi = np.arange(1.0, 9.0)
    made: dict = {}
    exec(write(torque_program(model, range(8)), phi, "python"), made)
    for k in range(5):
        sample = [x[:, k].tolist() for x in (moving.q, moving.q_dot, moving.q_ddot)]
        assert made["torque"](*sample)[0] == pytest.approx(expected[k] @ phi, abs=1e-10)


@pytest.mark.parametrize("how", YOKES)
def test_friction_in_the_slot_is_as_by_hand(how):
    model = yoke(how)
    chosen = [one for one in columns(model.mechanism) if one.kind == "viscous"]
    seen = extended_observation(model, chosen)
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    q, speed = moving.q[0], moving.q_dot[0]
    # The pin's height is r sin θ; the yoke does not turn.
    expected = np.stack([(0.2 * np.cos(q)) ** 2 * speed, speed], axis=1)
    np.testing.assert_allclose(seen.W[0, :, 0, -2:], expected, rtol=0, atol=1e-12)


def test_the_yokes_reduced_inertia_is_as_by_hand():
    model = yoke("cut")
    q = np.linspace(0.2, 6.2, 9)
    found = reduce_inertia(model, {}, q, inertias(model, {}))
    J = 0.03 + 1.5 * (0.07**2 + 0.02**2)
    np.testing.assert_allclose(found.m[0], J + 2.5 * 0.04 * np.sin(q) ** 2, rtol=1e-12)
    np.testing.assert_allclose(found.m_prime[0], 2.5 * 0.04 * np.sin(2 * q), atol=1e-12)


def test_a_massless_block_makes_no_difference():
    """Whitworth's linkage against quick-return, whose block slides on the lever, hinged to the
    crank: the same W but for the block's columns, the same torques and count."""
    slot, block = (closure.prepare(load(name)) for name in ("whitworth", "quick-return"))
    moving = motion.excitation(slot.mechanism, slot.assembled.coordinates)
    W = observe(slot, {}, moving).W[0, :, 0]
    names = block.mechanism.parameter_names
    kept = [k for k, name in enumerate(names) if not name.startswith("block.")]
    assert [names[k] for k in kept] == list(slot.mechanism.parameter_names)
    expected = observe(block, {}, moving).W[0, :, 0][:, kept]
    # Two closures of condition below 100.
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    phi = slot.mechanism.inertial_parameters(slot.mechanism.nominal)
    np.testing.assert_allclose(W @ phi, expected @ phi, rtol=0, atol=1e-11)
    norms = np.linalg.norm(expected, axis=0)
    seen = expected[:, norms > 1e-11 * norms.max()]  # columns without effect are rounding
    values = np.linalg.svd(seen / np.linalg.norm(seen, axis=0), compute_uv=False)
    assert (values > 1e-6).sum() == (values > 1e-11).sum() == symbolic(slot).rank == 9


def test_all_routes_count_the_same():
    model = closure.prepare(load("whitworth"))
    found = [route(model) for route in (symbolic, numeric, black_box, product)]
    assert [one.rank for one in found] == [9] * 4
    assert found[0].certificate.at_most_grade == "theorem"


def test_the_checker_confirms_the_certificate():
    model = closure.prepare(load("whitworth"))
    assert checker.check(json.loads(json.dumps(certify(model, symbolic(model))))).rank == 9


def test_the_checker_lets_no_mass_pass_the_slot():
    """Where the pin stands at the slot's origin, a mass at it belongs to either; nowhere else."""
    rules = rules_of(load("whitworth"))
    entries = {"lever.m": "1", "crank.m": "-1", "crank.mx": "-r", "crank.J": "-r**2"}
    reason = "mass between lever and crank through pin_slot S"
    assert rules.fault("S", entries, reason) == "a motion of the joint carries momentum with it"


def test_it_is_planar():
    text = YOKE.format(first=PIN, last=RAIL, coordinate="A").replace("planar", "spatial")
    with pytest.raises(FileError, match="a pin_slot joint is planar; a spatial file has revolute"):
        loads(text)
