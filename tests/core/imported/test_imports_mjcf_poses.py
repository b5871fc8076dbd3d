"""MJCF: keyframes as assemblies; frames of connects and welds against the engine's own gaps."""

import mujoco
import numpy as np
import pytest

from basepar_core.dynamics import independent_values
from basepar_core.errors import FileError
from basepar_core.imported import mjcf
from basepar_core.imported.formats import read_file

#: Crank 1 m, rod 2 m, rocker 1.5 m on a frame of 2 m: stretched along x they stay open by 0.5 m.
LINK = '<body name="{0}" pos="{1} 0 0"><joint name="{0}" axis="0 0 1"/><geom size="0.1"/>'
BAR = f"""<mujoco><worldbody>
{LINK.format("A", 0)}{LINK.format("B", 1)}<site name="rod" pos="2 0 0"/></body></body>
{LINK.format("D", 2)}<site name="rocker" pos="1.5 0 0"/></body></worldbody>
<equality><connect site1="rod" site2="rocker"/></equality>
<keyframe>{{}}</keyframe></mujoco>"""


def closed(crank: float, side: int) -> tuple[float, float, float]:
    """Angles of the closed loop: the law of cosines at the pin of the rod and the rocker."""
    tip = np.array([np.cos(crank), np.sin(crank)])
    x, y = np.array([2.0, 0.0]) - tip
    far = np.hypot(x, y)
    rod = np.arctan2(y, x) + side * np.arccos((far**2 + 4 - 1.5**2) / (4 * far))
    pin = tip + 2 * np.array([np.cos(rod), np.sin(rod)])
    return crank, rod - crank, float(np.arctan2(pin[1], pin[0] - 2))


def key(name: str, values: tuple[float, ...]) -> str:
    """Printed to three decimals, as people do."""
    return f'<key name="{name}" qpos="{" ".join(f"{x:.3f}" for x in values)}"/>'


UP, DOWN = closed(1.0, 1), closed(1.0, -1)


def angles(found) -> np.ndarray:
    at = independent_values(found.mechanism).at
    return np.array([at[name] for name in "ABD"])


@pytest.mark.parametrize(("name", "pose"), [("up", UP), ("down", DOWN)])
def test_a_keyframe_is_the_assembly(tmp_path, name, pose):
    path = tmp_path / "bar.xml"
    path.write_text(BAR.format(key("up", UP) + key("down", DOWN)))
    found = read_file(path, keyframe=name)
    assert f"assembled at keyframe '{name}'" in found.notes
    seen = angles(found)
    # The crank stands where the keyframe has it, to three decimals; the rest closes.
    np.testing.assert_allclose(seen[0], 1.0, atol=5e-4)
    side = 1 if name == "up" else -1
    np.testing.assert_allclose(seen, closed(seen[0], side), atol=1e-9)


def test_the_one_keyframe_that_closes_is_taken_and_said(tmp_path):
    path = tmp_path / "bar.xml"
    path.write_text(BAR.format(key("open", (0.3, 0.2, 0.1)) + key("down", DOWN)))
    found = read_file(path)
    said = next(note for note in found.notes if "'down'" in note)
    assert "leaves loops open by 0.5 m" in said
    np.testing.assert_allclose(angles(found), closed(1.0, -1), atol=2e-3)


def test_a_keyframe_that_there_is_not(tmp_path):
    path = tmp_path / "bar.xml"
    path.write_text(BAR.format(key("down", DOWN)))
    with pytest.raises(FileError, match="none is named 'doun'; did you mean 'down'"):
        read_file(path, keyframe="doun")


TIED = """<mujoco><worldbody>
<body name="a" pos="0.1 0.2 0.3" quat="0.8 0.1 -0.4 0.2"><joint axis="0 0.6 0.8" ref="20"/>
  <geom size="0.1"/><body name="b" pos="0.3 -0.1 0.2" quat="0.5 0.1 0.7 -0.2"><joint axis="1 0 0"/>
  <geom size="0.1"/><site name="s" pos="0.1 0.2 0.3" quat="0.9 0.1 0.2 0.3"/></body></body>
<body name="c" pos="-0.2 0.1 0.5" quat="0.3 0.7 0.2 0.1"><joint type="ball"/><geom size="0.1"/>
  <site name="t" pos="-0.1 0.1 0.2" quat="0.4 0.1 0.2 -0.3"/></body></worldbody>
<equality>{}</equality></mujoco>"""


@pytest.mark.parametrize(
    "tie",
    [
        '<connect body1="b" body2="c" anchor="0.1 -0.2 0.3"/>',
        '<connect body1="b" anchor="0.1 -0.2 0.3"/>',
        '<connect site1="s" site2="t"/>',
        '<weld body1="b" body2="c"/>',
        '<weld body1="b" body2="c" anchor="0.3 0.1 0"/>',
        '<weld body1="b" body2="c" relpose="0.1 0.2 0.3 0.5 0.1 -0.7 0.2" anchor="0.1 0 0.2"/>',
        '<weld site1="s" site2="t"/>',
    ],
)
def test_frames_that_a_constraint_holds_are_the_engines(tmp_path, tie):
    """At random poses the gap between our two points is the engine's own first three rows, and the
    angle between our frames that of a weld's other three."""
    path = tmp_path / "tied.xml"
    path.write_text(TIED.format(tie))
    draft = mjcf.read(path)
    held = draft.connections[-1]
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    frames = {
        model.body(k).name: (lambda k=k: (data.xpos[k], data.xmat[k].reshape(3, 3)))
        for k in range(1, model.nbody)
    } | {"\0": lambda: (np.zeros(3), np.eye(3))}
    for _ in range(4):
        data.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1, 1, model.nv), 1.0)
        mujoco.mj_fwdPosition(model, data)
        points, axes = [], []
        for link, end in zip(held.links, held.ends, strict=True):
            at, R = frames[link]()
            points.append(at + R @ np.array(end.at, float))
            axes.append([R @ np.array(v, float) for v in (end.axis, end.reference)])
        rows = data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        # Frames are met to 1e-13 rad by rational ones.
        np.testing.assert_allclose(points[0] - points[1], rows[:3], rtol=0, atol=1e-12)
        if held.kind == "fixed":
            turns = []
            for z, x in axes:
                z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
                turns.append(np.stack([x, np.cross(z, x), z], axis=1))
            angle = np.arccos(np.clip((np.trace(turns[0].T @ turns[1]) - 1) / 2, -1, 1))
            # Rows of the rotation are its axis by the sine of half its angle; arccos has half the
            # digits at worst.
            np.testing.assert_allclose(np.linalg.norm(rows[3:6]), np.sin(angle / 2), atol=1e-8)
