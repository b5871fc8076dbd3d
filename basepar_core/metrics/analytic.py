"""Functions that are analytic next to the real line: what smooth metrics are made of.

A metric computed with these of complex numbers, whose imaginary parts are derivatives times
1e-100, has its own derivative times 1e-100 for its imaginary part (`sensitivity`). NumPy's
`max`, `min`, `argmax` and `ptp` serve both: they order complex numbers by their real parts.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import spatial
from basepar_core.expressions import NUMPY

#: Imaginary part that marks a symbol; its square is below the least float64.
STEP = 1e-100


def _where_real(function: Callable[[Any], Any], low: float) -> Callable[[Any], Any]:
    """A function with the domain it has over real numbers: nan outside."""
    return lambda x: np.where(np.real(x) >= low, function(x), complex(np.nan, np.nan))


def _extreme(is_better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reduce(*values: Any) -> Any:
        result = values[0]
        for value in values[1:]:
            result = np.where(is_better(np.real(value), np.real(result)), value, result)
        return result

    return reduce


#: Analytic functions of complex numbers next to the real line, for `expressions.evaluate`.
ANALYTIC: Mapping[str, Callable[..., Any]] = {
    **NUMPY,
    "/": lambda a, b: np.asarray(a, complex) / b,
    "^": lambda a, b: np.asarray(a, complex) ** b,
    "sqrt": _where_real(lambda x: np.sqrt(np.asarray(x, complex)), 0.0),
    "abs": lambda x: np.where(np.real(x) < 0, -np.asarray(x), x),
    "min": _extreme(np.less),
    "max": _extreme(np.greater),
}


def size(x: Array) -> Array:
    """Absolute value: of complex numbers that of the real part, with its derivative."""
    return np.where(np.real(x) < 0, -x, x)


def length(vector: Array, axis: int = 0) -> Array:
    """Length of vectors along an axis; it has no derivative where a vector vanishes."""
    return np.sqrt((vector * vector).sum(axis=axis))


def angle_of(y: Array, x: Array) -> Array:
    """Angle of the point (x, y), in (−π, π]."""
    return spatial.angle_of(y, x)


def continued(angle: Array, axis: int = -1) -> Array:
    """Angles along an axis without jumps by whole turns."""
    steady = np.unwrap(np.real(angle), axis=axis)
    return steady + 1j * np.imag(angle) if np.iscomplexobj(angle) else steady


def line_of(path: Array) -> Array:
    """Direction (…, axis) of the line of least squares through points (…, axis, sample).

    The points' mean is zero. Of complex points the derivative of the principal direction besides:
    Σ vⱼ (vⱼ · S' v)/(λ − λⱼ).
    """
    square = path @ np.swapaxes(path, -1, -2)
    sizes, axes = np.linalg.eigh(np.real(square))
    found = axes[..., -1]
    if not np.iscomplexobj(path):
        return found
    moved = np.einsum("...ji,...jk,...k->...i", axes, np.imag(square), found)
    with np.errstate(all="ignore"):
        gaps = sizes[..., -1:] - sizes
        shares = np.where(gaps > 0, moved / np.where(gaps > 0, gaps, 1.0), 0.0)
    return found + 1j * np.einsum("...ij,...j->...i", axes, shares)
