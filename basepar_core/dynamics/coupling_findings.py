"""What couplings make of the values of a file's assembly: others follow, some contradict."""

from collections.abc import Mapping

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Coupling, Mechanism
from basepar_core.texts import plural

from .body_newton import CLOSED, Bodies, BodyNewton
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


def contradicting(
    it: Mechanism, dims: Geometry, near: dict[str, float], start: Bodies
) -> AssemblyError | None:
    """What to say where a mechanism does not assemble, or cannot move: its couplings that do not
    hold where the joints alone close, the coordinates at their values; None where all do."""
    held = {name: near[name] for name in it.coordinates}
    whole, alone = BodyNewton(it, dims, {}, near), BodyNewton(it, dims, held, near)
    alone.further = []
    try:
        at = alone.solve(start)
    except AssemblyError:  # not the couplings' fault
        return None
    values = {one.name: [alone.value(n, at)[0] for n, _ in one.terms] for one in it.couplings}
    faults = [text for one in it.couplings if (text := _missed(it, one, values[one.name]))]
    if not faults:
        return None
    names = ", ".join(it.coordinates)
    rank = np.linalg.matrix_rank(whole.equations(at)[1][:, whole.free], tol=_NOTHING)
    freedom, count = len(whole.free) - int(rank), len(it.coordinates)
    remedy = "Correct the offset, or the coefficients"
    if freedom < count:
        remedy = (
            f"Whatever the offsets are, joints and couplings leave "
            f"{plural(freedom, 'degree')} of freedom there, and {names} is to be driven: leave "
            f"out {plural(count - freedom, 'coupling')}"
        )
    return AssemblyError(
        f"Couplings of {it.name!r} contradict its joints, which close by themselves with {names} "
        f"at the assembly's value: {'; '.join(faults)}. {remedy}.",
        [f"couplings.{one.name}" for one in it.couplings],
    )


def _missed(it: Mechanism, one: Coupling, values: list[float]) -> str:
    """By how much values miss a coupling, in words; empty where it holds."""
    *factors, offset = map(float, evaluate([*(x for _, x in one.terms), one.offset], it.nominal))
    total = sum(x * value for x, value in zip(factors, values, strict=True))
    if abs(total - offset) <= CLOSED * max(1.0, *map(abs, values)):
        return ""
    is_length = any(it.value(name).is_length for name, _ in one.terms)
    unit, size, plain = ("m", 1.0, "m") if is_length else ("deg", np.pi / 180, "rad")
    return (
        f"coupling {one.name!r} comes to {total / size:.10g} {unit} there, and its `offset` is "
        f"{offset / size:.10g} {unit}: off by {abs(total - offset):.4g} {plain} "
        f"(allowed {CLOSED:g})"
    )


def what_locks(mechanism: Mechanism) -> tuple[str, list[str]]:
    """What there is that may hold a mechanism still: in words, and places of its file."""
    coupled = [f"`{one.name}`" for one in mechanism.couplings]
    if not coupled:
        return "loops", ["joints"]
    return (
        f"loops and couplings ({', '.join(coupled)})",
        [f"couplings.{one.name}" for one in mechanism.couplings],
    )
