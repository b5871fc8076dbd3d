"""Links without mass between hinges or slides, as one joint where that moves alike.

Pinocchio has the file's own hinges and massless links.
"""

import numpy as np
import pytest

import basepar
from basepar_core.dynamics import Motion, observe
from basepar_core.imported.formats import read_file
from tests.campaigns.pinocchio_engine import PinocchioEngine
from tests.oracles.engine import moving

INERTIAL = """<inertial><origin xyz="{}"/><mass value="{}"/>
  <inertia ixx=".03" ixy=".001" ixz=".002" iyy=".04" iyz=".003" izz=".05"/></inertial>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>
  <origin xyz="{}" rpy="{}"/><axis xyz="{}"/>{}</joint>"""
BODIES = (
    ("crank", ".1 .01 .02", 1),
    ("rod", ".3 .02 .01", 2),
    ("carriage", "0 0 .01", 0.5),
    ("rocker", "0 .2 .03", 1.5),
)
SPEEDS = '<limit effort="1" velocity="1"/>'
#: What stands between crank and rod: (type, xyz, rpy, axis) in a row.
BALL = (
    ("continuous", ".2 0 .05", ".1 .2 .3", "1 0 0"),
    ("continuous", "0 0 0", "0 0 .4", "0 1 0"),
    ("continuous", "0 0 0", ".5 0 0", "0 0 1"),
)
UNIVERSAL = (
    ("continuous", ".2 0 .05", ".1 .2 .3", "0 1 0"),
    ("continuous", "0 .1 0", "0 0 0", "1 0 0"),
)
SKEW = ((*UNIVERSAL[0][:3], "0 1 0.1"), UNIVERSAL[1])
PLANAR = (
    ("prismatic", ".2 0 .05", "0 0 0", "1 0 0"),
    ("prismatic", "0 0 0", "0 0 0", "0 -1 0"),
    ("continuous", ".01 0 0", "0 0 .3", "0 0 1"),
)


def written(folder, row, loop, more="", dynamics=""):
    """A crank and a rocker on a carriage; joints in a row to a rod, and a loop that closes at the
    rocker."""
    links = ["<link name='base'/>"]
    for name, at, mass in BODIES:
        links.append(f'<link name="{name}">{INERTIAL.format(at, mass)}</link>')
    joints = [
        JOINT.format("A", "continuous", "base", "crank", "0 0 0", "0 0 .3", "0 0 1", ""),
        JOINT.format("B", "prismatic", "base", "carriage", ".8 .1 0", "0 0 .2", "1 0 0", SPEEDS),
        JOINT.format("C", "continuous", "carriage", "rocker", "0 0 0", "0 .1 0", "0 0 1", ""),
    ]
    stubs = [f"stub{k}" for k in range(1, len(row))]
    links += [f'<link name="{stub}"/>' for stub in stubs]
    chain = ["crank", *stubs, "rod"]
    for k, (kind, xyz, rpy, axis) in enumerate(row):
        said = (SPEEDS if kind == "prismatic" else "") + (dynamics if k == 0 else "")
        joints.append(JOINT.format(f"j{k}", kind, *chain[k : k + 2], xyz, rpy, axis, said))
    path = folder / "stub.urdf"
    path.write_text(f'<robot name="s">{"".join(links + joints)}{loop}{more}</robot>')
    return path


def held(kind, rod, rocker):
    """URDF+'s loop."""
    ends = (("predecessor", "rod", rod), ("successor", "rocker", rocker))
    sides = "".join(
        f'<{tag} link="{link}"><origin xyz="{xyz}"/></{tag}>' for tag, link, xyz in ends
    )
    return f'<loop name="end" type="{kind}">{sides}<axis xyz="0 0 1"/></loop>'


BALL_AT = held("spherical", ".6 .2 .13", "0.1 .3 .1")


def _closed(engine, at, loose):
    """One step more of Newton's method, to rounding."""
    J, _ = engine.rows(at, np.zeros(engine.speeds))
    step = np.zeros(engine.speeds)
    step[loose] = -np.linalg.lstsq(J[:, loose], engine.gap(at), rcond=1e-9)[0]
    return engine.moved(at, step)


