"""What couplings make of the values of a file's assembly: others follow, some contradict."""

from collections.abc import Mapping

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from .kinematics import Geometry, geometry


def coupled_values(
    mechanism: Mechanism, dims: Geometry, stated: dict[str, float]
) -> dict[str, float]:
    """Stated values, and those that follow from them by couplings, one after the other."""
    known = dict(stated)
    for _ in mechanism.couplings:
        for coupling, table in zip(mechanism.couplings, dims.constants, strict=True):
            terms = [(name, x) for (name, _), x in zip(coupling.terms, table[:-1, 0], strict=True)]
            missing = [(name, x) for name, x in terms if name not in known]
            if len(missing) == 1 and missing[0][1]:
                (name, own), rest = missing[0], float(table[-1, 0])
                rest -= sum(x * known[other] for other, x in terms if other != name)
                known[name] = rest / own
    return known


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
        off = abs(total - float(offset)) / max(abs(float(x)) for x in factors)
        lengths = [abs(known[name]) for name in names if it.value(name).is_length]
        if off > far * max(lengths, default=1.0):
            found |= dict.fromkeys(names, (coupling.name, total))
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
