"""In which unit a moment of inertia was meant that is far too large for its body in kg m²."""

from collections.abc import Mapping
from math import log

#: Units of moments by their size in kg m².
_UNITS: Mapping[str, float] = {
    "kg*cm^2": 1e-4,
    "kg*mm^2": 1e-6,
    "g*cm^2": 1e-7,
    "g*mm^2": 1e-9,
}
#: What share of its size a body's radius of gyration is: a rod's are 0.29 and 0.58.
_SHARE = 0.4


def likely_moment_unit(gyration: float, size: float) -> tuple[str, float]:
    """The unit with which a radius of gyration is nearest to that of a body of its size.

    Parameters
    ----------
    gyration, size
        The radius of gyration with the number in kg m², and the size of the body, m.

    Returns
    -------
    The unit, and the radius of gyration in it, m.
    """
    found = {unit: gyration * factor**0.5 for unit, factor in _UNITS.items()}
    return min(found.items(), key=lambda one: abs(log(one[1] / (_SHARE * size))))