def against_pinocchio(path, found, signs=()):
    """Largest error of torques, and counts: ours and Pinocchio's; `signs`: of one joint's values,
    as the hinges and slides count."""
    it, names = found.mechanism, list(found.mechanism.coordinates)
    values = {name for joint in it.joints for name in joint.values}
    engine, model = PinocchioEngine(path), basepar.Model(it)
    for k, sign in enumerate(signs):
        column, _ = engine.columns.pop(f"j{k}")
        engine.columns[f"{'_'.join(f'j{i}' for i in range(len(signs)))}.{k + 1}"] = column, sign
    loose = [k for name, (k, _) in engine.columns.items() if name not in values]
    phi, rng = it.inertial_parameters(it.nominal), np.random.default_rng(1)
    states, off = [], 0.0
    for _ in range(40):
        q = model.assembly + rng.uniform(-0.03, 0.03, len(names))  # within reach
        closed = model.close(q)
        at = engine.configuration({name: float(closed[name]) for name in values})
        states.append(_closed(engine, engine.closed_near(at, loose), loose) if loose else at)
        rates, accelerations = rng.uniform(-1, 1, (2, len(names)))
        motion = Motion(np.zeros(1), q[:, None], rates[:, None], accelerations[:, None])
        ours = observe(model.prepared, {}, motion).W[0, 0] @ phi
        expected = engine.torque(states[-1], names, rates, accelerations)
        off = max(off, np.abs(ours - expected).max() / np.abs(expected).max())
    counts = (
        model.base(route="numeric").rank,
        engine.count(states, names, moving(rng, names, states))[0],
    )
    return off, counts


@pytest.mark.parametrize(
    ("row", "kind", "loop", "signs"),
    [
        (BALL, "spherical", held("revolute", ".6 .2 .13", "0.1 .3 .1"), ()),
        (UNIVERSAL, "universal", BALL_AT, (1, 1)),
        (PLANAR, "planar", held("spherical", ".8 .2 .05", "0.1 .3 .1"), (1, -1, 1)),
    ],
)
def test_stubs_are_one_joint(tmp_path, row, kind, loop, signs):
    path = written(tmp_path, row, loop)
    found = read_file(path)
    assert found.failure is None
    assert [body.name for body in found.mechanism.bodies] == [name for name, _, _ in BODIES]
    assert kind in [joint.type for joint in found.mechanism.joints]
    assert any("without mass between them" in note and "stub1" in note for note in found.notes)
    off, (ours, theirs) = against_pinocchio(path, found, signs)
    # Loops lose a digit or two of 1e-14.
    assert off < 1e-10
    assert ours == theirs


DRIVEN = """<transmission name="t"><type>x</type><joint name="j1"/>
  <actuator name="a"/></transmission>"""
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


@pytest.mark.parametrize(
    ("first", "dynamics", "more"),
    [
        (SKEW[0], "", ""),
        (UNIVERSAL[0], "", DRIVEN),
        (("revolute", *UNIVERSAL[0][1:]), LIMIT, ""),
        (UNIVERSAL[0], '<dynamics damping="0.1"/>', ""),
        (UNIVERSAL[0], '<mimic joint="A" multiplier="0.5"/>', ""),
    ],
    ids=["skew", "driven", "limited", "rubbed", "coupled"],
)
def test_stubs_stay_where_one_joint_is_something_else(tmp_path, first, dynamics, more):
    path = written(tmp_path, (first, UNIVERSAL[1]), BALL_AT, more, dynamics)
    found = read_file(path)
    assert found.failure is None
    (stub,) = (body for body in found.mechanism.bodies if body.form == "massless")
    assert stub.name == "stub1"
    assert any("their parameters do not count: stub1" in note for note in found.notes)


@pytest.mark.slow
def test_parameters_of_stubs_count_if_asked(tmp_path):
    path = written(tmp_path, SKEW, BALL_AT)
    ranks = [
        basepar.Model(read_file(path, count_massless=asked).mechanism).base(route="numeric").rank
        for asked in (False, True)
    ]
    off, (ours, theirs) = against_pinocchio(path, read_file(path))
    assert ours == theirs == ranks[0] < ranks[1]
    assert off < 1e-10
