"""A mechanism in Python: torques, shapes, masks, against Lagrange and Pinocchio."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import basepar
from tests.core.imported.test_imports_urdf import pinocchio
from tests.oracles import four_bar_energy
from tests.oracles.closed_form import four_bar_angles

ARM = Path(__file__).parents[1] / "data" / "imports" / "arm6.urdf"
#: The oracle's differences err near 1e-13 of torques of some ten N m; the rest is float64.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def four_bar():
    return basepar.load("four-bar")


@pytest.fixture(scope="module")
def ur10():
    return basepar.load("ur10")


def states(shape, coordinates=1, seed=0):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (3, *shape, coordinates))


def lagrange(values, q, qd, qdd):
    return [
        four_bar_energy.torque(values, *state)
        for state in zip(q.ravel(), qd.ravel(), qdd.ravel(), strict=True)
    ]


def test_torque_of_a_closed_loop_is_lagranges(four_bar):
    q, qd, qdd = states((5,))
    tau = four_bar.torque(q, qd, qdd)
    assert tau.shape == (5, 1)
    np.testing.assert_allclose(tau.ravel(), lagrange({}, q, qd, qdd), **CLOSE)


def test_every_geometry_meets_every_state(four_bar):
    q, qd, qdd = states((3,), seed=1)
    lengths = np.array([[0.25], [0.35]])
    tau = four_bar.torque(q, qd, qdd, geometry={"lx1": lengths, "Dx": 1.1})
    assert tau.shape == (2, 3, 1)
    for row, length in zip(tau, lengths.ravel(), strict=True):
        expected = lagrange({"lx1": length, "Dx": 1.1}, q, qd, qdd)
        np.testing.assert_allclose(row.ravel(), expected, **CLOSE)


def test_each_state_has_a_geometry_of_its_own(four_bar):
    q, qd, qdd = states((4,), seed=2)
    lengths = np.array([0.22, 0.28, 0.33, 0.36])
    tau = four_bar.torque(q, qd, qdd, geometry={"lx1": lengths})
    expected = [
        lagrange({"lx1": length}, *(x[k] for x in (q, qd, qdd)))[0]
        for k, length in enumerate(lengths)
    ]
    np.testing.assert_allclose(tau.ravel(), expected, **CLOSE)


def test_energy_is_the_oracles_up_to_a_constant(four_bar):
    """Zero height is the world's origin in both: not even a constant is left."""
    q, qd, _ = states((4,), seed=3)
    found = four_bar.energy_regressor(q, qd) @ four_bar.phi()
    expected = [
        four_bar_energy.energy({}, *one) for one in zip(q.ravel(), qd.ravel(), strict=True)
    ]
    np.testing.assert_allclose(found, expected, **CLOSE)


def test_an_imported_arm_moves_as_pinocchio_has_it():
    with pytest.warns(basepar.BaseparWarning, match="visual"):
        arm = basepar.load(ARM)
    model = pinocchio(ARM.name, right_angles=False)
    data = model.createData()
    q, qd, qdd = states((4, 3), len(arm.coordinates), seed=4)
    order = [model.joints[model.getJointId(name)].idx_v for name in arm.coordinates]
    expected = np.empty_like(q)
    for place in np.ndindex(q.shape[:-1]):
        sent = [np.empty(model.nv) for _ in range(3)]
        for whole, part in zip(sent, (q, qd, qdd), strict=True):
            whole[order] = part[place]
        # A joint without limits is a point of the circle there.
        sent[0] = pin.integrate(model, pin.neutral(model), sent[0])
        expected[place] = pin.rnea(model, data, *sent)[order]
    # Rotations are met to 1e-13 rad, axes to what the file prints; then rounding.
    atol = 3e-12 * np.abs(expected).max()
    np.testing.assert_allclose(arm.torque(q, qd, qdd), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "ur10", "delta"])
