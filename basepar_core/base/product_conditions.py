"""What the planar paper asks for β to be products (§3.4), checked on a mechanism and a φ₂.

The paper opens loops by cutting revolute joints and writes every link's frame at its joint
towards the ground. A file states frames, so the cuts follow: every body's joint towards the
ground is one that its frame allows, and the joints left over are cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from basepar_core.mechanism import joint_type
from basepar_core.symbolic import GeometryField

from ..mechanism import GROUND, Joint, Mechanism

#: Openings that are looked at; with one joint per body allowed by its frame there is one.
MOST_OPENINGS = 20_000


@dataclass(frozen=True)
class Condition:
    """One condition of the search, whether it holds, and on what."""

    name: str
    holds: bool
    detail: str

    def document(self) -> dict[str, str | bool]:
        """As `basepar base --route product --json` prints it."""
        return {"condition": self.name, "holds": self.holds, "detail": self.detail}


@dataclass(frozen=True)
class Opening:
    """A mechanism opened into a tree: the joint of every body towards the ground, and the cuts."""

    towards_ground: Mapping[str, Joint]
    cuts: tuple[Joint, ...]

    @property
    def masses(self) -> tuple[str, ...]:
        """Bodies whose mass the paper wants in φ₂: those next to the ground, or to a
        bifurcation, in a serial chain."""
        children: dict[str, list[str]] = {}
        for body, joint in self.towards_ground.items():
            children.setdefault(_other(joint, body), []).append(body)
        return tuple(
            body
            for body, joint in self.towards_ground.items()
            if (parent := _other(joint, body)) == GROUND or len(children[parent]) > 1
        )

    @property
    def crowded(self) -> tuple[str, ...]:
        """Bodies with a cut joint that lie on the way of others: a cut, and a third joint."""
        ends = [body for joint in self.cuts for body in joint.bodies]
        carried = [_other(joint, body) for body, joint in self.towards_ground.items()]
        return tuple(b for b in self.towards_ground if b in ends and (carried + ends).count(b) > 1)


def conditions(
    mechanism: Mechanism, field: GeometryField, eliminated: Sequence[str]
) -> tuple[Condition, ...]:
    """The paper's three conditions, and ours.

    Parameters
    ----------
    mechanism, field
        A planar mechanism and its geometry field.
    eliminated
        Names of φ₂.
    """
    through = _loops_through_ground(mechanism)
    opened = openings(mechanism, field)
    frames = Condition(
        "optimal parametrisation",
        bool(opened),
        _frames_detail(mechanism, field, opened),
    )
    if not opened:
        unknown = "not decided: the frames allow no opening"
        return through, frames, Condition("masses next to the ground in φ₂", False, unknown)

    def left_out(one: Opening) -> list[str]:
        return [body for body in one.masses if f"{body}.m" not in eliminated]

    best = min(opened, key=lambda one: (len(left_out(one)), len(one.crowded)))
    wanted, missing = ", ".join(f"{body}.m" for body in best.masses), left_out(best)
    masses = Condition(
        "masses next to the ground in φ₂",
        not missing,
        f"wanted {wanted}"
        + (f"; not in φ₂: {', '.join(f'{b}.m' for b in missing)}" if missing else ""),
    )
    single = Condition(
        "no third joint on a link with a cut",
        not best.crowded,
        f"{', '.join(best.crowded)}; not asked for by the paper, but longer entries occur there"
        if best.crowded
        else f"cut: {', '.join(joint.name for joint in best.cuts) or 'none'}",
    )
    return through, frames, masses, single


def required_masses(mechanism: Mechanism, field: GeometryField) -> tuple[str, ...]:
    """Bodies whose masses the paper wants in φ₂; those joined to the ground where no opening
    fits the frames."""
    opened = openings(mechanism, field)
    if opened:
        return min(opened, key=lambda one: len(one.crowded)).masses
    near = {body for joint in mechanism.joints if GROUND in joint.bodies for body in joint.bodies}
    return tuple(body.name for body in mechanism.bodies if body.name in near)


def openings(mechanism: Mechanism, field: GeometryField) -> list[Opening]:
    """Ways to open all loops by cutting revolute joints that the bodies' frames allow."""
    bodies = [body.name for body in mechanism.bodies]
    choices = [_towards_ground(mechanism, field, body) for body in bodies]
    found = []
    for tried, chosen in enumerate(product(*choices)):
        if tried == MOST_OPENINGS:
            break
        towards = dict(zip(bodies, chosen, strict=True))
        cuts = tuple(joint for joint in mechanism.joints if joint not in chosen)
        distinct = len(set(chosen)) == len(chosen)
        if distinct and all(joint_type(j.type).is_pin for j in cuts) and _reaches_ground(towards):
            found.append(Opening(towards, cuts))
    return found


def _towards_ground(mechanism: Mechanism, field: GeometryField, body: str) -> list[Joint]:
    """Joints that may lead from a body towards the ground, its frame being where it is (§3.1)."""
    mine = [joint for joint in mechanism.joints if body in joint.bodies]
    at_origin = {joint.name for joint in mine if _at_origin(joint, body, field)}
    found = []
    for joint in mine:
        others = [other for other in mine if other is not joint]
        turning = [other for other in others if joint_type(other.type).is_pin]
        if joint_type(joint.type).is_pin:
            fits = joint.name in at_origin
        elif joint_type(joint.type).is_slide:
            fits = not turning or any(other.name in at_origin for other in turning)
        else:  # the paper has no other joints
            fits = False
        if fits:
            found.append(joint)
    return found


def _at_origin(joint: Joint, body: str, field: GeometryField) -> bool:
    return all(field.is_zero(x) for x in joint.frames[joint.bodies.index(body)].at)


def _other(joint: Joint, body: str) -> str:
    return joint.bodies[1 - joint.bodies.index(body)]


def _reaches_ground(towards: Mapping[str, Joint]) -> bool:
    return all(len(list(_way(towards, body))) <= len(towards) for body in towards)


def _way(towards: Mapping[str, Joint], body: str) -> Iterator[str]:
    """Bodies from one to the ground; one more than there are where it runs in a circle."""
    for _ in range(len(towards) + 1):
        if body == GROUND:
            return
        yield body
        body = _other(towards[body], body)


def _frames_detail(mechanism: Mechanism, field: GeometryField, opened: Sequence[Opening]) -> str:
    if opened:
        return "every frame is at its link's joint towards the ground"
    none = [b.name for b in mechanism.bodies if not _towards_ground(mechanism, field, b.name)]
    if none:
        return f"the frame is at no joint that could lead to the ground: {', '.join(none)}"
    return "no cut of revolute joints leaves every frame at its joint towards the ground"


def _loops_through_ground(mechanism: Mechanism) -> Condition:
    """Moving bodies alone must form no loop."""
    group = {body.name: body.name for body in mechanism.bodies}
    closing = []
    for joint in mechanism.joints:
        if GROUND in joint.bodies:
            continue
        first, second = (group[body] for body in joint.bodies)
        if first == second:
            closing.append(joint.name)
        group = {body: first if one == second else one for body, one in group.items()}
    detail = f"closed among moving bodies by {', '.join(closing)}" if closing else ""
    return Condition("loops closed through the ground", not closing, detail or "all are")
