"""Mechanisms put into the files that they come from, held against what engines make of these."""

import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import basepar
from basepar_core.dynamics import Model, Motion, columns, observe_alone, prepare
from basepar_core.errors import MechanismError, UsageError
from basepar_core.expressions import evaluate
from basepar_core.files import loads
from basepar_core.imported import read_file
from tests.workflows.robots.originals import ARM, CLOSING, COMPANION, CRANE, LINKAGE, SWING
from tests.workflows.robots.test_engines import configured
from workflows.robots import into

FILES = {"arm.urdf": ARM, "crane.xml": CRANE, "swing.sdf": SWING}


@pytest.fixture
def file(tmp_path):
    """Write a file by name, or one of a linkage closed in some way, and return its path."""

    def made(name: str):
        if name in FILES:
            (tmp_path / name).write_text(FILES[name])
            return tmp_path / name
        path = tmp_path / "robot.urdf"
        path.write_text(LINKAGE.format(more=CLOSING[name]))
        if name == "robot.yaml":
            (tmp_path / name).write_text(COMPANION)
        return path

    return made


EVERY = [*FILES, *CLOSING]


def identified(model: Model, seed: int = 1) -> dict[str, float]:
    """Parameters of bodies that are boxes of unlike sides, turned, anywhere near their frames."""
    rng, found = np.random.default_rng(seed), []
    for _ in model.mechanism.bodies:
        m, c, Q = rng.uniform(1, 3), rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.1, 0.1, (3, 3))
        spread = m * (Q @ Q.T + np.outer(c, c)) + 0.01 * np.eye(3)
        I = np.trace(spread) * np.eye(3) - spread
        found += [m, *(m * c), I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
    return dict(zip(model.mechanism.parameter_names, found, strict=True))


def torque(model: Model, phi: dict[str, float], *states: np.ndarray) -> np.ndarray:
    """W φ (sample, coordinate); states (coordinate, sample)."""
    motion = Motion(np.arange(float(states[0].shape[1])), *states)
    seen = observe_alone(model, motion)
    assert seen.closed.all()
    return seen.W[0] @ np.array([phi[name] for name in model.mechanism.parameter_names])


def by_pinocchio(text: bytes, names, q, v, a) -> list[np.ndarray]:
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text.decode())
    model.armature[:] = model.damping[:] = model.friction[:] = 0
    data, found = model.createData(), []
    place = [model.joints[model.getJointId(name)].idx_v for name in names]
    for s in range(q.shape[1]):
        rates = np.zeros((2, model.nv))
        rates[:, place] = v[:, s], a[:, s]
        at = configured(model, dict(zip(names, q[:, s], strict=True)))
        found.append(pin.rnea(model, data, at, *rates)[place])
    return found


def by_mujoco(text: bytes, names, q, v, a) -> list[np.ndarray]:
    model = mujoco.MjModel.from_xml_string(text.decode())
    data, found, forces = mujoco.MjData(model), [], np.zeros(model.nv)
    place = [int(model.joint(name).qposadr[0]) for name in names]
    for s in range(q.shape[1]):
        data.qpos[place], data.qvel[place], data.qacc[place] = q[:, s], v[:, s], a[:, s]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_rne(model, data, 1, forces)
        found.append(forces[place].copy())
    return found


def by_reading(path, model: Model, q, v, a) -> np.ndarray:
    """What `import` makes of the new file, with the same coordinates."""
    found = read_file(path).mechanism
    phi = dict(zip(found.parameter_names, found.inertial_parameters(found.nominal), strict=True))
    kept = replace(found, coordinates=model.mechanism.coordinates, actuated=(), excitation=None)
    return torque(prepare(kept), phi, q, v, a)


def states(model: Model) -> np.ndarray:
    rng, start = np.random.default_rng(5), model.assembled.coordinates[:, None]
    size = len(start)
    q = start + rng.uniform(-0.1, 0.1, (size, 4))
    return np.stack([q, *rng.uniform(-1, 1, (2, size, 4))])


def same(found, expected) -> None:
    # Two float64 recursions, and rotations that importers meet to 1e-14 rad.
    atol = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_changed_is_the_file_byte_by_byte(name, file):
    path = file(name)
    found = into(path, prepare(read_file(path).mechanism))
    assert (found.text, found.notes) == (path.read_bytes(), ())


