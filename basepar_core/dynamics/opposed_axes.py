"""A joint whose two axes point in opposite directions: which of them to reverse."""

from dataclasses import replace

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Expression, evaluate, names, negate
from basepar_core.mechanism import Frame

from .body_newton import OpposedAxesError
from .trials import NEAR, Trial


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of opposed axes, with the axes to write where one of them reversed will do.

    Where both do, as stated values tell no difference, those with fewer minus signs.
    """
    if not isinstance(error, OpposedAxesError) or not own.stated:
        return error
    mechanism = own.mechanism
    (joint,) = (one for one in mechanism.joints if f"joints.{one.name}" in error.where)
    found = []
    for side in (1, 0):
        frames = list(joint.frames)
        x, y, z = frames[side].axis
        frames[side] = replace(frames[side], axis=(negate(x), negate(y), negate(z)))
        turned = replace(joint, frames=(frames[0], frames[1]))
        if own.with_joint(joint, turned).farthest[1] <= NEAR:
            found.append(written(frames[0], frames[1], mechanism.planar))
    if not found or "" in found:
        return error
    write = min(found, key=lambda text: text.count("-"))
    told = "With one axis reversed the assembly is found as stated: write"
    return AssemblyError(
        f"{error.message} {told} `axis: {write}` in joints.{joint.name}.", error.where
    )


def written(first: Frame, second: Frame, planar: bool) -> str:
    """Two axes as a file has them; nothing where they have symbols."""
    if any(names(x) for x in (*first.axis, *second.axis)):
        return ""
    return f"[{_vector(first.axis, planar)}, {_vector(second.axis, planar)}]"


def _vector(axis: tuple[Expression, ...], planar: bool) -> str:
    numbers = evaluate(list(axis[:2] if planar else axis), {})
    return f"[{', '.join(f'{float(x) + 0.0:.6g}' for x in numbers)}]"
