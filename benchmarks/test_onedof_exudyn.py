"""Two turns of the stationary bicycle against Exudyn's full model, at equal phase error.

Exudyn has all bodies, constraints and multipliers; its loads are compiled (symbolic functions),
its solver is the fastest of those that it has for constraints, its step the longest whose crank
stays within the phase error. Ours is the reduced equation: with tables given, as in the paper's
comparison, and from the dimensions on.
"""

import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from basepar_core.api import load
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import kinematics
from basepar_core.dynamics.closure import prepare
from basepar_core.expressions.tree import evaluate
from basepar_core.single_dof import cycle_integrator
from basepar_core.single_dof.joint_rates import modes
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.path import blocks, follow
from basepar_core.single_dof.periodic_tables import Turner
from basepar_core.single_dof.range import find_way

from .conftest import seconds

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without checks of ranges
exu = pytest.importorskip("exudyn")

#: rad/s at the first node: a period of 1 s; the regime is neutral.
SPEED = 6.214256655119008
#: Geometries tabulated together.
MANY = 256
#: Steps of Exudyn tried: 12 to a doubling.
FINER = 2 ** (1 / 12)
#: Exudyn's solvers for constraints: (spectral radius, Newmark and constraints of index 2, full
#: Newton, relative tolerance). Looser tolerances than 1e-4 lose the phase of 1e-6.
SOLVERS = ((0.9, False, False, 1e-8), (0.9, False, False, 1e-5), (1.0, True, False, 1e-5))


@pytest.fixture(scope="module")
def bicycle():
    """The mechanism, and its crank's angle in time, by 5760 intervals a turn."""
    model = prepare(load("bicycle"))
    way = find_way(model)
    ran = cycle_integrator.run(turn_at(model, way, {}, 5760)[1], np.array([SPEED]), turns=2)
    t, q = _joined(ran)
    return SimpleNamespace(model=model, way=way, end=t[-1], angle=CubicSpline(t, q), times=(q, t))


def _joined(ran):
    """Time and angle of both turns."""
    first, second = ran.time[0]
    return np.append(first, first[-1] + second[1:]), np.append(ran.q, ran.q[1:] + 2 * np.pi)


def state_of(model):
    """Poses and twists of all bodies at the beginning."""
    path = follow(model, {}, np.array([0.0, 0.1]))
    [(_, dims)] = blocks(model, {}, path.q)
    at = kinematics.poses(model.topology, dims, path.q)
    unit = modes(model, at, path.q.shape[1:])[:, 0]
    return at, kinematics.twists(model.topology, at, unit * SPEED)


def full_model(model, state):
    """All bodies, pins and loads in Exudyn; every frame in its body's centre of mass."""
    from exudyn import itemInterface as items
    from exudyn.advancedUtilities import CreateSymbolicUserFunction

    it = model.mechanism
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground = mbs.AddObject(items.ObjectGround())
    at, moving = state
    nodes, bodies, centres = [], [], []
    for k, (m, mx, my, J) in enumerate(it.inertial_parameters(it.nominal).reshape(-1, 4)):
        c = np.array([mx, my]) / m
        R, w = at.R[k][:2, :2, 0, 0], moving.omega[k][2, 0, 0]
        arm = R @ c
        place = [*(at.p[k][:2, 0, 0] + arm), np.arctan2(R[1, 0], R[0, 0])]
        rate = [*(moving.v[k][:2, 0, 0] + w * np.array([-arm[1], arm[0]])), w]
        nodes.append(
            mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=rate))
        )
        body = items.ObjectRigidBody2D(mass=m, inertia=J - m * c @ c, nodeNumber=nodes[-1])
        bodies.append(mbs.AddObject(body))
        centres.append(c)
    names = [body.name for body in it.bodies]

    def pin(body, frame):
        point = np.array([float(evaluate([x], it.nominal)[0]) for x in frame.at[:2]])
        if body == "ground":
            number, local = ground, point
        else:
            number, local = bodies[names.index(body)], point - centres[names.index(body)]
        return mbs.AddMarker(
            items.MarkerBodyPosition(bodyNumber=number, localPosition=[*local, 0])
        )

    for joint in it.joints:
        ends = [pin(*one) for one in zip(joint.bodies, joint.frames, strict=True)]
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
    turns = [mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=n, coordinate=2)) for n in nodes]
    still = mbs.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0)
    )
    mbs.AddLoad(items.LoadCoordinate(markerNumber=turns[0], load=-125 / (2 * np.pi)))

    def muscle(mbs, t, itemNumber, u, v, k, d, offset):
        return exu.symbolic.IfThenElse(v > 0, exu.symbolic.Real(-69.7), exu.symbolic.Real(0))

    for name in ("thigh_1", "thigh_2"):
        ends = [still, turns[names.index(name)]]
        one = mbs.AddObject(
            items.ObjectConnectorCoordinateSpringDamper(markerNumbers=ends, stiffness=0, damping=0)
        )
        made = CreateSymbolicUserFunction(mbs, muscle, "springForceUserFunction", one)
        mbs.SetObjectParameter(one, "springForceUserFunction", made)
    crank = items.SensorNode(
        nodeNumber=nodes[0],
        outputVariableType=exu.OutputVariableType.Coordinates,
        storeInternal=True,
    )
    sensor = mbs.AddSensor(crank)
    mbs.Assemble()
    return SimpleNamespace(system=system, mbs=mbs, sensor=sensor)


