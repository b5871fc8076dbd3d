"""Honest radii: what is enclosed is there, and what is not there is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import library_path, loads
from basepar_core.variable_precision import motion as exact_motion
from basepar_core.variable_precision.arithmetic import bits_of, exact, working
from basepar_core.variable_precision.configurations import (
    NotClosedError,
    System,
    poses_from_floats,
)
from basepar_core.variable_precision.exact_geometry import geometry, symbol_values
from basepar_core.variable_precision.krawczyk import FloatMatrix, Inverse, worst
from basepar_core.variable_precision.observation import variant
from basepar_core.variable_precision.regressors import energy_rows, inverse_dynamics_rows
from basepar_core.variable_precision.rotations import rates, rotation
from tests.mechanisms import C, E, F, P, R, S, U, linkage, loop, random_tree

LOOPS = [
    ((R, S, U, R), ["a"], 1),
    ((R, C, C, C), ["a"], 0),
    ((U, S, R, P), ["a.1"], 2),
    ((E, S, R), ["a.3"], 2),
    ((C, S, U), ["a.2"], 2),
    ((R, R, S, F, U), ["a"], 1),
    ((S, R, R, R, R, R, R), ["a.1", "a.2", "a.3"], 5),
]


def balls(one, digits):
    """Rows of W and of the energies of all samples, as balls."""
    mechanism = one.model.mechanism
    found = []
    with working(bits_of(digits)):
        dims = geometry(mechanism, symbol_values(mechanism, one.values))
        system = System(mechanism, dims)
        for sample, state in zip(
            one.picks, exact_motion.samples(mechanism, one.start), strict=True
        ):
            near = poses_from_floats(one.R[sample], one.p[sample], mechanism.planar)
            closed = system.close(near, state)
            motion = system.accelerations(closed, state)
            rows = inverse_dynamics_rows(mechanism.planar, closed, *motion, dims)
            kinetic, potential = energy_rows(mechanism.planar, closed, dims)
            found += [x for row in (*rows, *kinetic, potential) for x in row]
    return found


def assert_enclosed(mechanism):
    one = variant(prepare(mechanism), {}, 6)
    wide, narrow = balls(one, 40), balls(one, 80)
    assert len(wide) == len(narrow)
    assert all(w.contains(n) for w, n in zip(wide, narrow, strict=True))
    # Neither are they so wide that they would always be right.
    size = worst(narrow)
    assert worst([x.rad() for x in wide]) < size - bits_of(20)


# True values lie inside.


@pytest.mark.parametrize("seed", range(3))
def test_every_joint_as_a_drive(seed):
    assert_enclosed(random_tree(seed, [R, P, C, U, S, E, F]))


@pytest.mark.parametrize(("kinds", "coordinates", "seed"), LOOPS)
def test_loops_of_every_joint(kinds, coordinates, seed):
    assert_enclosed(linkage(seed, loop(*kinds), coordinates, amplitude=0.02))


@pytest.mark.parametrize(
    "name", ["four-bar", "slider-crank", "five-bar", "rsur", "sla-suspension"]
)
def test_shipped_mechanisms(name):
    assert_enclosed(load(name))


def test_declared_errors_hold_at_any_digits():
    """Integers of forty digits are as near to those of a hundred as they say."""
    one = variant(prepare(load("watt-ii")), {})
    for form in ("W", "energy"):
        few, many = one.observe(40, form), one.observe(100, form)
        assert few.proved
        off = few.scale - many.scale
        pairs = zip(few.entries.entries(), many.entries.entries(), strict=True)
        assert all(abs((x << off) - y) <= (few.radius << off) + many.radius for x, y in pairs)
        assert few.radius <= 64


@pytest.mark.parametrize("name", ["sla-suspension", "gripper", "parallelogram"])
@pytest.mark.parametrize("off", [0.0, 1e-25])
def test_more_digits_begin_at_the_last_and_are_as_right(name, off):
    """From configurations of forty digits, their last ones spoilt too, as from float64's."""
    model = prepare(load(name))
    one, anew = variant(model, {}, 6), variant(model, {}, 6).observe(100)
    one.observe(40)
    for sample, at in one.closings.at.items():
        p = [(x + arb(off), y, z) for x, y, z in at.p]
        one.closings.at[sample] = replace(at, p=p)
    again = one.observe(100)
    assert again.scale == anew.scale
    assert max(abs(x) for x in (again.entries - anew.entries).entries()) <= (
        again.radius + anew.radius
    )
    assert again.radius <= 64


def test_loops_closed_too_loosely_are_closed_by_the_next_digits_or_not_at_all():
    one = variant(prepare(load("four-bar")), {}, 3)
    one.observe(40)
    for sample, at in one.closings.at.items():
        p = [(x + arb(1e-5), y, z) for x, y, z in at.p]  # another branch might be as near
        one.closings.at[sample] = replace(at, p=p)
    with pytest.raises(NotClosedError, match="configuration is off"):
        one.observe(100)