def test_regressor_times_phi_is_torque(name):
    model = basepar.load(name)
    near = model.assembly + 0.05 * states((2, 6), len(model.coordinates), seed=5)[0]
    _, qd, qdd = states((2, 6), len(model.coordinates), seed=6)
    W = model.regressor(near, qd, qdd)
    assert W.shape == (2, 6, len(model.coordinates), len(model.parameters))
    tau = model.torque(near, qd, qdd)
    scale = np.abs(tau).max()  # sums of some hundred terms, in another order
    np.testing.assert_allclose(W @ model.phi(), tau, rtol=0, atol=1e-12 * scale)
    phi = np.random.default_rng(7).uniform(0, 1, (6, len(model.parameters)))
    many = model.torque(near, qd, qdd, phi=phi)
    expected = np.einsum("...cp,...p->...c", W, phi)
    np.testing.assert_allclose(many, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_joints_close_on_the_branch_of_the_assembly(four_bar):
    q = np.linspace(-3, 9, 40)
    joints = four_bar.close(q[:, None])
    assert joints.closed.all()
    b, c, _ = four_bar_angles(four_bar_energy.NOMINAL, q, side=1)
    for name, expected in (("B", b), ("C", c)):
        apart = joints[name] - expected
        # Whole turns aside, to Newton's last update.
        np.testing.assert_allclose(apart - 2 * np.pi * np.round(apart / (2 * np.pi)), 0, atol=1e-9)
    np.testing.assert_allclose(joints["A"], q)


def test_states_do_not_feel_their_neighbours(four_bar):
    """A rocker that cannot pass on: reachable states are the same alone and among others."""
    rocking = {"lx1": 1.0, "Dx": 2.1}
    q = np.linspace(-1, 3, 41)[:, None]
    joints = four_bar.close(q, rocking)
    assert 0 < joints.closed.sum() < q.size
    alone = [four_bar.close(one, rocking).closed for one in q]
    np.testing.assert_array_equal(joints.closed, alone)
    inside = joints.closed
    assert np.isnan(joints.values[~inside]).all()
    rest = np.zeros_like(q)
    masked = four_bar.torque(q, rest, rest, geometry=rocking, outside="nan")
    np.testing.assert_array_equal(np.isfinite(masked[:, 0]), inside)
    expected = lagrange(rocking, q[inside], rest[inside], rest[inside])
    np.testing.assert_allclose(masked[inside, 0], expected, **CLOSE)
    shuffled = np.random.default_rng(0).permutation(q.size)
    again = four_bar.torque(q[shuffled], rest, rest, geometry=rocking, outside="nan")
    np.testing.assert_allclose(again, masked[shuffled], rtol=1e-12)


def test_out_of_reach_is_an_error_that_names_the_state(four_bar):
    q = np.array([[[0.6]], [[3.1]]])
    with pytest.raises(basepar.MotionError, match=r"1 of 2 states.*q\[1, 0\]: A = 3.1.*nan"):
        four_bar.regressor(q, 0 * q, 0 * q, geometry={"lx1": 1.0, "Dx": 2.1})


def test_several_coordinates_are_masked_one_by_one():
    model = basepar.load("five-bar")
    q = model.assembly + np.array([[0.0, 0.0], [3.0, -3.0], [0.1, 0.1]])
    joints = model.close(q)
    assert joints.closed[[0, 2]].all()
    alone = [bool(model.close(one).closed) for one in q]
    assert joints.closed.tolist() == alone


def test_out_is_filled_as_it_lies(ur10):
    q, qd, qdd = states((50,), 6, seed=8)
    first = ur10.regressor(q, qd, qdd)
    kept = first.copy()
    memory = first.__array_interface__["data"]
    first[...] = np.nan  # nothing is left of what was in it
    again = ur10.regressor(q, qd, qdd, out=first)
    assert again is first
    assert again.__array_interface__["data"] == memory
    np.testing.assert_array_equal(again, kept)
    plain = np.full(first.shape, np.nan)
    assert ur10.regressor(q, qd, qdd, out=plain) is plain
    np.testing.assert_array_equal(plain, kept)
    with pytest.raises(basepar.UsageError, match="out is"):
        ur10.regressor(q, qd, qdd, out=np.empty((1, 6, 60)))


@pytest.mark.parametrize("lead", [(), (1,), (7,), (0,), (2, 0, 3), (2, 1, 3)])
def test_any_leading_dimensions(ur10, four_bar, lead):
    q, qd, qdd = states(lead, 6, seed=9)
    assert ur10.regressor(q, qd, qdd).shape == (*lead, 6, 60)
    assert ur10.torque(q, qd, qdd).shape == (*lead, 6)
    assert ur10.energy_regressor(q, qd).shape == (*lead, 60)
    lengths = {"lx1": np.full(lead, 0.3)}
    rest = np.zeros(1)
    assert four_bar.torque(rest, rest, rest, geometry=lengths).shape == (*lead, 1)
    assert four_bar.close(np.zeros((*lead, 1))).values.shape == (*lead, 4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"q": [0.1, 0.2]}, "last axis must be the 1 coordinate"),
        ({"q": [[np.nan]]}, r"q\[0, 0\] is nan"),
        ({"q": [[2e4]]}, "at most 1e.04 is allowed"),
        ({"q": "up"}, "not an array of numbers"),
        ({"geometry": {"lx9": 1.0}}, "lx9 is no geometry symbol"),
        ({"geometry": {"rho": 1.0}}, "rho is no geometry symbol"),
        ({"geometry": {"lx1": np.nan}}, "lx1 is not finite"),
        ({"q": np.zeros((2, 1)), "geometry": {"lx1": np.ones(3)}}, "do not broadcast"),
        ({"phi": np.ones(11)}, "last axis must be the 12 parameters"),
        (
            {"q": np.zeros((3, 1)), "phi": np.ones((2, 12))},
            r"leading dimensions \(2,\) do not broadcast",
        ),
        ({"phi": "heavy"}, "phi is not an array of numbers"),
        ({"outside": "skip"}, "it is 'raise' or 'nan'"),
    ],
)
def test_what_makes_no_sense_is_rejected(four_bar, arguments, said):
    with pytest.raises(basepar.UsageError, match=said):
        four_bar.torque(**{"q": [[0.1]], "qd": [[0.0]], "qdd": [[0.0]], **arguments})


