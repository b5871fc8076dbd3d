"""The table of joint types, what follows from it, and that nobody takes a type for another."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.certificate.checker import natural
from basepar_core.certificate.checker.joints import KINDS
from basepar_core.compiled import mechanism_tables
from basepar_core.dynamics import joint_rates, joints, prepare, topology
from basepar_core.errors import MechanismError
from basepar_core.finite_field import frames
from basepar_core.mechanism import JOINT_TYPES, JointType, joint_type
from basepar_core.symbolic import GeometryField, Transfers
from basepar_core.torque_code import torque_program
from tests.mechanisms import PARALLELOGRAM_BY_VALUE, loads

#: FORMAT's table: units of the values, and freedoms of orientation.
FORMAT = {
    "revolute": (["rad"], 1),
    "prismatic": (["m"], 0),
    "cylindrical": (["m", "rad"], 1),
    "universal": (["rad", "rad"], 2),
    "spherical": (["rad", "rad", "rad"], 3),
    "planar": (["m", "m", "rad"], 1),
    "pin_slot": (["m", "rad"], 1),
    "free": (["m", "m", "m", "rad", "rad", "rad"], 3),
    "fixed": ([], 0),
}


@pytest.fixture
def four_bar():
    return loads(PARALLELOGRAM_BY_VALUE, "four-bar")


def of_type(mechanism, name):
    """The mechanism with its first joint of another type."""
    first = replace(mechanism.joints[0], type=name)
    return replace(mechanism, joints=(first, *mechanism.joints[1:]))


def test_every_type_has_the_values_that_format_says(four_bar):
    assert set(JOINT_TYPES) == set(FORMAT)
    for name, (units, rotations) in FORMAT.items():
        it = replace(four_bar, joints=(replace(four_bar.joints[0], type=name),))
        assert [it.value(value).unit for value in it.joints[0].values] == units
        assert joint_type(name).rotations == rotations
        efforts = [{"m": "N", "rad": "N m"}[unit] for unit in units]
        assert [it.value(value).effort_unit for value in it.joints[0].values] == efforts


@pytest.mark.parametrize("name", JOINT_TYPES)
@pytest.mark.parametrize("planar", [False, True])
def test_the_checker_states_the_same_of_every_type(name, planar):
    """Two statements, made apart: what is locked, what is free, what is a length."""
    assert set(KINDS) == set(JOINT_TYPES)
    mine, its = joint_type(name), KINDS[name]
    assert mine.slides == its.lengths
    assert mine.rotations == its.free
    if not (mine.planar if planar else mine.spatial):
        with pytest.raises(KeyError):
            its.locks(planar)
        return
    along, about = mine.locks(planar)
    points, lengths, pairs = its.locks(planar)
    assert points is not bool(mine.slides)
    assert lengths == (along if mine.slides else "")
    assert mine.locked_pairs(planar) == pairs
    assert len(about) == len(pairs)
    assert len(along) + len(about) == (3 if planar else 6) - mine.values


def test_a_value_knows_its_joint_and_one_that_is_not_there_is_refused(four_bar):
    value = four_bar.value("C")
    assert (value.joint.name, value.number, value.place) == ("C", 2, 0)
    assert value.is_angle
    assert dict(four_bar.body_index) == {"ground": -1, "crank": 0, "coupler": 1, "rocker": 2}
    with pytest.raises(MechanismError, match="No joint has a value named 'Z'"):
        four_bar.value("Z")


def test_a_rotation_vectors_entries_are_no_angles(four_bar):
    assert not of_type(four_bar, "spherical").value("A.1").is_angle


def _null_vectors(mechanism):
    field = GeometryField(mechanism.geometry)
    return Transfers(mechanism, field).over(mechanism.joints[0])


def _torques(mechanism):
    model = prepare(loads(PARALLELOGRAM_BY_VALUE, "four-bar"))
    graph = model.assembled.topology
    tree = tuple(replace(node, kind=mechanism.joints[0].type) for node in graph.tree)
    assembled = replace(model.assembled, topology=replace(graph, tree=tree))
    return torque_program(replace(model, assembled=assembled), [0])


X = np.eye(3)
USES = {
    "null vectors of base": _null_vectors,
    "tree": topology.topology,
    "motion": lambda it: joints.relative_motion(it.joints[0].type, np.zeros(3)),
    "speeds": lambda it: joints.speeds(it.joints[0].type, X, X),
    "gaps": lambda it: joints.gaps(it.joints[0].type, True, X, X, np.zeros(3)),
    "values": lambda it: joints.values(it.joints[0].type, X, X, np.zeros(3)),
    "rates": lambda it: joint_rates.directions(it.joints[0].type, X, X, np.zeros(3)),
    "kernels": lambda it: mechanism_tables.chain(it.joints[0].type, True),
    "finite field": lambda it: frames.locks(it.joints[0].type, True),
    "torque code": _torques,
}


@pytest.mark.parametrize("use", USES)
def test_an_unknown_type_is_refused_and_taken_for_no_other(four_bar, use):
    with pytest.raises(MechanismError, match=r"no joint type .helical.*revolute"):
        USES[use](of_type(four_bar, "helical"))


def test_the_checker_refuses_an_unknown_type_too():
    it = natural.Mechanism(True, ("b",), (), ("0", "0", "0"))
    with pytest.raises(KeyError):
        it.locks("helical")


def test_what_slides_and_turns_about_two_axes_is_no_type():
    with pytest.raises(ValueError, match="two joints"):
        JointType("universal", "z", "zz")  # type: ignore[arg-type]


def test_null_vectors_follow_from_the_chain(four_bar):
    """In the plane: a pin shares its mass, a fixed joint everything, a planar one nothing."""
    counts = {"revolute": 1, "fixed": 4, "prismatic": 3, "planar": 0, "pin_slot": 0}
    for name, count in counts.items():
        assert len(_null_vectors(of_type(four_bar, name))) == count, name
