"""Positions that count from another zero than their joints', as an encoder's may.

The file's inertias give the torque of the motion with a constant added: a quarter turn, half a
turn, the assembly's value, or what fits. Only what explains a record clearly better counts.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion
from basepar_core.mechanism import joint_type

from ..errors import MotionError
from .exchanges import EACH, GOOD, is_clearly_better, products
from .foretold import FileTorque, at, spread
from .smoothing import FEWEST

#: Offsets that encoders have most often, and steps in which others are looked for, rad.
USUAL, STEP = (np.pi / 2, -np.pi / 2, np.pi), np.pi / 8
#: Correlation beyond which no other offset is looked for; offsets of one kind that are tried, of
#: loops, which take longer to follow, and without; coordinates of which pairs are.
SURE, IN_LOOPS, MOST, FEW = 0.98, 24, 100, 3


@dataclass(frozen=True)
class Offset:
    """Constants to add to positions so that the file explains a record.

    Attributes
    ----------
    added
        (coordinate,), rad or m.
    found, as_is
        Correlation with the torque of the file's inertias, with them and without; as_is None: the
        mechanism cannot follow the motion as it stands.
    assembly
        Whether they are the assembly's values.
    """

    added: Array
    found: float
    as_is: float | None
    assembly: bool = False


def find_offset(
    model: Model, motion: Motion, tau: Array, W: Array | None, columns: tuple[Column, ...] = ()
) -> Offset | None:
    """The constants with which a record is explained far better than without.

    Parameters
    ----------
    model
        With inertias; without, nothing is looked for.
    motion, tau, W, columns
        As `find_exchange`.

    Returns
    -------
    Offset or None
        None: the record is explained as it stands, or by no offset, or as well by a torque that
        counts the other way.
    """
    thin = spread(tau)
    if not model.mechanism.has_inertias or thin.size < FEWEST or not tau[:, thin].any():
        return None
    # Whole turns a sample are another unit, and take long to follow once more.
    if np.abs(np.diff(motion.q)).max(initial=0.0) > np.pi:
        return None
    record = _Record(FileTorque(model, columns), at(motion, thin), tau[:, thin])
    as_is = -1.0
    if W is not None:
        as_is, _, each = record.compare(W[thin])
        if as_is >= GOOD and each >= EACH:
            return None
    found = record.best()
    if found is None or not is_clearly_better(found.found, as_is):
        return None
    if W is None:
        return found
    turned = (np.where(np.arange(len(tau)) == k, -1.0, 1.0)[:, None] for k in range(len(tau)))
    others = [replace(record, tau=record.tau * signs) for signs in turned]
    if max(one.compare(W[thin])[1] for one in others) >= found.found:
        return None
    return replace(found, as_is=as_is)


@dataclass(frozen=True)
class _Record:
    """Some samples of a record, held against the file with constants added."""

    file: FileTorque
    motion: Motion
    tau: Array

    def compare(self, W: Array) -> tuple[float, float, float]:
        """Correlation with the foretold torque; the same, -1 where that has another size; and the
        least of a coordinate's."""
        of = [int(k) for k in np.flatnonzero(self.tau.any(axis=1))]
        judged = products(self.tau, self.file.foretold(W), self.file.unknown(W))
        each = float(judged.alike().diagonal()[of].min())
        return judged.together(of, of), judged.score(of, of), each

    def at(self, added: Array, assembly: bool = False) -> Offset:
        """An offset and how well it does."""
        of = self.motion
        try:
            W = self.file.observe(Motion(of.t, of.q + added[:, None], of.q_dot, of.q_ddot))
        except MotionError:
            return Offset(added, -1.0, None, assembly)
        return Offset(added, self.compare(W)[1], None, assembly)

    def best(self) -> Offset | None:
        """The best of usual offsets, or where none is good, of any of one coordinate."""
        mechanism = self.file.model.mechanism
        values = [mechanism.value(name) for name in mechanism.coordinates]
        types = [joint_type(value.joint.type) for value in values]
        if any(one.is_ball or one.is_free for one in types):
            return None
        turns = [k for k, value in enumerate(values) if not value.is_length]
        most = IN_LOOPS if self.file.model.loops.blocks else MOST
        best: Offset | None = None
        kinds = (self._assembly(), self._usual(turns), self._pairs(turns), self._others(turns))
        for group in kinds:
            found = itertools.islice(group, most)
            best = max(itertools.chain([best] if best else [], found), key=_found, default=None)
            if best is not None and best.found >= SURE:
                break
        return best if best is None or _is_usual(best) else self._refined(best)

    def _assembly(self) -> Iterator[Offset]:
        start = self.file.model.assembled.coordinates
        if start.any():
            yield self.at(start, assembly=True)

    def _usual(self, turns: list[int]) -> Iterator[Offset]:
        start, same = self.file.model.assembled.coordinates, np.eye(len(self.tau))
        for k in range(len(start)) if np.count_nonzero(start) > 1 else ():
            yield self.at(start * same[k], assembly=True)
        for k, usual in itertools.product(turns, USUAL):
            yield self.at(same[k] * usual)

    def _pairs(self, turns: list[int]) -> Iterator[Offset]:
        """Usual offsets of two coordinates, where there are few."""
        same = np.eye(len(self.tau))
        for j, k in itertools.combinations(turns if len(turns) <= FEW else [], 2):
            for one, other in itertools.product(USUAL, USUAL):
                yield self.at(same[j] * one + same[k] * other)

    def _others(self, turns: list[int]) -> Iterator[Offset]:
        steps = (STEP * n for n in range(-7, 8) if n % 4)
        for step, k in itertools.product(steps, turns):
            yield self.at(np.eye(len(self.tau))[k] * step)

    def _refined(self, best: Offset) -> Offset | None:
        """The best nearby; None where it is not sure: other constants explain a lot by chance."""
        (k,) = np.flatnonzero(best.added)
        row, middle = np.eye(len(self.tau))[k], float(best.added[k])
        near = minimize_scalar(
            lambda x: -self.at(row * x).found,
            bounds=(middle - STEP, middle + STEP),
            options={"xatol": 1e-3, "maxiter": 20},
        )
        return self.at(row * near.x) if -near.fun >= SURE else None


def _found(one: Offset) -> float:
    return one.found


def _is_usual(one: Offset) -> bool:
    return one.assembly or bool(np.isin(one.added[one.added != 0], USUAL).all())
