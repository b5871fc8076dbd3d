"""Optimised excitations: derivatives, limits at every instant, and random ones beaten."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base.symbolic_route import numeric
from basepar_core.dynamics import closure, motion
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.files import mechanism_file
from basepar_core.identification.exciting import _Task, design, limits_of
from basepar_core.identification.optimality import condition, smooth_size, volume
from basepar_core.identification.series import BOUND, Series
from basepar_core.identification.trajectory_regressor import Follower


def prepared(name):
    model = closure.prepare(mechanism_file.load(name))
    own = motion.excitation(model.mechanism, model.assembled.coordinates)
    return model, numeric(model), limits_of(model, own)


@pytest.mark.parametrize("measure", [condition, lambda W: volume(W, np.array([0.1, 3.0]))])
def test_slopes_of_the_criteria(measure):
    rng = np.random.default_rng(5)
    W = rng.standard_normal((7, 2, 4)) * [1, 10, 0.1, 3]
    value, slope = measure(W)
    for _ in range(6):
        way = rng.standard_normal(W.shape)
        h = 1e-6
        apart = (measure(W + h * way)[0] - measure(W - h * way)[0]) / (2 * h)
        # Central differences: h² and 1e-16/h of values of order one.
        assert (slope * way).sum() == pytest.approx(apart, rel=1e-6, abs=1e-8)
    # The condition does not see units, the volume moves by their logarithm.
    wider = measure(W * [2, 1, 1, 1])[0]
    assert wider == pytest.approx(value - (0 if measure is condition else np.log(2) / 4))


def test_smooth_maxima_lie_above_and_have_their_slope():
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (3, 50))
    value, slope = smooth_size(x)
    assert (value >= np.abs(x).max(axis=-1)).all()
    assert (value <= np.abs(x).max(axis=-1) + np.log(100) / 300).all()
    way, h = rng.standard_normal(x.shape), 1e-7
    apart = (smooth_size(x + h * way)[0] - smooth_size(x - h * way)[0]) / (2 * h)
    np.testing.assert_allclose((slope * way).sum(axis=-1), apart, rtol=1e-5)


@pytest.mark.parametrize("name", ["five-bar", "scara"])
def test_slopes_of_a_course_are_those_of_the_trajectory(name):
    """The chain over states against differences of whole trajectories."""
    model, base, limits = prepared(name)
    series = Series(limits, 0.3, 3, model.assembled.coordinates, rest=False)
    follower = Follower(model, base.kept)
    rng = np.random.default_rng(7)
    z = series.random(rng)
    z[:, 1:] *= 0.5
    course = follower.at(series.motion(z, 40))
    slopes = follower.slopes(course)
    basis = series.basis(40)
    value, slope = condition(course.W)
    whole = series.by_z(np.einsum("skp,dcskp->dcs", slope, slopes.W), basis)
    for _ in range(4):
        way, h = rng.standard_normal(z.shape), 1e-5
        ends = [follower.at(series.motion(z + k * h * way, 40), course.q) for k in (-1, 1)]
        apart = (condition(ends[1].W)[0] - condition(ends[0].W)[0]) / (2 * h)
        # Steps of the states are 1e-6, one-sided: so many shares of the second derivative.
        assert (whole * way).sum() == pytest.approx(apart, rel=1e-3, abs=1e-3 * abs(value))
        least = (ends[1].regularity - ends[0].regularity) / (2 * h)
        by_q = np.einsum("cbs,cs->bs", slopes.regularity, (series.scale * way) @ basis[0].T)
        np.testing.assert_allclose(by_q, least, atol=1e-3 * max(1.0, np.abs(least).max()))


def held(model, found, limits, count=20_000):
    """The law's own samples, many more than anything was designed on, within the limits."""
    law = replace(found.excitation, samples=count)
    fine = motion.excite(law, model.mechanism, model.assembled.coordinates)
    assert (fine.q <= limits.highest[:, None]).all()
    assert (fine.q >= limits.lowest[:, None]).all()
    assert (np.abs(fine.q_dot) <= limits.speed[:, None]).all()
    assert (np.abs(fine.q_ddot) <= limits.acceleration[:, None]).all()
    return fine


@pytest.mark.slow
def test_a_closed_loop_within_all_limits_and_far_better_than_random_motions():
    model, base, limits = prepared("four-bar")
    limits = replace(limits, regularity=0.5)
    found = design(model, base, limits, 0.2, draws=12, starts=1)
    held(model, found, limits)
    law = replace(found.excitation, samples=600)
    fine = motion.excite(law, model.mechanism, model.assembled.coordinates)
    path = closure.trace(model, {}, fine.q)
    assert path.outcome[0] == closure.Outcome.CLOSED
    assert path.margin[0] >= 0.5
    # Checked on 480 samples, here on 600: what lies between them is a matter of curvature.
    assert found.regularity == pytest.approx(path.margin[0], abs=1e-2)
    # Twelve random Fourier series, as large as the same limits allow, and the number itself by
    # NumPy on the plain path's W.
    assert len(found.random) == 12
    assert found.condition < 0.5 * min(found.random)
    W = observe(model, {}, found.motion).stacked[0][:, list(base.kept)]
    own = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert found.condition == pytest.approx(own, rel=1e-6)  # closed from elsewhere, to 1e-12


