"""Couplings as data for the page's own Newton."""

from basepar_core.dynamics import Model
from basepar_core.expressions import Expression


def coupled(model: Model) -> tuple[list[Expression], list[dict[str, list[int]]]]:
    """Coefficients and offset of all couplings, and per coupling where its values are.

    `positions` in the configuration, `speeds` in the speeds, one per coefficient.
    """
    rows = [entry for row in model.mechanism.constraint_constants for entry in row]
    places = [
        {"positions": list(one.positions), "speeds": list(one.speeds)}
        for one in model.topology.couplings
    ]
    return rows, places