def test_roots_of_relations_are_enclosed():
    text = library_path("slider-crank").read_text()
    text = text.replace(
        "  lx2: {value: 0.4, unit: m, bounds: [0.3, 0.8]}\n", "  lx2: {value: 0.14, unit: m}\n"
    ).replace("bodies:\n", "relations: {lx2: lx2^2 = 2*lx1^2}\nbodies:\n", 1)
    mechanism = loads(text)
    with working(100):
        wide = symbol_values(mechanism, {"lx1": 0.5})["lx2"]
    with working(400):
        assert wide.contains((arb(1) / 2).sqrt())
        assert worst([wide.rad()]) < -90


@pytest.mark.parametrize("size", [1e-9, 0.7, 3.0, 7.5])
def test_series_of_rotations_keep_their_remainder(size):
    v = [exact(size) * exact(d) for d in (0.48, -0.6, 0.64)]
    found = {}
    for bits in (60, 240):
        with working(bits):
            r = (v[0], v[1], v[2])
            J, omega, change = rates(r, r, r)
            found[bits] = [x for row in (*rotation(r), *J, omega, change) for x in row]
    assert all(w.contains(n) for w, n in zip(found[60], found[240], strict=True))


def test_linear_systems_hold_exact_solutions():
    rng = np.random.default_rng(5)
    numbers = [fmpq(int(x), 7) for x in rng.integers(-50, 50, 36)]
    right = [fmpq(int(x), 11) for x in rng.integers(-50, 50, 12)]
    solution = fmpq_mat(6, 6, numbers).solve(fmpq_mat(6, 2, right))
    with working(120):
        J, b = arb_mat(6, 6, [arb(x) for x in numbers]), arb_mat(6, 2, [arb(x) for x in right])
        found = Inverse.of(FloatMatrix.around(J)).solve(J, b)
        assert all(x.contains(y) for x, y in zip(found.entries(), solution.entries(), strict=True))
        assert worst([x.rad() for x in found.entries()]) < -90


# What is not there is refused.


def closing(name="four-bar", digits=60):
    """A system, its first sample's equations, and where Newton's method ends."""
    one = variant(prepare(load(name)), {})
    mechanism = one.model.mechanism
    system = System(mechanism, geometry(mechanism, symbol_values(mechanism, {})))
    state = exact_motion.samples(mechanism, one.start)[0]
    values = [[state[0][k] for k in indices] for indices in system.order]
    driven = [e for d, mine in zip(system.drives, values, strict=True) for e in d.equations(mine)]
    near = poses_from_floats(one.R[one.picks[0]], one.p[one.picks[0]], mechanism.planar)
    return system, *system._newton(near, driven), driven


@pytest.mark.parametrize("name", ["four-bar", "sla-suspension"])
def test_a_configuration_1e_20_off_is_refused(name):
    with working(bits_of(80)):
        system, at, residual, driven = closing(name)
        poses, matrix, proved = system._enclosed(at, residual, driven)
        assert worst([x.rad() for p in poses.p for x in p]) < -bits_of(70)
        off = arb(10) ** -20
        nothing = (arb(0), arb(0), arb(0))
        shifts = [(off, arb(0), arb(0)), *[nothing] * (len(at.p) - 1)]
        moved = at.moved([nothing] * len(at.p), shifts)
        with pytest.raises(NotClosedError, match=r"open by 10\^-20"):
            system._enclosed(moved, worst(system._gaps(moved.poses(), driven)), driven)
        # Neither does Krawczyk's operator prove it in the box that the true one was proved in.
        residual = worst(system._gaps(moved.poses(), driven))
        held = FloatMatrix.around(matrix)
        assert not proved.closes(held, residual, -float(bits_of(70)))
        assert proved.closes(held, residual, residual + math.log2(proved.norm) + 2)


def test_a_singular_jacobian_proves_nothing():
    with working(100):
        ones = arb_mat(2, 2, [1, 1, 1, 1])
        with pytest.raises(NotClosedError, match="singular"):
            Inverse.of(FloatMatrix.around(ones))
        wide = arb_mat(2, 2, [arb(1, 1), 0, 0, arb(1, 1)])  # zero is among its pivots
        held = FloatMatrix.around(wide)
        assert not Inverse.of(held).closes(held, -300.0, -200.0)


def test_redundant_equations_are_not_called_proved():
    text = """
name: flat
space: spatial
gravity: [0, -9.81, 0]
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[3/10, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[7/10, 0, 0], [6/10, 0, 0]]}
  D: {type: revolute, connects: [ground, three], at: [[1/2, 0, 0], [0, 0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -40 deg, C: 70 deg}
excitation: {kind: fourier, harmonics: 5, base_frequency: 1 Hz, samples: 24, seed: 1,
  amplitude: {A: 0.3 rad}}
"""
    assert not variant(prepare(loads(text)), {}).observe(40).proved


@pytest.mark.parametrize("digits", [40, 200])
def test_precision_is_restored_after_a_refusal(digits):
    one = variant(prepare(load("four-bar")), {})
    one.p[...] += 1e-4
    ctx.prec = 91
    try:
        with pytest.raises(NotClosedError):
            one.observe(digits)
        assert ctx.prec == 91
    finally:
        ctx.prec = 53
