"""Designs as shares of their variables' ranges, and back."""

from collections.abc import Sequence

import numpy as np

from .spec import Choices, Integers, Range, StudySpec, Variable


def shares_of(spec: StudySpec, designs: np.ndarray) -> np.ndarray:
    """Designs (row, symbol), SI, as shares of the variables' ranges."""
    pairs = zip(spec.variables, designs.T, strict=True)
    return np.stack([_shares(variable, values) for (_, variable), values in pairs], axis=1)


def _shares(variable: Variable, values: np.ndarray) -> np.ndarray:
    match variable:
        case Range(low, high):
            return (values - low) / (high - low)
        case Choices(choices):
            places = np.abs(values[:, None] - np.array(choices)).argmin(axis=1)
            return (places + 0.5) / len(choices)
        case Integers(low, high):
            return (np.rint(values / variable.si(1)) - low + 0.5) / (high - low + 1)


def designs_of(spec: StudySpec, shares: np.ndarray) -> np.ndarray:
    """Designs (row, symbol), SI, of shares."""
    columns = [
        _values(variable, column)
        for (_, variable), column in zip(spec.variables, shares.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def _values(variable: Variable, shares: Sequence[float] | np.ndarray) -> np.ndarray:
    below = np.nextafter(1.0, 0.0)
    return np.array([variable.si(variable.at(min(float(one), below))) for one in shares])
