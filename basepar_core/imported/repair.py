"""Loops that stay open by little are closed by the least change of their dimensions.

Files print dimensions to some digits, and loops with constraints to spare (a plane loop of spatial
joints) close with exact ones only. What may move are the points of joints in their links; axes may
not. The change with the least sum of squares is what is left where the sum of squared gaps is
least.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.dynamics import shifts_that_close
from basepar_core.mechanism import Mechanism

from .draft import Draft, merge
from .structure import DECIMALS, Move

#: Moves below this (m) are rounding, and not listed.
ROUNDING = 1e-12


def repaired(
    draft: Draft, mechanism: Mechanism, tolerance: float
) -> tuple[Draft, list[Move]] | None:
    """The draft with its joints' points moved so that loops close, and the moves; None if one
    would move by more than a tolerance, or none has to.

    Parameters
    ----------
    mechanism
        What the draft reads as, assembled roughly where it is meant.
    tolerance
        m, of the distance by which a point may move.
    """
    shifts = shifts_that_close(mechanism)
    named = [shifts[joint.name] for joint in mechanism.joints]
    longest = max((float(np.linalg.norm(x)) for pair in named for x in pair), default=0.0)
    if not ROUNDING < longest <= tolerance:
        return None
    made = Draft(**{**vars(draft), "notes": list(draft.notes)})
    carried = merge(Draft(**{**vars(draft), "notes": []})).carried
    moves: list[Move] = []
    made.connections = []
    for one, pair in zip(draft.connections, named, strict=True):
        ends = []
        for link, end, shift in zip(one.links, one.ends, pair, strict=True):
            local = carried[link][1].inverse()
            u, v, w = (Fraction(str(round(float(x), DECIMALS))) for x in shift)
            x, y, z = (a + b for a, b in zip(end.at, local.turned((u, v, w)), strict=True))
            ends.append(replace(end, at=(x, y, z)))
            far = float(np.linalg.norm(shift))
            if far > ROUNDING:
                moves.append((far, f"{one.name} in {link.strip(chr(0)) or 'the ground'}"))
        made.connections.append(replace(one, ends=(ends[0], ends[1])))
    return made, moves


def note(moves: Sequence[Move], is_least: bool) -> str:
    """Of what moved, largest first, and by what rule."""
    ordered = sorted(moves, key=lambda move: -move[0])
    listed = ", ".join(
        f"{what} by {far:.3g} {'rad' if what.startswith('axis') else 'm'}" for far, what in ordered
    )
    why = "the sum of squares of the last changes is the least" if is_least else "by structure"
    return f"repaired: its loops do not close, and do with these moved: {listed}; {why}"
