"""Torque functions as text: they are W φ of the regressor, which is another formulation."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import workflows
from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import kinematics
from basepar_core.dynamics.closure import Model, prepare, trace_alone
from basepar_core.dynamics.motion import Motion, cycle, excitation
from basepar_core.dynamics.points import carried, places
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.files.mechanism_file import library_names, loads
from basepar_core.reduction.mass_matrix import inertia_ratio, is_usable, mass_columns
from basepar_core.reduction.reduce import reduce_mechanism
from basepar_core.torque_code.program import torque_program
from workflows.export.torque_code import operations, write

SAMPLES = 12
#: Planar, spatial and open; the whole library is a matter of minutes.
SHORT = ("four-bar", "slider-crank", "rssr", "ur10", "whitworth", "planetary-gear", "screw-jack")
NAMES = [
    n if n in SHORT else pytest.param(n, marks=pytest.mark.slow)
    for n in library_names()
    if n != "quadruped"  # a base that floats is rejected: tests/core/base/test_free_bases.py
]


@cache
def model(name: str) -> Model:
    return prepare(load(name))


def motion_of(one: Model) -> Motion:
    start = one.assembled.coordinates
    return (
        excitation(one.mechanism, start)
        if one.mechanism.excitation
        else cycle(one.mechanism, start)
    )


def parameters(one: Model) -> np.ndarray:
    """Without symmetry, so that no error hides behind a zero."""
    rng = np.random.default_rng(4)
    return rng.uniform(0.5, 2.0, len(one.mechanism.parameter_names))


def module(text: str) -> dict:
    found: dict = {}
    exec(compile(text, "torque.py", "exec"), found)
    return found


def sample(motion: Motion, k: int) -> list[list[float]]:
    return [x[:, k].tolist() for x in (motion.q, motion.q_dot, motion.q_ddot)]


@pytest.mark.parametrize("name", NAMES)
def test_python_is_the_regressor_times_parameters(name):
    one = model(name)
    motion, phi = motion_of(one), parameters(one)
    expected = observe(one, {}, motion).W[0] @ phi
    found = module(write(torque_program(one, range(len(phi))), phi, "python"))
    state = list(found["START"])
    ours = [found["torque"](*sample(motion, k), state=state) for k in range(SAMPLES)]
    # Rounding through the loops' inverses, whose condition is below 1e4 in the library.
    scale = np.abs(expected).max()
    assert np.abs(np.array(ours) - expected[:SAMPLES]).max() <= 1e-11 * scale
    alone = found["torque"](*sample(motion, SAMPLES - 1))  # from the assembly in one go
    np.testing.assert_allclose(alone, ours[-1], rtol=0, atol=1e-9 * scale)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "name", ["four-bar", "ur10", "rssr", "whitworth", "planetary-gear", "screw-jack"]
)
def test_c_is_the_regressor_times_parameters(name, tmp_path):
    one = model(name)
    motion, phi = motion_of(one), parameters(one)
    expected = observe(one, {}, motion).W[0] @ phi
    library = compiled(write(torque_program(one, range(len(phi))), phi, "c"), tmp_path)
    state = np.array(module(write(torque_program(one, [0]), [1.0], "python"))["START"])
    tau = np.empty(len(motion.q))
    for k in range(SAMPLES):
        arguments = [np.array(x) for x in (*sample(motion, k), phi)]
        assert library.torque(*map(pointer, [*arguments, state, tau])) == 0
        assert np.abs(tau - expected[k]).max() <= 1e-11 * np.abs(expected).max()
    back = np.empty(len(tau))
    q, qd, qdd = (np.array(x) for x in sample(motion, SAMPLES - 1))
    assert library.acceleration(*map(pointer, (q, qd, tau, phi, state, back))) == 0
    np.testing.assert_allclose(back, qdd, rtol=0, atol=1e-8 * (1 + np.abs(qdd).max()))


def compiled(text: str, folder) -> ctypes.CDLL:
    (folder / "torque.c").write_text(text)
    options = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    made = ["cc", *options, "-o", str(folder / "t.so"), str(folder / "torque.c"), "-lm"]
    done = subprocess.run(made, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "t.so"))


def pointer(array: np.ndarray):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


#: A point of a body that moves in space, and one of the ground.
IN_SPACE = """
points:
  P: {body: coupler, at: [0.1 m, 0.2 m, -0.3 m]}
  Q: {body: ground, at: [1 m, 2 m, 3 m]}
