"""Motions that tell base parameters apart best, within limits: optimised Fourier series.

q(t) = c + Σₖ aₖ sin kωt + bₖ cos kωt per coordinate (Swevers & al., IEEE Trans. Robotics and
Automation 13(5), 1997), by SciPy's SLSQP from the best of some random ones. To be least:

condition    log of the condition number of the reduced W with unit columns (Presse & Gautier,
             Proc. ICRA 1993).
determinant  −log det(WᵀΣ⁻¹W) by the number of columns: the volume of the confidence ellipsoid
             (D-optimality).

Limits of position, speed and acceleration hold at every instant, not on a grid only: between M
even samples a trigonometric polynomial of degree H exceeds its greatest sample by no more than
1/cos(πH/M) (`series`). Limits of loops and of joint
values that follow from them are checked on a grid eight times finer than W's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Column, Model, Motion, as_rates, as_twists
from basepar_core.reduction import noise_levels
from basepar_core.texts import plural

from ..errors import UsageError
from ..mechanism import Sines
from .optimality import condition, smooth_size, smooth_top, volume
from .series import BOUND, Limits, Series
from .trajectory_regressor import Course, Follower, Slopes

CRITERIA = ("condition", "determinant")
#: Grid on which the loops are checked afterwards, as a multiple of W's.
FINER = 8
#: Passes in which limits of loops that are exceeded between W's samples are tightened.
PASSES = 4
#: Trials at which a random motion is made smaller until the loops follow.
SHRINKS = 12
ITERATIONS = 100
#: Relative change of the (logarithmic) criterion at which it is least enough.
ENOUGH = 1e-4
#: Share of a limit beyond which a motion is not followed: SLSQP's first steps can lie thousands of
#: turns away, which would take minutes to go.
FAR = 4.0
#: What a motion is worth that cannot be followed; the worst that can is some 40.
USELESS = 1e3


@dataclass(frozen=True)
class Design:
    """An exciting motion.

    Attributes
    ----------
    excitation
        The motion as the file's `excitation` has it.
    motion
        Its samples; of a free joint twists, as of every `Motion`.
    criterion
        What was made least: the condition number, or the geometric mean of the confidence
        ellipsoid's half axes at unit noise (or the stated one).
    random
        The same of the random motions that it began from, those that could be followed.
    condition
        Of the reduced W with unit columns.
    used
        Share of each limit that is used: position, speed, acceleration per coordinate (3,
        coordinate); nan where free.
    regularity
        Least on the fine grid.
    """

    excitation: Sines
    motion: Motion
    criterion: float
    random: tuple[float, ...]
    condition: float
    used: Array
    regularity: float


def limits_of(model: Model, motion: Motion) -> Limits:
    """Limits that a motion itself keeps; half of the regularity that the assembled pose has.

    Of speeds and accelerations they are limits of derivatives, those of a free joint's values too.
    """
    motion = as_rates(model.mechanism, motion)
    return Limits(
        motion.q.min(axis=1),
        motion.q.max(axis=1),
        np.abs(motion.q_dot).max(axis=1),
        np.abs(motion.q_ddot).max(axis=1),
        Follower(model, ()).assembled / 2 if model.loops.blocks else 0.0,
    )


def measure_of(model: Model, criterion: str) -> Callable[[Array], tuple[float, Array]]:
    """What a criterion makes of W (sample, coordinate, base), with the file's noise, and slope."""
    if criterion == "condition":
        return condition
    stated = noise_levels(model.mechanism)
    count = len(model.mechanism.coordinates)
    return partial(volume, sigma=np.ones(count) if stated is None else stated)


