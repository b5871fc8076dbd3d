"""What a mechanism's file says of what is identified: values of base parameters, torque, units."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Column, unit
from basepar_core.expressions import evaluate

from ..mechanism import Mechanism, parameter_unit


def file_values(mechanism: Mechanism, base: BaseParameters, columns: Sequence[Column]) -> Array:
    """φ_b of the mechanism's file (base,), SI.

    nan where the file gives a parameter of the sum no value: a body without inertia, friction
    without a number.
    """
    phi: list[Any] = []
    for body in mechanism.bodies:
        count = len(mechanism.parameter_names) // len(mechanism.bodies)
        stated = body.parameters
        phi += [np.nan] * count if stated is None else evaluate(stated, mechanism.nominal)
    for column in columns:
        value = column.value
        phi += [np.nan] if value is None else evaluate([value], mechanism.nominal)
    beta = np.array([[entry.value] for entry in base.beta]).reshape(-1, 1)
    values: Array = base.combine(np.array([phi], dtype=float), beta)[0]
    return values


def in_place_of(
    file: Array, values: Array, rows: Array, free: Sequence[int], scale: Array | float
) -> Array:
    """What an estimate of some parameters would be if the file's were the true ones.

    Parameters
    ----------
    file
        (base,): the file's values.
    values
        (base,): of the model; those that are not free as they were fixed (known, or 0).
    rows
        (row, base): regression rows.
    free
        Estimated parameters by place.
    scale
        (row,) or one: what the estimate divides rows by, inverted.

    Returns
    -------
    Array
        (free,): file's values, and least squares' shares of what the fixed ones differ by.
    """
    fixed = [k for k in range(file.size) if k not in free]
    other = file[fixed] - values[fixed]
    if not np.any(other):  # nan counts
        return file[free]
    if not np.isfinite(other).all():
        return np.full(len(free), np.nan)
    scaled = rows * np.reshape(scale, (-1, 1))
    moved = np.linalg.lstsq(scaled[:, free], scaled[:, fixed] @ other, rcond=None)[0]
    return np.asarray(file[free] + moved)


class Likeness(NamedTuple):
    """Measured torque beside that of the file's inertias.

    Attributes
    ----------
    overall
        Correlation over all coordinates: 1 is alike but for a factor.
    each, factors
        (coordinate,): correlation, and how many times as large the measured one is; nan where
        nothing is measured or foretold.
    """

    overall: float
    each: Array
    factors: Array


def likeness(
    mechanism: Mechanism, base: BaseParameters, W: Array, values: Array, tau: Array
) -> Likeness | None:
    """Correlation of the measured torque with that of the file's inertias, rows as they are.

    Parameters
    ----------
    mechanism, base
        The mechanism and its base parameters, force-law columns included.
    W
        (sample, coordinate, parameter) along the motion.
    values
        (base,): identified; the torque of force-law columns is taken off.
    tau
        (coordinate, sample), N m or N; nan where unusable.

    Returns
    -------
    Likeness or None
        None: the file has no inertias, or they give no torque.
    """
    if not mechanism.has_inertias:
        return None
    phi, kept = mechanism.inertial_parameters(mechanism.nominal), np.array(base.kept)
    further = kept >= phi.size
    rest = tau - (W[..., kept[further]] @ values[further]).T
    foretold = (W[..., : phi.size] @ phi).T
    foretold = np.where(np.isfinite(rest), foretold, np.nan)
    both = np.nansum([rest * foretold, rest**2, foretold**2], axis=2)
    sizes = np.sqrt(both[1] * both[2])
    nothing = np.full(sizes.shape, np.nan)
    each = np.divide(both[0], sizes, out=nothing.copy(), where=sizes > 0)
    factors = np.divide(both[0], both[2], out=nothing, where=sizes > 0)
    top, *norms = both.sum(axis=1)
    size = float(np.sqrt(norms[0] * norms[1]))
    return Likeness(float(top) / size, each, factors) if size else None


def units(mechanism: Mechanism, columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """SI unit of parameters by name; of a base parameter: of the one it is called by."""
    further = {column.name: unit(mechanism, column) for column in columns}
    return [further[name] if name in further else parameter_unit(name) for name in names]
