"""What a file may say of a body's mass beforehand: that there is none, or that it lies on a line.

A *slender* body has two joints, both without friction about the line through them: balls or
universal joints, or one of these and a slide along the line. Mass on the line, or of revolution
about it, is felt alike however the body turns about it, so that this spin may be left undriven
(decision 135). Of its ten parameters three are left, those of mass on the line; a *massless* body
has none.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from basepar_core.errors import MechanismError

from .joint_types import joint_type

BodyForm: TypeAlias = Literal["", "slender", "massless"]
#: As files write them.
BODY_FORMS: tuple[BodyForm, ...] = get_args(BodyForm)[1:]


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a slender body: from a joint's point in it to another's, or along a slide.

    Attributes
    ----------
    start
        Number of a ball or universal joint, and which of its two bodies (0, 1) this is.
    end
        The same of the other joint.
    slides
        Whether that one is a slide, and the line goes along its axis.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    slides: bool


def line_of(
    body: str, joints: Sequence[tuple[str, str, tuple[str, str]]], slender: Collection[str]
) -> Line:
    """The line of a slender body.

    Parameters
    ----------
    body
        Its name.
    joints
        All joints of the mechanism: name, type, and the names of the two bodies.
    slender
        Names of all slender bodies.

    Raises
    ------
    MechanismError
        It has other joints than two that leave the line to it, or a slide turns it about the line.
    """
    here = [(k, ends.index(body)) for k, (_, _, ends) in enumerate(joints) if body in ends]
    types = [joint_type(joints[k][1]) for k, _ in here]
    points = [at for at, one in zip(here, types, strict=True) if one.rotations > 1]
    slides = [at for at, one in zip(here, types, strict=True) if one.is_slide]
    if len(here) == 2 and points and len(points) + len(slides) == 2:
        for k, side in slides:
            name, kind, ends = joints[k]
            if (other := ends[1 - side]) not in slender:
                raise MechanismError(
                    f"{body!r} is slender, but {name} ({kind}) turns it about its line with "
                    f"{other!r}, which is not: its inertia about the line is felt. Take `form` "
                    f"out; or, if it turns freely, make {name} cylindrical and its other joint "
                    f"universal",
                    [f"bodies.{body}"],
                )
        return Line(points[0], (points[1:] or slides)[0], not points[1:])
    given = ", ".join("{} ({})".format(*joints[k][:2]) for k, _ in here) or "none"
    raise MechanismError(
        f"{body!r} is slender and has the joints {given}; a slender body has two: both spherical "
        f"or universal, or one of these and a prismatic one along the line to another slender "
        f"body",
        [f"bodies.{body}"],
    )