def design(
    model: Model,
    base: BaseParameters,
    limits: Limits,
    frequency: float,
    *,
    criterion: str = "condition",
    harmonics: int = 5,
    samples: int | None = None,
    columns: Sequence[Column] = (),
    rest: bool = False,
    draws: int = 20,
    starts: int = 2,
    seed: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Design:
    """An exciting motion within limits.

    Parameters
    ----------
    model
        The mechanism, prepared.
    base
        Its base parameters, with `columns` among them where there are any.
    limits
        See there.
    frequency
        Of the first harmonic, Hz; the motion's period is its inverse.
    criterion
        Of `CRITERIA`.
    harmonics
        H.
    samples
        Of W; None: 12 per period of the highest harmonic, more where rows would be few.
    columns
        Force-law columns (friction, …).
    rest
        Start and end at rest, without acceleration.
    draws, starts
        Random motions, and how many of the best are improved.
    seed
        Of the random motions.
    say
        Called with a text on each step before it begins.

    Raises
    ------
    UsageError
        Limits that contradict each other, or within which no motion was found.
    """
    count = samples or max(12 * harmonics, 3 * base.rank // len(model.mechanism.coordinates))
    _check(model, limits, criterion, harmonics, count)
    task = _Task(model, base, limits, frequency, criterion, harmonics, count, columns, rest)
    rng = np.random.default_rng(seed)
    say(f"{draws} random motions")
    found = [one for one in (task.random(rng) for _ in range(draws)) if one is not None]
    if not found:
        raise UsageError(
            f"None of {draws} random motions of {model.mechanism.name!r} within the limits can be "
            f"followed with its loops {limits.regularity:.3g} away from singular (the assembled "
            f"pose is {task.follower.assembled:.3g}). Widen the limits, or lower `margin=`.",
            ["margin="],
        )
    found.sort(key=lambda one: one[1])
    ends = []
    for k, (z, value) in enumerate(found[:starts], start=1):
        say(f"optimising, start {k} of {min(starts, len(found))}, from {np.exp(value):.4g}")
        end = task.improve(z, value)
        ends += [] if end is None else [end]
    if not ends:
        raise UsageError(
            "Between its samples the motion comes nearer to singular than allowed, or leaves the "
            "limits of a joint. Take more `samples=`, or a lower `margin=`.",
            ["margin="],
        )
    best, _, course = min(ends, key=lambda one: one[1])
    return task.result(best, course, tuple(float(np.exp(value)) for _, value in found))


def _check(model: Model, limits: Limits, criterion: str, harmonics: int, samples: int) -> None:
    """Reject what cannot be designed, before anything is computed."""
    if criterion not in CRITERIA:
        raise UsageError(
            f"No such criterion: {criterion!r}. Criteria are {', '.join(CRITERIA)}.", [criterion]
        )
    if harmonics < 1 or samples <= 2 * harmonics:
        raise UsageError(
            f"{plural(samples, 'sample')} cannot carry {plural(harmonics, 'harmonic')}; at "
            f"least one harmonic, and "
            f"more than twice as many samples.",
            ["harmonics="],
        )
    for k, name in enumerate(model.mechanism.coordinates):
        low, high = limits.lowest[k], limits.highest[k]
        if not low < high or not (limits.speed[k] > 0 and limits.acceleration[k] > 0):
            raise UsageError(
                f"{name} may move between {low:.6g} and {high:.6g} (rad or m), at "
                f"{limits.speed[k]:.6g} /s and {limits.acceleration[k]:.6g} /s²: nothing moves "
                f"within that.",
                [name],
            )
        if np.isinf([limits.speed[k], limits.acceleration[k]]).all():
            raise UsageError(
                f"{name} needs a limit of its speed or acceleration; without one the best motion "
                f"is infinitely fast.",
                [name],
            )


class _Task:
    """The optimisation: z (coordinate, 1 + 2H), coefficients as shares of a size of their own."""

    def __init__(
        self,
        model: Model,
        base: BaseParameters,
        limits: Limits,
        frequency: float,
        criterion: str,
        harmonics: int,
        samples: int,
        columns: Sequence[Column],
        rest: bool,
    ):
        self.limits, self.samples = limits, samples
        self.series = Series(limits, frequency, harmonics, model.assembled.coordinates, rest)
        self.basis = self.series.basis(samples)
        self.follower = Follower(model, base.kept, columns, tuple(limits.values))
        self.measure = measure_of(model, criterion)
        self.caps = np.ones(len(self.follower.signs) + 2 * len(limits.values))
        self.near: Array | None = None
        self.last: tuple[bytes, Course | None, Slopes | None] = (b"", None, None)

    def random(self, rng: np.random.Generator) -> tuple[Array, float] | None:
        """A random motion, as large as limits and loops allow, and its criterion."""
        z = self.series.random(rng)
        for _ in range(SHRINKS):
            course = self._course(z)
            if course is not None and (self._guards(course)[0] <= self.caps).all():
                return z, self.measure(course.W)[0]
            z[:, 1:] *= 0.7
        return None

    def improve(self, z: Array, value: float) -> tuple[Array, float, Course] | None:
        """The best motion found from a feasible one, its criterion, and its fine course.

        None where the loops leave their limits between the samples.
        """
        self.caps[:] = 1.0
        for _ in range(PASSES):
            z_best, least = self._minimised(z, value)
            fine = self.follower.at(self.series.motion(z_best, FINER * self.samples))
            if fine is None:
                break
            over = self._guards(fine)[0]
            if (over <= 1.0).all():
                return z_best, least if np.isfinite(least) else value, fine
            self.caps = np.where(over > 1, self.caps * np.minimum(0.98, 1 / over), self.caps)
        fine = self.follower.at(self.series.motion(z, FINER * self.samples))
        passes = fine is not None and (self._guards(fine)[0] <= 1).all()
        return (z, value, fine) if fine is not None and passes else None

    def _minimised(self, z: Array, value: float) -> tuple[Array, float]:
        """SLSQP; what counts is the best feasible motion that it has seen."""
        inside = (self._guards(self._known(z))[0] <= self.caps).all()
        best, least = z, value if inside else np.inf

        def objective(flat: Array) -> float:
            nonlocal best, least
            one = flat.reshape(z.shape)
            course = self._course(one)
            if course is None:
                return USELESS
            here = min(self.measure(course.W)[0], USELESS)
            if here < least and self._allowed(one, course):
                best, least = one.copy(), here
            return here

        def slope(flat: Array) -> Array:
            one = flat.reshape(z.shape)
            course, slopes = self._course(one), self._slopes(one)
            if course is None or slopes is None:
                return np.zeros(flat.size)
            by_state = np.einsum("skp,dcskp->dcs", self.measure(course.W)[1], slopes.W)
            return self.series.by_z(by_state, self.basis).ravel()

        constraints = [{"type": "ineq", "fun": self._room, "jac": self._room_slope}]
        if self.series.rest:
            A = np.kron(np.eye(len(z)), self.series.still)
            constraints.append({"type": "eq", "fun": lambda x: A @ x, "jac": lambda x: A})
        options = {"maxiter": ITERATIONS, "ftol": ENOUGH}
        minimize(objective, z.ravel(), jac=slope, method="SLSQP", constraints=constraints,
                 options=options)  # fmt: skip
        return best, least

    def _allowed(self, z: Array, course: Course) -> bool:
        still = not self.series.rest or np.abs(z @ self.series.still.T).max() < 1e-9
        inside = np.abs(self.series.shares(z)).max() <= BOUND
        return bool(still and inside and (self._guards(course)[0] <= self.caps).all())

    def _room(self, flat: Array) -> Array:
        """What is left of every limit, smoothly; positive inside."""
        z = flat.reshape(self.series.scale.shape)
        course = self._course(z)
        outer = BOUND - smooth_size(self.series.shares(z))[0]
        inner = np.full(self.caps.size, -1.0)
        if course is not None:
            inner = self.caps - smooth_top(self._guards(course)[1])[0]
        return np.concatenate([outer.ravel(), inner])

    def _room_slope(self, flat: Array) -> Array:
        z = flat.reshape(self.series.scale.shape)
        _, weights = smooth_size(self.series.shares(z))
        weights = weights / self.series.kinds[..., None]
        rows = []
        for kind in range(3):
            for c in range(len(z)):
                row = np.zeros_like(z)
                row[c] = weights[kind, c] @ self.series.dense[kind] * self.series.scale[c]
                rows.append(-row.ravel())
        course, slopes = self._course(z), self._slopes(z)
        if course is None or slopes is None:
            return np.stack([*rows, *np.zeros((self.caps.size, flat.size))])
        by_q = self._guard_slopes(course, slopes)
        for row in by_q:  # (coordinate, sample)
            rows.append(-(np.einsum("cs,sb->cb", row, self.basis[0]) * self.series.scale).ravel())
        return np.stack(rows)

    def _guards(self, course: Course) -> tuple[Array, Array]:
        """Shares used of the loops' limits: greatest (guard,), and all (guard, sample)."""
        parts = [self.limits.regularity / course.regularity]
        if self.limits.values:
            low, high = np.array(list(self.limits.values.values())).T[..., None]
            share = (course.values - (low + high) / 2) / ((high - low) / 2)
            parts += [share, -share]
        every = np.concatenate(parts)
        return every.max(axis=1), every

    def _guard_slopes(self, course: Course, slopes: Slopes) -> Array:
        """Derivatives (guard, coordinate, sample) of the guards' smooth maxima by q."""
        _, every = self._guards(course)
        parts = [-self.limits.regularity / course.regularity**2 * slopes.regularity]
        if self.limits.values:
            low, high = np.array(list(self.limits.values.values())).T[..., None]
            share = slopes.values / ((high - low) / 2)
            parts += [share, -share]
        weights = smooth_top(every)[1]
        return (np.concatenate(parts, axis=1) * weights).transpose(1, 0, 2)

    def _known(self, z: Array) -> Course:
        course = self._course(z)
        assert course is not None  # the motion it began from was followed
        return course

    def _course(self, z: Array) -> Course | None:
        key = z.tobytes()
        if self.last[0] != key:
            course = None
            if np.abs(self.series.shares(z)).max() <= FAR:
                motion = self.series.motion(z, self.samples)
                course = None if self.near is None else self.follower.at(motion, self.near)
                course = course or self.follower.at(motion)
            self.last = (key, course, None)
            if course is not None:
                self.near = course.q
        return self.last[1]

    def _slopes(self, z: Array) -> Slopes | None:
        course = self._course(z)
        if course is not None and self.last[2] is None:
            self.last = (self.last[0], course, self.follower.slopes(course))
        return self.last[2]

    def result(self, z: Array, fine: Course, random: tuple[float, ...]) -> Design:
        """The best motion with what there is to say of it."""
        course = self._known(z)
        used = np.abs(self.series.shares(z)).max(axis=-1)
        return Design(
            self.series.law(z, self.samples),
            as_twists(self.follower.model.mechanism, course.motion),
            float(np.exp(self.measure(course.W)[0])),
            random,
            float(np.exp(condition(course.W)[0])),
            np.where(np.isinf(self.series.kinds), np.nan, used),
            float(fine.regularity.min()),
        )
