"""From where a mechanism is seen, and where its motion ends, in words."""

import numpy as np

from basepar_core.dynamics import Model, Outcome, Trace, kinematics, motion_end

from .layout import view_of


def paper_of(model: Model) -> np.ndarray:
    """Directions of paper in the world (2, 3): right and up.

    Of the nominal mechanism, so that variants are seen alike.
    """
    if model.mechanism.planar:
        return np.eye(2, 3)
    dims = kinematics.geometry(model.mechanism, {}).over_samples()
    at = kinematics.poses(model.topology, dims, model.assembled.q[:, None, None])
    origins = [np.broadcast_to(P, (3, 1, 1))[:, 0, 0] for P in (*at.P1, *at.P2)]
    return view_of(np.stack(origins, axis=1))


def end_in_words(
    model: Model, path: Trace, targets: np.ndarray, motion: str = "", assembled: bool = True
) -> str:
    """Where a motion cannot be followed; empty where it can.

    Parameters
    ----------
    motion
        What it is called; that of the file without.
    assembled
        Whether the targets begin with the assembled pose, which is no sample of the motion.
    """
    it = model.mechanism
    motion = motion or ("cycle" if it.cycle is not None else "excitation")
    end = motion_end(model, path, targets, motion)
    if end is None:
        return ""
    if end.outcome == Outcome.UNASSEMBLABLE:
        return "cannot be assembled at this geometry"
    at = []
    for name, value in end.at:
        angle = not it.value(name).is_length
        at.append(f"{name} = {np.degrees(value):.1f}°" if angle else f"{name} = {value:.4g} m")
    what = "is singular at" if end.outcome == Outcome.SINGULAR else "locks before"
    sample, samples = (one + (not assembled) for one in (end.sample, end.samples))
    return f"{what} {', '.join(at)} (sample {sample} of {samples} of its {motion})"
