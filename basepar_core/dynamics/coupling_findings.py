"""What couplings make of the values of a file's assembly: others follow, some contradict."""

from collections.abc import Mapping

import numpy as np

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from .kinematics import Geometry, geometry

#: Of coefficients and shares of order one: rounding.
_NOTHING = 1e-9


def coupled_values(
    mechanism: Mechanism, dims: Geometry, stated: dict[str, float]
) -> dict[str, float]:
    """Stated values, and those that follow from them by all couplings together."""
    terms = {name for coupling in mechanism.couplings for name, _ in coupling.terms}
    place = {name: k for k, name in enumerate(sorted(terms - stated.keys()))}
    rows = np.zeros((0, len(place) + 1))
    for coupling, table in zip(mechanism.couplings, dims.constants, strict=True):
        row = np.append(np.zeros(len(place)), table[-1, 0])
        for (name, _), x in zip(coupling.terms, table[:-1, 0], strict=True):
            if name in place:
                row[place[name]] = x
            else:
                row[-1] -= x * stated[name]
        more = np.vstack([rows, row / (np.abs(row[:-1]).max(initial=0.0) or 1.0)])
        # Of couplings that contradict each other the first ones count.
        if np.linalg.matrix_rank(more[:, :-1], tol=_NOTHING) == len(more):
            rows = more
    sizes = np.abs(rows[:, :-1]).max(axis=0, initial=_NOTHING)
    left = rows[:, :-1] / sizes
    solved = np.linalg.pinv(left)
    found, share = solved @ rows[:, -1] / sizes, (solved * left.T).sum(axis=1)
    return stated | {name: float(found[k]) for name, k in place.items() if share[k] > 1 - _NOTHING}


def contradicted(
    it: Mechanism, stated: Mapping[str, float], far: float
) -> dict[str, tuple[str, float]]:
    """Of joint values in couplings that the stated ones contradict: coupling, sum in its place.

    What is not stated follows from the couplings that the stated values determine first. `far` is
    how far off is no rounding: rad, or a share of a length.
    """
    known = coupled_values(it, geometry(it, {}), dict(stated))
    found: dict[str, tuple[str, float]] = {}
    for coupling in it.couplings:
        names = [name for name, _ in coupling.terms]
        if not set(names) <= known.keys():
            continue
        # In the file's own coefficients, as its `offset` is.
        *factors, offset = evaluate([*(x for _, x in coupling.terms), coupling.offset], it.nominal)
        total = float(sum(x * known[name] for x, name in zip(factors, names, strict=True)))
        for factor, name in zip(map(float, factors), names, strict=True):
            fits = known[name] - (total - float(offset)) / factor if factor else known[name]
            lengths = max(abs(known[name]), abs(fits)) if it.value(name).is_length else 1.0
            if abs(fits - known[name]) > far * lengths:
                found[name] = (coupling.name, total)
    return found


def what_locks(mechanism: Mechanism) -> tuple[str, list[str]]:
    """What there is that may hold a mechanism still: in words, and places of its file."""
    coupled = [f"`{one.name}`" for one in mechanism.couplings]
    if not coupled:
        return "loops", ["joints"]
    return (
        f"loops and couplings ({', '.join(coupled)})",
        [f"couplings.{one.name}" for one in mechanism.couplings],
    )
