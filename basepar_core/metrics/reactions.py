"""Forces and moments in joints over a cycle, of the bodies' inertias and weights: no motor needed.

A joint is freed in the directions that it locks (`single_dof.reaction_freedoms`): what holds the
virtual coordinates where they are is what the joint transmits.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Joint, Mechanism, joint_type
from basepar_core.single_dof import Reaction

from .analytic import length
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .targets import Target

WORDS = ("joint_force_rms", "joint_force_peak", "joint_moment_rms", "joint_moment_peak")
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def metrics(mechanism: Mechanism, _: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name: of joints that transmit forces, or moments, in directions known beforehand."""
    found: dict[str, CycleMetric] = {}
    for joint in mechanism.joints:
        for moment, (what, unit) in enumerate((("force", "N"), ("moment", "N m"))):
            wanted = _freed(mechanism, joint, bool(moment))
            for word, of in (("rms", "root mean square"), ("peak", "largest")):
                if wanted:
                    value = partial(_size, wanted=wanted, is_peak=word == "peak")
                    words = f"{of} size of the {what} in joint {joint.name} over the cycle"
                    name = f"joint_{what}_{word}({joint.name})"
                    found[name] = CycleMetric(value, unit, words)
    return found


def _freed(mechanism: Mechanism, joint: Joint, moment: bool) -> tuple[Reaction, ...]:
    """Directions in the first body's axes that span what a joint locks; none if not known."""
    shape, planar = joint_type(joint.type), mechanism.planar
    free = shape.rotations if moment else len(shape.slides)
    count = (1 if moment else 2) if planar else 3
    if planar and moment:
        wanted = [] if free else ["z"]
    elif free == 0:
        wanted = list("xyz"[:count])
    else:
        return _across(joint, moment, planar)
    return tuple(Reaction(joint.name, joint.bodies[0], _AXES[w], moment) for w in wanted)


def _across(joint: Joint, moment: bool, planar: bool) -> tuple[Reaction, ...]:
    """Across the one axis along or about which a joint gives way, where numbers fix that axis."""
    shape, frame = joint_type(joint.type), joint.frames[0]
    one = (shape.turns == "z") if moment else shape.slides == "z"
    numbers = [entry.value for entry in frame.axis if hasattr(entry, "value")]
    if not one or len(numbers) < 3:
        return ()
    axis = np.array(numbers, float) / np.linalg.norm(np.array(numbers, float))
    first = np.cross(axis, _AXES["z"] if planar else np.eye(3)[int(np.argmin(np.abs(axis)))])
    directions = [first / np.linalg.norm(first)]
    if not planar:
        directions.append(np.cross(axis, directions[0]))
    return tuple(
        Reaction(joint.name, joint.bodies[0], (float(d[0]), float(d[1]), float(d[2])), moment)
        for d in directions
    )


def _size(cycle: ClosedCycle, wanted: tuple[Reaction, ...], is_peak: bool) -> Array:
    sizes = length(cycle._reactions(wanted), axis=-1)  # (variant, sample)
    return sizes.max(axis=-1) if is_peak else np.sqrt((sizes**2).mean(axis=-1))
