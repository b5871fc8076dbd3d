"""Whether a record looks as if one of its units were another: judged by the file's own inertias.

With nominal inertias the torque of the measured motion can be foretold. Where a record explains
its torque badly as it stands, but well with degrees for radians (milliseconds for seconds …) or
with a sign turned round, it is rejected. Inertias may be wrong by half and friction may be
missing; a factor of 57 shows.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion, as_rates, as_twists

from ..errors import MotionError, UsageError
from .foretold import LOOKED_AT, FileTorque, at, spread
from .smoothing import FEWEST

#: Correlation with the foretold torque that is good; and by how much less another reading must
#: miss of a full correlation before the stated one is rejected.
GOOD, BETTER = 0.95, 5.0
#: So many times the travel of readings one of which fits surely, others are not tried.
LONGER = 5.0
#: Correlation beyond which nothing better than an exchange of columns is looked for.
SURE = 0.99
#: Foretold torque may be wrong by this factor and still be the right one.
SIZE = 3.0
#: A travel of more of the loops' steps (of 0.1 rad) is worth a look before it is followed.
LONG = 200


class Reading(NamedTuple):
    """A motion in other units: what they are, of which coordinates or none, and the factors of
    the coordinates (coordinate, 1) and of time."""

    what: str
    titles: tuple[str, ...]
    factor: Array | float
    pace: float = 1.0


#: Factor, and unit as it stands in titles.
_ANGLES = {
    "degrees where radians are meant": (np.pi / 180, "deg"),
    "turns where radians are meant": (2 * np.pi, "rev"),
}
#: How many times too large a torque is where N m is taken, and its unit where titles have it.
_TORQUES = {1e3: "N*mm", 1e2: "N*cm", 1e-3: "", 9.81: "", 1 / 9.81: "", 1e-2: ""}
_LENGTHS = {"millimetres where metres are meant": (1e-3, "mm")}
_TIME = "milliseconds where seconds are meant"


def check_units(
    model: Model,
    motion: Motion,
    tau: Array,
    W: Array | None,
    columns: tuple[Column, ...] = (),
    exchanged: float = -1.0,
) -> None:
    """Reject a record that fits the mechanism in other units only.

    Parameters
    ----------
    model
        With inertias; without, nothing is judged.
    motion
        As measured.
    tau
        (coordinate, sample), N m or N; nan where unusable.
    W
        (sample, coordinate, parameter) of the motion, inertial columns first, then `columns`;
        None: the mechanism cannot follow it.
    columns
        Of force laws, whose torques by the file's values count too.
    exchanged
        Correlation that an exchange of columns leads to: other units have to be better still.

    Raises
    ------
    UsageError
        Another unit explains the torque, and the stated ones do not.
    """
    if not model.mechanism.has_inertias or exchanged > SURE:
        return
    file = FileTorque(model, columns)
    thin = spread(tau)
    some = at(motion, thin)
    measured = tau[:, thin]
    as_is, size = (0.0, 1.0) if W is None else file.compare(W[thin], measured)
    if as_is >= GOOD:
        near = [f for f in _TORQUES if 1 / 1.5 < size / f < 1.5]
        if near and not 1 / SIZE < size < SIZE:
            unit = _TORQUES[min(near, key=lambda f: abs(np.log(size / f)))]
            name = model.mechanism.coordinates[0]
            write = f" Write the unit into its title, `tau.{name} [{unit}]`." if unit else ""
            raise UsageError(
                f"The measured torque is {size:.3g} times what the file's inertias give for this "
                f"motion, and follows it otherwise: is it in another unit than N m (or N)?{write} "
                f"Or are masses of the file in another unit (g for kg)? `basepar show` lists "
                f"them.",
                ["tau"],
            )
        return
    as_is = max(as_is, exchanged)
    # A motion of whole turns a sample is in another unit, and takes long to follow once more.
    wild = bool(np.abs(np.diff(motion.q)).max() > np.pi)
    signs = (file, some, measured, None if W is None else W[thin], as_is)
    if not wild:
        _check_signs(*signs)
    _check_readings(file, some, measured, as_is, _alternatives(model))
    if wild:
        _check_signs(*signs)


def check_reach(
    model: Model, motion: Motion, tau: Array, columns: tuple[Column, ...] = ()
) -> None:
    """Reject degrees for radians before loops are followed through 57 times the travel.

    As `check_units`, where the travel is long; the motion as it stands is judged by its start.
    """
    steps = motion.q / model.loops.step[:, None]
    long = bool(model.loops.blocks) and np.ptp(steps, axis=1).max() > LONG
    usable = np.flatnonzero(np.isfinite(tau).all(axis=0))
    if not (long and usable.size and model.mechanism.has_inertias):
        return
    away = (np.abs(steps[:, usable] - steps[:, usable[:1]]) > LONG / 5).any(axis=0)
    start = usable[: max(FEWEST, int(away.argmax()))]
    file = FileTorque(model, columns)
    as_is, _ = _fit(file, at(motion, start), tau[:, start], 1.0, 1.0)
    thin = usable[:: max(1, usable.size // LOOKED_AT)]
    smaller = [
        [x for x in group if np.max(x.factor) <= 1 and np.min(x.factor) < 1]
        for group in _alternatives(model)
    ]
    if as_is < GOOD:
        _check_readings(file, at(motion, thin), tau[:, thin], as_is, smaller)


def _check_readings(
    file: FileTorque,
    motion: Motion,
    tau: Array,
    as_is: float,
    readings: Sequence[Sequence[Reading]],
) -> None:
    """Reject a motion that fits the torque clearly better when read otherwise."""

    def travel(reading: Reading) -> float:
        return float(np.ptp(motion.q * reading.factor, axis=1).max())

    for unsorted in readings:
        # Through a long travel loops are followed for long, and it is hardly what is meant.
        group, fits = sorted(unsorted, key=travel), list[tuple[float, float]]()
        for k, one in enumerate(group):
            if k and travel(one) > LONGER * travel(group[k - 1]) and max(fits)[0] > SURE:
                break
            fits.append(_fit(file, motion, tau, one.factor, one.pace))
        better = [k for k, fit in enumerate(fits) if _is_clearly_better(*fit, as_is)]
        if better:
            # All columns may do by and large where one does exactly, and the reverse.
            best = max(better, key=lambda k: fits[k][0])
            raise UsageError(
                f"{group[best].what}: read that way, the file's inertias give the measured torque "
                f"(correlation {fits[best][0]:.3f}); as it stands they do not ({as_is:.3f}). "
                f"Write the unit into the titles: {' and '.join(group[best].titles)}.",
                ["units"],
            )


def _is_clearly_better(found: float, size: float, as_is: float) -> bool:
    """Whether a reading correlates with the torque so much better, at about its size."""
    return found >= GOOD and 1 - found < (1 - as_is) / BETTER and 1 / SIZE < size < SIZE


def _check_signs(
    file: FileTorque, motion: Motion, tau: Array, W: Array | None, as_is: float
) -> None:
    """Reject a torque, or a position (with or without its torque), that counts the other way."""
    names = file.model.mechanism.coordinates
    for k, name in enumerate(names):
        turned = np.where(np.arange(len(names)) == k, -1.0, 1.0)[:, None]
        readings = [] if W is None else [(f"tau.{name}", file.compare(W, tau * turned))]
        back = _read_as(file.model, motion, turned, 1.0)
        try:
            other = file.observe(back)
        except MotionError:
            pass
        else:
            readings += [
                (name, file.compare(other, tau)),
                (f"{name} and tau.{name}", file.compare(other, tau * turned)),
            ]
        for what, (found, size) in readings:
            if _is_clearly_better(found, size, as_is):
                raise UsageError(
                    f"Turned round: {what}? With the other sign the file's inertias give the "
                    f"measured torque (correlation {found:.3f}); as it stands they do not "
                    f"({as_is:.3f}). Negate the column, or turn the joint's axis in the file.",
                    [what],
                )


def _alternatives(model: Model) -> list[list[Reading]]:
    """Other readings, of which those of one list differ in the columns that they are of."""
    mechanism = model.mechanism
    names = mechanism.coordinates
    length = [mechanism.value(name).is_length for name in names]
    found = []
    for words, is_length in ((_ANGLES, False), (_LENGTHS, True)):
        of_kind = tuple(n for n, is_so in zip(names, length, strict=True) if is_so == is_length)
        # All, and where there are several each alone and all but each.
        choices = dict.fromkeys([of_kind, *((name,) for name in of_kind)])
        choices |= dict.fromkeys(itertools.combinations(of_kind, max(1, len(of_kind) - 1)))
        for what, (factor, unit) in words.items() if of_kind else ():
            group = []
            for chosen in choices:
                told = f"The motion looks like {what}"
                if chosen != of_kind:
                    looks = "looks" if len(chosen) == 1 else "look"
                    told = f"{' and '.join(chosen)} {looks} like {what}, the others do not"
                shift = np.where(np.isin(names, chosen), factor, 1.0)[:, None]
                group.append(Reading(told, tuple(f"`{x} [{unit}]`" for x in chosen), shift))
            found.append(group)
    both = [
        [Reading(f"{one.what} and {_TIME}", (*one.titles, "`t [ms]`"), one.factor, 1e-3)]
        for one, *_ in found
    ]
    return [*found, [Reading(f"The motion looks like {_TIME}", ("`t [ms]`",), 1.0, 1e-3)], *both]


def _fit(
    file: FileTorque, motion: Motion, tau: Array, shift: Array | float, pace: float
) -> tuple[float, float]:
    """Correlation of measured and foretold torque, and the factor between them."""
    try:
        W = file.observe(_read_as(file.model, motion, shift, pace))
    except MotionError:
        return 0.0, 1.0
    return file.compare(W, tau)


def _read_as(model: Model, motion: Motion, shift: Array | float, pace: float) -> Motion:
    """A motion with other factors of the coordinates and of time."""
    given = as_rates(model.mechanism, motion)
    read = Motion(
        given.t * pace,
        given.q * shift,
        given.q_dot * shift / pace,
        given.q_ddot * shift / pace**2,
    )
    return as_twists(model.mechanism, read)
