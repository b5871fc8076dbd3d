"""Closed-loop robots of Extended URDF, held against Pinocchio's own reading of the same files.

    python -m tests.campaigns.robots FOLDER…

A line per `robot.yaml` below the folders: imported or why not; freedoms against speeds less the
rank of the constraints at the assembled configuration; torques of the coordinates at random
speeds against Nᵀ (M v̇ + h). FOLDER: a copy of Gepetto/example-parallel-robots; none of it is here.
"""

import re
import signal
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from lxml import etree

import basepar
from basepar_core.errors import BaseparError
from tests.oracles.constrained_tree import ConstrainedTree

SECONDS = 120
AXES = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}


def oracle(urdf: Path, more: dict) -> tuple[ConstrainedTree, dict[str, list[str]]]:
    """Pinocchio's constrained tree, and its joints by those of the file."""
    types = dict(zip(more.get("joint_name", ()), more.get("joint_type", ()), strict=True))
    root = etree.parse(str(urdf)).getroot()
    for node in root.findall("joint"):
        if types.get(node.get("name")) == "FIXED":
            node.set("type", "fixed")
    plain, model = pin.buildModelFromXML(etree.tostring(root).decode()), pin.Model()
    ids, parts = {"universe": 0}, {}
    for name in list(plain.names)[1:]:
        k, kind = plain.getJointId(name), types.get(name, "")
        at, parent = plain.jointPlacements[k], ids[plain.names[plain.parents[k]]]
        parts[name] = [name]
        if kind.startswith("UJOINT"):
            parts[name] = [f"{name}_{letter}" for letter in kind[-2:]]
            parent = model.addJoint(parent, AXES[kind[-2]](), at, parts[name][0])
            ids[name] = model.addJoint(
                parent, AXES[kind[-1]](), pin.SE3.Identity(), parts[name][1]
            )
        else:
            made = pin.JointModelSpherical() if kind == "SPHERICAL" else plain.joints[k]
            ids[name] = model.addJoint(parent, made, at, name)
        model.appendBodyToJoint(ids[name], plain.inertias[k], pin.SE3.Identity())

    def frame(name: str) -> tuple[int, pin.SE3]:
        found = plain.frames[plain.getFrameId(name)]
        return ids[plain.names[found.parentJoint]], found.placement

    pairs = [
        (frame(one), frame(two), 3 if kind.lower() == "3d" else 6)
        for (one, two), kind in zip(more["closed_loop"], more["type"], strict=True)
    ]
    return ConstrainedTree(model, pairs), parts


def judged(urdf: Path, more: dict) -> str:
    """One robot's line."""
    model = basepar.load(urdf)
    theirs, parts = oracle(urdf, more)
    closed = model.close(model.assembly, outside="raise")
    values: dict[str, float | np.ndarray] = {}
    named: dict[str, str] = {}
    for name, joints in parts.items():
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        if len(joints) == 2:
            ours = [f"{plain}.1", f"{plain}.2"]
        elif theirs.model.joints[theirs.model.getJointId(name)].nv == 3:
            values[name] = np.array([float(closed[f"{plain}.{k}"]) for k in (1, 2, 3)])
            continue
        else:
            ours = [plain]
        for own, joint in zip(ours, joints, strict=True):
            values[joint], named[own] = float(closed[own]), joint
    state = theirs.configuration(values)
    count = len(model.coordinates)
    said = f"freedoms {count} (Pinocchio {theirs.freedoms(state)}), gap {theirs.gap(state):.1e}"
    if not set(model.coordinates) <= set(named):
        return f"{said}, torque not compared: a ball is driven"
    v, a = np.random.default_rng(0).uniform(-1, 1, (2, count))
    names = [named[name] for name in model.coordinates]
    expected = theirs.torque(state, names, v, a)
    off = np.abs(model.torque(model.assembly, v, a) - expected).max() / np.abs(expected).max()
    return f"{said}, torque off by {off:.1e} of the largest"


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    signal.signal(signal.SIGPROF, _late)
    files = sorted(file for folder in sys.argv[1:] for file in Path(folder).rglob("robot.yaml"))
    for file in files:
        for urdf in sorted(file.parent.glob("*.urdf")):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                said = judged(urdf, yaml.safe_load(file.read_text()))
            except BaseparError as error:
                said = f"rejected: {' '.join(str(error).split())[:160]}"
            except TimeoutError:
                said = f"more than {SECONDS} s"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            print(f"{file.parent.name}: {said}", flush=True)
    print(f"{len(files)} robots")
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
