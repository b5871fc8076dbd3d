"""One turn of a machine, as numbers: motion, loads and reactions on its nodes."""

from dataclasses import dataclass

from basepar_core.arrays import Array


@dataclass(frozen=True)
class Motion:
    """One turn.

    Attributes
    ----------
    q
        (node,).
    time, speed, acceleration
        (variant, node), s, rad/s, rad/s² (or m).
    currents
        (motor, variant, node), A, of all motors.
    torques
        (motor, variant, node): on their joints, N m or N.
    reactions
        (reaction, variant, node), N or N m. They jump where a one-sided load does (`jumps`).
    """

    q: Array
    time: Array
    speed: Array
    acceleration: Array
    currents: Array
    torques: Array
    reactions: Array
