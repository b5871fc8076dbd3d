"""Eliminated parameters put back in: all standard parameters that agree with the base ones."""

from collections.abc import Mapping

import numpy as np

from ..errors import MissingDataError, UsageError
from .result import Identification


def standard_parameters(
    found: Identification, dependent: Mapping[str, float] | str = "zero"
) -> dict[str, float]:
    """All parameters, in agreement with the identified base parameters.

    The paper's update: φ₁ = φ_b − β φ₂ for φ₂ as given, so that the base parameters, and with
    them every torque, stay what they are.

    Parameters
    ----------
    found
        An identification.
    dependent
        Values of eliminated parameters by name, others zero; or "zero"; or "minimum-norm": the
        least ‖φ‖ (SI numbers; which units these have is a choice, as in the paper).

    Raises
    ------
    UsageError
        Names that are not among the eliminated parameters.
    MissingDataError
        β has no values.
    """
    base, values = found.base, found.base_values
    beta = base.nominal_beta
    if not np.isfinite(beta).all():
        raise MissingDataError("β cannot be evaluated at the nominal geometry.", ["beta"])
    if dependent == "minimum-norm":
        L = np.concatenate([np.eye(base.rank), beta], axis=1)
        both = L.T @ np.linalg.solve(L @ L.T, values)
        first, second = both[: base.rank], both[base.rank :]
    else:
        given = {} if isinstance(dependent, str) else dict(dependent)
        unknown = [name for name in given if name not in base.eliminated_names]
        if unknown:
            raise UsageError(
                f"{', '.join(unknown)} cannot be chosen: only eliminated parameters can, "
                f"{', '.join(base.eliminated_names)}. Base parameters are given with `known=`.",
                unknown,
            )
        second = np.array([given.get(name, 0.0) for name in base.eliminated_names])
        first = values - beta @ second
    order = dict(zip((*base.kept, *base.eliminated), (*first, *second), strict=True))
    return {name: float(order[k]) for k, name in enumerate(base.parameters)}
