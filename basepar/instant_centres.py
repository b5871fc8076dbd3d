"""Instant centres of a planar mechanism's bodies at states."""

from dataclasses import dataclass

from basepar_core.arrays import Array
from basepar_core.errors import UsageError


@dataclass(frozen=True)
class InstantCentres:
    """Where pairs of bodies have the same velocity, in the ground's frame.

    Attributes
    ----------
    bodies
        "ground", then the bodies as the file has them: the axes of pairs.
    position
        (…, body, body, 2), m; nan where two bodies do not turn about each other (their centre is
        at infinity), and at states that were not reached.

    Examples
    --------
    >>> import basepar
    >>> centres = basepar.load("four-bar").instant_centres([[0.6], [0.7]])
    >>> centres["coupler", "ground"].shape
    (2, 2)
    """

    bodies: tuple[str, ...]
    position: Array

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        """(…, 2) the centre of two bodies, m."""
        if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(self.bodies):
            raise UsageError(
                f"{pair!r} is no pair of bodies; there are {', '.join(self.bodies)}.", [str(pair)]
            )
        first, second = (self.bodies.index(name) for name in pair)
        return self.position[..., first, second, :]

    def __repr__(self) -> str:
        return (
            f"<basepar.InstantCentres of {', '.join(self.bodies)}: "
            f"{self.position.shape[:-3]} states>"
        )
