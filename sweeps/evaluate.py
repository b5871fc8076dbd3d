"""One chunk of variants, start to finish: a pure function from columns to arrays.

What is done per mechanism, once: assembly, symbolic base parameters, the motions' samples; and
what the arrays are. What is done per chunk stands in `chunk.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core import cycle_metrics
from basepar_core.base.extended import beside
from basepar_core.base.result import BaseParameters
from basepar_core.closure import Model
from basepar_core.closure import prepare as assemble
from basepar_core.columns import Column, column_values, select
from basepar_core.engine import Engine
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.kernels import warmup
from basepar_core.mechanism import LENGTH_VALUES, Mechanism
from basepar_core.motion import Motion, cycle, excitation
from basepar_core.onedof.metrics import Meter, meter_of
from basepar_core.reduction import check_reducible
from basepar_core.regressor import Observation
from basepar_core.topology import joint_of_value

from . import beta_numbers, reduce
from .chunk import Chunk
from .outputs import Arrays, Columns, Output, blank
from .own_metrics import OwnMetric, fetched
from .precise import CERTAIN, PreciseEvaluator
from .spec import METRICS, REGIMES, SweepSpec, array_name
from .statuses import Reason, own_metric_text


@dataclass(frozen=True)
class ChunkEvaluator:
    """Evaluates variants of one mechanism; picklable, made by `prepare`.

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
        Further columns of the cycle's torques.
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
    reducer: reduce.Reducer | None = None
    precise: PreciseEvaluator | None = field(default=None, repr=False)
    own: tuple[OwnMetric, ...] = ()
    meter: Meter | None = field(default=None, repr=False)
    beta: bool = False
    columns: tuple[Column, ...] = ()

    @cached_property
    def whole(self) -> BaseParameters:
        """The base parameters, and beside them the further columns."""
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
                    units=reduce.parameter_units(self.whole, self.model.mechanism, self.columns),
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
        return tuple(name for name in self.metrics if name in METRICS)

    def _metric(self, name: str) -> Output:
        if (metric := cycle_metrics.find(self.model.mechanism, name)) is not None:
            return Output(array_name(name), unit=metric.unit, long_name=metric.words)
        return self._torque_metric(name)

    def _torque_metric(self, name: str) -> Output:
        words = {"torque_rms": "root mean square", "torque_peak": "largest absolute value"}
        actuated = self.model.mechanism.actuated
        dims = ("variant",) if len(actuated) == 1 else ("variant", "coordinate")
        units = self._drive_units
        return Output(
            name,
            dims,
            unit=units[0] if len(set(units)) == 1 else "",
            units=() if len(actuated) == 1 else units,
            long_name=f"{words[name]} of the drive over the cycle",
        )

    @cached_property
    def _drive_units(self) -> tuple[str, ...]:
        found = []
        for name in self.model.mechanism.actuated:
            joint, place = joint_of_value(self.model.mechanism, name)
            found.append("N" if place in LENGTH_VALUES.get(joint.type, ()) else "N m")
        return tuple(found)

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
        if self.reducer is not None:
            found |= self.reducer.coords
        return found

    @property
    def attrs(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "base": self.base.document(),
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

    def warm(self, names: Sequence[str]) -> None:
        """Evaluate the nominal variant, so that all kernels needed are compiled and on disk."""
        if self.cycle is not None:
            warmup.beside()
        nominal = self.model.mechanism.nominal
        self({name: np.array([nominal[name]]) for name in names}, np.ones(1, dtype=bool))

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        """Evaluate one chunk (see `outputs.Evaluator`)."""
        arrays = blank(self, len(passed))
        arrays["status"] = np.zeros(len(passed), np.int8)
        arrays["reason"] = np.zeros(len(passed), np.int16)
        arrays["reason_value"] = np.full(len(passed), np.nan)
        chosen = np.flatnonzero(passed)
        if chosen.size:
            chunk = Chunk(self, {name: column[chosen] for name, column in columns.items()})
            for name, values in chunk.run().items():
                arrays[name][chosen] = values
        return arrays


def prepare(spec: SweepSpec) -> ChunkEvaluator:
    """Do once what all variants share.

    Raises
    ------
    MissingDataError
        The specification asks for what the mechanism does not state.
    MechanismError
        It asks for torques of drives that are no coordinates.
    OwnCodeError
        A store only describes a metric, and nobody fetched it.
    """
    mechanism, asked = spec.mechanism, spec.evaluation
    users = fetched(asked.users)
    torque_metrics = [name for name in asked.built_in if name in METRICS]
    if torque_metrics:
        _check_torques(spec, torque_metrics)
    cycle_metrics.check(mechanism, asked.built_in)
    if asked.reduction:
        check_reducible(mechanism, asked.reduction.criteria)
    columns = select(mechanism, asked.columns)
    column_values(mechanism, columns, mechanism.nominal)  # whether there are values
    # Computer algebra, which workers do without.
    from basepar_core.base.symbolic import nominal_observation, symbolic

    model = assemble(mechanism)
    base = symbolic(model, seen=nominal_observation(model, _observe), own=False)
    start = model.assembled.coordinates
    return ChunkEvaluator(
        model,
        base,
        asked.rank,
        asked.built_in,
        None if asked.rank == "none" else excitation(mechanism, start),
        cycle(mechanism, start) if asked.metrics or users or asked.reduction else None,
        reduce.prepare(model, base, asked.reduction, columns) if asked.reduction else None,
        _precise(model, base) if asked.rank in ("auto", "precise") else None,
        users,
        _meter(model, asked.built_in),
        asked.beta,
        columns,
    )


def _observe(model: Model, motion: Motion) -> Observation:
    """By the kernels: whoever prepares a sweep needs them next."""
    return Engine(model).observe({}, motion)


def _meter(model: Model, names: Sequence[str]) -> Meter | None:
    wanted = [name for name in names if name.partition("(")[0] in REGIMES]
    return meter_of(model, wanted) if wanted else None


def _precise(model: Model, base: BaseParameters) -> PreciseEvaluator:
    bound = base.certificate
    bounded = bound.at_most == base.rank and bound.at_most_grade in CERTAIN
    return PreciseEvaluator(model, base.rank, bounded)


def _check_torques(spec: SweepSpec, metrics: list[str]) -> None:
    mechanism = spec.mechanism
    if not mechanism.has_inertias:
        bare = [body.name for body in mechanism.bodies if body.parameters is None]
        raise MissingDataError(
            f"Torques need inertias, and {', '.join(bare)} of {mechanism.name!r} "
            f"{'has' if len(bare) == 1 else 'have'} none. Give mass, centre and inertia, or drop "
            f"the metrics {', '.join(metrics)}.",
            [f"bodies.{name}" for name in bare],
        )
    _check_drives(mechanism, metrics)


def _check_drives(mechanism: Mechanism, metrics: Sequence[str]) -> None:
    """Refuse torques of drives that are no coordinates: τ is conjugate to the coordinates.

    Some of the coordinates may be driven only. The cycle states the motion of all of them, so
    that the drives' torques are determined; the others move by loads that the file need not name.

    Raises
    ------
    MechanismError
        There is no drive, or one that is no coordinate.
    """
    drives, coordinates = mechanism.actuated, mechanism.coordinates
    others = [name for name in drives if name not in coordinates]
    if drives and not others:
        return
    said, remedy = "none is named", "Name the coordinates that are driven"
    if others:
        said, remedy = f"{', '.join(others)} is none", "Choose the driven joints as coordinates"
    if len(drives) > len(coordinates):
        remedy = (
            f"With {len(drives)} drives and {len(coordinates)} degrees of freedom the motion does "
            "not say how they share the load: leave some out, and choose the others as coordinates"
        )
    raise MechanismError(
        f"{' and '.join(metrics)} are torques of drives that are coordinates "
        f"({', '.join(coordinates)}); of the drives of {mechanism.name!r} "
        f"({', '.join(drives) or 'none'}) {said}. {remedy}, or drop the metrics.",
        ["actuated"],
    )
