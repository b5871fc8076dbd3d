"""Joint types of other formats, and ours: all words of both stand here."""

from collections.abc import Mapping

from basepar_core.mechanism import JointTypeName

REVOLUTE: JointTypeName = "revolute"
PRISMATIC: JointTypeName = "prismatic"
CYLINDRICAL: JointTypeName = "cylindrical"
UNIVERSAL: JointTypeName = "universal"
SPHERICAL: JointTypeName = "spherical"
PLANAR: JointTypeName = "planar"
FREE: JointTypeName = "free"
FIXED: JointTypeName = "fixed"

#: URDF's types of one value, which may be coupled.
SINGLE: Mapping[str, JointTypeName] = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
}
#: Of URDF's joints; of those that close loops in URDF+ and in Isaac's files; of urdfdom's
#: proposed constraints.
OF_URDF: Mapping[str, JointTypeName] = {**SINGLE, "planar": PLANAR}
OF_LOOPS: Mapping[str, JointTypeName] = {**SINGLE, "spherical": SPHERICAL, "fixed": FIXED}
OF_CONSTRAINTS: Mapping[str, JointTypeName] = {
    "spherical": SPHERICAL,
    "revolute": REVOLUTE,
    "universal": UNIVERSAL,
    "link": FIXED,
    "fixed": FIXED,
}
#: What Extended URDF closes a loop by.
OF_FRAMES: Mapping[str, JointTypeName] = {"3d": SPHERICAL, "6d": FIXED}
#: Of SDF's joints; a screw slides and turns along one axis, a gearbox is no joint.
OF_SDF: Mapping[str, JointTypeName] = {
    **SINGLE,
    "ball": SPHERICAL,
    "universal": UNIVERSAL,
    "revolute2": UNIVERSAL,
    "screw": CYLINDRICAL,
    "fixed": FIXED,
}
