"""What this checker holds every joint type to be: its own statement, in natural coordinates."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Whether points coincide; the first body's axes along which the second's point does not leave
#: the first's; pairs of axes (first, second) that stay perpendicular.
Locks = tuple[bool, str, tuple[str, ...]]


@dataclass(frozen=True)
class JointKind:
    """One joint type.

    Attributes
    ----------
    spatial, planar
        What it locks there; None where it may not be. In the plane a prismatic joint slides
        along z, its x is the plane's normal; every other joint's z is.
    lengths
        Axes of the first body along which its first values are lengths.
    angles
        Its further values: the axis of the second body whose cosine and sine are seen along x
        and y of the first ("-": of the first's z along x and −y of the second). None of a
        spherical or free joint's, which are a rotation vector.
    free
        How many angles of the relative orientation it leaves free.
    """

    spatial: Locks | None
    planar: Locks | None
    lengths: str = ""
    angles: tuple[str, ...] = ()
    free: int = 0

    def locks(self, planar: bool) -> Locks:
        """What it locks; KeyError where it may not be."""
        found = self.planar if planar else self.spatial
        if found is None:
            raise KeyError("a joint type that is of the other space")
        return found

    @property
    def allowed(self) -> str:
        """Axes of either body along which it may slide, at all of its values together."""
        if self.free == 3:  # turned in any way, one axis along which it slides is as good as all
            return "xyz" if self.lengths else ""
        return "xy" if self.free and set(self.lengths) & {"x", "y"} else self.lengths


_HINGED = ("xz", "yz")
_STILL = ("xz", "yz", "xy")
KINDS: Mapping[str, JointKind] = {
    "revolute": JointKind((True, "", _HINGED), (True, "", ()), "", ("x",), 1),
    "prismatic": JointKind((False, "xy", _STILL), (False, "y", ("yz",)), "z"),
    "cylindrical": JointKind((False, "xy", _HINGED), None, "z", ("x",), 1),
    "universal": JointKind((True, "", ("zz",)), None, "", ("z", "-"), 2),
    "spherical": JointKind((True, "", ()), None, free=3),
    "planar": JointKind((False, "z", _HINGED), (False, "", ()), "xy", ("x",), 1),
    "pin_slot": JointKind(None, (False, "y", ()), "x", ("x",), 1),
    "free": JointKind((False, "", ()), None, "xyz", (), 3),
    "fixed": JointKind((True, "", _STILL), (True, "", ("xy",))),
}