def test_inertias_count_where_the_file_takes_all_from_shapes(tmp_path):
    path = tmp_path / "crane.xml"
    path.write_text(CRANE.replace('autolimits="true"', 'inertiafromgeom="true"'))
    model = prepare(read_file(path).mechanism)
    phi = identified(model)
    text = into(path, model, phi).text
    q, v, a = states(model)
    names = model.mechanism.coordinates
    same(torque(model, phi, q, v, a), by_mujoco(text, names, q, v, a))
    assert b'inertiafromgeom="auto"' in text


@pytest.mark.parametrize("name", EVERY)
def test_identified_inertias_change_nothing_else(name, file):
    path = file(name)
    model = prepare(read_file(path).mechanism)
    phi = identified(model)
    found = into(path, model, phi)
    inertia = re.compile(rb"\s*(<inertial\b[^>]*/>|<inertial\b.*?</inertial>)", re.DOTALL)
    empty = re.compile(rb"<(link|body)([^>]*?)\s*(/>|>\s*</\1>)")  # an inertial may come into it
    plain = [
        empty.sub(rb"<\1\2/>", inertia.sub(b"", text)) for text in (found.text, path.read_bytes())
    ]
    assert plain[0] == plain[1]
    assert found.text != path.read_bytes()
    q, v, a = states(model)
    wanted = torque(model, phi, q, v, a)
    names = model.mechanism.coordinates
    if name == "arm.urdf":
        same(wanted, by_pinocchio(found.text, names, q, v, a))
    if name == "crane.xml":
        same(wanted, by_mujoco(found.text, names, q, v, a))
    path.write_bytes(found.text)
    same(by_reading(path, model, q, v, a), wanted)


def changed(path, *changes: tuple[str, str]) -> Model:
    """The imported mechanism with lines of its text replaced."""
    text = read_file(path).text
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    return prepare(loads(text))


#: By file: what is changed of the mechanism, and how many lines of the file that may change.
GEOMETRY = {
    "arm.urdf": ([("at: [[0.3, 0, 0.01]", "at: [[0.25, 0.02, 0.01]")], 1),
    "arm.urdf axis": ([("axis: [[1, 0, 0], [1, 0, 0]]", "axis: [[3, 4, 0], [3, 4, 0]]")], 2),
    "arm.urdf turned": (
        [
            ("axis: [[1, 0, 0], [1, 0, 0]]", "axis: [[0, 1, 0], [1, 0, 0]]"),
            ("reference: [[0, 1, 0], [0, 1, 0]]", "reference: [[-1, 0, 0], [0, 1, 0]]"),
        ],
        1,
    ),
    "arm.urdf slide": ([("at: [[0, 0.2, 0], [0, 0, 0]]", "at: [[0, 0.2, 0], [0, 0.25, 0]]")], 2),
    "crane.xml": ([("at: [[0.06, 0, 0.4]", "at: [[0.09, 0, 0.45]")], 1),
    "crane.xml axis": ([("axis: [[0, 1, 0], [0, 1, 0]]", "axis: [[0, 4, 3], [0, 4, 3]]")], 1),
    "crane.xml turned": (
        [
            ("[[-54, 18, -71], [0, 0, -91]]", "[[54, 18, -71], [0, 0, -91]]"),
            ("[[73, 6, -54], [91, 0, 0]]", "[[73, -6, 54], [91, 0, 0]]"),
        ],
        1,
    ),
    "swing.sdf": ([("[[0.4, 0.02, 0], [0, 0.02, 0]]", "[[0.5, 0.02, 0], [0, 0.03, 0]]")], 2),
    "swing.sdf base": ([("[[1, 2, 1.5], [0, 0, 0]]", "[[1, 2, 1.75], [0, 0, 0.1]]")], 3),
}
ENDS = ("[[0.6, 0, 0], [0.4, 0, 0]]", "[[0.62, 0.01, 0], [0.41, 0, 0]]")
GEOMETRY |= {name: ([ENDS], 2) for name in CLOSING}


