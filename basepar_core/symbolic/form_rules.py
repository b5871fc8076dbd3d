"""Null vectors that theorems give: of joints, of couplings, and of bodies of a stated form.

What slender and massless bodies have not is null by statement. What joints and couplings move
holds for bodies of any mass, and is kept where it is mass that these bodies can have.
"""

from collections.abc import Iterator, Mapping, Sequence

from basepar_core.mechanism import Line

from .coupling_rules import RULE, TIED, coupled_vectors, null_space
from .joint_rules import Exact, ExactVector, NullVector, Transfers, joint_vectors
from .slender import line, off_line, scaled_moments

#: What reasons of these vectors end with.
OFF_LINE, WITHOUT_MASS = "whose mass lies on a line", "which has no mass"
#: What certificates call what proves a vector, by the end of its reason; all others are of joints.
RULES: Mapping[str, str] = {TIED: RULE, OFF_LINE: "forms", WITHOUT_MASS: "forms"}


def known_vectors(transfers: Transfers) -> list[NullVector]:
    """Null vectors by theorems: of joints, of couplings, of bodies of a stated form.

    Parameters
    ----------
    transfers
        Of the mechanism, in its geometry field.

    Raises
    ------
    ExpressionError
        A joint frame is not rational in the symbols.
    """
    known = [*joint_vectors(transfers), *coupled_vectors(transfers)]
    return [*fitting(transfers, known), *_of_forms(transfers)]


def fitting(transfers: Transfers, vectors: Sequence[NullVector]) -> list[NullVector]:
    """Vectors whose parts are mass that the bodies can have.

    Parameters
    ----------
    transfers
        Of the mechanism.
    vectors
        Null for bodies of any mass.
    """
    it, width = transfers.mechanism, len(transfers.kinds)
    if not (it.massless or it.lines):
        return list(vectors)

    def fits(vector: NullVector) -> bool:
        bodies = {k // width for k in vector.entries}
        if bodies & set(it.massless):
            return False
        for body in bodies & it.lines.keys():
            zero = transfers.field.zero
            own = [vector.entries.get(body * width + k, zero) for k in range(width)]
            left = off_line(own, *_ends(transfers, it.lines[body]))
            if any(transfers.field.reduce(x) != 0 for x in left):
                return False
        return True

    return [vector for vector in vectors if fits(vector)]


def _of_forms(transfers: Transfers) -> list[NullVector]:
    """Of a slender body all inertia without a moment of mass along its line; of a massless one
    all.
    """
    it = transfers.mechanism
    found = []
    for body, own in enumerate(it.bodies):
        top = body * len(transfers.kinds)
        rows: list[list[Exact]] = []
        if body in it.lines:
            rows = [list(row) for row in scaled_moments(*_ends(transfers, it.lines[body]))]
        elif body not in it.massless:
            continue
        why = f"inertia of {own.name}, {OFF_LINE if rows else WITHOUT_MASS}"
        for vector in _vanishing(transfers, rows):
            entries = {top + k: x for k, x in enumerate(vector) if x != 0}
            found.append(NullVector(entries, "theorem", why))
    return found


def _ends(transfers: Transfers, one: Line) -> tuple[ExactVector, ExactVector]:
    start, end = (
        transfers.frame(transfers.mechanism.joints[joint], side)
        for joint, side in (one.start, one.end)
    )
    return line(start.at, end.z if one.slides else end.at, one.slides)


def _vanishing(transfers: Transfers, rows: list[list[Exact]]) -> Iterator[list[Exact]]:
    field = transfers.field
    exact = [[field.reduce(field.one * x) for x in row] for row in rows]
    for vector in null_space(transfers, exact, len(transfers.kinds)):
        yield [field.reduce(x) for x in vector]
