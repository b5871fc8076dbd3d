"""Closed configurations on fine samples of q: a coarse trace, then Newton on all samples at once.

The trace keeps the branch; between its steps (0.1 rad at most) a cubic is so near that Newton
ends in two or three updates. A thousand samples cost what sixty of a trace do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LANES,
    Closer,
    Model,
    Outcome,
    coordinate_configuration,
    kinematics,
    trace,
)

from .splines import cubic

Values = Mapping[str, Array]
#: Traced samples per step of the loops (0.1 rad): a cubic between them errs near 1e-5.
FINER = 1.0


@dataclass(frozen=True)
class Path:
    """Configurations (position, variant, sample), and per variant `closure.Outcome`."""

    q: Array
    outcome: Array

    @property
    def closed(self) -> Array:
        """(variant,) bool."""
        return self.outcome == Outcome.CLOSED


def follow(model: Model, values: Values, q: Array) -> Path:
    """Close the loops of all variants on samples of the first coordinate.

    Parameters
    ----------
    model
        One coordinate, or one and virtual ones, which stay at their assembly (0).
    values
        Swept symbols, (variant,) arrays, SI; empty: nominal.
    q
        (sample,), increasing.
    """
    held = model.assembled.coordinates[1:, None]
    steps = int(np.ceil(FINER * (q[-1] - q[0]) / model.loops.step[0])) + 1
    coarse = np.linspace(q[0], q[-1], max(steps, 5))
    targets = np.concatenate([coarse[None], np.broadcast_to(held, (len(held), coarse.size))])
    rough = trace(model, values, targets)
    if not model.loops.blocks:
        fine = np.concatenate([q[None], np.broadcast_to(held, (len(held), q.size))])
        return Path(trace(model, values, fine).q, rough.outcome)
    going = np.flatnonzero(rough.outcome == Outcome.CLOSED)
    found = np.zeros((model.topology.positions, rough.outcome.size, q.size))
    outcome = rough.outcome.copy()
    if going.size:
        guess = cubic(coarse, rough.q[:, going])(q)
        found[:, going], live = _settle(model, values, going, guess, q)
        outcome[going[~live]] = Outcome.LOST
    return Path(found, outcome)


def _settle(
    model: Model, values: Values, rows: Array, guess: Array, q: Array
) -> tuple[Array, Array]:
    """Newton on (variant × sample) lanes; which variants converged on all of them."""
    graph, count = model.topology, guess.shape[2]
    closer = Closer(graph, model.loops, 1e-9)
    dims = kinematics.geometry(model.mechanism, values)
    shared = dims.gravity.shape[-1] == 1
    found, live = np.empty_like(guess), np.empty(rows.size, dtype=bool)
    block = max(1, LANES // count)
    held = model.assembled.coordinates[1:, None]
    with np.errstate(all="ignore"):  # a lane that diverges dies alone
        for start in range(0, rows.size, block):
            part = slice(start, min(start + block, rows.size))
            size = len(rows[part])
            lanes = closer.start(guess[:, 0, 0], size * count)
            lanes.q[:] = guess[:, part].reshape(len(guess), -1)
            setting = np.concatenate([q[None], np.broadcast_to(held, (len(held), q.size))])
            for place, value in coordinate_configuration(graph, setting):
                lanes.q[place] = np.tile(value, size)
            here = dims if shared else dims.take(np.repeat(rows[part], count))
            closer.close(here, lanes)
            found[:, part] = lanes.q.reshape(len(guess), size, count)
            live[part] = lanes.live.reshape(size, count).all(axis=1)
    return found, live


def blocks(model: Model, values: Values, q: Array) -> Iterator[tuple[Array, kinematics.Geometry]]:
    """Variants that are evaluated together, and their dimensions over samples."""
    dims = kinematics.geometry(model.mechanism, values)
    count = q.shape[1]
    block = max(1, LANES // q.shape[2])
    for start in range(0, count, block):
        part = np.arange(start, min(start + block, count))
        here = dims if dims.gravity.shape[-1] == 1 else dims.take(part)
        yield part, here.over_samples()
