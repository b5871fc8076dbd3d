"""A record as a measurement of the file's own mechanism would give it: torque W φ, with noise.

To plan an experiment (what would this motion and this noise tell?) and to try identification
without a machine. Positions are those of the motion, so that a drive's errors of following do
not matter; what a real record has besides (friction without a column, play, elasticity) is absent.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion, column_values, cycle, excitation, excite

from ..errors import MissingDataError, UsageError
from ..mechanism import Data, Fourier, Sines, States
from .contacts import Pushed, contact_efforts, wrenches_that_carry
from .measurement import Measurement
from .motion_regressor import observe_motion

MOTIONS = ("excitation", "cycle")


def motion_of(model: Model, which: str, samples: int | None = None) -> Motion:
    """One period of the excitation, or the work cycle.

    `samples` as the file states where None; data are never sampled anew.

    Raises
    ------
    MissingDataError
        The file states no such motion.
    UsageError
        Random states, which are no motion; fewer samples than one.
    """
    if samples is not None and samples < 1:
        raise UsageError(f"samples is {samples}; a motion has one at least.", ["samples"])
    mechanism, start = model.mechanism, model.assembled.coordinates
    if which == "cycle":
        law = mechanism.cycle
        if law is not None and not isinstance(law.laws, Data) and samples is not None:
            mechanism = replace(mechanism, cycle=replace(law, samples=samples))
        return cycle(mechanism, start)
    chosen = mechanism.excitation
    if isinstance(chosen, Fourier | Sines) and samples is not None:
        return excite(replace(chosen, samples=samples), mechanism, start)
    if isinstance(chosen, States):
        raise UsageError(
            f"The excitation of {mechanism.name!r} is random states, which nothing moves through. "
            f"Use `motion=cycle`, or another excitation.",
            ["excitation"],
        )
    return excitation(mechanism, start)


def simulate(
    model: Model,
    motion: Motion,
    noise: Array,
    position_noise: Array,
    columns: Sequence[Column] = (),
    seed: int = 1,
    pushed: Pushed | None = None,
) -> Measurement:
    """A record of a mechanism that has the file's own parameters.

    Parameters
    ----------
    model
        With inertias.
    motion
        Where it goes.
    noise, position_noise
        (coordinate,): standard deviations of white noise, N m or N, rad or m.
    columns
        Friction, springs, … with the values that the file states.
    seed
        Of the noise, and of what pushes besides.
    pushed
        Points at which wrenches act, which the record then has.

    Raises
    ------
    UsageError
        As `wrenches_that_carry`.
    MissingDataError
        Bodies without inertia, columns without a value.
    MotionError
        The mechanism cannot follow the motion.
    """
    mechanism = model.mechanism
    if bare := [body.name for body in mechanism.bodies if body.parameters is None]:
        raise MissingDataError(
            f"Torques need inertias, and {', '.join(bare)} of {mechanism.name!r} "
            f"{'has' if len(bare) == 1 else 'have'} none. Give mass, centre and inertia.",
            [f"bodies.{name}" for name in bare],
        )
    further = column_values(mechanism, columns, mechanism.nominal)
    phi = np.concatenate([mechanism.inertial_parameters(mechanism.nominal), further])
    tau = (observe_motion(model, motion, tuple(columns)).W[0] @ phi).T
    wrenches = wrenches_that_carry(model, motion, tau, pushed, seed) if pushed else {}
    tau = tau - contact_efforts(model, motion, wrenches)
    rng = np.random.default_rng(seed)
    q = motion.q + position_noise[:, None] * rng.standard_normal(motion.q.shape)
    tau = tau + noise[:, None] * rng.standard_normal(tau.shape)
    if pushed:
        for wrench in wrenches.values():  # components that no sensor need have stay zero
            felt = wrench.any(axis=1, keepdims=True)
            wrench += felt * pushed.noise * rng.standard_normal(wrench.shape)
    return Measurement(f"{mechanism.name}, simulated", motion.t, q, None, tau, wrenches=wrenches)