"""


@pytest.mark.parametrize("name", ["jansen", "press", "rssr"])
def test_points_are_where_kinematics_has_them(name, tmp_path):
    shipped = Path(workflows.__file__).parent / "examples" / "mechanisms" / f"{name}.yaml"
    mechanism = load(shipped if shipped.exists() else name)
    if not mechanism.points:
        mechanism = loads(mechanism.source + IN_SPACE)
    one = prepare(mechanism)
    motion = motion_of(one)
    dims, path = kinematics.geometry(mechanism, {}), trace_alone(one, motion.q)
    local = carried(mechanism.points, mechanism.nominal)[..., None]
    wanted = places(one, dims.over_samples(), path.q, mechanism.points, local)
    program = torque_program(one, [0])
    found = module(write(program, [1.0], "python"))
    assert found["POINTS"] == [point.name for point in mechanism.points]
    library = compiled(write(program, [1.0], "c"), tmp_path) if shutil.which("cc") else None
    ours, state = list(found["START"]), np.array(found["START"])
    for k in range(SAMPLES):
        expected = wanted[:, :, 0, k]
        at = np.array(found["points"](motion.q[:, k].tolist(), ours))
        # Loops are closed to 1e-9 times 1e-9; lengths are about 1 m.
        np.testing.assert_allclose(at, expected[:, : at.shape[1]], rtol=0, atol=1e-12)
        if library is not None:
            out = np.empty_like(at)
            assert library.points(*map(pointer, (motion.q[:, k].copy(), state, out))) == 0
            np.testing.assert_allclose(out, at, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "ur10"])
def test_reduced_functions_err_as_the_path_says(name):
    one = model(name)
    base = symbolic(one)
    reduced = reduce_mechanism(one, base, criteria=["tolerance"])
    phi = one.mechanism.inertial_parameters(one.mechanism.nominal)
    motion = cycle(one.mechanism, one.assembled.coordinates)
    exact = reduced.W @ phi
    size = int(reduced.selection.size[0, 0])
    counts = {}
    for some in (base.rank, size):
        kept = reduced.generalised(some)
        program = torque_program(one, kept.columns)
        counts[some] = operations(program).total
        found = module(write(program, kept.nominal(phi), "python"))
        state = list(found["START"])
        tau = [found["torque"](*sample(motion, k), state=state) for k in range(motion.t.size)]
        weights = 1 / np.array([x for _, x in reduced.noise])
        error = np.linalg.norm((tau - exact) * weights) / np.linalg.norm(exact * weights)
        # The loops are closed to 1e-9 times 1e-9; torques cancel to 1e-12 of their parts.
        assert error == pytest.approx(
            reduced.path.torque_error[0, base.rank - some], rel=1e-6, abs=1e-10
        )
    assert counts[size] < counts[base.rank]


def test_forward_dynamics_with_generalised_parameters():
    """A simulated motion of the reduced model against the full one's."""
    one = model("four-bar")
    base = symbolic(one)
    reduced = reduce_mechanism(one, base, criteria=["tolerance"], tolerance=1e-3)
    phi = one.mechanism.inertial_parameters(one.mechanism.nominal)
    motion = cycle(one.mechanism, one.assembled.coordinates)
    columns = mass_columns(one, motion)
    ends = []
    for size in (base.rank, int(reduced.selection.size[0, 0])):
        kept = reduced.generalised(size)
        values = kept.nominal(phi)
        assert is_usable(inertia_ratio(columns, kept.full(values), phi))
        found = module(write(torque_program(one, kept.columns), values, "python"))
        ends.append(simulated(found, motion, steps=20))
    travel = np.abs(motion.q[:, 20] - motion.q[:, 0]).max()
    # Torques are equal to 1e-3 of their norm; a sixth of the cycle does not amplify that.
    assert np.abs(ends[0] - ends[1]).max() < 1e-2 * travel
    # The full model driven by its own inverse dynamics stays on the cycle (Euler, h = 0.8 ms).
    assert np.abs(ends[0] - motion.q[:, 20]).max() < 1e-2 * travel


