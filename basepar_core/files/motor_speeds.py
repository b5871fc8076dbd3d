"""Motors far too slow for their mechanism: a data sheet's mN m/A or rpm/V for N m/A."""

import warnings
from collections.abc import Mapping
from math import pi

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import ConstantSpeed, Fourier, Mechanism, Motor, SineSum, States

from .yaml_nodes import Node, entry_at

#: So many times slower than the motion no motor is chosen.
_SLOWER = 50.0
#: rad/s at its own shaft below which no motor before a gear idles, and above which they do.
_SLOW, _FAST = 0.5, 10.0


def warn_of_speed_constants(top: Mapping[str, Node], mechanism: Mechanism) -> None:
    """Ask about motors that idle far below the motion's speed where rpm/V is a likely reading."""
    for motor in mechanism.motors:
        node = entry_at(top.get("motors"), motor.name, "constant")
        given = (motor.voltage, motor.constant, motor.ratio)
        volt, constant, ratio = (abs(_number(mechanism, x)) for x in given)
        if node is None or not volt * constant * ratio:
            continue
        shaft, meant = volt / constant, volt * constant * pi / 30
        speed = _speed(mechanism, motor)
        slow = shaft / ratio * _SLOWER < speed if speed else ratio > 1 and shaft < _SLOW
        if slow and meant > max(_FAST, speed * ratio / 2):
            warnings.warn(
                f"{node.path} (line {node.line}): {constant:.6g} N m/A: at {volt:.6g} V the motor "
                f"idles at {shaft * 30 / pi:.2g} rpm; if {constant:.6g} is in mN m/A, write "
                f"{constant / 1e3:.6g}; if it is the speed constant in rpm/V, write "
                f"{30 / pi / constant:.3g}.",
                BaseparWarning,
                stacklevel=2,
            )


def _number(mechanism: Mechanism, value: Expression) -> float:
    return float(evaluate([value], mechanism.nominal)[0])


def _speed(mechanism: Mechanism, motor: Motor) -> float:
    """About the largest speed of a motor's coordinate in the file's motions, SI; or 0."""
    if motor.coordinate not in mechanism.coordinates:
        return 0.0
    k, found = mechanism.coordinates.index(motor.coordinate), [0.0]
    laws = mechanism.cycle.laws if mechanism.cycle else ()
    match laws[k] if isinstance(laws, tuple) and laws else None:
        case ConstantSpeed(speed):
            found.append(_number(mechanism, speed))
        case SineSum(terms):
            found += [_number(mechanism, a) * _number(mechanism, w) for a, w, _ in terms]
    match mechanism.excitation:
        case Fourier(base_frequency=rate, amplitude=size) | States(frequency=rate, amplitude=size):
            found.append(_number(mechanism, size[k]) * _number(mechanism, rate))
    return max(map(abs, found))
