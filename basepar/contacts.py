"""Wrenches that others exert on bodies: of the ground on feet, of a workpiece on a tool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class Contact:
    """An external wrench on a body.

    Attributes
    ----------
    body
        Name.
    wrench
        (…, 6): force on the body in N, then moment about the point in N m, both along the body's
        axes; in the plane (…, 3): force x, y and moment. Leading dimensions as of states.
    at
        The point in the body's frame, m; its origin without.

    Examples
    --------
    >>> import basepar
    >>> foot = basepar.Contact("fl_calf", [0, 0, 60, 0, 0, 0], at=[0, 0, -0.213])
    >>> model = basepar.load("quadruped")
    >>> rest = [0.0] * len(model.coordinates)
    >>> model.torque(model.assembly, rest, rest, contacts=[foot]).shape
    (18,)
    """

    body: str
    wrench: "Array | Sequence[float]"
    at: Sequence[float] = ()

    def __repr__(self) -> str:
        return f"<basepar.Contact on {self.body!r}, wrenches {np.shape(self.wrench)}>"


def point_of(mechanism: Mechanism, body: str, at: Sequence[float]) -> tuple[float, ...]:
    """A point of a body, checked.

    Raises
    ------
    UsageError
        No such body; not as many numbers as the space has dimensions, or not finite.
    """
    names = [one.name for one in mechanism.bodies]
    if body not in names:
        hint = did_you_mean(body, names) or f"; bodies are {', '.join(names)}."
        raise UsageError(f"{mechanism.name!r} has no body {body!r}{hint}", ["body"])
    size = 2 if mechanism.planar else 3
    try:
        point = np.asarray(at if len(at) else np.zeros(size), float)
    except (TypeError, ValueError):
        point = np.full(0, np.nan)
    if point.shape != (size,) or not np.isfinite(point).all():
        raise UsageError(
            f"The point on {body} is {at!r}; give {size} numbers in the body's frame, m.", ["at"]
        )
    return tuple(map(float, point))


def efforts(rates: Array, contact: Contact) -> Array:
    """Jᵀ w (…, coordinate): what a contact does to the coordinates, N m or N.

    `rates` (…, coordinate, component) are those of `Model.contact_rates`.

    Raises
    ------
    UsageError
        The wrench's shape does not fit, or it is not of finite numbers.
    """
    try:
        wrench = np.asarray(contact.wrench, float)
        np.broadcast_shapes(wrench.shape[:-1], rates.shape[:-2])
    except (TypeError, ValueError):
        wrench = np.full(0, np.nan)
    size = rates.shape[-1]
    if wrench.ndim == 0 or wrench.shape[-1] != size or not np.isfinite(wrench).all():
        raise UsageError(
            f"The wrench on {contact.body} has shape {np.shape(contact.wrench)}; give {size} "
            f"finite numbers, force then moment, with leading dimensions that broadcast with "
            f"the states' {rates.shape[:-2]}.",
            ["wrench"],
        )
    found: Array = (rates @ wrench[..., None])[..., 0]
    return found
