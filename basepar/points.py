"""Where points of bodies are at states, how fast, and with what acceleration."""

from dataclasses import dataclass

from basepar_core.arrays import Array
from basepar_core.errors import UsageError


@dataclass(frozen=True)
class Points:
    """Points of a mechanism's file at some states, in the ground's frame.

    Attributes
    ----------
    names
        As the file has them: the last axis but one.
    position, velocity, acceleration
        (…, point, 2) in the plane, else (…, point, 3), m, m/s, m/s²; nan at states that were not
        reached.
    curvature
        (…, point) of the paths, 1/m.

    Examples
    --------
    >>> import basepar
    >>> points = basepar.load("four-bar").points([[0.6], [0.7], [0.8]])
    >>> points.names, points.position.shape  # this file states none
    ((), (3, 0, 2))
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array
    acceleration: Array

    def __getitem__(self, name: str) -> Array:
        """(…, axis) one point's positions, m."""
        if name not in self.names:
            raise UsageError(
                f"No point is named {name!r}; there are {', '.join(self.names) or 'none'}.",
                [name],
            )
        return self.position[..., self.names.index(name), :]

    @property
    def curvature(self) -> Array:
        """(…, point) curvature of the paths on which they are, 1/m; nan where a point rests.

        In the plane it is positive where the path bends to the left of its motion. Of a
        mechanism of one degree of freedom it depends on the pose alone, not on the rates.
        """
        from basepar_core.dynamics import path_curvature

        return path_curvature(self.velocity, self.acceleration, axis=-1)

    def __repr__(self) -> str:
        named = ", ".join(self.names[:8]) + ", …" * (len(self.names) > 8)
        return f"<basepar.Points {named}: {self.position.shape[:-2]} states>"
