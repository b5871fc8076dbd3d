"""A drawn point at a wrong place: the one that all distances that do not fit have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .exchanged_points import ROUGH, Carried, Distance, distances, is_off, share_off


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A drawn point that looks misplaced, its distances that do not fit, each with its body, and
    the place (3,), m, with the one sign changed that makes them fit, if there is one."""

    point: str
    told: tuple[tuple[str, Distance], ...]
    place: np.ndarray | None

    def __str__(self) -> str:
        return "; ".join(f"{one} on {body}" for body, one in self.told)


def looks_misplaced(carried: Carried, drawn: Mapping[str, np.ndarray]) -> Misplaced | None:
    """The one drawn point with two or more distances that do not fit, and without which all do."""
    before = distances(carried, drawn)
    off = [(body, one) for body, some in before.items() for one in some if is_off(one, some)]
    common = [
        name for name in drawn if len(off) > 1 and all(name in (d.one, d.two) for _, d in off)
    ]
    if len(common) != 1:
        return None
    return Misplaced(common[0], tuple(off), _with_other_sign(common[0], carried, drawn))


def _with_other_sign(
    name: str, carried: Carried, drawn: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """A point's place with the sign of one entry changed, if one such place fits."""
    places: Sequence[np.ndarray] = [
        np.where(np.arange(3) == k, -drawn[name], drawn[name])
        for k in range(3)
        if drawn[name][k] != 0
    ]
    fitting = [
        place
        for place in places
        if max(map(share_off, distances(carried, {**drawn, name: place}).values())) <= ROUGH
    ]
    return fitting[0] if len(fitting) == 1 else None