def test_a_drawing_is_a_figure_and_a_file(four_bar, tmp_path):
    figure = four_bar.draw(tmp_path / "bar.svg", {"lx1": 0.4})
    assert figure.axes
    assert (tmp_path / "bar.svg").read_text().startswith("<?xml")
    with pytest.raises(basepar.UsageError, match="png"):
        four_bar.draw(tmp_path / "bar.txt")
    with pytest.raises(basepar.UsageError, match="lx1 is '30 cm'"):
        four_bar.draw(geometry={"lx1": "30 cm"})
    with pytest.raises(basepar.UsageError, match="one number a symbol"):
        four_bar.draw(geometry={"lx1": [0.3, 0.4]})


def test_a_text_in_the_geometry_says_what_to_write():
    model = basepar.load("four-bar")
    with pytest.raises(basepar.UsageError, match=r"lx1 is '30 cm', .* 0.3 for 30 cm"):
        model.regressor([0.1], [0.0], [0.0], geometry={"lx1": "30 cm"})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"lx1": float("nan")}, "lx1 is nan; give a finite number"),
        ([("lx1", 0.3)], "The values are a list; give them by name"),
    ],
)
def test_values_that_are_none_say_what_to_give(values, said):
    with pytest.raises(basepar.UsageError, match=said):
        basepar.load("four-bar", values)


def test_an_out_that_is_no_array_is_rejected():
    with pytest.raises(basepar.UsageError, match="out is no array"):
        basepar.load("four-bar").regressor([0.1], [0.0], [0.0], out=[1])
