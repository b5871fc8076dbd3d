"""Mechanisms with joints freed, kept as long as the mechanism they are of."""

import weakref
from dataclasses import replace

import numpy as np

from basepar_core.compiled import Engine
from basepar_core.dynamics import Model, Motion
from basepar_core.single_dof import Reaction, freed

#: By model: freeing one assembles it, which takes a hundred times a variant's share of a sweep.
_KEPT: dict[int, dict[tuple[Reaction, ...], Engine]] = {}


def freed_engine(model: Model, wanted: tuple[Reaction, ...]) -> Engine:
    """What evaluates a mechanism with a virtual coordinate for every reaction.

    Raises
    ------
    MechanismError, UsageError
        As `single_dof.freed`.
    """
    if id(model) not in _KEPT:
        _KEPT[id(model)] = {}
        weakref.finalize(model, _KEPT.pop, id(model), None)
    kept = _KEPT[id(model)]
    if wanted not in kept:
        kept[wanted] = Engine(freed(model, wanted))
    return kept[wanted]


def with_virtual(motion: Motion, count: int) -> Motion:
    """A motion in which so many further coordinates stay at zero."""
    still = np.zeros((count, motion.t.size))
    moved = (np.concatenate([x, still]) for x in (motion.q, motion.q_dot, motion.q_ddot))
    return replace(motion, **dict(zip(("q", "q_dot", "q_ddot"), moved, strict=True)))
