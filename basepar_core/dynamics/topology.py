"""The graph of a mechanism: a spanning tree, the joints cut to get it, and who moves whom.

Joints that carry coordinates are kept in the tree, so that driving the mechanism is setting
values, and so are joints with coupled values; of the others those with most freedoms are cut,
because they leave fewest equations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from basepar_core.errors import MechanismError
from basepar_core.mechanism import GROUND, Coupling, Mechanism, joint_type

from .joints import configuration_size


@dataclass(frozen=True, slots=True)
class TreeJoint:
    """A joint of the tree. Bodies are indices, the ground is −1.

    `forward`: the parent is the joint's first body. `position` and `speed` are its offsets in
    the configuration vector and in the speed vector.
    """

    joint: int
    kind: str
    parent: int
    child: int
    forward: bool
    position: int
    speed: int


@dataclass(frozen=True, slots=True)
class CutJoint:
    """A joint that closes a loop; bodies as indices, the ground is −1."""

    joint: int
    kind: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class CoupledValues:
    """A coupling's values, all of tree joints: offsets as of `TreeJoint`, one per term."""

    positions: tuple[int, ...]
    speeds: tuple[int, ...]
    is_length: bool


@dataclass(frozen=True)
class Topology:
    """Tree and loops of a mechanism; parents come before children in `tree`."""

    bodies: int
    planar: bool
    tree: tuple[TreeJoint, ...]
    cuts: tuple[CutJoint, ...]
    positions: int
    speeds: int
    #: per coordinate its place in the speed vector
    independent: tuple[int, ...]
    #: in the mechanism's order
    couplings: tuple[CoupledValues, ...] = ()

    @cached_property
    def dependent(self) -> tuple[int, ...]:
        """Speeds that the loops determine."""
        return tuple(k for k in range(self.speeds) if k not in self.independent)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """Per body the tree joints (their place in `tree`) between it and the ground."""
        above: dict[int, tuple[int, ...]] = {-1: ()}
        for place, joint in enumerate(self.tree):
            above[joint.child] = (*above[joint.parent], place)
        return tuple(above[body] for body in range(self.bodies))

    @cached_property
    def places(self) -> Mapping[int, int]:
        """Where the values of joints of the tree stand in a configuration, but of balls."""
        return {
            node.joint: node.position for node in self.tree if not joint_type(node.kind).is_ball
        }

    def loop(self, cut: CutJoint) -> tuple[tuple[int, int], ...]:
        """Tree joints that move the cut's second body against its first: (place, +1 or −1)."""
        first = set(self.ancestors[cut.first]) if cut.first >= 0 else set()
        second = set(self.ancestors[cut.second]) if cut.second >= 0 else set()
        signs = [(k, 1) for k in second - first] + [(k, -1) for k in first - second]
        return tuple(sorted((k, s if self.tree[k].forward else -s) for k, s in signs))


def topology(mechanism: Mechanism) -> Topology:
    """Spanning tree and cut joints of a mechanism.

    Raises
    ------
    MechanismError
        A body is not connected to the ground; a loop consists of coordinates only; a spherical
        or free joint is driven by some of its values only.
    """
    number = mechanism.body_index
    kept = spanning_joints(mechanism)
    tree = _rooted(mechanism, kept, number)
    cuts = tuple(
        CutJoint(k, joint.type, number[joint.bodies[0]], number[joint.bodies[1]])
        for k, joint in enumerate(mechanism.joints)
        if k not in kept
    )
    last = tree[-1]
    return Topology(
        bodies=len(mechanism.bodies),
        planar=mechanism.planar,
        tree=tree,
        cuts=cuts,
        positions=last.position + configuration_size(last.kind),
        speeds=last.speed + joint_type(last.kind).values,
        independent=_independent(mechanism, tree),
        couplings=tuple(_coupled(mechanism, tree, coupling) for coupling in mechanism.couplings),
    )


