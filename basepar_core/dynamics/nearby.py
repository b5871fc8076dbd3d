"""Random states about the assembly, for who needs samples of a mechanism without an excitation."""

import numpy as np

from .closure import Model, Outcome, trace_alone
from .motion import Motion, excitation

#: Sizes that are tried, in steps of the loops' closing (`loops.STEP`): the farther the better
#: for float64, as long as the loops follow.
SIZES = (4.0, 1.0, 0.25, 0.0625)
SAMPLES, SEED = 48, 20


def nearby_states(model: Model) -> Motion:
    """States about q_assembly on its branch: the widest of `SIZES` that the loops can follow.

    Velocities and accelerations are random too, as those of the excitation `states`.
    """
    rng = np.random.default_rng(SEED)
    start = model.assembled.coordinates[:, None]
    u, v, w = rng.uniform(-1, 1, (3, len(start), SAMPLES))
    t, step = np.arange(SAMPLES, dtype=float), model.loops.step[:, None]
    for size in SIZES:
        motion = Motion(t, start + size * step * u, v, w)
        if trace_alone(model, motion.q).outcome[0] == Outcome.CLOSED:
            break
    return motion


def sampling(model: Model) -> Motion:
    """The mechanism's excitation; where it states none, `nearby_states`."""
    it = model.mechanism
    if it.excitation is None:
        return nearby_states(model)
    return excitation(it, model.assembled.coordinates)