@pytest.mark.slow
def test_smallest_ellipsoid_from_rest_with_a_joint_that_follows_limited():
    model, base, limits = prepared("five-bar")
    start = motion.excitation(model.mechanism, model.assembled.coordinates)
    (name,) = [v for joint in model.mechanism.joints for v in joint.values
               if v not in model.mechanism.coordinates][:1]  # fmt: skip
    follower = Follower(model, base.kept, (), (name,))
    free = follower.at(start).values[0]
    middle, half = (free.max() + free.min()) / 2, 0.6 * np.ptp(free) / 2
    limits = replace(limits, values={name: (middle - half, middle + half)})
    found = design(
        model,
        base,
        limits,
        0.5,
        criterion="determinant",
        rest=True,
        draws=8,
        starts=1,
        harmonics=4,
    )
    fine = held(model, found, limits)
    # At rest: cancelling terms of the size of the limits, 1e-9 as SLSQP has equalities.
    assert (np.abs(fine.q_dot[:, 0]) < 1e-8 * limits.speed).all()
    assert (np.abs(fine.q_ddot[:, 0]) < 1e-8 * limits.acceleration).all()
    some = motion.Motion(fine.t[::40], fine.q[:, ::40], fine.q_dot[:, ::40], fine.q_ddot[:, ::40])
    track = follower.at(some).values[0]
    assert np.abs(track - middle).max() <= half * (1 + 1e-3)  # between 384 samples
    assert found.criterion < 0.9 * min(found.random)
    W = observe(model, {}, found.motion).stacked[0][:, list(base.kept)]
    sigma = np.ones(len(W))
    if model.mechanism.noise:
        stated = [float(level.value) for _, level in model.mechanism.noise]
        sigma = np.tile(stated, len(W) // 2)
    sign, log = np.linalg.slogdet((W / sigma[:, None]).T @ (W / sigma[:, None]))
    assert sign == 1
    assert np.log(found.criterion) == pytest.approx(-log / 2 / base.rank, abs=1e-6)


def test_bound_between_samples_is_needed_and_enough():
    """cos 5t between samples half a step off: the greatest sample misses the crest."""
    series = Series(limits_of(*_one()), 1.0, 5, np.zeros(1), rest=False)
    t = (np.arange(320) + 0.5) / 320
    seen = np.abs(np.cos(10 * np.pi * t)).max()
    assert seen < 1
    assert seen >= BOUND
    assert series.dense.shape == (3, 320, 11)


@pytest.mark.slow
def test_distance_from_singular_poses_binds_where_the_best_motion_would_come_nearer():
    model, base, limits = prepared("five-bar")
    wide = replace(limits, lowest=limits.lowest - 0.7, highest=limits.highest + 0.7)
    loose, tight = (
        design(model, base, replace(wide, regularity=least), 0.5, harmonics=3, draws=6, starts=1)
        for least in (0.05, 0.4)
    )
    assert loose.regularity < 0.3  # so 0.4 asks for another motion
    # SLSQP's smooth maximum keeps up to 2 % off (optimality.SHARP), samples in between as much.
    assert 0.4 <= tight.regularity < 0.42
    law = replace(tight.excitation, samples=600)
    fine = motion.excite(law, model.mechanism, model.assembled.coordinates)
    path = closure.trace(model, {}, fine.q)
    assert path.margin[0] >= 0.4 - 1e-3  # between the 8 times finer samples: curvature
    assert tight.condition > loose.condition  # what is kept off costs something


def test_motions_far_beyond_the_limits_are_not_followed(monkeypatch):
    """SLSQP tries motions of thousands of turns; each took minutes to be followed."""
    model, base, limits = prepared("slider-crank")
    task = _Task(model, base, limits, 0.5, "condition", 5, 60, (), False)
    near = task.series.random(np.random.default_rng(1))
    assert task._course(near) is not None
    monkeypatch.setattr(task.follower, "at", lambda *_: pytest.fail("was followed"))
    far = near.copy()
    far[:, 1:] *= 1e4
    assert task._course(far) is None


def _one():
    model = closure.prepare(mechanism_file.load("four-bar"))
    return model, motion.excitation(model.mechanism, model.assembled.coordinates)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lowest": np.array([2.0])}, "nothing moves within that"),
        ({"speed": np.array([np.inf]), "acceleration": np.array([np.inf])}, "infinitely fast"),
        ({"regularity": 0.999}, "lower `margin=`"),
    ],
)
def test_limits_that_leave_nothing(change, says):
    model, base, limits = prepared("four-bar")
    with pytest.raises(UsageError, match=says):
        design(model, base, replace(limits, **change), 0.2, draws=2)
