"""The balance of forces at places of the motion: accelerations, and what joints transmit.

Arrays of a place are (variant, node) for many variants on nodes, or (place,) for places of their
own; a machine's numbers in `Loads` are of the same shape, or broadcast.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array

from .loads import Loads
from .splines import cubic
from .survey import Table


@dataclass(frozen=True)
class Functions:
    """What depends on q only; leading axes as in `Table`, but the coordinate before the variant.

    Attributes
    ----------
    m, slope
        Reduced inertia with rotors; V′.
    inertia, half_slope
        (coordinate, …), of bodies and springs' potential apart.
    virtual_slope
        (virtual, …).
    theta, rates, bends
        (joint, …), (joint, coordinate, …), and θ″ (joint, …), 0 where no rotor turns.
    """

    m: Array
    slope: Array
    inertia: Array
    half_slope: Array
    virtual_slope: Array
    theta: Array
    rates: Array
    bends: Array

    def mapped(self, change: Callable[[Array], Array]) -> "Functions":
        """Each array changed, such as taken at other places."""
        return Functions(**{name: change(x) for name, x in vars(self).items()})


def functions_of(table: Table) -> Functions:
    """A table's functions on its nodes."""
    r = table.reduced
    bends = np.zeros_like(table.rates[:, 0])
    if table.loads.rotors:
        bends = cubic(table.q, table.rates[:, 0])(table.q, 1)
    return Functions(
        table.m,
        table.slope,
        np.moveaxis(r.inertia, 1, 0),
        np.moveaxis(r.half_slope, 1, 0),
        np.moveaxis(table.virtual_slope, 1, 0),
        table.theta,
        table.rates,
        bends,
    )


def currents_of(loads: Loads, rate: Array, slow: Array) -> Array:
    """(motor, …) A: of motors without inductance what follows at once, else as given."""
    found = np.array(slow, float)
    for k, drive in enumerate(loads.drives):
        if not drive.slow:
            found[k] = (drive.voltage - drive.gain * rate[drive.joint]) / drive.resistance
    return found


def forces(
    f: Functions,
    loads: Loads,
    speed: Array,
    currents: Array,
    ways: Array | None = None,
    where: Array | None = None,
) -> tuple[Array, Array]:
    """Acceleration, and reactions (reaction, …), at a speed.

    `ways` and `where` tell on which side of a jump (`Loads.efforts`); at the place itself without.
    """
    rate = f.rates[:, 0] * speed
    ways = np.sign(rate) if ways is None else ways
    efforts = loads.efforts(f.theta, rate, currents, ways, where)
    half = f.half_slope[0]
    for joint, inertia in loads.rotors:
        half = half + inertia * f.rates[joint, 0] * f.bends[joint]
    force = (efforts * f.rates[:, 0]).sum(axis=0) - f.slope
    acceleration = (force - half * speed**2) / f.m
    carried = efforts.copy()
    for joint, inertia in loads.rotors:
        turned = f.rates[joint, 0] * acceleration + f.bends[joint] * speed**2
        carried[joint] -= inertia * turned
    reactions = [
        f.inertia[k] * acceleration
        + f.half_slope[k] * speed**2
        + f.virtual_slope[k - 1]
        - (carried * f.rates[:, k]).sum(axis=0)
        for k in range(1, f.rates.shape[1])
    ]
    return acceleration, np.array(reactions).reshape(len(reactions), *np.shape(acceleration))
