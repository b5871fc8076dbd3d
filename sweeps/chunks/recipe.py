"""What a chunk is evaluated by: a mechanism prepared once, and the arrays that are asked for."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from basepar_core.base import BaseParameters, beside, plain_result
from basepar_core.compiled import Engine
from basepar_core.dynamics import Column, Model, Motion
from basepar_core.metrics import (
    METRICS,
    Meter,
    Target,
    array_name,
    curve_shapes,
    drives,
    is_torque,
)
from basepar_core.metrics import cycle as cycle_metrics
from sweeps.spec import OwnMetric
from sweeps.store import Output, Reason, own_metric_text

from . import beta_numbers, reduction
from .precise import PreciseEvaluator

#: The attribute of a store with what `prepare` need not derive again.
SYMBOLIC = "symbolic"


@dataclass(frozen=True)
class Recipe:
    """What is done with every variant of one mechanism, and which arrays come of it.

    Attributes
    ----------
    model, base
        The mechanism assembled, and its symbolic base parameters.
    rank
        auto, numeric, precise or none.
    metrics
        Names of metrics of the cycle: of torques, and those of `cycle_metrics`.
    own
        Metrics of the user's.
    meter
        Measures steady regimes, where metrics of them are among `metrics`.
    beta
        Whether β's distinct entries are stored as numbers.
    columns
        Force-law columns of the cycle's torques.
    targets
        Curves that paths of points are held against.
    reducer
        Reduces every variant over its cycle, where asked for.
    precise
        Evaluates the variants that await variable precision; None where the rank is not asked
        for in that way.
    """

    model: Model
    base: BaseParameters
    rank: str = "auto"
    metrics: tuple[str, ...] = ()
    excitation: Motion | None = field(default=None, repr=False)
    cycle: Motion | None = field(default=None, repr=False)
    reducer: reduction.Reducer | None = None
    precise: PreciseEvaluator | None = field(default=None, repr=False)
    own: tuple[OwnMetric, ...] = ()
    meter: Meter | None = field(default=None, repr=False)
    beta: bool = False
    columns: tuple[Column, ...] = ()
    targets: tuple[Target, ...] = ()

    @cached_property
    def whole(self) -> BaseParameters:
        """The base parameters, and beside them the force-law columns."""
        return beside(self.base, self.columns)

    @cached_property
    def engine(self) -> Engine:
        """Closes loops and makes W: compiled kernels, or the plain path."""
        return Engine(self.model)

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        found = [
            Output("branch", dtype="int64", long_name="signs of the loops' determinants, in bits"),
            Output("residual", unit="", long_name="largest gap left in a loop, m or rad"),
            Output(
                "margin",
                long_name="distance of the loop equations from singular; 0 is a dead point",
            ),
        ]
        if self.rank != "none":
            found += [
                Output("rank", dtype="int32", long_name="rank of W as float64 sees it"),
                Output("rank_gap", long_name="ratio of singular values across the rank"),
                Output("condition", long_name="condition of the reduced W, unit columns"),
                Output(
                    "singular_values",
                    ("variant", "singular_value"),
                    unit="",  # columns of W differ in theirs
                    long_name="singular values of the observation matrix W, SI",
                ),
            ]
        if self.model.mechanism.has_inertias:
            found.append(
                Output(
                    "base_parameters",
                    ("variant", "base_parameter"),
                    unit="",
                    units=reduction.parameter_units(
                        self.whole, self.model.mechanism, self.columns
                    ),
                    long_name="base parameters, each in the unit of its parameter",
                )
            )
        if self.beta_places:
            found.append(beta_numbers.output(self.base))
        if self.reducer is not None:
            found += self.reducer.outputs
        found += [self._metric(name) for name in self.metrics]
        found += [Output(one.name, unit=one.unit, long_name=one.words) for one in self.own]
        return tuple(found)

    @cached_property
    def beta_places(self) -> dict[str, int]:
        """Where β's entries that are stored as numbers stand, by expression; empty for none."""
        return beta_numbers.distinct(self.base) if self.beta else {}

    @property
    def torque_metrics(self) -> tuple[str, ...]:
        """Those of the metrics that need inertias."""
        return tuple(name for name in self.metrics if is_torque(name))

    @property
    def needs_torques(self) -> bool:
        """Whether W of the cycle is needed."""
        return bool(self.torque_metrics) or self.reducer is not None

    def _metric(self, name: str) -> Output:
        metric = cycle_metrics.find(self.model.mechanism, name, self.targets)
        if metric is not None:
            dims = ("variant", "fourier_descriptor") if metric.labels else ("variant",)
            return Output(array_name(name), dims, unit=metric.unit, long_name=metric.words)
        return self._torque_metric(name)

    def _torque_metric(self, name: str) -> Output:
        actuated = self.model.mechanism.actuated
        dims = ("variant",) if len(actuated) == 1 else ("variant", "coordinate")
        unit = METRICS[name].unit
        units = (unit,) * len(actuated) if unit else self._drive_units
        return Output(
            name,
            dims,
            unit=units[0] if len(set(units)) == 1 else "",
            units=() if len(actuated) == 1 else units,
            long_name=drives.DRIVE_METRICS[name].words,
        )

    @cached_property
    def _drive_units(self) -> tuple[str, ...]:
        mechanism = self.model.mechanism
        return tuple(mechanism.value(name).effort_unit for name in mechanism.actuated)

    @property
    def coords(self) -> dict[str, list[str] | list[int]]:
        mechanism = self.model.mechanism
        found: dict[str, list[str] | list[int]] = {
            "parameter": list(self.whole.parameters),
            "base_parameter": list(self.whole.base_names),
            "eliminated": list(self.base.eliminated_names),
        }
        if self.rank != "none":
            found["singular_value"] = list(range(1, len(self.base.parameters) + 1))
        if self.torque_metrics and len(mechanism.actuated) > 1:
            found["coordinate"] = list(mechanism.actuated)
        if self.beta_places:
            found["beta_entry"] = list(self.beta_places)
        if any(name.startswith("fourier_descriptors(") for name in self.metrics):
            found["fourier_descriptor"] = list(curve_shapes.LABELS)
        if self.reducer is not None:
            found |= self.reducer.coords
        return found

    @property
    def attrs(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "base": self.base.document(),
            SYMBOLIC: plain_result.plain(self.base),
            "mechanism": self.model.mechanism.name,
        }
        if self.columns:
            found["columns"] = [one.name for one in self.columns]
        if self.own:
            names = [one.name for one in self.own]
            texts = [
                (Reason.OWN_METRIC + k, own_metric_text(name)) for k, name in enumerate(names)
            ]
            found["reasons"] = dict(texts)
        return found if self.reducer is None else found | {"reduction": self.reducer.attrs}
