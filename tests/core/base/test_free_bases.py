"""Bases that float: counts, the base's own rows, Pinocchio's free-flyer, dust of forty digits."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

import basepar
from basepar_core.base.extended import extended_observation
from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import black_box, numeric, symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.make import certify
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import (
    as_rates,
    as_twists,
    closure,
    columns,
    kinematics,
    motion,
    observe,
    spatial,
)
from basepar_core.dynamics.force_columns import observe_columns
from basepar_core.dynamics.motion import Motion
from basepar_core.errors import FileError, MechanismError, UsageError
from basepar_core.expressions import ZERO
from basepar_core.files.mechanism_file import loads
from basepar_core.finite_field.rank import generic_rank
from basepar_core.mechanism import Fourier
from basepar_core.torque_code import torque_program
from basepar_core.variable_precision.observation import variant
from tests.core.certificate.test_checker_rules import rules_of
from tests.mechanisms import FREE, C, F, P, R, S, U, linkage, random_tree
from tests.oracles import dust, pinocchio_model

#: Joints of the tree behind the base.
TREES = {
    "revolutes": (R, R, R, R),
    "prismatics": (P, P, P),
    "both": (R, P, R),
    "six joints": (R, P, R, R, P, R),
    "a body alone": (),
}
#: Symbolic routes take half a minute for six joints of random frames.
FEW = [pytest.param(n, marks=pytest.mark.slow) if n == "six joints" else n for n in TREES]
SIX = [f"J0.{k}" for k in range(1, 7)]


def tree(name, seed=0):
    return closure.prepare(random_tree(seed, [FREE, *TREES[name]]))


def count(name):
    """10 a body; a revolute shares a mass, a first and a second moment, a prismatic six second
    moments; nothing of the base is shared with the ground."""
    joints = TREES[name]
    return 10 * (1 + len(joints)) - 3 * joints.count(R) - 6 * joints.count(P)


def rank_of(rows):
    """Numerical rank of rows (…, parameter), columns of unit length; the gap must be wide."""
    W = rows.reshape(-1, rows.shape[-1])
    norms = np.linalg.norm(W, axis=0)
    values = np.linalg.svd(W[:, norms > 0] / norms[norms > 0], compute_uv=False)
    rank = int((values > 1e-6 * values[0]).sum())
    assert (values[rank:] < 1e-11 * values[0]).all()  # rounding of some hundred rows
    return rank


def excited(model, samples=40):
    """Random states, more than the file's few."""
    law = replace(model.mechanism.excitation, samples=samples)
    return motion.excite(law, model.mechanism, model.assembled.coordinates)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("seed", range(2))
def test_all_routes_count_ten_a_body_less_three_a_revolute_and_six_a_prismatic(name, seed):
    it = tree(name, seed).mechanism
    model = closure.prepare(replace(it, excitation=replace(it.excitation, samples=40)))
    expected = count(name)
    found = [route(model) for route in (symbolic, numeric, black_box)]
    assert [one.rank for one in found] == [expected] * 3
    assert found[0].certificate.at_most_grade == "theorem"
    assert generic_rank(model, seed=3, pairs=2).rank == expected


@pytest.mark.parametrize("name", [pytest.param("both", marks=pytest.mark.slow), "a body alone"])
def test_in_variable_precision_the_count_and_w_are_the_same(name):
    it = tree(name, 1).mechanism
    sizes = tuple(one for one in it.excitation.amplitude)
    frequency = it.excitation.frequency
    # A law over time, whose rates are turned into twists; random states are twists themselves.
    for law in (it.excitation, Fourier(3, frequency, sizes, 24, 5)):
        model = closure.prepare(replace(it, excitation=replace(law, samples=24)))
        found = precise(model)
        assert found.rank == count(name)
        assert found.certificate.at_least_grade == "proved"


@pytest.mark.parametrize("law", ["states", "fourier"])
def test_in_variable_precision_w_is_the_plain_paths(law):
    it = tree("both", 2).mechanism
    own = it.excitation
    if law == "fourier":
        own = Fourier(3, own.frequency, own.amplitude, 12, 5)
    model = closure.prepare(replace(it, excitation=own))
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    plain = observe(model, {}, moving).W[0]
    seen = variant(model, {}, 10**6).observe(30)
    W = np.array([[math.ldexp(int(x), seen.scale) for x in row] for row in seen.entries.tolist()])
    # The float64 side's rounding.
    np.testing.assert_allclose(W, plain.reshape(W.shape), rtol=0, atol=1e-12 * np.abs(plain).max())


