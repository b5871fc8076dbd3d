"""Joint types of the mechanism format, and what dialects call them: all words of both."""

from collections.abc import Mapping

REVOLUTE, PRISMATIC, FIXED, SPHERICAL, UNIVERSAL, CYLINDRICAL = (
    "revolute",
    "prismatic",
    "fixed",
    "spherical",
    "universal",
    "cylindrical",
)
#: How a robot's base may be read.
BASES = ("free", FIXED)
#: URDF's joints of a tree: a joint without limits that turns is `continuous`.
URDF: Mapping[str, str] = {
    REVOLUTE: "continuous",
    PRISMATIC: "prismatic",
    FIXED: "fixed",
    "free": "floating",
}
#: Joints that close loops in URDF+ and in Isaac's and Drake's `loop_joint`.
LOOPS: Mapping[str, str] = {
    REVOLUTE: "revolute",
    PRISMATIC: "prismatic",
    FIXED: "fixed",
    SPHERICAL: "spherical",
}
#: And of urdfdom's proposed `constraint`.
CONSTRAINTS: Mapping[str, str] = {
    REVOLUTE: "revolute",
    FIXED: "link",
    SPHERICAL: "spherical",
}
#: MuJoCo's equality constraints that close loops; a joint that turns about one axis is two points.
MJCF: Mapping[str, str] = {REVOLUTE: "connect", FIXED: "weld", SPHERICAL: "connect"}
SDF: Mapping[str, str] = {
    REVOLUTE: "revolute",
    PRISMATIC: "prismatic",
    FIXED: "fixed",
    SPHERICAL: "ball",
    UNIVERSAL: "universal",
}