def spanning_joints(mechanism: Mechanism) -> set[int]:
    """Joints of a spanning tree: coordinates, coupled ones, then fewest freedoms, then file order.

    Kruskal's algorithm.

    Raises
    ------
    MechanismError
        A body is not connected to the ground.
    """
    group = {name: name for name in (GROUND, *(body.name for body in mechanism.bodies))}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    coupled = {value for coupling in mechanism.couplings for value, _ in coupling.terms}

    def preference(k: int) -> tuple[bool, bool, int, int]:
        joint = mechanism.joints[k]
        drives = any(value in mechanism.coordinates for value in joint.values)
        return not drives, coupled.isdisjoint(joint.values), joint_type(joint.type).values, k

    kept = set()
    for k in sorted(range(len(mechanism.joints)), key=preference):
        first, second = (root(name) for name in mechanism.joints[k].bodies)
        if first != second:
            group[second] = first
            kept.add(k)
    loose = [body.name for body in mechanism.bodies if root(body.name) != root(GROUND)]
    if loose:
        raise MechanismError(
            f"Not connected to the ground by any chain of joints: {', '.join(loose)}. Add to "
            f"`joints` what carries {'it' if len(loose) == 1 else 'them'}, such as "
            f"`joint_of_{loose[0]}: {{type: fixed, connects: [{GROUND}, {loose[0]}]}}`, in place "
            f"of `fixed` the type that moves.",
            [f"bodies.{name}" for name in loose],
        )
    return kept


def _rooted(
    mechanism: Mechanism, kept: set[int], number: Mapping[str, int]
) -> tuple[TreeJoint, ...]:
    tree: list[TreeJoint] = []
    reached, position, speed = {GROUND}, 0, 0
    waiting = sorted(kept)
    while waiting:
        k = next(k for k in waiting if reached & set(mechanism.joints[k].bodies))
        waiting.remove(k)
        joint = mechanism.joints[k]
        forward = joint.bodies[0] in reached
        parent, child = joint.bodies if forward else joint.bodies[::-1]
        tree.append(
            TreeJoint(k, joint.type, number[parent], number[child], forward, position, speed)
        )
        reached.add(child)
        position += configuration_size(joint.type)
        speed += joint_type(joint.type).values
    return tuple(tree)


def _coupled(
    mechanism: Mechanism, tree: tuple[TreeJoint, ...], coupling: Coupling
) -> CoupledValues:
    nodes = {node.joint: node for node in tree}
    values = [mechanism.value(name) for name, _ in coupling.terms]
    cut = [value.joint.name for value in values if value.number not in nodes]
    if cut:
        raise MechanismError(
            f"All joints of one loop are coordinates or coupled, {', '.join(cut)} among them, so "
            f"nothing is left that closes it. Leave one joint of every loop free of couplings; "
            f"two revolute joints in one place, with a body between them, are one.",
            [f"couplings.{coupling.name}"],
        )
    own = [(nodes[value.number], value.place) for value in values]
    return CoupledValues(
        tuple(node.position + place for node, place in own),
        tuple(node.speed + place for node, place in own),
        any(value.is_length for value in values),
    )


def _independent(mechanism: Mechanism, tree: tuple[TreeJoint, ...]) -> tuple[int, ...]:
    place: dict[str, int] = {}
    for node in tree:
        joint = mechanism.joints[node.joint]
        driven = [value for value in joint.values if value in mechanism.coordinates]
        if joint_type(joint.type).is_free and 0 < len(driven) < len(joint.values):
            raise MechanismError(
                f"Coordinates name {', '.join(driven)} but not all of {', '.join(joint.values)}, "
                f"the values of the free joint {joint.name!r}. Its velocities are a twist, which "
                f"no value has a part of for itself. Name all six; or guide the body by joints "
                f"of fewer freedoms.",
                ["coordinates"],
            )
        if joint_type(joint.type).is_ball and 0 < len(driven) < len(joint.values):
            raise MechanismError(
                f"Coordinates name {', '.join(driven)} but not all three values of the spherical "
                f"joint {joint.name!r}. Its speeds are an angular velocity, and one component of "
                f"a rotation vector has no speed of its own. Drive all three; or put a body "
                f"between a universal and a revolute joint instead, whose angles may be "
                f"coordinates each (the body's parameters are counted too).",
                ["coordinates"],
            )
        place |= {value: node.speed + k for k, value in enumerate(joint.values)}
    cut = [name for name in mechanism.coordinates if name not in place]
    if cut:
        raise MechanismError(
            f"All joints of one loop are coordinates, so {', '.join(cut)} cannot be independent. "
            f"Leave one joint of every loop free.",
            ["coordinates"],
        )
    return tuple(place[name] for name in mechanism.coordinates)
