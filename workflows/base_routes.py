"""Base parameters by one route, or by all of them side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from basepar_core.base.precise import precise
from basepar_core.base.result import BaseParameters
from basepar_core.base.symbolic import numeric, symbolic
from basepar_core.closure import Model
from basepar_core.errors import EliminationError

ROUTES = ("symbolic", "numeric", "precise", "all")
#: Entries of β by two routes are the same within this share of the largest: float64's null
#: space loses the digits that W's condition costs, and a doubtful one is not compared at all.
SAME = 1e-6


def find(
    model: Model, route: str, wanted: Sequence[int] | None = None, digits: int | None = None
) -> BaseParameters:
    """Base parameters by one route.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    """
    if route == "precise":
        return precise(model, list(wanted) if wanted is not None else None, digits)
    return {"symbolic": symbolic, "numeric": numeric}[route](model, wanted)


def compare(
    model: Model, wanted: Sequence[int] | None = None, digits: int | None = None
) -> dict[str, Any]:
    """The symbolic route's document with every route's beside it, and whether they agree.

    `agreed` is *agreed*; *doubtful*, where float64 doubts its own rank and the others agree; or
    *contradictory*. The other routes eliminate what the symbolic one does.
    """
    found = {"symbolic": find(model, "symbolic", wanted)}
    same = found["symbolic"].eliminated
    for route in ("numeric", "precise"):
        try:
            found[route] = find(model, route, same, digits)
        except EliminationError:  # its rank differs: then it chooses for itself
            found[route] = find(model, route, None, digits)
    return found["symbolic"].document() | {
        "route": "all",
        "routes": {route: base.document() for route, base in found.items()},
        "agreed": _verdict(found),
    }


def _verdict(found: dict[str, BaseParameters]) -> str:
    first = found["symbolic"]
    if not _agree(first, found["precise"]):
        return "contradictory"
    if found["numeric"].doubt:
        return "doubtful"
    return "agreed" if _agree(first, found["numeric"]) else "contradictory"


def _agree(one: BaseParameters, two: BaseParameters) -> bool:
    if (one.rank, one.eliminated) != (two.rank, two.eliminated):
        return False
    largest = np.abs(one.nominal_beta).max(initial=1.0)
    return bool(np.abs(one.nominal_beta - two.nominal_beta).max(initial=0.0) <= SAME * largest)
