"""Every element of a URDF file: read, dropped because it changes neither motion nor mass, or
rejected.

URDF is extended by everybody: loops (`loop`, `constraint`, `loop_joint`), couplings (`coupling`,
PR2's grippers, plugins that mimic), springs and rotors of simulators. A parser that overlooks
what it does not know would certify another machine. So what is harmless is listed here, and the
rest is rejected, known or not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .draft import Draft
from .urdf_plugins import repeated

#: Attributes that are read, by element.
_READ: dict[str, set[str]] = {
    "robot": {"name", "version"},
    "link": {"name"},
    "inertial": set(),
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "origin": {"xyz", "rpy"},
    "joint": {"name", "type", "independent"},
    "loop": {"name", "type"},
    "coupling": {"name", "type"},
    "loop_joint": {"name", "type"},
    "link1": {"link", "xyz", "rpy"},
    "link2": {"link", "xyz", "rpy"},
    "constraint": {"name", "type"},
    "parent_origin": {"xyz", "rpy"},
    "parent_axis": {"xyz"},
    "child_origin": {"xyz", "rpy"},
    "child_axis": {"xyz"},
    "predecessor": {"link"},
    "successor": {"link"},
    "ratio": {"value"},
    "parent": {"link"},
    "child": {"link"},
    "axis": {"xyz"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
}
#: Of dynamics: an arm's own controller's; urdfdom (Pinocchio, KDL, Gazebo), Bullet and MuJoCo
#: read damping and friction only.
_HARMLESS_ATTRIBUTES = {("link", "type"), ("joint", "dont_collapse")}
_HARMLESS_ATTRIBUTES |= {("dynamics", key) for key in ("D", "K", "mu_coulomb", "mu_viscous")}


@dataclass(frozen=True)
class _Inside:
    """What may stand in an element: read and looked into; dropped whole; dropped after a look
    into it (by the name of another `_Inside`); dropped where it says what is so anyway."""

    read: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    opened: dict[str, str] = field(default_factory=dict)
    neutral: dict[str, frozenset[str]] = field(default_factory=dict)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NO, _YES, _ONE = _words("false 0 0.0"), _words("true 1 1.0"), _words("1 1.0")
_INSIDE = {
    "robot": _Inside(
        read=_words("link joint loop coupling loop_joint constraint"),
        # A frame of Drake's or Isaac's is a name for a place of a link.
        dropped=_words(
            "material sensor author license version description frame fixed_frame "
            "drake:collision_filter_group disable_collisions"
        ),
        opened={
            "transmission": "transmission",
            "gazebo": "gazebo",
            "ros2_control": "ros2_control",
            "mujoco": "mujoco",
        },
    ),
    "link": _Inside(
        read=_words("inertial"),
        dropped=_words(
            "visual collision sensor self_filter collision_checking self_collision_checking "
            "surface audio_source material"
        ),
        opened={"contact": "contact"},
        neutral={"gravity": _YES, "kinematic": _NO, "origin": _NO},
    ),
    "inertial": _Inside(read=_words("origin mass inertia")),
    "joint": _Inside(
        read=_words("origin parent child axis dynamics mimic"),
        dropped=_words("limit safety_controller calibration hardwareInterface"),
    ),
    "loop": _Inside(read=_words("predecessor successor axis")),
    "coupling": _Inside(read=_words("predecessor successor ratio")),
    "loop_joint": _Inside(read=_words("link1 link2 axis"), dropped=_words("limit")),
    "constraint": _Inside(
        read=_words("parent parent_origin parent_axis child child_origin child_axis"),
        dropped=_words("limit"),
    ),
    "predecessor": _Inside(read=_words("origin")),
    "successor": _Inside(read=_words("origin")),
    "contact": _Inside(  # Bullet's
        dropped=_words(
            "lateral_friction rolling_friction spinning_friction friction_anchor restitution "
            "stiffness damping contact_cfm contact_erp"
        ),
        neutral={"inertia_scaling": _ONE},
    ),
    # A gear between an actuator and a joint does nothing without a turning mass behind it.
    "transmission": _Inside(
        dropped=_words(
            "type plugin hardwareInterface mechanicalReduction robotNamespace "
            "leftActuator rightActuator flexJoint rollJoint"
        ),
        opened={"joint": "transmitted", "actuator": "transmitted"},
    ),
    "transmitted": _Inside(
        dropped=_words(
            "hardwareInterface mechanicalReduction role offset deadBandLower deadBandUpper "
            "saturationLower saturationUpper ignoreTransmissionAbsoluteEncoder type "
            "mechanical_reduction"
        )
    ),
    "ros2_control": _Inside(
        dropped=_words("sensor gpio"),
        opened={"hardware": "controlled", "joint": "controlled", "transmission": "transmission"},
    ),
    "controlled": _Inside(
        dropped=_words("plugin class group command_interface state_interface")  # and param
    ),
    "mujoco": _Inside(dropped=_words("compiler size visual statistic")),
    "gazebo": _Inside(
        dropped=_words(
            "material visual collision sensor audio_source light mu1 mu2 mu kp kd fdir1 maxVel "
            "minDepth maxContacts selfCollide self_collide laserRetro genTexCoord "
            "provideFeedback implicitSpringDamper cfmDamping stopKd stopKp stopCfm stopErp "
            "fudgeFactor preserveFixedJoint disableFixedJointLumping canonicalBody "
            "initial_joint_position"
        ),
        neutral={
            "gravity": _YES,
            "turnGravityOff": _NO,
            "static": _NO,
            "kinematic": _NO,
            "enable_wind": _NO,
            "dampingFactor": _NO,
            "springStiffness": _NO,
            "springReference": _NO,
        },
    ),
}
#: Prefixes of Gazebo's first format, for what senses and controls.
_OLD_GAZEBO = ("sensor:", "controller:", "interface:")
#: Files of Gazebo's plugins that name joints and links, and only sense or control them.
_CONTROLS = re.compile(
    "control|sens|imu|camera|laser|ray|lidar|gps|bumper|force|torque|p3d|f3d|odom|power|publish|"
    "state|drive|kinect|realsense|worldinterface|robotinterface|planar_move",
    re.IGNORECASE,
)
_COUPLES = re.compile("mimic|loop|constrain|coupl|underactuat|differential", re.IGNORECASE)

_ROTOR = re.compile("inertia|rotor|armature", re.IGNORECASE)
_BEHIND = "a motor's inertia belongs to friction's rotor in the mechanism file"

_CLOSES = "it closes a loop, and URDF is read as a tree"
_COUPLING = (
    "it couples joints; give the joint <mimic joint= multiplier= offset=>, or write it under "
    "`couplings` in the mechanism file"
)
_PR2 = "it stands for joints that move together, which are not in the tree"
_WHY = {
    "gazebo joint": _CLOSES,
    "drake:ball_constraint": _CLOSES,
    "gearbox": _COUPLING,
    "drake:mimic": _COUPLING,
    "transmission gap_joint": _PR2,
    "transmission passive_joint": _PR2,
    "transmission simulated_actuated_joint": _PR2,
    "transmission use_simulated_gripper_joint": _PR2,
    "deformable": "deformable bodies are no mechanism",
    "contact inertia_scaling": "it scales the link's inertia",
    "gazebo turnGravityOff": "it takes the link's weight off",
    "gazebo gravity": "it takes the link's weight off",
    "link gravity": "it takes the link's weight off",
}
_CLOSING_REMEDY = "import the tree without it, and write the joint into the mechanism file"
_ORDER = {"link": 0, "joint": 1}
_UNKNOWN = "it is not known here and may change motion or mass; remove it if it changes neither"


def audit(draft: Draft, root: Any) -> None:
    """Count what is dropped and reject what is not read; only what is read stays in the tree.

    `limit` stays too: assemblies begin between limits.
    """
    _Audit(draft, root).robot()


class _Audit:
    def __init__(self, draft: Draft, root: Any):
        self.draft, self.root = draft, root
        space = root.tag.rpartition("}")[0]
        for node in root.iter():  # in the root's namespace, names are plain
            if node.tag.rpartition("}")[0] == space:
                node.tag = node.tag.rpartition("}")[2]
        self.names = {
            kind: {node.get("name") for node in root.findall(kind)} - {None}
            for kind in ("link", "joint")
        }
        self.repeated = repeated(root)

    def robot(self) -> None:
        self._attributes(self.root, "robot", "")
        for node in sorted(self.root, key=lambda node: _ORDER.get(node.tag, 2)):
            self._child(node, "robot", "")

    def _look(self, node: Any, inside: str, where: str) -> None:
        for child in list(node):
            self._child(child, inside, where)

    def _child(self, node: Any, inside: str, where: str) -> None:
        rule, tag = _INSIDE[inside], _name(node)
        here = where or _place(node)
        if tag in rule.read:
            first = node if inside == "robot" else node.getparent().find(tag)
            if first is not node and first.attrib == node.attrib and not len(first) + len(node):
                self._drop(f"{tag} that is given twice alike")
                node.getparent().remove(node)
                return
            if first is not node:
                self._refuse(node, here, f"<{tag}> is given twice; keep one")
            self._attributes(node, tag, here)
            if tag in _INSIDE:
                self._look(node, tag, here)
            elif len(node):
                self._refuse(node[0], here, f"<{tag}> holds <{_name(node[0])}>: {_UNKNOWN}")
            return
        if tag in rule.opened:
            empty = not len(node)
            self._rotors(node, here)
            self._look(node, rule.opened[tag], here)
            if inside in ("robot", "link") and (tag != "gazebo" or empty):
                self._drop(tag)
        elif tag in rule.neutral:
            self._neutral(node, inside, here, rule.neutral[tag])
        elif tag in rule.dropped or self._dropped_of(node, inside, here):
            if inside in ("robot", "link", "joint"):
                self._drop(tag)
            elif inside == "gazebo":
                self._drop(f"gazebo {tag}")
        else:
            self._refuse_element(node, inside, here)
        if tag != "limit":
            node.getparent().remove(node)

    def _rotors(self, node: Any, where: str) -> None:
        """Of an actuator: a turning mass behind a gear is part of the motion."""
        for key, value in node.attrib.items():
            if _ROTOR.search(key):
                self._refuse(node, where, f"{key} = {value!r} of <{_name(node)}>: {_BEHIND}")

    def _dropped_of(self, node: Any, inside: str, where: str) -> bool:
        """Whether an element can be dropped for what is in it."""
        tag = _name(node)
        if inside == "joint" and tag == "joint_properties":
            if node.getparent().find("dynamics") is None:
                node.getparent().append(_renamed(node, "dynamics"))
                self.draft.notes.append(f"{where}: joint_properties is read as dynamics")
                return True
            return False
        if inside == "controlled" and tag == "param":
            return node.get("name") != "mimic" or node.getparent().get("name") in self.repeated
        if inside != "gazebo":
            return False
        if tag == "plugin":
            return only_controls(node) or not self._named_in(node)
        if tag == "pose":  # where the robot stands; leaning, it would have another gravity
            numbers = _numbers(node.text)
            return len(numbers) == 6 and max(map(abs, numbers[3:5])) < 1e-12
        return tag.startswith(_OLD_GAZEBO)

    def _neutral(self, node: Any, inside: str, where: str, values: frozenset[str]) -> None:
        given = [node.text or "", *node.attrib.values()]
        said = " ".join(" ".join(given).lower().split())
        zero = values is _NO and all(x == 0 for x in _numbers(said))
        if said and (said in values or zero):
            self._drop(f"{inside} {node.tag}")
        else:
            self._refuse_element(node, inside, where, said)

    def _attributes(self, node: Any, tag: str, where: str) -> None:
        """Attributes that are not read: zeros and known ones are dropped, others rejected."""
        for key, value in node.attrib.items():
            if key in _READ[tag]:
                if "${" in value or "$(" in value:
                    self._refuse(
                        node,
                        where,
                        f"{key} = {value!r} of <{tag}> is left of xacro; have it expanded by "
                        f"import --xacro",
                    )
                continue
            if key.startswith("{"):  # of another namespace, such as xsi:schemaLocation
                continue
            said = value.strip().lower()
            if (tag, key) in _HARMLESS_ATTRIBUTES or (
                said and all(x == 0 for x in _numbers(said))
            ):
                self._drop(f"attribute {key} of {tag}")
            else:
                self._refuse(node, where, f"{key} = {value!r} of <{tag}>: {_UNKNOWN}")

    def _refuse_element(self, node: Any, inside: str, where: str, said: str = "") -> None:
        tag, why = _name(node), ""
        for key in (f"{inside} {tag}", tag):
            why = why or _WHY.get(key, "")
        if tag == "plugin":
            why = "it may couple what it names"
        if tag == "param":
            why = _COUPLING
        if _ROTOR.search(tag) and not why:
            why = _BEHIND
        remedy = _CLOSING_REMEDY if why == _CLOSES else "remove it"
        names = ", ".join(self._named_in(node))
        text = f"<{tag}>" + (f" = {said}" if said else "") + (f" of {names}" if names else "")
        what = f"{why}; {remedy}" if why else _UNKNOWN
        self._refuse(node, where, f"{text}: {what}")

    def _named_in(self, node: Any) -> list[str]:
        """Links and joints that an element names, in attributes or text."""
        said = {word.strip() for part in node.iter() for word in _texts(part)}
        return [
            f"{kind} {name!r}"
            for kind in ("link", "joint")
            for name in sorted(self.names[kind] & said)
        ]

    def _refuse(self, node: Any, where: str, message: str) -> None:
        self.draft.refuse(where, message, node.sourceline)

    def _drop(self, what: str) -> None:
        """Count a dropped part: `3 visual`."""
        for k, entry in enumerate(self.draft.dropped):
            count, _, word = entry.partition(" ")
            if word == what:
                self.draft.dropped[k] = f"{int(count) + 1} {what}"
                return
        self.draft.dropped.append(f"1 {what}")


def only_controls(plugin: Any) -> bool:
    """Whether a plugin senses or controls what it names, by its file's name."""
    file = f"{plugin.get('filename')} {plugin.get('name')}"
    return bool(_CONTROLS.search(file)) and not _COUPLES.search(file)


def _name(node: Any) -> str:
    """An element's name: plain in the root's namespace, else prefix:name."""
    local = str(node.tag).rpartition("}")[2]
    return f"{node.prefix}:{local}" if node.tag.startswith("{") else local


def _place(node: Any) -> str:
    name = node.get("name") or node.get("reference")
    return f"{_name(node)} {name!r}" if name else _name(node)


def _texts(node: Any) -> Iterator[str]:
    yield from node.attrib.values()
    yield from re.split(r"[\s,;]+", node.text or "")
    yield node.text or ""


def _numbers(text: str | None) -> list[float]:
    """Numbers of a text; nan where it is none."""
    try:
        return [float(word) for word in (text or "").split()]
    except ValueError:
        return [float("nan")]


def _renamed(node: Any, tag: str) -> Any:
    made = node.makeelement(tag, dict(node.attrib))
    made.sourceline = node.sourceline
    return made