def test_a_reduction_can_leave_joints_without_inertia():
    """The UR10's wrist costs next to no torque: in forward dynamics it is needed all the same."""
    one = model("ur10")
    base = symbolic(one)
    reduced = reduce_mechanism(one, base, criteria=["tolerance"], tolerance=1e-3)
    phi = one.mechanism.inertial_parameters(one.mechanism.nominal)
    columns = mass_columns(one, cycle(one.mechanism, one.assembled.coordinates))
    whole, kept = (
        reduced.generalised(base.rank),
        reduced.generalised(int(reduced.selection.size[0, 0])),
    )
    same = inertia_ratio(columns, whole.full(whole.nominal(phi)), phi)
    np.testing.assert_allclose(same, 1, rtol=1e-7)  # M's condition of 1e5 times rounding
    assert not is_usable(inertia_ratio(columns, kept.full(kept.nominal(phi)), phi))


def simulated(found: dict, motion: Motion, steps: int) -> np.ndarray:
    """Positions after some samples under the torques of the full cycle, semi-implicit Euler."""
    h = (motion.t[1] - motion.t[0]) / 10
    q, v = motion.q[:, 0].copy(), motion.q_dot[:, 0].copy()
    state = list(found["START"])
    drive = list(found["START"])
    for k in range(10 * steps):
        at = [
            np.interp(k / 10, range(motion.t.size), row)
            for x in (motion.q, motion.q_dot, motion.q_ddot)
            for row in x
        ]
        n = len(q)
        tau = found["torque"](at[:n], at[n : 2 * n], at[2 * n :], state=drive)
        v = v + h * np.array(found["acceleration"](q.tolist(), v.tolist(), tau, state=state))
        q = q + h * v
    return q


def test_acceleration_is_pinocchios():
    """Torque, our acceleration, and back by Pinocchio's regressor."""
    pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    one = model("ur10")
    phi = one.mechanism.inertial_parameters(one.mechanism.nominal)
    chain = Chain(one.mechanism, {})
    found = module(write(torque_program(one, range(len(phi))), phi, "python"))
    q, v, tau = np.random.default_rng(2).uniform(-1, 1, (3, 6))
    a = found["acceleration"](q.tolist(), v.tolist(), (50 * tau).tolist())
    back = chain.columns(q, v, np.array(a)) @ phi
    np.testing.assert_allclose(back, 50 * tau, rtol=0, atol=1e-9)  # sums of 1e3 N m cancel


def test_dropped_parameters_cost_nothing():
    one = model("ur10")
    last = [len(one.mechanism.parameter_names) - 1]
    few, none = torque_program(one, last), torque_program(one, [])
    assert operations(none).total == 0
    assert 0 < operations(few).total < operations(torque_program(one, range(60))).total
    assert module(write(none, [], "python"))["torque"]([0] * 6, [0] * 6, [0] * 6) == [0.0] * 6


def test_spherical_coordinates_are_refused():
    text = """
name: ball
space: spatial
gravity: [0, 0, -9.81]
geometry: {L: {value: 1, unit: m}}
bodies: {ball: {}}
joints: {S: {type: spherical, connects: [ground, ball], at: [[0, 0, 0], [L, 0, 0]]}}
coordinates: [S.1, S.2, S.3]
assembly: {S.1: 0.1, S.2: 0.2, S.3: 0.3}
"""
    with pytest.raises(UsageError, match="spherical joint S as a coordinate"):
        torque_program(prepare(loads(text)), [0])


def test_loops_that_cannot_close_say_so():
    """Crank and ground in line are longer than coupler and rocker together."""
    text = model("four-bar").mechanism.source
    text = text.replace("lx1: {value: 0.3, unit: m, bounds: [0.2, 1.5]}", "lx1: {value: 1.35}")
    text = text.replace("Dx: {value: 1.0,", "Dx: {value: 1.4,").replace(
        "lx1: {value: 1.35}", "lx1: {value: 1.35, unit: m}"
    )
    one = prepare(loads(text))
    found = module(write(torque_program(one, range(12)), [1.0] * 12, "python"))
    with pytest.raises(ValueError, match="cannot be closed"):
        found["torque"]([3.14], [0.0], [0.0])
