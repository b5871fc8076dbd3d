"""What is known of a metric of closed cycles beside its word."""

from collections.abc import Callable
from dataclasses import dataclass

from basepar_core.arrays import Array

from .closed_cycle import ClosedCycle


@dataclass(frozen=True, slots=True)
class CycleMetric:
    """A number per variant of a cycle.

    Attributes
    ----------
    value
        From a `ClosedCycle` to (variant,); where its slopes are exact, of functions that are
        analytic (`analytic`).
    unit, words
        SI text, "1" where there is none; what it is.
    squares
        Of a root mean square, the residuals (variant, …) whose squares sum up to its square; they
        are analytic, and descents follow them by Gauss and Newton.
    labels
        Names of the numbers of each variant, where these are several: `value` is (variant, label).
    """

    value: Callable[[ClosedCycle], Array]
    unit: str
    words: str
    squares: Callable[[ClosedCycle], Array] | None = None
    labels: tuple[str, ...] = ()
