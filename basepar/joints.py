"""Values of all joints at closed states."""

from dataclasses import dataclass

from basepar_core.arrays import Array
from basepar_core.errors import UsageError


@dataclass(frozen=True)
class Joints:
    """Values of all joints at some states.

    Attributes
    ----------
    names
        `A`, or `A.1`, `A.2` … where a joint has several values.
    values
        (…, value), rad or m; nan at states that were not reached. Angles of joints that close a
        loop, and of spherical and free joints, lie within (−π, π].
    closed
        (…) bool: states that were reached.

    Examples
    --------
    >>> import basepar
    >>> joints = basepar.load("four-bar").close([[0.6], [1.2]])
    >>> joints["B"].shape, joints.closed.tolist()
    ((2,), [True, True])
    """

    names: tuple[str, ...]
    values: Array
    closed: Array

    def __getitem__(self, name: str) -> Array:
        """(…) one joint's value, rad or m."""
        if name not in self.names:
            raise UsageError(
                f"No joint value is named {name!r}; there are {', '.join(self.names)}.", [name]
            )
        return self.values[..., self.names.index(name)]

    def __repr__(self) -> str:
        named = ", ".join(self.names[:8]) + ", …" * (len(self.names) > 8)
        return f"<basepar.Joints {named}: {int(self.closed.sum())} of {self.closed.size} closed>"
