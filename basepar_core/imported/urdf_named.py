"""Frames of a URDF file that are named as the two ends of a loop.

onshape-to-robot writes links `closing_X_1` and `closing_X_2`, and where a hinge is meant two more,
`closing_X_1_z` and `closing_X_2_z`, 0.1 m away along it; Gepetto's tools `closedloop1_A` and
`closedloop1_B`. Nothing in the file says how they are held, and no simulator holds them by their
names alone.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from .draft import Connection, Draft, End
from .kinds import REVOLUTE, SPHERICAL
from .rationals import UNITS, ZERO

_NAMED = (re.compile(r"(closing_.+)_([12])(_z|)"), re.compile(r"(.*closedloop\d+.*)_([AB])()"))
#: A frame, with its z axis as a hinge's.
_END = End(ZERO, UNITS[2], UNITS[0])


def pairs(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Pairs of names that close a loop, each with what is behind them (`_z` of a second pair)."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        for pattern in _NAMED:
            if fits := pattern.fullmatch(name):
                stem, side, behind = fits.groups()
                found.setdefault((stem, behind), {})[side] = name
    return [
        (*(sides[side] for side in sorted(sides)), behind)  # type: ignore[misc]
        for (_, behind), sides in found.items()
        if len(sides) == 2
    ]


def hold(draft: Draft, links: Mapping[str, str], closing: str) -> bool:
    """Hold such frames as wished, or say that they hold nothing; whether any is held.

    Parameters
    ----------
    links
        The link of every frame: links by their own names, children by those of their joints.
    closing
        fixed, spherical or revolute (about their z axes); empty: not at all.
    """
    named = pairs(links)
    ends = set(chain(*(pair[:2] for pair in named)))
    if closing and not named:
        draft.refuse("closing", "no frames are named as ends of loops; leave it out")
    if not closing and named:
        listed = ", ".join(f"{one} and {two}" for one, two, _ in named)
        draft.dropped.append(f"{len(named)} pair of frames named as ends of loops ({listed})")
        draft.notes.append(
            f"{listed} are named as ends of loops: the file does not say how they are held, and "
            f"they hold nothing; import --closing fixed|spherical|revolute holds them"
        )
    for one, two, behind in named if closing else ():
        if behind and closing != SPHERICAL:
            continue  # a second point of a hinge
        pair = links[one], links[two]
        draft.connections.append(Connection(f"{one}_loop", closing, pair, (_END, _END)))
        about = " about their z axes" if closing == REVOLUTE else ""
        draft.notes.append(
            f"frames {one} and {two} are a {closing} joint{about}, as was asked for"
        )
    return bool(closing and ends)
