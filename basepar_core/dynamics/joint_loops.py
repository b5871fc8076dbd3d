"""Which joints stand in loops together, from what they connect alone."""

from collections import Counter
from collections.abc import Set

from basepar_core.mechanism import Mechanism

from .topology import spanning_joints


def joint_loops(mechanism: Mechanism) -> tuple[frozenset[int], ...]:
    """Joints of independent loops: of each joint that closes one, those on its way around.

    Raises
    ------
    MechanismError
        A body is not connected to the ground.
    """
    kept = spanning_joints(mechanism)
    closing = [k for k in range(len(mechanism.joints)) if k not in kept]
    return tuple(_ring(mechanism, kept | {k}) for k in closing)


def around(mechanism: Mechanism, joint: int) -> frozenset[int]:
    """Joints that share a loop with a joint, and those that share one with these; itself too.

    None if it is in no loop. Loops that have only a body in common are apart.
    """
    loops = joint_loops(mechanism)
    found = frozenset[int]().union(*(loop for loop in loops if joint in loop))
    while (more := found.union(*(loop for loop in loops if loop & found))) != found:
        found = more
    return found


def _ring(mechanism: Mechanism, joints: Set[int]) -> frozenset[int]:
    """The one loop of some joints: what is left where ends are taken off one after another."""
    while True:
        ends = Counter(body for k in joints for body in mechanism.joints[k].bodies)
        inner = {k for k in joints if all(ends[x] > 1 for x in mechanism.joints[k].bodies)}
        if len(inner) == len(joints):
            return frozenset(joints)
        joints = inner
