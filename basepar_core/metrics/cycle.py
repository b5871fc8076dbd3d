"""Design metrics of a cycle, by name: a number per variant from a `ClosedCycle`."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.mechanism import Mechanism

from . import (
    boxes,
    clearances,
    joint_values,
    points,
    reactions,
    rotatability,
    transmission,
)
from . import regimes as regime
from .analytic import length
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .registry import canonical, metric_of, needs_inertias
from .targets import Target


def _mass(cycle: ClosedCycle) -> Array:
    each = cycle.parameters.shape[1] // len(cycle.model.mechanism.bodies)
    return cycle.parameters[:, ::each].sum(axis=1)


def _size_of(which: int, is_peak: bool) -> Callable[[ClosedCycle], Array]:
    def value(cycle: ClosedCycle) -> Array:
        sizes = length(cycle.shaking[which], axis=-1)
        return sizes.max(axis=-1) if is_peak else np.sqrt((sizes**2).mean(axis=-1))

    return value


_FORCE = "size of the bodies' inertia force on the frame, over the cycle"
_MOMENT = (
    "size of the bodies' inertia moment on the frame about the world's origin, over the cycle"
)
#: Metrics that are named by a word alone.
PLAIN: Mapping[str, CycleMetric] = {
    "mass": CycleMetric(_mass, "kg", "mass of all bodies"),
    "shaking_force_rms": CycleMetric(_size_of(0, False), "N", f"root mean square {_FORCE}"),
    "shaking_force_peak": CycleMetric(_size_of(0, True), "N", f"largest {_FORCE}"),
    "shaking_moment_rms": CycleMetric(_size_of(1, False), "N m", f"root mean square {_MOMENT}"),
    "shaking_moment_peak": CycleMetric(_size_of(1, True), "N m", f"largest {_MOMENT}"),
}
#: What knows the metrics of a mechanism by name; each with the words that it knows.
_FAMILIES: Mapping[
    tuple[str, ...], Callable[[Mechanism, Sequence[Target]], dict[str, CycleMetric]]
] = {
    joint_values.WORDS: joint_values.metrics,
    rotatability.WORDS: rotatability.metrics,
    reactions.WORDS: reactions.metrics,
    transmission.WORDS: transmission.metrics,
    boxes.WORDS: boxes.metrics,
    clearances.WORDS: clearances.metrics,
    points.WORDS: points.metrics,
}


def find(mechanism: Mechanism, name: str, targets: Sequence[Target] = ()) -> CycleMetric | None:
    """A metric by its name; None where no metric of this mechanism is called so."""
    name = canonical(name)
    word = name.partition("(")[0]
    if name in PLAIN:
        return PLAIN[name]
    for words, family in _FAMILIES.items():
        if word in words:
            return family(mechanism, targets).get(name)
    known = metric_of(name)
    if known is None or known.kind != "regime":
        return None
    of_regime = regime.known(mechanism).get(name)
    if of_regime is None:
        return None
    return CycleMetric(_of_regime(name), of_regime.unit, of_regime.words)


def names(mechanism: Mechanism, targets: Sequence[Target] = ()) -> list[str]:
    """Every metric that a mechanism has, and those of paths against targets."""
    found: list[str] = [*PLAIN]
    for family in _FAMILIES.values():
        found += family(mechanism, targets)
    return [*found, *regime.known(mechanism)]


def _of_regime(name: str) -> Callable[[ClosedCycle], Array]:
    """One alone; sweeps measure all they need of a regime at once (`metrics.regimes.Meter`)."""

    def value(cycle: ClosedCycle) -> Array:
        found = regime.meter_of(cycle.model, [name])(cycle.values)
        return np.broadcast_to(found.values[name], (cycle.count,))

    return value


def check(mechanism: Mechanism, asked: Sequence[str]) -> None:
    """Make sure that a mechanism states what metrics need.

    Raises
    ------
    MissingDataError
        Naming the bodies without inertias.
    """
    found = {name: find(mechanism, name) for name in asked}
    needing = [name for name, metric in found.items() if metric and needs_inertias(name)]
    if needing and not mechanism.has_inertias:
        bare = [body.name for body in mechanism.bodies if body.parameters is None]
        raise MissingDataError(
            f"{', '.join(needing)} of {mechanism.name!r} needs inertias, and {', '.join(bare)} "
            "states none. Give mass, centre and inertia, or drop the metric.",
            [f"bodies.{name}" for name in bare],
        )


def of_cycle(
    cycle: ClosedCycle, asked: Sequence[str], targets: Sequence[Target] = ()
) -> dict[str, Array]:
    """Metrics (variant,) of a cycle by name; unknown ones raise MechanismError."""
    return {name: value(cycle) for name, value in _values(cycle, asked, targets)}


def _values(
    cycle: ClosedCycle, asked: Sequence[str], targets: Sequence[Target]
) -> Iterator[tuple[str, Callable[[ClosedCycle], Array]]]:
    for name in asked:
        metric = find(cycle.model.mechanism, name, targets)
        if metric is None:
            raise MechanismError(f"{cycle.model.mechanism.name} has no metric {name!r}.", [name])
        yield name, metric.value
