"""Records with measured wrenches: a legged robot's feet, a loop that is pushed."""

import numpy as np
import pytest

import basepar
from basepar_core.base.symbolic_route import numeric
from basepar_core.dynamics import closure, motion, observe
from basepar_core.errors import FileError, UsageError
from basepar_core.files.mechanism_file import load, loads
from basepar_core.identification.contacts import Pushed
from basepar_core.identification.measurement import read_measurement
from basepar_core.identification.preparation import prepare_record
from basepar_core.identification.procedure import identify
from basepar_core.identification.simulated import simulate
from tests.core.identification.test_free_base import FLOATING, RANK
from tests.oracles.pinocchio_model import Chain

POINT = (0.01, 0.02, -0.3)
HOPPER = f"{FLOATING}points: {{foot: {{body: rod, at: {list(POINT)}}}}}\nactuated: [A]\n"
COMPONENTS = [f"{kind}.foot.{axis}" for kind in ("force", "moment") for axis in "xyz"]


def hop(it, own):
    """Wrenches at the foot that carry the base, and the knee's torque: Pinocchio's alone."""
    chain, phi = Chain(it, {}), it.inertial_parameters(it.nominal)
    base = [it.coordinates.index(f"B.{k}") for k in range(1, 7)]
    wrenches, torques = [], []
    for state in zip(own.q.T, own.q_dot.T, own.q_ddot.T, strict=True):

        def pushed(wrench, state=state):
            return chain.torque(*state, phi, [("rod", POINT, wrench)])

        free = pushed(np.zeros(6))
        slopes = np.stack([pushed(unit) - free for unit in np.eye(6)], axis=1)
        wrenches.append(np.linalg.solve(slopes[base], -free[base]))
        torques.append(pushed(wrenches[-1]))
        assert np.abs(torques[-1][base]).max() < 1e-10
    return np.array(wrenches), np.array(torques)


@pytest.fixture(scope="module")
def hopper():
    model = closure.prepare(loads(HOPPER))
    own = motion.excitation(model.mechanism, model.assembled.coordinates)
    few = motion.Motion(own.t[::8], *(x[:, ::8] for x in (own.q, own.q_dot, own.q_ddot)))
    return model, few, *hop(model.mechanism, few)


def columns_of(hopper):
    model, own, wrenches, torques = hopper
    table = {"t": own.t, **dict(zip(COMPONENTS, wrenches.T, strict=True))}
    for k, name in enumerate(model.mechanism.coordinates):
        table |= {name: own.q[k], f"{name}'": own.q_dot[k], f"{name}''": own.q_ddot[k]}
    return table | {"tau.A": torques[:, model.mechanism.coordinates.index("A")]}


def test_a_robot_on_its_foot_gives_all_base_parameters(hopper):
    """No torque at the base is measured, for there is none: its rows are the foot's."""
    model, own, *_ = hopper
    record = read_measurement(columns_of(hopper), model.mechanism)
    found = identify(model, record, base=numeric(model))
    assert len(found.names) == RANK
    W = observe(model, {}, own).W[0]
    torque = W @ model.mechanism.inertial_parameters(model.mechanism.nominal)
    again = W[..., list(found.base.kept)] @ found.base_values
    # Least squares of condition below 1e3 on torques without noise.
    assert np.abs(again - torque).max() < 1e-11 * np.abs(torque).max()


def test_a_simulated_record_has_the_wrench_that_carries_the_robot(hopper):
    """The one foot's six components are determined: Pinocchio's."""
    model, own, wrenches, torques = hopper
    none = np.zeros(len(own.q))
    record = simulate(model, own, none, none, pushed=Pushed(("foot",)))
    size = np.abs(wrenches).max()
    # Two solutions of six equations of condition about ten, with lengths in m.
    np.testing.assert_allclose(record.wrenches["foot"].T, wrenches, rtol=0, atol=1e-10 * size)
    np.testing.assert_allclose(record.tau.T, torques, rtol=0, atol=1e-10 * np.abs(torques).max())


