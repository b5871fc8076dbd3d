"""A mechanism's joints at values of its direction symbols: axes, and points affine in lengths.

Works in any field: GF(p) for points of the family, floats for the pose of the real mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from basepar_core.mechanism import Frame, Mechanism, joint_type
from basepar_core.symbolic import cross, dot, minus, scale

from .arithmetic import Matrix, Vec
from .evaluation import Affine, Evaluator

AffineVec = tuple[Affine, Affine, Affine]


@dataclass(frozen=True, slots=True)
class Axes:
    """x, y, z of a joint frame, perpendicular, of any length."""

    x: Vec
    y: Vec
    z: Vec


@dataclass(frozen=True, slots=True)
class JointFrames:
    """A joint: kind, bodies (−1: ground), axes and points in each, points affine in lengths."""

    kind: str
    bodies: tuple[int, int]
    axes: tuple[Axes, Axes]
    at: tuple[AffineVec, AffineVec]

    def relative(self) -> Matrix:
        """Rotation that takes the second body's frame to the first's where these coincide.

        Rational where axes and references are equally long in both bodies, which the file
        reader has checked for joints that fix orientation.
        """
        one, two = self.axes
        zz, xx = dot(one.z, one.z), dot(one.x, one.x)
        yy = zz * xx
        return tuple(  # type: ignore[return-value]
            tuple(
                one.z[i] * two.z[j] / zz + one.x[i] * two.x[j] / xx + one.y[i] * two.y[j] / yy
                for j in range(3)
            )
            for i in range(3)
        )


def joint_frames(mechanism: Mechanism, evaluator: Evaluator) -> list[JointFrames]:
    """All joints; symbols without a value may occur in points only."""
    number = mechanism.body_index
    return [
        JointFrames(
            joint.type,
            (number[joint.bodies[0]], number[joint.bodies[1]]),
            (frame_axes(joint.frames[0], evaluator), frame_axes(joint.frames[1], evaluator)),
            (_point(joint.frames[0].at, evaluator), _point(joint.frames[1].at, evaluator)),
        )
        for joint in mechanism.joints
    ]


def frame_axes(frame: Frame, evaluator: Evaluator) -> Axes:
    """A frame's axes at values of the symbols in them."""
    z, reference = evaluator.vector(frame.axis), evaluator.vector(frame.reference)
    # Scaled by |z|², to stay free of divisions.
    x = minus(scale(dot(z, z), reference), scale(dot(reference, z), z))
    return Axes(x, cross(z, x), z)


def _point(at: Sequence[Any], evaluator: Evaluator) -> AffineVec:
    x, y, z = (evaluator.affine(entry) for entry in at)
    return (x, y, z)


def locks(kind: str, planar: bool) -> tuple[str | None, tuple[str, ...]]:
    """What a joint type locks: directions of distance (None: all), pairs of axes."""
    shape = joint_type(kind)
    return shape.locks(planar)[0] if shape.slides else None, shape.locked_pairs(planar)
