"""Whether a record looks as if one of its units were another: judged by the file's own inertias.

With nominal inertias the torque of the measured motion can be foretold. Where a record explains
its torque badly as it stands, but well with degrees for radians (milliseconds for seconds …) or
with a sign turned round, it is rejected. Inertias may be wrong by half and friction may be
missing; a factor of 57 shows.
"""

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion, as_rates, as_twists
from basepar_core.mechanism import Mechanism

from ..errors import MotionError, UsageError
from .foretold import LOOKED_AT, FileTorque, at, spread
from .smoothing import FEWEST

#: Correlation with the foretold torque that is good; and by how much less another reading must
#: miss of a full correlation before the stated one is rejected.
GOOD, BETTER = 0.95, 5.0
#: Correlation beyond which nothing better than an exchange of columns is looked for.
SURE = 0.99
#: Foretold torque may be wrong by this factor and still be the right one.
SIZE = 3.0
#: A travel of more of the loops' steps (of 0.1 rad) is worth a look before it is followed.
LONG = 500

#: What, factor of the coordinates, factor of time.
Reading: TypeAlias = tuple[str, Array | float, float]

_ANGLES = {
    "degrees where radians are meant": np.pi / 180,
    "turns where radians are meant": 2 * np.pi,
}
_LENGTHS = {"millimetres where metres are meant": 1e-3}
_TIMES = {"milliseconds where seconds are meant": 1e-3}


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
        near = [f for f in (1e3, 1e-3, 9.81, 1 / 9.81, 1e2, 1e-2) if 1 / 1.5 < size / f < 1.5]
        if near and not 1 / SIZE < size < SIZE:
            raise UsageError(
                f"The measured torque is {size:.3g} times what the file's inertias give for this "
                f"motion, and follows it otherwise: is it in another unit than N m (or N)? Write "
                f"the unit into its title, `tau.A [N*mm]`. Or are masses of the file in another "
                f"unit (g for kg)? `basepar show` lists them.",
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
    smaller = [x for x in _alternatives(model) if np.max(x[1]) <= 1 and np.min(x[1]) < 1]
    if as_is < GOOD:
        _check_readings(file, at(motion, thin), tau[:, thin], as_is, smaller)


def _check_readings(
    file: FileTorque, motion: Motion, tau: Array, as_is: float, readings: Sequence[Reading]
) -> None:
    """Reject a motion that fits the torque clearly better when read otherwise."""
    for what, shift, pace in readings:
        found, size = _fit(file, motion, tau, shift, pace)
        if _is_clearly_better(found, size, as_is):
            raise UsageError(
                f"The motion looks like {what}: read that way, the file's inertias give the "
                f"measured torque (correlation {found:.3f}); as it stands they do not "
                f"({as_is:.3f}). Write the unit into the titles, like "
                f"{_titles(file.model.mechanism, what)}.",
                ["units"],
            )


def _titles(mechanism: Mechanism, what: str) -> str:
    """Titles of columns with their units, one of each kind that was read otherwise."""
    names = {mechanism.value(name).is_length: name for name in reversed(mechanism.coordinates)}
    titles = {
        "degrees": f"`{names.get(False)} [deg]`",
        "turns": f"`{names.get(False)} [rev]`",
        "millimetres": f"`{names.get(True)} [mm]`",
        "milliseconds": "`t [ms]`",
    }
    return " and ".join(title for word, title in titles.items() if word in what)


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


def _alternatives(model: Model) -> list[Reading]:
    """Other readings: what, factor of the coordinates, factor of time."""
    mechanism = model.mechanism
    values = map(mechanism.value, mechanism.coordinates)
    length = np.array([value.is_length for value in values])[:, None]
    kinds: list[tuple[dict[str, float], Array]] = [(_ANGLES, ~length)] * (not length.all()) + [
        (_LENGTHS, length)
    ] * bool(length.any())
    positions: list[tuple[str, Array]] = [
        (what, np.where(chosen, factor, 1.0))
        for words, chosen in kinds
        for what, factor in words.items()
    ]
    times = list(_TIMES.items())
    found: list[Reading] = [(what, x, 1.0) for what, x in positions]
    found += [(what, 1.0, pace) for what, pace in times]
    return found + [
        (f"{one} and {two}", factor, pace)
        for (one, factor), (two, pace) in itertools.product(positions, times)
    ]


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
