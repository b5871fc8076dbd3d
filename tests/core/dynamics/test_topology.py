"""Spanning trees and cuts: counted by hand, and by the definition of a tree."""

import pytest

from basepar_core.dynamics.topology import topology
from basepar_core.errors import MechanismError
from basepar_core.files import mechanism_file
from basepar_core.mechanism import joint_type
from tests.mechanisms import C, E, P, R, S, U, linkage, loop, random_tree


def names(mechanism, entries):
    return [mechanism.joints[entry.joint].name for entry in entries]


@pytest.mark.parametrize(
    ("name", "tree", "cuts"),
    [
        ("four-bar", ["A", "B", "C"], ["D"]),
        ("five-bar", ["A", "B", "C", "E"], ["D"]),
        ("slider-crank", ["A", "B", "C"], ["D"]),
        ("rsur", ["A", "D", "C"], ["B"]),
        ("ur10", ["q1", "q2", "q3", "q4", "q5", "q6"], []),
    ],
)
def test_library_by_hand(name, tree, cuts):
    mechanism = mechanism_file.load(name)
    graph = topology(mechanism)
    assert sorted(names(mechanism, graph.tree)) == sorted(tree)
    assert names(mechanism, graph.cuts) == cuts


@pytest.mark.parametrize("kinds", [(S, C, U, C), (C, U, S), (R, E, U, R), (R, R, R, R, R, R, P)])
@pytest.mark.parametrize("swapped", [(), ("a", "b"), ("b", "c")])
def test_tree_reaches_every_body_once(kinds, swapped):
    coordinates = ["a.1"] if joint_type(kinds[0]).values == 2 else ["a"] if kinds[0] == R else None
    coordinates = coordinates or ["a.1", "a.2", "a.3"]
    mechanism = linkage(1, loop(*kinds), coordinates, swapped=swapped)
    graph = topology(mechanism)
    reached = {-1}
    for node in graph.tree:
        assert node.parent in reached
        assert node.child not in reached
        reached.add(node.child)
        ends = mechanism.joints[node.joint].bodies
        first = -1 if ends[0] == "ground" else [b.name for b in mechanism.bodies].index(ends[0])
        assert node.forward == (node.parent == first)
    assert len(reached) == graph.bodies + 1
    # A joint with coordinates stays in the tree; the cut one has most freedoms of the others.
    others = list(kinds[1:])
    (cut,) = graph.cuts
    assert joint_type(cut.kind).values == max(joint_type(kind).values for kind in others)
    assert graph.speeds == sum(joint_type(k).values for k in kinds) - joint_type(cut.kind).values
    assert sorted(graph.independent + graph.dependent) == list(range(graph.speeds))


def test_loop_signs_close_the_loop():
    """Walking from the first body of the cut over its loop ends at the second."""
    mechanism = linkage(1, loop(R, E, U, R), ["a"], swapped=["a", "c"])
    graph = topology(mechanism)
    (cut,) = graph.cuts
    steps = {graph.tree[place].joint: sign for place, sign in graph.loop(cut)}
    assert set(steps) | {cut.joint} == set(range(4))
    here = mechanism.joints[cut.joint].bodies[0]
    while steps:
        k = next(k for k in steps if here in mechanism.joints[k].bodies)
        ends = mechanism.joints[k].bodies
        sign = steps.pop(k)
        # +1: the joint's second body is moved against its first on the way.
        assert here == ends[0 if sign > 0 else 1]
        here = ends[1 if sign > 0 else 0]
    assert here == mechanism.joints[cut.joint].bodies[1]


def test_ancestors_lead_to_the_ground():
    mechanism = random_tree(5, [R, P, U, S, R, C])
    graph = topology(mechanism)
    for body, places in enumerate(graph.ancestors):
        here = body
        for place in reversed(places):
            assert graph.tree[place].child == here
            here = graph.tree[place].parent
        assert here == -1


def test_a_loop_of_coordinates_only():
    mechanism = linkage(3, loop(R, C, C, C), ["a", "b.1", "c.2", "d.1"])
    with pytest.raises(MechanismError, match=r"All joints of one loop are coordinates, so d\.1"):
        topology(mechanism)


def test_half_a_spherical_joint():
    mechanism = linkage(3, loop(R, S, U, R), ["b.1", "b.3"])
    with pytest.raises(MechanismError, match=r"b\.1, b\.3 but not all three values") as caught:
        topology(mechanism)
    assert caught.value.where == ("coordinates",)
    assert "one component of a rotation vector has no speed of its own" in caught.value.message
    assert "between a universal and a revolute joint" in caught.value.message


def test_a_body_that_hangs_from_nothing():
    links = [("a", R, "ground", "one"), ("b", R, "two", "three")]
    mechanism = linkage(3, links)
    with pytest.raises(
        MechanismError, match=r"Not connected to the ground .*: two, three"
    ) as caught:
        topology(mechanism)
    assert caught.value.where == ("bodies.two", "bodies.three")