def settings(steps, end, solver, every):
    """Nothing is written or printed; the crank's angle is kept at intervals of `every` seconds."""
    radius, newmark, whole, tolerance = solver
    found = exu.SimulationSettings()
    run = found.timeIntegration
    run.numberOfSteps, run.endTime, run.verboseMode = steps, end, 0
    run.newton.useModifiedNewton = not whole
    run.newton.relativeTolerance = tolerance
    run.generalizedAlpha.spectralRadius = radius
    run.generalizedAlpha.useNewmark = newmark
    run.generalizedAlpha.useIndex2Constraints = newmark
    found.linearSolver.solverType = exu.LinearSolverType.EXUdense
    found.solution.file.write = False
    found.solution.sensors.writePeriod = every
    return found


def theirs(bicycle, phase):
    """The fastest solver at its longest step within the phase error: jobs, steps, error.

    The first job moves an assembled model, the second makes it before.
    """
    found, state = [], state_of(bicycle.model)
    for solver in SOLVERS:
        steps, error = 100, np.inf
        while error > phase:
            steps = int(np.ceil(steps * FINER))
            assert steps < 20_000
            one = full_model(bicycle.model, state)
            one.mbs.SolveDynamic(settings(steps, bicycle.end, solver, 1e-9))
            rows = one.mbs.GetSensorStoredData(one.sensor)
            error = np.abs(rows[:, 3] - bicycle.angle(rows[:, 0])).max()
        one, asked = full_model(bicycle.model, state), settings(steps, bicycle.end, solver, 10.0)

        def job(one=one, asked=asked):
            assert one.mbs.SolveDynamic(asked)

        def whole(asked=asked):
            assert full_model(bicycle.model, state).mbs.SolveDynamic(asked)

        found.append((seconds(job, 3)[1], job, whole, steps, error))
    return min(found, key=lambda x: x[0])[1:]


def ours(bicycle, phase):
    """Fewest intervals within the phase error: both jobs, intervals, error."""
    q, t = bicycle.times
    intervals, error = 8, np.inf
    turner = Turner(Engine(bicycle.model), bicycle.way)
    start = np.array([SPEED])
    while error > phase:
        intervals += 4
        [(_, _, turn)] = turner({}, intervals).parts()
        at, places = _joined(cycle_integrator.run(turn, start, turns=2))
        late = at - CubicSpline(q, t)(places)
        error = np.abs(late * bicycle.angle(np.minimum(at, bicycle.end), 1)).max()

    others = itertools.count(1)

    def made(count):
        """From the dimensions on: riders with other thighs, of one another ones every time."""
        thighs = (
            np.linspace(0.42, 0.43, count + 1)[1:] if count > 1 else [0.42 + 1e-4 * next(others)]
        )
        for rows, _, turn in turner({"l1": np.array(thighs)}, intervals).parts():
            cycle_integrator.run(turn, np.full(len(rows), SPEED), turns=2)

    return lambda: cycle_integrator.run(turn, start, turns=2), made, intervals, error


@pytest.mark.parametrize("phase", [1e-4, 1e-6])
@pytest.mark.benchmark(group="two turns of the bicycle against Exudyn, at equal phase error")
def test_two_turns_against_exudyn(bicycle, phase, benchmark, capsys):
    full, built, steps, off = theirs(bicycle, phase)
    ran, made, intervals, error = ours(bicycle, phase)
    assert max(error, off) <= phase  # rad, anywhere on both turns
    benchmark.pedantic(ran, rounds=5, warmup_rounds=1)
    rows = {
        "ours, tables given": seconds(ran, 51),
        "ours, from dimensions on": seconds(lambda: made(1), 51),
        f"ours, one of {MANY} geometries": seconds(lambda: made(MANY), 5),
    }
    rows[f"ours, one of {MANY} geometries"] = tuple(
        x / MANY for x in rows[f"ours, one of {MANY} geometries"]
    )
    other = {"moving": seconds(full, 9)[1], "from dimensions on": seconds(built, 5)[1]}
    lines = [f"ours {intervals} intervals a turn, {error:.1e}; Exudyn {steps} steps, {off:.1e}"]
    lines += [f"Exudyn, {what:24} {cpu * 1e6:9.1f} us cpu" for what, cpu in other.items()]
    for who, (wall, cpu) in rows.items():
        # Like against like: models at hand, or both made first.
        against = other["moving" if "given" in who else "from dimensions on"]
        benchmark.extra_info[f"{who}: cpu us"] = cpu * 1e6
        benchmark.extra_info[f"{who}: ratio of cpu"] = against / cpu
        benchmark.extra_info[f"{who}: ratio to an assembled model"] = other["moving"] / cpu
        lines.append(
            f"{who:32} {wall * 1e6:9.1f} us wall {cpu * 1e6:9.1f} us cpu: {against / cpu:.0f} "
            f"times ({other['moving'] / cpu:.0f} of Exudyn's moving alone)"
        )
    with capsys.disabled():
        print(f"\n  phase within {phase:g} rad;", "\n  ".join(lines))
