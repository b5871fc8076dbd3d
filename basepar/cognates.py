"""Roberts–Chebyshev cognates: the three four-bars of one coupler curve."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True)
class Cognate:
    """A four-bar of three that guide a point along the same curve, in one pose.

    Attributes
    ----------
    name
        Of its mechanism.
    pins
        (4, 2): the first bar's pins on the ground and on the coupler, then the second bar's on
        the coupler and on the ground, m, in the ground's frame.
    point
        (2,): where the guided point is, m.
    mechanism
        Its lengths as symbols, driven at the first bar (joint A), assembled in this pose; no
        inertias and no motion.

    Examples
    --------
    >>> import basepar
    >>> from importlib.resources import files
    >>> model = basepar.load(files("workflows") / "examples/mechanisms/straight-line.yaml")
    >>> basepar.cognates(model, "P")[0].pins.shape
    (4, 2)
    """

    name: str
    pins: Array
    point: Array
    mechanism: Mechanism = field(repr=False)

    @cached_property
    def model(self) -> "Model":
        """It, assembled."""
        from .model import Model

        return Model(self.mechanism)

    @property
    def text(self) -> str:
        """Its mechanism file."""
        return self.mechanism.source

    def __repr__(self) -> str:
        return f"<basepar.Cognate {self.name!r}>"


def cognates(model: "Model", point: str) -> tuple[Cognate, Cognate]:
    """The two other four-bars whose couplers guide a point along the same curve.

    All three turn alike bar by bar. The first one shares the given one's first pin on the ground
    (that of the coordinate, if it is there), and its coupler turns as the given one's first bar
    does; the second one shares the other pin, and its first bar turns as the given one's first bar
    does: driven there at the same pace, it takes the point along in the same time.

    Parameters
    ----------
    model
        A mechanism with the point on the coupler of a planar four-bar, alone or within others.
    point
        Name.

    Raises
    ------
    UsageError
        No such point; its body is no coupler; the point is on a pin and goes along a circle.

    Examples
    --------
    >>> import basepar
    >>> from importlib.resources import files
    >>> model = basepar.load(files("workflows") / "examples/mechanisms/straight-line.yaml")
    >>> left, right = basepar.cognates(model, "P")
    >>> right.name, right.model.coordinates
    ('straight-line-cognate-2', ('A',))
    """
    from workflows.export import cognates_of

    first, second = (
        Cognate(mechanism.name, bar.pins, bar.point, mechanism)
        for bar, mechanism in cognates_of(model.prepared, point)
    )
    return first, second
