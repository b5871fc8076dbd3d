"""Bodies that turn about the line through two balls and move nothing else, read off the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from .joint_types import joint_type
from .mechanism import GROUND, Joint


@dataclass(frozen=True, slots=True)
class IdleSpin:
    """Bodies that turn together about the line through two balls, and move nothing else."""

    bodies: tuple[str, ...]
    joints: tuple[str, str]

    def __str__(self) -> str:
        turns = "turns" if len(self.bodies) == 1 else "turn"
        return f"{' and '.join(self.bodies)} {turns} idly between {' and '.join(self.joints)}"


def idle_spins(bodies: Sequence[str], joints: Sequence[Joint]) -> tuple[IdleSpin, ...]:
    """Bodies that the rest holds by two spherical joints only, in file order.

    Parameters
    ----------
    bodies
        Names of all bodies.
    joints
        All joints between them and the ground.
    """
    groups = {name: {name} for name in (GROUND, *bodies)}
    for joint in joints:
        if not joint_type(joint.type).is_ball:
            first, second = (groups[name] for name in joint.bodies)
            first |= second
            groups |= dict.fromkeys(first, first)
    found: list[IdleSpin] = []
    for body in bodies:
        inside = groups[body]
        names = tuple(name for name in bodies if name in inside)
        balls = [
            joint.name
            for joint in joints
            if joint_type(joint.type).is_ball
            and not joint_type(joint.type).is_free
            and len(inside & set(joint.bodies)) == 1
        ]
        if GROUND not in inside and names[0] == body and len(balls) == 2:
            found.append(IdleSpin(names, (balls[0], balls[1])))
    return tuple(found)
