"""Measured wrenches at a file's `points`: columns of a record, and what they do to coordinates.

With W φ = τ + Jᵀ w they are known forces beside the measured torques.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Motion, Outcome, kinematics, point_rates
from basepar_core.errors import UsageError
from basepar_core.expressions import UNITS, Unit, evaluate
from basepar_core.mechanism import GROUND, Mechanism, Point, joint_type

from .motion_regressor import follow

#: Torques that wrenches may leave to coordinates without a drive, of the largest: rounding.
CARRIED = 1e-9
#: Harmonics of the forces that push besides.
HARMONICS = 3


@dataclass(frozen=True)
class Pushed:
    """Points at which a simulated machine is pushed.

    Attributes
    ----------
    points
        Names of the file's points.
    push
        Size of smooth forces besides what carries the machine, N.
    noise
        Standard deviation of what sensors say of forces and moments, N and N m.
    """

    points: tuple[str, ...]
    push: float = 0.0
    noise: float = 0.0


def wrench_columns(mechanism: Mechanism) -> dict[str, dict[str, Unit]]:
    """Per point of a body its columns in the order of a wrench's components, and their units.

    Force on the body, then moment about the point, along the body's axes; in the plane x, y and
    the one moment.
    """
    force, moment = UNITS["N"], UNITS["N"] * UNITS["m"]
    axes = ("xy", "z") if mechanism.planar else ("xyz", "xyz")
    return {
        one.name: {f"force.{one.name}.{axis}": force for axis in axes[0]}
        | {f"moment.{one.name}.{axis}": moment for axis in axes[1]}
        for one in mechanism.points
        if one.body != GROUND
    }


def contact_efforts(model: Model, motion: Motion, wrenches: Mapping[str, Array]) -> Array:
    """Jᵀ w (coordinate, sample), N m or N: what measured wrenches do to the coordinates.

    Parameters
    ----------
    model
        The mechanism, prepared.
    motion
        Of the record.
    wrenches
        Per point (component, sample), SI; nan where not measured.

    Returns
    -------
    nan where a wrench was not measured; zero where the loops do not close, which is reported
    where W is made.
    """
    found = np.zeros(motion.q.shape)
    for name, rates in _rates(model, motion, list(wrenches)).items():
        found += np.einsum("skc,cs->ks", rates, wrenches[name])
    return found


def _rates(model: Model, motion: Motion, names: Sequence[str]) -> dict[str, Array]:
    """Jacobians (sample, coordinate, component) of points; none where the loops do not close."""
    path = follow(model, motion.q) if names else None
    if path is None or path.outcome[0] != Outcome.CLOSED:
        return {}
    dims = kinematics.geometry(model.mechanism, {}).over_samples()

    def of(one: Point) -> Array:
        at = [float(x) for x in evaluate(one.at, model.mechanism.nominal)]
        return point_rates(model, dims, path.q, motion, one.body, at)[0]

    return {one.name: of(one) for one in model.mechanism.points if one.name in names}


def wrenches_that_carry(
    model: Model, motion: Motion, efforts: Array, pushed: Pushed, seed: int
) -> dict[str, Array]:
    """Wrenches at points that leave nothing to coordinates without a drive.

    Forces of the least sum of squares, beside those that push; with moments about the points
    where forces alone do not carry. Without a drive are values of bases that float, and those that
    the file does not name as actuated.

    Parameters
    ----------
    model, motion
        The mechanism, and where it goes.
    efforts
        (coordinate, sample): what the motion takes, N m or N.
    pushed
        Where, and by what besides.
    seed
        Of that.

    Returns
    -------
    Per point (component, sample), as of `contact_efforts`.

    Raises
    ------
    UsageError
        A name that no point of a body has; wrenches there do not carry the mechanism.
    """
    it = model.mechanism
    known = list(wrench_columns(it))
    if unknown := [name for name in pushed.points if name not in known]:
        raise UsageError(
            f"`contacts=`: {', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} no point "
            f"of a body of {it.name!r}; there are {', '.join(known) or 'none (write `points`)'}.",
            ["contacts="],
        )
    rates = _rates(model, motion, pushed.points)
    J = np.concatenate([rates[name] for name in rates], axis=-1)
    width, forces = (3, 2) if it.planar else (6, 3)
    given = np.zeros((len(rates), width, motion.t.size))
    given[:, :forces] = pushed.push * _smooth(motion.t, (len(rates), forces), seed)
    still = [
        k
        for k, name in enumerate(it.coordinates)
        if name not in it.actuated or joint_type(it.value(name).joint.type).is_free
    ]
    whole = given.reshape(-1, given.shape[-1])
    left = efforts[still].T - np.einsum("skc,cs->sk", J[:, still], whole)
    every = np.arange(len(rates) * width)
    for chosen in (every[every % width < forces], every):
        share = J[:, still][..., chosen]
        found = np.einsum("sck,sk->cs", np.linalg.pinv(share), left)
        rest = np.abs(left - np.einsum("skc,cs->sk", share, found)).max(initial=0.0)
        if rest <= CARRIED * np.abs(efforts).max(initial=0.0):
            whole[chosen] += found
            return dict(zip(rates, whole.reshape(given.shape), strict=True))
    names = ", ".join(it.coordinates[k] for k in still)
    raise UsageError(
        f"`contacts=`: wrenches at {', '.join(pushed.points)} do not carry {it.name!r}: they "
        f"leave up to {rest:.4g} N or N m to {names}, which have no drive. Name further points.",
        ["contacts="],
    )


def _smooth(t: Array, shape: tuple[int, ...], seed: int) -> Array:
    """Sums of a few harmonics of the record's length, of random phases: (…, sample), about one."""
    rng = np.random.default_rng([seed, 1])
    period = float(t[-1] - t[0]) or 1.0
    phases = rng.uniform(0, 2 * np.pi, (*shape, HARMONICS, 1))
    turns = 2 * np.pi * np.arange(1, HARMONICS + 1)[:, None] * (t - t[0]) / period
    found: Array = np.sin(turns + phases).sum(axis=-2) * np.sqrt(2 / HARMONICS)
    return found
