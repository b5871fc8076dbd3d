"""The file's own values of base parameters, beside the identified ones."""

from typing import Any

import numpy as np

from ..columns import Column, unit
from ..expressions import evaluate
from ..mechanism import Mechanism, parameter_unit
from ..spatial import Array
from .identify import Identification


def file_values(found: Identification) -> Array:
    """φ_b of the mechanism's file (identified parameter,), SI.

    nan where the file gives a parameter of the sum no value: a body without inertia, friction
    without a number.
    """
    mechanism, base = found.model.mechanism, found.base
    phi: list[Any] = []
    for body in mechanism.bodies:
        count = len(mechanism.parameter_names) // len(mechanism.bodies)
        stated = body.parameters
        phi += [np.nan] * count if stated is None else evaluate(stated, mechanism.nominal)
    for column in found.columns:
        value = column.value
        phi += [np.nan] if value is None else evaluate([value], mechanism.nominal)
    beta = np.array([[entry.value] for entry in base.beta]).reshape(-1, 1)
    values = base.combine(np.array([phi], dtype=float), beta)[0]
    return values[[base.base_names.index(name) for name in found.names]]


def units(mechanism: Mechanism, columns: tuple[Column, ...], names: tuple[str, ...]) -> list[str]:
    """SI unit of each base parameter: that of the parameter it is called by."""
    further = {column.name: unit(mechanism, column) for column in columns}
    return [further[name] if name in further else parameter_unit(name) for name in names]
