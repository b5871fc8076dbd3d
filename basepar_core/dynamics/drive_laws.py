"""Laws of drives that turn several coordinates, linear in one parameter each.

A drive turns by x = Σ weight · coordinate: a joint's own drive has one weight of 1; of a coupled
wrist (a sixth motor that also moves with joint 5) two; a cable over pulleys more. By virtual work
its law acts on every coordinate by the same weights.

==================  ============================  ========================================
law                 per unit parameter            what it is
==================  ============================  ========================================
viscous             ẋ                             grease
positive_viscous    ẋ where ẋ > 0, else 0         grease, forward, where directions differ
negative_viscous    ẋ where ẋ < 0, else 0         … and backward
coulomb             sign ẋ                        dry friction
smooth_coulomb      tanh(ẋ/s)                     … that turns over within the speed s
positive            1 where ẋ > 0, else 0         dry friction, forward
negative            −1 where ẋ < 0, else 0        … and backward
stribeck            sign ẋ · exp(−(ẋ/s)²)         what it has more below the speed s
power               sign ẋ · |ẋ|ˢ, s = ½ …        friction that grows less than the speed
load                sign ẋ · |load|               dry friction that grows with the load
smooth_load         tanh(ẋ/s) · |load|            … that turns over within the speed s
rotor               ẍ                             the motor's inertia
offset              1                             a current's zero
stiffness           x                             a spring; its rest is in the offset
sine, cosine        sin x, cos x                  a counterweight that turns with the drive
polynomial          T_s((x − middle)/half)        a cable's torque: Chebyshev's, degree s
==================  ============================  ========================================

s is the law's shape: a speed in rad/s or m/s, an exponent (of ẋ in rad/s or m/s), a degree.
Parameters are in N m s/rad (viscous), kg m² (rotor), N m/rad (stiffness), N m; of drives that
move lengths N s/m, kg, N/m, N; of load they are numbers. The load is that of the model; where
none is known, the column is that of a load of 1. A drive's smooth laws have one speed together.

Sources: Armstrong-Hélouvry, Dupont & Canudas de Wit, Automatica 30(7), 1994 (Stribeck); Hamon,
Gautier & Garrec, IEEE/RSJ IROS 2010 (load); Andersson, Söderberg & Björklund, Tribology
International 40, 2007 (tanh).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.mechanism import JointValue, Mechanism, joint_type

_Force = Callable[[Array, Array, Array, float], Array]
_TORQUE, _VISCOUS = ("N m", "N"), ("N m s/rad", "N s/m")


@dataclass(frozen=True, slots=True)
class Law:
    """One law.

    Attributes
    ----------
    of
        From x, ẋ, ẍ and the shape.
    units
        Of its parameter, x an angle and a length; "" where there is no such law.
    shape
        What its shape is; "" without one.
    is_friction
        Whether it says what is lost, or the current's zero: no part of a load.
    by_load
        Whether it is multiplied by |load|.
    shares
        The law whose shape is also its own where a drive has both; "": none.
    """

    of: _Force
    units: tuple[str, str] = _TORQUE
    shape: Literal["", "speed", "exponent", "degree"] = ""
    is_friction: bool = True
    by_load: bool = False
    shares: str = ""


#: Every law by its kind.
LAWS: dict[str, Law] = {
    "viscous": Law(lambda x, v, a, s: v, _VISCOUS),
    "positive_viscous": Law(lambda x, v, a, s: np.maximum(v, 0.0), _VISCOUS),
    "negative_viscous": Law(lambda x, v, a, s: np.minimum(v, 0.0), _VISCOUS),
    "coulomb": Law(lambda x, v, a, s: np.sign(v)),
    "smooth_coulomb": Law(lambda x, v, a, s: np.tanh(v / s), shape="speed"),
    "positive": Law(lambda x, v, a, s: np.where(v > 0, 1.0, 0.0)),
    "negative": Law(lambda x, v, a, s: np.where(v < 0, -1.0, 0.0)),
    "stribeck": Law(lambda x, v, a, s: np.sign(v) * np.exp(-((v / s) ** 2)), shape="speed"),
    "power": Law(lambda x, v, a, s: np.sign(v) * np.abs(v) ** s, shape="exponent"),
    "load": Law(lambda x, v, a, s: np.sign(v), ("", ""), by_load=True),
    "smooth_load": Law(
        lambda x, v, a, s: np.tanh(v / s),
        ("", ""),
        shape="speed",
        by_load=True,
        shares="smooth_coulomb",
    ),
    "rotor": Law(lambda x, v, a, s: a, ("kg m^2", "kg"), is_friction=False),
    "offset": Law(lambda x, v, a, s: np.ones_like(v)),
    "stiffness": Law(lambda x, v, a, s: x, ("N m/rad", "N/m"), is_friction=False),
    "sine": Law(lambda x, v, a, s: np.sin(x), ("N m", ""), is_friction=False),
    "cosine": Law(lambda x, v, a, s: np.cos(x), ("N m", ""), is_friction=False),
    "polynomial": Law(
        lambda x, v, a, s: np.polynomial.chebyshev.chebval(x, np.eye(int(s) + 1)[int(s)]),
        shape="degree",
        is_friction=False,
    ),
}
#: What a shape is where it is to be searched for, to begin with.
STARTS = {"speed": 0.1, "exponent": 0.5}
#: Laws of angles only.
_ROUND = ("sine", "cosine")


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
    shape
        Stribeck's or a smooth law's speed (rad/s or m/s), the exponent, the polynomial's degree;
        others have none.
    band
        A polynomial's (middle, half) of the positions it is made for, rad or m.
    across
        (coordinate,): the drive's load is Σ across · τ; None: by its weights, as of one that is
        alone on its coordinate.
    searched
        Whether an identification looks for the shape, beginning with this one.

    Raises
    ------
    UsageError
        No such law; a shape that is missing or not positive, or one of a law without.
    """

    drive: str
    kind: str
    weights: tuple[float, ...]
    shape: float | None = None
    band: tuple[float, float] = (0.0, 1.0)
    across: tuple[float, ...] | None = None
    searched: bool = False

    def __post_init__(self) -> None:
        if self.kind not in LAWS:
            raise UsageError(
                f"{self.drive}: no such law {self.kind!r}. Laws are {', '.join(LAWS)}.",
                [self.kind],
            )
        what = LAWS[self.kind].shape
        if not what and self.shape is not None:
            raise UsageError(
                f"{self.name} has no shape; {self.shape:g} is given. Leave it out.", [self.name]
            )
        if what and not 0 < (self.shape or 0) < np.inf:
            raise UsageError(
                f"{self.name} has the {what} {self.shape}; it is positive. State `shape=`.",
                [self.name],
            )
        if what == "degree" and self.shape != int(self.shape or 0):
            raise UsageError(f"{self.name} has the degree {self.shape}, a number of 1, 2, ….")

    @property
    def name(self) -> str:
        """Drive and law, and a polynomial's degree."""
        degree = f"_{int(self.shape or 0)}" if self.kind == "polynomial" else ""
        return f"{self.drive}.{self.kind}{degree}"

    def law(self, q: Array, q_dot: Array, q_ddot: Array) -> Array:
        """The law (sample,) from the coordinates and their rates (coordinate, sample), SI."""
        along = np.asarray(self.weights)
        middle, half = self.band
        x, shape = (along @ q - middle) / half, self.shape or 1.0
        return LAWS[self.kind].of(x, along @ q_dot, along @ q_ddot, shape)

    def load(self, tau: Array) -> Array:
        """The drive's load (sample,) where the coordinates' torques are (coordinate, sample)."""
        return np.asarray(self.weights if self.across is None else self.across) @ tau

    def unit(self, mechanism: Mechanism) -> str:
        """SI unit of the parameter."""
        return LAWS[self.kind].units[self._turned(mechanism)[0].is_length]

    def shape_unit(self, mechanism: Mechanism) -> str:
        """SI unit of the shape, "" where it has none."""
        if LAWS[self.kind].shape != "speed":
            return ""
        return "m/s" if self._turned(mechanism)[0].is_length else "rad/s"

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
        if self.kind in _ROUND and turned[0].is_length:
            return "moves a length, which has no sine"
        return ""

    def _turned(self, mechanism: Mechanism) -> list[JointValue]:
        pairs = zip(mechanism.coordinates, self.weights, strict=True)
        return [mechanism.value(name) for name, weight in pairs if weight]
