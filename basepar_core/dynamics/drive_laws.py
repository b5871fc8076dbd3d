"""Laws of drives that turn several coordinates, linear in one parameter each.

A drive turns by x = Σ weight · coordinate: a joint's own drive has one weight of 1; of a coupled
wrist (a sixth motor that also moves with joint 5) two; a cable over pulleys more. By virtual work
its law acts on every coordinate by the same weights.

=========  ======================  ==============================================  ===========
law        per unit parameter      what it is                                      parameter
=========  ======================  ==============================================  ===========
viscous    ẋ                       grease                                          N m s/rad
coulomb    sign ẋ                  dry friction                                    N m
positive   1 where ẋ > 0, else 0   dry friction forward, of two that differ        N m
negative   −1 where ẋ < 0, else 0  dry friction backward                           N m
stribeck   sign ẋ · exp(−(ẋ/s)²)   what dry friction has more below the speed s    N m
rotor      ẍ                       the motor's inertia                             kg m²
offset     1                       a current's zero                                N m
=========  ======================  ==============================================  ===========

Of drives that move lengths N s/m, N and kg.

Source: Armstrong-Hélouvry, Dupont & Canudas de Wit, Automatica 30(7), 1994 (Stribeck).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.mechanism import JointValue, Mechanism, joint_type

_Law = Callable[[Array, Array, float], Array]
#: Each law from ẋ, ẍ and its speed s, with the units of its parameter: x an angle, a length.
LAWS: dict[str, tuple[_Law, tuple[str, str]]] = {
    "viscous": (lambda v, a, s: v, ("N m s/rad", "N s/m")),
    "coulomb": (lambda v, a, s: np.sign(v), ("N m", "N")),
    "positive": (lambda v, a, s: np.where(v > 0, 1.0, 0.0), ("N m", "N")),
    "negative": (lambda v, a, s: np.where(v < 0, -1.0, 0.0), ("N m", "N")),
    "stribeck": (lambda v, a, s: np.sign(v) * np.exp(-((v / s) ** 2)), ("N m", "N")),
    "rotor": (lambda v, a, s: a, ("kg m^2", "kg")),
    "offset": (lambda v, a, s: np.ones_like(v), ("N m", "N")),
}


@dataclass(frozen=True, slots=True)
class DriveLaw:
    """One law of a drive.

    Attributes
    ----------
    drive
        What the drive is called.
    kind
        Of `LAWS`.
    weights
        (coordinate,): ∂x/∂q, in the order of the mechanism's coordinates.
    speed
        Stribeck's s, rad/s or m/s; other laws have none.

    Raises
    ------
    UsageError
        No such law; a Stribeck speed that is missing or not positive, or a speed of another law.
    """

    drive: str
    kind: str
    weights: tuple[float, ...]
    speed: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in LAWS:
            raise UsageError(
                f"{self.drive}: no such law {self.kind!r}. Laws are {', '.join(LAWS)}.",
                [self.kind],
            )
        if self.kind != "stribeck" and self.speed is not None:
            raise UsageError(
                f"{self.name} has no speed; {self.speed:g} is given. Leave it out.", [self.name]
            )
        if self.kind == "stribeck" and not 0 < (self.speed or 0) < np.inf:
            raise UsageError(
                f"{self.name} has the speed {self.speed}; it is positive, in rad/s or m/s. "
                f"State `speed=`.",
                [self.name],
            )

    @property
    def name(self) -> str:
        """Drive and law."""
        return f"{self.drive}.{self.kind}"

    def law(self, q_dot: Array, q_ddot: Array) -> Array:
        """The law (sample,) from the coordinates' rates (coordinate, sample), SI."""
        along = np.asarray(self.weights)
        return LAWS[self.kind][0](along @ q_dot, along @ q_ddot, self.speed or 1.0)

    def unit(self, mechanism: Mechanism) -> str:
        """SI unit of the parameter."""
        return LAWS[self.kind][1][self._turned(mechanism)[0].is_length]

    def problem(self, mechanism: Mechanism) -> str:
        """What keeps the law from this mechanism, or nothing."""
        names = mechanism.coordinates
        if len(self.weights) != len(names):
            return f"has {len(self.weights)} weights; state {len(names)}, of {', '.join(names)}"
        if not np.isfinite(self.weights).all() or not any(self.weights):
            return f"has the weights {self.weights}; state finite ones, not all zero"
        turned = self._turned(mechanism)
        if any(joint_type(value.joint.type).is_ball for value in turned):
            return "turns values of a spherical or free joint; weigh others only"
        if len({value.is_length for value in turned}) > 1:
            return "turns angles and lengths at once; state a drive for each"
        return ""

    def _turned(self, mechanism: Mechanism) -> list[JointValue]:
        pairs = zip(mechanism.coordinates, self.weights, strict=True)
        return [mechanism.value(name) for name, weight in pairs if weight]
