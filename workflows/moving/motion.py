"""The motion that is filmed, of every variant the same."""

from dataclasses import dataclass, replace

import numpy as np

from basepar_core.dynamics import Model, Motion, cycle, excitation
from basepar_core.mechanism import States

#: Frames at most: of a motion with more samples every second one, or every third …
FRAMES = 200
#: Frames from one random state to the next, and how many states are shown: they have no time.
STEPS, STATES = 15, 8
#: Seconds between two random states.
PAUSE = 1.0


@dataclass(frozen=True)
class FilmedMotion:
    """What is filmed.

    Attributes
    ----------
    motion
        All its samples.
    timed
        Whether it has velocities: between random states it has none.
    name
        What it is called: cycle, excitation, or what whoever made it says.
    """

    motion: Motion
    timed: bool
    name: str

    @property
    def step(self) -> float:
        """Seconds between two samples."""
        t = self.motion.t
        return float(t[-1] - t[0]) / max(1, t.size - 1)

    def shown(self, last: int) -> np.ndarray:
        """Which of its samples before the last are frames."""
        return np.arange(0, last, -(-last // FRAMES))

    def taken(self, shown: np.ndarray) -> "FilmedMotion":
        """Some of its samples."""
        it = self.motion
        parts = (x[..., shown] for x in (it.t, it.q, it.q_dot, it.q_ddot))
        return replace(self, motion=Motion(*parts))


def filmed_motion(model: Model) -> FilmedMotion:
    """A mechanism's cycle; without one, its excitation.

    Raises
    ------
    MissingDataError
        The file states no motion.
    """
    it, start = model.mechanism, model.assembled.coordinates
    if it.cycle is not None:
        return FilmedMotion(cycle(it, start), True, "cycle")
    motion = excitation(it, start)
    if not isinstance(it.excitation, States):
        return FilmedMotion(motion, True, "excitation")
    corners = np.column_stack([start, motion.q[:, :STATES], start])
    s = np.arange(STEPS) / STEPS
    soft = s**3 * (10 - 15 * s + 6 * s**2)
    legs = corners[:, :-1, None] + (corners[:, 1:] - corners[:, :-1])[:, :, None] * soft
    q = legs.reshape(len(start), -1)
    t = np.arange(q.shape[1]) * PAUSE / STEPS
    return FilmedMotion(Motion(t, q, np.zeros_like(q), np.zeros_like(q)), False, "excitation")
