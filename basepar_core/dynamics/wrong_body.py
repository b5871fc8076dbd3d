"""Joints that name a wrong body: with a body in its place that hangs loosely the loops close."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from basepar_core.errors import AssemblyError
from basepar_core.mechanism import GROUND, Joint, Mechanism

from .joint_loops import around
from .trials import NEAR, Trial, closing


@dataclass(frozen=True, slots=True)
class _Hanging:
    """A body that hangs on a single joint, whose motion nothing drives or determines."""

    body: str
    joint: str

    def __str__(self) -> str:
        named = "the ground" if self.body == GROUND else f"body {self.body}"
        return f"{named} hangs on joint {self.joint} alone and is in no loop"


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of an open loop, with the body that one of its joints should name.

    That is the joint where values that are stated beside the coordinates are met with one body in
    its place alone, of those that hang on a body of the loop and that nothing drives.
    """
    loop, hanging = _beside(error, own.mechanism)
    found = []
    if own.tells:
        found = [
            (joint, one)
            for one in hanging
            for joint, _ in closing(_renamed(own, loop, one.body), own.gap / 2, NEAR)
        ]
    if len(found) != 1:
        return error
    joint, one = found[0]
    return AssemblyError(
        f"{error.message} With joints.{joint.name}.connects: [{', '.join(joint.bodies)}] all "
        f"loops close at about the stated values: {one}.",
        [f"joints.{joint.name}"],
    )


def asked(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of an open loop, with the question where a body hangs on a body of the loop."""
    hanging = [str(one) for one in _beside(error, own.mechanism)[1] if one.body != GROUND]
    if not hanging:
        return error
    question = f"{hanging[0][0].upper()}{hanging[0][1:]}: is a joint's `connects` to name it?"
    return AssemblyError(f"{error.message} {question}", error.where)


def _beside(
    error: AssemblyError, mechanism: Mechanism
) -> tuple[frozenset[int], tuple[_Hanging, ...]]:
    """Joints of the loop that stays open, and the bodies that hang on its bodies."""
    places = {f"joints.{joint.name}": k for k, joint in enumerate(mechanism.joints)}
    loop = frozenset[int]().union(
        *(around(mechanism, places[name]) for name in error.where if name in places)
    )
    bodies = {body for k in loop for body in mechanism.joints[k].bodies}
    return loop, tuple(one for one, held in _hanging(mechanism) if held in bodies)


def _hanging(mechanism: Mechanism) -> Iterator[tuple[_Hanging, str]]:
    """Bodies at undriven joints that are their only ones, and the body that holds them.

    A tool is driven, coupled or welded: nothing would tell where another one is.
    """
    count = Counter(body for joint in mechanism.joints for body in joint.bodies)
    driven = {*mechanism.coordinates}
    driven |= {value for coupling in mechanism.couplings for value, _ in coupling.terms}
    for joint in mechanism.joints:
        for body, held in (joint.bodies, joint.bodies[::-1]):
            is_free = joint.values and driven.isdisjoint(joint.values)
            if is_free and count[body] == 1:
                yield _Hanging(body, joint.name), held


def _renamed(own: Trial, loop: frozenset[int], body: str) -> Iterator[tuple[Joint, Trial]]:
    """Joints of a loop with a body in the place of one of theirs, and the mechanism with each.

    Only where that leaves no other body hanging.
    """
    mechanism = own.mechanism
    for k in sorted(loop):
        first, second = mechanism.joints[k].bodies
        for bodies in ((body, second), (first, body)):
            joint = replace(mechanism.joints[k], bodies=bodies)
            joints = (*mechanism.joints[:k], joint, *mechanism.joints[k + 1 :])
            other = replace(mechanism, joints=joints)
            if len([*_hanging(other)]) < len([*_hanging(mechanism)]):
                yield joint, own.of(other)
