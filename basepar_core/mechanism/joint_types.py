"""The table of joint types: what every other file knows of a type is derived from its line here.

F1 and F2 are a joint's frames in its first and second body. The relative motion, F2 seen from F1,
is a chain: F2's origin slides along axes of F1, then F2 turns. Its values are the slides (m),
then the turns (rad); x, y and z are F1's axes unless said otherwise. The velocities of a free
joint are no rates of its values: they are the twist of F2 at its own origin, in its own axes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from basepar_core.errors import MechanismError

JointTypeName: TypeAlias = Literal[
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "pin_slot",
    "free",
    "fixed",
]
#: How F2 turns: not at all; about z; about F1's z, then about F2's z, which keep a right angle;
#: in any way, with a rotation vector as value. Who dispatches on it ends in `assert_never`.
Turns: TypeAlias = Literal["", "z", "zz", "any"]
_TURNS: Mapping[Turns, int] = {"": 0, "z": 1, "zz": 2, "any": 3}


#: What joint types are called elsewhere.
CALLED: Mapping[str, JointTypeName] = {
    **dict.fromkeys(
        ("hinge", "pin", "rotary", "rotational", "continuous", "rotation"), "revolute"
    ),
    **dict.fromkeys(("slider", "slide", "sliding", "linear", "translational"), "prismatic"),
    **dict.fromkeys(("ball", "socket", "ball-joint"), "spherical"),
    **dict.fromkeys(("hooke", "cardan", "u-joint"), "universal"),
    **dict.fromkeys(("weld", "rigid", "welded"), "fixed"),
    **dict.fromkeys(("floating", "freejoint", "free-flyer"), "free"),
    **dict.fromkeys(("slot", "pin-slot", "pin-in-slot"), "pin_slot"),
}


@dataclass(frozen=True)
class JointType:
    """One joint type.

    Attributes
    ----------
    name
        As in mechanism files.
    slides
        Axes of F1 along which F2's origin slides, one value each.
    turns
        How F2 turns after that.
    mark
        How it is drawn: matplotlib's marker, and its size in points.
    filled
        Whether the mark is filled.
    planar, spatial
        Whether it may be in a planar mechanism, and in a spatial one.
    """

    name: JointTypeName
    slides: str
    turns: Turns
    mark: tuple[str, float] = ("o", 7.5)
    filled: bool = False
    planar: bool = True
    spatial: bool = True

    def __post_init__(self) -> None:
        if self.slides and self.rotations > 1 and not self.is_free:
            raise ValueError(f"{self.name}: what slides and turns about two axes is two joints")

    @cached_property
    def values(self) -> int:
        """Number of values, which is that of freedoms."""
        return len(self.slides) + _TURNS[self.turns]

    @cached_property
    def lengths(self) -> range:
        """Places of the values that are lengths (m); the others are angles (rad)."""
        return range(len(self.slides))

    @cached_property
    def directions(self) -> tuple[int, ...]:
        """Per length the axis of F1 along which it is: 0, 1, 2."""
        return tuple("xyz".index(axis) for axis in self.slides)

    @property
    def rotations(self) -> int:
        """Freedoms of relative orientation."""
        return _TURNS[self.turns]

    @property
    def is_pin(self) -> bool:
        """Whether all it does is turn about one axis."""
        return not self.slides and self.turns == "z"

    @property
    def is_ball(self) -> bool:
        """Whether it turns in any way: its configuration has a quaternion for its last values."""
        return self.turns == "any"

    @property
    def is_free(self) -> bool:
        """Whether it locks nothing in space: what a body that floats has."""
        return self.slides == "xyz" and self.turns == "any"

    @property
    def is_slide(self) -> bool:
        """Whether all it does is slide along its frames' z-axis."""
        return self.slides == "z" and not self.turns

    def locks(self, planar: bool) -> tuple[str, str]:
        """Axes of F1 along which a closed joint locks lengths, and about which it locks angles.

        "n" is the normal of the two axes about which a joint turns. In the plane a joint that
        slides along z has its x along the plane's normal, every other its z.
        """
        normal = "x" if "z" in self.slides else "z"
        along = "".join(a for a in "xyz" if a not in self.slides and not (planar and a == normal))
        if planar:
            return along, "" if self.turns else normal
        about: Mapping[Turns, str] = {"": "xyz", "z": "xy", "zz": "n", "any": ""}
        return along, about[self.turns]

    def locked_pairs(self, planar: bool) -> tuple[str, ...]:
        """Axes (of F1, of F2) that a closed joint keeps perpendicular: what it locks about."""
        if planar:
            normal = "x" if "z" in self.slides else "z"
            return () if self.turns else ("yz" if normal == "x" else "xy",)
        pairs: Mapping[Turns, tuple[str, ...]] = {
            "": ("xz", "yz", "xy"),
            "z": ("xz", "yz"),
            "zz": ("zz",),
            "any": (),
        }
        return pairs[self.turns]


_TABLE = (
    JointType("revolute", "", "z"),
    JointType("prismatic", "z", "", ("s", 15.0)),
    JointType("cylindrical", "z", "z", ("h", 7.5), planar=False),
    JointType("universal", "", "zz", ("D", 7.5), planar=False),
    JointType("spherical", "", "any", ("o", 9.0), filled=True, planar=False),
    JointType("planar", "xy", "z", ("p", 7.5)),
    JointType("pin_slot", "x", "z", spatial=False),
    JointType("free", "xyz", "any", ("X", 8.0), planar=False),
    JointType("fixed", "", "", filled=True),
)
#: The joint types by name, in the order in which messages name them.
JOINT_TYPES: Mapping[str, JointType] = {one.name: one for one in _TABLE}
assert tuple(JOINT_TYPES) == get_args(JointTypeName)


def joint_type(name: str) -> JointType:
    """What the table says of a type.

    Raises
    ------
    MechanismError
        There is no such type.
    """
    found = JOINT_TYPES.get(name)
    if found is None:
        raise MechanismError(
            f"There is no joint type {name!r}; there are {', '.join(JOINT_TYPES)}. A new one is a "
            f"line in the table of joint types.",
            [name],
        )
    return found