def test_four_feet_share_a_quadruped_s_weight():
    """By forces alone; with what pushes besides, the base's rows still balance: by Pinocchio."""
    feet = {f"{leg}_foot": f"{leg}_calf" for leg in ("fl", "fr", "rl", "rr")}
    spot = (0.0, 0.0, -0.213)
    points = ", ".join(f"{k}: {{body: {b}, at: {list(spot)}}}" for k, b in feet.items())
    it = loads(f"{load('quadruped').source}\npoints: {{{points}}}\n")
    model = closure.prepare(it)
    own = motion.excitation(it, model.assembled.coordinates)
    few = motion.Motion(own.t[::30], *(x[:, ::30] for x in (own.q, own.q_dot, own.q_ddot)))
    none = np.zeros(len(few.q))
    chain, phi = Chain(it, {}), it.inertial_parameters(it.nominal)
    base = [k for k, name in enumerate(it.coordinates) if name.startswith("B.")]
    records = [
        simulate(model, few, none, none, pushed=Pushed(tuple(feet), push)) for push in (0.0, 20.0)
    ]
    for record in records:
        for k in range(few.t.size):
            state = (few.q[:, k], few.q_dot[:, k], few.q_ddot[:, k])
            pushes = [(feet[name], spot, w[:, k]) for name, w in record.wrenches.items()]
            torque = chain.torque(*state, phi, pushes)
            size = np.abs(torque).max()
            assert np.abs(torque[base]).max() < 1e-10 * size
            np.testing.assert_allclose(record.tau[:, k], torque, rtol=0, atol=1e-10 * size)
        assert all(not w[3:].any() for w in record.wrenches.values())
    apart = records[1].wrenches["fl_foot"] - records[0].wrenches["fl_foot"]
    assert 2 < np.abs(apart[:3]).max() < 60


def test_a_foot_in_the_wrong_place_carries_nothing(hopper):
    model, own, *_ = hopper
    none = np.zeros(len(own.q))
    with pytest.raises(UsageError, match=r"hand is no point .* there are foot"):
        simulate(model, own, none, none, pushed=Pushed(("hand",)))
    two = loads(f"{FLOATING}points: {{foot: {{body: rod, at: {list(POINT)}}}}}\nactuated: [B.1]\n")
    with pytest.raises(UsageError, match=r"do not carry .* which have no drive"):
        simulate(closure.prepare(two), own, none, none, pushed=Pushed(("foot",)))


def test_samples_without_their_wrench_are_left_out(hopper):
    model, *_ = hopper
    table = columns_of(hopper)
    table["moment.foot.y"] = np.where(
        np.arange(len(table["t"])) == 5, np.nan, table["moment.foot.y"]
    )
    record = read_measurement(table, model.mechanism)
    assert [note.kind for note in record.notes] == ["missing"]
    usable = prepare_record(model, record).usable
    assert (~usable).any(axis=0).nonzero()[0].tolist() == [5]


def test_a_point_without_columns_is_not_pushed(hopper):
    model, *_ = hopper
    table = {key: x for key, x in columns_of(hopper).items() if "foot" not in key}
    assert read_measurement(table, model.mechanism).wrenches == {}


def test_units_of_wrenches_are_read(hopper):
    model, *_ = hopper
    table = columns_of(hopper)
    wrong = {
        ("force.foot.x [N*m]" if key == "force.foot.x" else key): x for key, x in table.items()
    }
    with pytest.raises(FileError, match=r"is in \[N\*m\], but N or a multiple is needed"):
        read_measurement(wrong, model.mechanism)


def test_a_push_on_a_loop_joins_its_crank_s_torque():
    """In the plane: what `Model.torque` takes off, itself held against free bodies elsewhere."""
    tool = "points: {tool: {body: coupler, at: [0.1, 200 mm]}}"
    it = loads(f"{load('four-bar').source}\n{tool}\n")
    t = np.linspace(0, 2, 41)
    states = [0.6 + 0.3 * np.sin(3 * t), 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t)]
    wrench = np.array([np.cos(t), 3 * np.sin(t), 0.7 + t])
    names = ["force.tool.x", "force.tool.y", "moment.tool.z"]
    table = dict(zip(["t", "A", "A'", "A''", *names], [t, *states, *wrench], strict=True))
    table["tau.A [N*mm]"] = np.full_like(t, 1000)
    ready = prepare_record(closure.prepare(it), read_measurement(table, it))
    pushed = basepar.Contact("coupler", wrench.T, at=[0.1, 0.2])
    model, still = basepar.Model(it), [x[:, None] for x in states]
    phi = np.ones(len(it.parameter_names))
    off = model.torque(*still, phi) - model.torque(*still, phi, contacts=[pushed])
    # Two closures of one loop, each to rounding.
    np.testing.assert_allclose(ready.tau[0] - 1, off[:, 0], rtol=0, atol=1e-11)