@pytest.mark.parametrize("name", GEOMETRY)
def test_geometry_is_put_in(name, file):
    (changes, lines), path = GEOMETRY[name], file(name.partition(" ")[0])
    model = changed(path, *changes)
    found = into(path, model)
    old, new = path.read_bytes().splitlines(), found.text.splitlines()
    assert len(new) - len(old) <= lines
    assert sum(line not in old for line in new) <= lines
    it, (q, v, a) = model.mechanism, states(model)
    phi = dict(zip(it.parameter_names, it.inertial_parameters(it.nominal), strict=True))
    wanted = torque(model, phi, q, v, a)
    if name.startswith("arm"):
        same(wanted, by_pinocchio(found.text, it.coordinates, q, v, a))
    if name.startswith("crane"):
        same(wanted, by_mujoco(found.text, it.coordinates, q, v, a))
    before = prepare(read_file(path).mechanism)
    path.write_bytes(found.text)
    same(by_reading(path, model, q, v, a), wanted)
    if not before.topology.cuts:  # and it is another one
        weighed = identified(model)
        another = torque(before, weighed, q, v, a) - torque(model, weighed, q, v, a)
        assert np.abs(another).max() > 1e-3


@pytest.mark.parametrize("name", FILES)
def test_friction_is_put_in(name, file):
    """Of joints that had some, and one more law that only the identification knows."""
    path = file(name)
    model = prepare(read_file(path).mechanism)
    first = model.mechanism.coordinates[0]
    names = [f"{first}.viscous", f"{first}.coulomb"]
    path.write_bytes(into(path, model, dict(zip(names, [0.25, 0.5], strict=True))).text)
    friction = {one.name: one.value for one in columns(read_file(path).mechanism)}
    assert evaluate([friction[one] for one in names], {}) == [0.25, 0.5]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "arm.urdf",
            ("0.01], [0, 0, 0]]", "0.01], [0, 0.1, 0]]"),
            "elbow, whose point in its child",
        ),
        ("arm.urdf", ("gravity: [0, 0, -9.81]", "gravity: [0, 0, -1.62]"), "1 change: gravity"),
        ("arm.urdf", ("  shoulder: {viscous: 0.1}", "  shoulder: {rotor: 0.1}"), "shoulder.rotor"),
    ],
)
def test_what_a_file_cannot_take_is_named(name, changes, message, file):
    path = file(name)
    with pytest.raises(MechanismError, match=message):
        into(path, changed(path, changes))


def test_another_mechanism_is_none_of_the_file(file):
    path = file("arm.urdf")
    other = changed(path, ("elbow", "ellbow"))
    with pytest.raises(
        UsageError, match="joint ellbow is not in the file; joint elbow is not in the"
    ):
        into(path, other)
    assert "elbow" in path.read_text()


def test_a_base_that_was_asked_for(file):
    """With `import --base free` the arm's base floats; the file does not say so and need not."""
    path = file("arm.urdf")
    model = prepare(read_file(path, base="free").mechanism)
    assert any(joint.type == "free" for joint in model.mechanism.joints)
    assert into(path, model).text == path.read_bytes()
    phi = identified(model)
    assert b"every comment stays" in into(path, model, phi).text


def test_what_one_body_is_of_shares_its_inertia(file):
    """A tenth of the mass leaves no room for a tool of 0.5 kg: both get their share of it."""
    path = file("arm.urdf")
    model = prepare(read_file(path).mechanism)
    it = model.mechanism
    phi = dict(zip(it.parameter_names, it.inertial_parameters(it.nominal), strict=True))
    less = {name: x / 10 for name, x in phi.items() if name.startswith("fore.")}
    found = into(path, model, less)
    assert "fore, tool, one body, share its inertia as they shared its mass" in found.notes
    assert b'<mass value="0.15' in found.text
    assert b'<mass value="0.05' in found.text
    # A tenth more is the forearm's alone.
    found = into(
        path, model, {name: 1.1 * x for name, x in phi.items() if name.startswith("fore.")}
    )
    assert b'<mass value="0.5"/>' in found.text
    assert b'<mass value="1.7' in found.text


def test_in_python(file, tmp_path):
    path, new = file("crane.xml"), tmp_path / "new.xml"
    model = basepar.load(path)
    assert model.export(new, into=path) == new
    assert new.read_text() == CRANE
    phi = np.array([*identified(model.prepared).values()])
    model.export(new, phi=phi, into=path, overwrite=True)
    assert new.read_text().count("<inertial") == 4  # of shapes alone before, but for one
    assert CRANE.count("<inertial") == 1