def test_the_order_of_coordinates_orders_rows_only():
    it = tree("both").mechanism
    order = np.random.default_rng(8).permutation(len(it.coordinates))
    mixed = replace(it, coordinates=tuple(it.coordinates[k] for k in order), excitation=None)
    model, other = closure.prepare(it), closure.prepare(mixed)
    moving = excited(model, 7)
    turned = Motion(moving.t, moving.q[order], moving.q_dot[order], moving.q_ddot[order])
    expected = observe(model, {}, moving).W[0][:, order]
    for W in (observe(other, {}, turned).W[0], Engine(other).observe({}, turned).W[0]):
        # The same sums in the same order, but for a base's mixed rows in the kernels.
        np.testing.assert_allclose(W, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_a_free_joint_to_a_body_that_stands_otherwise_changes_nothing():
    """It locks nothing, and tells where the body is."""
    links = [("A", R, "ground", "one"), ("B", U, "one", "two")]
    coordinates = ["A", "B.1", "B.2"]
    plain = closure.prepare(linkage(3, links, coordinates))
    watched = closure.prepare(linkage(3, [*links, ("J0", FREE, "ground", "two")], coordinates))
    assert [cut.kind for cut in watched.topology.cuts] == [FREE]
    moving = excited(plain, 6)
    expected = observe(plain, {}, moving).W[0]
    for W in (observe(watched, {}, moving).W[0], Engine(watched).observe({}, moving).W[0]):
        # Kernels and the plain path: some hundred roundings.
        np.testing.assert_allclose(W, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    assert symbolic(watched).rank == symbolic(plain).rank
    closed = basepar.Model(watched.mechanism).close(moving.q.T)
    at = kinematics.poses(
        watched.topology,
        kinematics.geometry(watched.mechanism, {}).over_samples(),
        closure.trace(watched, {}, moving.q).q,
    )
    here = spatial.rotate_back(at.X1[2], at.P2[2] - at.P1[2])[:, 0].T
    places = [closed.names.index(f"J0.{k}") for k in (1, 2, 3)]
    np.testing.assert_allclose(closed.values[:, places], here, rtol=0, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["both", "revolutes"])
def test_gravity_changes_no_count(name):
    it = tree(name).mechanism
    weightless = closure.prepare(replace(it, gravity=(ZERO, ZERO, ZERO)))
    assert symbolic(weightless).rank == count(name)
    assert rank_of(observe(weightless, {}, excited(weightless)).W) == count(name)


@pytest.mark.parametrize("name", TREES)
def test_the_bases_six_rows_have_the_rank_of_all(name):
    """Ayusawa, Venture & Nakamura, International Journal of Robotics Research 33(3), 2014."""
    model = tree(name)
    W = observe(model, {}, excited(model)).W[0]
    assert rank_of(W[:, :6]) == rank_of(W) == count(name)


def test_friction_and_rotors_of_joints_are_in_their_own_rows_only():
    """They push the base as much as the body, so that the base's rows cannot tell of them."""
    model = closure.prepare(
        loads(PLANAR.format(free="free") + "friction: {K: [viscous, rotor]}\n")
    )
    moving = excited(model)
    path = closure.trace(model, {}, moving.q)
    W = observe_columns(model, {}, moving, path.q, columns(model.mechanism))[0]
    own = model.mechanism.coordinates.index("K")
    assert W.shape[2] == 2
    assert not np.delete(W, own, axis=1).any()
    assert (np.abs(W[:, own]).max(axis=0) > 0.1).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", [(R, P, R, R, P), (U, S, C, F, R)], ids=["", "every joint"])
def test_regressor_and_torque_are_pinocchios(kinds, seed):
    it = random_tree(seed, [FREE, *kinds])
    model = closure.prepare(it)
    moving = excited(model, 9)
    oracle = pinocchio_model.Chain(it, {})
    states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
    expected = np.stack([oracle.columns(*state) for state in states])
    phi = np.random.default_rng(seed).normal(size=expected.shape[-1])
    for W in (observe(model, {}, moving).W[0], Engine(model).observe({}, moving).W[0]):
        # Asked for; some hundred roundings of the largest entry are 1e-13 of it.
        np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        torque = expected @ phi
        np.testing.assert_allclose(W @ phi, torque, rtol=0, atol=1e-12 * np.abs(torque).max())
    found = basepar.Model(it).regressor(moving.q.T, moving.q_dot.T, moving.q_ddot.T)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def three_legs():
    """A platform that is posed freely, over three legs that follow."""
    legs = [
        link
        for k in "123"
        for link in (
            (f"U{k}", U, "ground", f"lower{k}"),
            (f"P{k}", P, f"lower{k}", f"upper{k}"),
            (f"S{k}", S, f"upper{k}", "platform"),
        )
    ]
    return linkage(1, [("J0", FREE, "ground", "platform"), *legs], SIX, amplitude=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: tree("both").mechanism, three_legs], ids=["", "loops"])
def test_power_at_the_base_and_the_joints_is_growth_of_energy(make):
    """Of dust of forty digits, whose positions alone are looked at."""
    it = make()
    model = closure.prepare(it)
    moving = excited(model, 3)
    values = as_rates(it, moving)
    oracle = dust.Dust(it, {})
    cloud = dust.random_cloud(it, np.random.default_rng(1))
    for seen in (observe(model, {}, moving), Engine(model).observe({}, moving)):
        for k in (0, 2):
            work = dust.work(it, cloud, seen.W[0, k])
            q, v, a = (x[:, k] for x in (values.q, values.q_dot, values.q_ddot))
            expected = oracle.power(cloud, q, v, a)
            # Loops of condition below 100 and some ten roundings, of the largest power.
            np.testing.assert_allclose(
                moving.q_dot[:, k] @ work, expected, rtol=0, atol=1e-12 * np.abs(expected).max()
            )


def test_twists_are_those_of_a_frame_that_moves():
    """Against central differences in forty digits, and back."""
    it = tree("a body alone").mechanism
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 6, 4))
    given = Motion(np.arange(4.0), q, v, a)
    found = as_twists(it, given)
    h = mpf(10) ** -10

    def twist(k, t):
        """(v, ω) of sample k at a time t from it, in the frame's axes."""

        def at(s):
            return dust.joint_motion(
                FREE, [mpf(x) + s * mpf(y) + s * s / 2 * mpf(z) for x, y, z in
                       zip(*(m[:, k].tolist() for m in (q, v, a)), strict=True)]
            )  # fmt: skip

        (R0, p0), (R, _), (R1, p1) = at(t - h), at(t), at(t + h)
        slide = [(y - x) / (2 * h) for x, y in zip(p0, p1, strict=True)]
        rate = [
            [(y - x) / (2 * h) for x, y in zip(*rows, strict=True)]
            for rows in zip(R0, R1, strict=True)
        ]
        back = dust.transpose(R)
        spin = dust.multiply(back, rate)
        return [*dust.apply(back, slide), spin[2][1], spin[0][2], spin[1][0]]

    with mp.workdps(40):
        for k in range(4):
            expected = [float(x) for x in twist(k, mpf(0))]
            pair = zip(twist(k, -h), twist(k, h), strict=True)
            change = [float((y - x) / (2 * h)) for x, y in pair]
            # Differences of differences err by 1e-20; float64 by some ten roundings.
            np.testing.assert_allclose(found.q_dot[:, k], expected, rtol=0, atol=1e-13)
            np.testing.assert_allclose(found.q_ddot[:, k], change, rtol=0, atol=1e-13)
    back = as_rates(it, found)
    np.testing.assert_allclose(back.q_dot, v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.q_ddot, a, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_kernels_close_loops_through_the_base_in_every_variant():
    it = three_legs()
    model = closure.prepare(it)
    moving = excited(model, 12)
    values = {"x_U1": np.array([0.98, 1.0, 1.03]) * it.nominal["x_U1"]}
    plain, fast = observe(model, values, moving), Engine(model).observe(values, moving)
    assert plain.closed.all()
    assert fast.closed.all()
    scale = np.abs(plain.W).max()
    # Both round some hundred times and lose what the loops' margin says.
    assert np.abs(fast.W - plain.W).max() < 1e-12 / plain.trace.margin.min() * scale


@pytest.mark.slow
def test_the_checker_confirms_the_certificate():
    model = tree("both")
    document = json.loads(json.dumps(certify(model, symbolic(model))))
    assert checker.check(document).rank == count("both")


def test_the_checker_lets_nothing_pass_into_the_ground():
    """Neither a mass at the joint's point, which a spherical joint does, nor without gravity."""
    it = loads(BODY.format(gravity="0, 0, 0"))
    for entries, what in (({"b.m": "1"}, "mass"), ({"b.mx": "1"}, "first moment")):
        reason = f"{what} of b into the ground through free B"
        assert (
            rules_of(it).fault("B", entries, reason) == "the body's kinetic energy depends on it"
        )


BODY = """
name: body
space: spatial
gravity: [{gravity}]
bodies: {{b: {{mass: 2, centre: [0.1, 0, 0.2], central_inertia: [1, 0, 0, 1, 0, 1]}}}}
joints: {{B: {{type: free, connects: [ground, b]}}}}
coordinates: [B.1, B.2, B.3, B.4, B.5, B.6]
friction: {{B.1: [viscous], B.4: [viscous]}}
"""


def test_friction_on_values_of_the_base_is_by_their_rates():
    """B.1 moves along the world's x; ω = J(r) ṙ ties B.4: virtual work of ṙ₁ at unit torque."""
    it = loads(BODY.format(gravity="0, 0, -9.81"))
    model = closure.prepare(it)
    q, v, a = np.random.default_rng(5).uniform(-1, 1, (3, 6, 7))
    moving = Motion(np.arange(7.0), q, v, a)
    rates = as_rates(it, moving).q_dot
    chosen = [one for one in columns(it) if one.kind == "viscous"]
    path = closure.trace(model, {}, q)
    W = observe_columns(model, {}, moving, path.q, chosen)[0]
    power = np.einsum("scp,cs->sp", W, v)
    # viscous · rate² is the power that it takes.
    np.testing.assert_allclose(power, np.stack([rates[0], rates[3]], axis=1) ** 2, rtol=1e-11)


PLANAR = """
name: floating
space: planar
gravity: [1, -9.81]
geometry: {{l: {{value: 0.3, unit: m}}}}
bodies: {{trunk: {{}}, thigh: {{}}, shank: {{}}, foot: {{}}}}
joints:
  B: {{type: {free}, connects: [ground, trunk]}}
  H: {{type: revolute, connects: [trunk, thigh], at: [[l, 0.1], [0, 0]]}}
  K: {{type: revolute, connects: [thigh, shank], at: [[l, 0], [0, 0]]}}
  A: {{type: prismatic, connects: [shank, foot], axis: [[3, 4], [5, 0]]}}
coordinates: [B.1, B.2, B.3, H, K, A]
excitation: {{kind: states, samples: 30, seed: 3, frequency: 1 Hz,
  amplitude: {{B.1: 0.1, B.2: 0.2, B.3: 1, H: 1, K: 1, A: 0.1}}}}
"""


def test_in_the_plane_four_a_body_less_one_a_joint():
    """A revolute shares a mass, a prismatic a moment of inertia; the base's rows see all."""
    model = closure.prepare(loads(PLANAR.format(free="free")))
    for route in (symbolic, numeric, black_box, precise):
        assert route(model).rank == 4 * 4 - 3
    W = extended_observation(model, ()).W[0]
    assert rank_of(W[:, :3]) == rank_of(W) == 13
    assert json.loads(json.dumps(certify(model, symbolic(model))))["grade"] == "theorem"
    weightless = replace(model.mechanism, gravity=(ZERO, ZERO, ZERO))
    assert symbolic(closure.prepare(weightless)).rank == 13


def test_in_the_plane_it_is_the_planar_joint():
    free, planar = (loads(PLANAR.format(free=kind)) for kind in ("free", "planar"))
    assert replace(free, source="") == replace(planar, source="")


@pytest.mark.parametrize("ends", ["[b, ground]", "[b, c]"])
def test_it_goes_from_the_ground_to_a_body(ends):
    text = BODY.format(gravity="0, 0, 0").replace("[ground, b]", ends)
    text = text.replace("bodies: {", "bodies: {c: {}, ")
    with pytest.raises(FileError, match=r"write `connects: \[ground, [bc]\]`"):
        loads(text)


def test_all_six_values_are_coordinates_or_none():
    text = BODY.format(gravity="0, 0, 0").replace("coordinates: [B.1, ", "coordinates: [")
    with pytest.raises(MechanismError, match="6 degrees of freedom, but 5 coordinates"):
        closure.prepare(loads(text))
    it = replace(three_legs(), coordinates=("J0.1", *(f"U{k}.1" for k in "123"), "P1", "P2"))
    with pytest.raises(MechanismError, match=r"not all of J0\.1, J0\.2.* Name all six"):
        closure.prepare(replace(it, excitation=None))


def test_torques_are_not_written_out_with_a_base():
    with pytest.raises(UsageError, match="the free joint B as a coordinate"):
        torque_program(closure.prepare(loads(BODY.format(gravity="0, 0, 0"))), [0])
