"""One chunk of variants, start to finish: a pure function from columns to arrays.

Per mechanism, once: assembly, symbolic base parameters, the motions' samples. Per chunk: loops
closed along the excitation and along the cycle, W, its singular values held against the
symbolic result, base parameters, torques. A variant that fails has a status and a reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core import cycle_metrics, kinematics
from basepar_core.base.numeric import Check, allowed_share
from basepar_core.base.result import BaseParameters
from basepar_core.closure import Model, Outcome
from basepar_core.closure import prepare as assemble
from basepar_core.cycle_metrics import ClosedCycle
from basepar_core.engine import Engine, Variants
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.kernels import linear, paths, warmup
from basepar_core.mechanism import LENGTH_VALUES
from basepar_core.motion import Motion, cycle, excitation
from basepar_core.onedof import turning
from basepar_core.onedof.metrics import BROKEN, COARSE, Meter, meter_of
from basepar_core.reduction import check_reducible
from basepar_core.regressor import Observation
from basepar_core.relations import symbol_values
from basepar_core.topology import joint_of_value

from . import reduce
from .outputs import Arrays, Columns, Output, blank
from .own_metrics import OwnMetric
from .precise import CERTAIN, PreciseEvaluator
from .spec import METRICS, REGIMES, SweepSpec, array_name
from .statuses import WITH_RESULTS, Reason, Status

_REGIME_REASONS = {
    turning.STALLED: Reason.STALLED,
    turning.NEUTRAL: Reason.NEUTRAL,
    turning.NONE: Reason.NO_REGIME,
    BROKEN: Reason.NO_TURN,
    COARSE: Reason.ROUGH_REGIME,
}


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

    @cached_property
    def engine(self) -> Engine:
        """Closes loops and makes W: compiled kernels, or the plain path."""
        return Engine(self.model)

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        found = [
            Output("branch", dtype="int64", long_name="signs of the loops' determinants, in bits"),
            Output("residual", unit="m", long_name="largest gap left in a loop (m or rad)"),
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
                    long_name="singular values of the observation matrix W",
                ),
            ]
        if self.model.mechanism.has_inertias:
            found.append(
                Output(
                    "base_parameters",
                    ("variant", "base_parameter"),
                    long_name="base parameters; units as of their parameters (kg, kg m, kg m^2)",
                )
            )
        if self.reducer is not None:
            found += self.reducer.outputs
        found += [self._metric(name) for name in self.metrics]
        found += [Output(one.name, unit=one.unit, long_name=one.words) for one in self.own]
        return tuple(found)

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
        return Output(
            name,
            dims,
            unit=self._torque_unit,
            long_name=f"{words[name]} of the drive over the cycle",
        )

    @cached_property
    def _torque_unit(self) -> str:
        kinds = set()
        for name in self.model.mechanism.actuated:
            joint, place = joint_of_value(self.model.mechanism, name)
            kinds.add("N" if place in LENGTH_VALUES.get(joint.type, ()) else "N m")
        return kinds.pop() if len(kinds) == 1 else "N or N m"

    @property
    def coords(self) -> dict[str, list[str] | list[int]]:
        mechanism = self.model.mechanism
        found: dict[str, list[str] | list[int]] = {
            "parameter": list(self.base.parameters),
            "base_parameter": list(self.base.base_names),
            "eliminated": list(self.base.eliminated_names),
        }
        if self.rank != "none":
            found["singular_value"] = list(range(1, len(self.base.parameters) + 1))
        if self.torque_metrics and len(mechanism.actuated) > 1:
            found["coordinate"] = list(mechanism.actuated)
        if self.reducer is not None:
            found |= self.reducer.coords
        return found

    @property
    def attrs(self) -> dict[str, Any]:
        found = {"base": self.base.document(), "mechanism": self.model.mechanism.name}
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
            chunk = _Chunk(self, {name: column[chosen] for name, column in columns.items()})
            for name, values in chunk.run().items():
                arrays[name][chosen] = values
        return arrays


class _Chunk:
    """The variants of one chunk that are evaluated, and what is known of them so far."""

    def __init__(self, evaluator: ChunkEvaluator, values: Mapping[str, np.ndarray]):
        self.of, self.values = evaluator, values
        self.count = next(iter(values.values())).size
        self.arrays = blank(evaluator, self.count)
        self.arrays["status"] = np.full(self.count, Status.SOLVED, np.int8)
        self.arrays["reason"] = np.zeros(self.count, np.int16)
        self.arrays["reason_value"] = np.full(self.count, np.nan)
        self.variants: Variants | None = None
        self.rows = np.zeros(0, dtype=int)  # of these variants

    def run(self) -> Arrays:
        self._find_undefined()
        if self.of.excitation is not None:
            self._follow(self.of.excitation, self._rank, Reason.LOST_LOOP, Reason.NEAR_SINGULAR)
        if self.of.cycle is not None:
            self._follow(
                self.of.cycle, self._cycle, Reason.LOST_IN_CYCLE, Reason.SINGULAR_IN_CYCLE
            )
        self._wipe_failed()
        return self.arrays

    @property
    def _going(self) -> np.ndarray:
        """Variants that have not failed so far, by index."""
        return np.flatnonzero(np.isin(self.arrays["status"], WITH_RESULTS))

    def _mark(
        self, rows: np.ndarray, status: Status, reason: Reason, number: np.ndarray | float
    ) -> None:
        self.arrays["status"][rows] = status
        self.arrays["reason"][rows] = reason
        self.arrays["reason_value"][rows] = number

    def _find_undefined(self) -> None:
        """Variants at which an expression has no finite value."""
        dims = kinematics.geometry(self.of.model.mechanism, self.values)
        parts = [getattr(j, name) for j in dims.joints for name in type(j).__slots__]
        bad = np.zeros(self.count, dtype=bool)
        for part in (*parts, dims.gravity):
            bad |= ~np.isfinite(part).all(axis=tuple(range(part.ndim - 1)))
        if self.of.model.mechanism.has_inertias:
            bad |= ~np.isfinite(self._phi).all(axis=1)
        self._mark(np.flatnonzero(bad), Status.UNASSEMBLABLE, Reason.UNDEFINED, np.nan)

    def _part(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {name: column[rows] for name, column in self.values.items()}

    def _at(self, rows: np.ndarray) -> Variants:
        """Variants that still go, in their geometries."""
        if self.variants is None:
            self.variants, self.rows = self.of.engine.variants(self._part(rows)), rows
        elif rows.size < self.rows.size:
            kept = np.searchsorted(self.rows, rows)
            self.variants, self.rows = self.variants.take(kept), rows
        return self.variants

    @cached_property
    def _known(self) -> Mapping[str, Any]:
        """Every symbol's values."""
        return symbol_values(self.of.model.mechanism, self.values)

    @cached_property
    def _phi(self) -> np.ndarray:
        """(variant, parameter), SI."""
        phi = self.of.model.mechanism.inertial_parameters(self._known)
        return np.broadcast_to(phi, (self.count, phi.shape[-1]))

    @cached_property
    def _entries(self) -> np.ndarray:
        """β's nonzero entries (entry, variant)."""
        found = self.of.base.beta_entries(self._known)
        return np.broadcast_to(found, (len(self.of.base.beta), self.count))

    def _follow(self, motion: Motion, then: Any, lost: Reason, singular: Reason) -> None:
        """Close the loops along a motion; `then` takes the variants that got through."""
        rows = self._going
        if not rows.size:
            return
        seen = self._at(rows).observe(motion)
        finite = linear.finite(seen.W)
        causes = {
            Outcome.UNASSEMBLABLE: (Status.UNASSEMBLABLE, Reason.OTHER_ASSEMBLY),
            Outcome.LOST: (Status.LOST, lost),
            Outcome.SINGULAR: (Status.SINGULAR, singular),
        }
        for outcome, (status, reason) in causes.items():
            hit = seen.trace.outcome == outcome
            unassembled = outcome == Outcome.UNASSEMBLABLE
            number = seen.residual if unassembled else seen.trace.where
            self._mark(rows[hit], status, reason, number[hit])
        self._mark(rows[seen.closed & ~finite], Status.SINGULAR, singular, np.nan)
        good = seen.closed & finite
        if good.any():
            self.arrays["branch"][rows[good]] = seen.trace.branch[good]
            for name, found in (("residual", seen.residual), ("margin", seen.trace.margin)):
                before = self.arrays[name][rows[good]]
                worst = np.fmax if name == "residual" else np.fmin
                self.arrays[name][rows[good]] = worst(before, found[good])
            then(rows[good], seen, good)

    def _rank(self, rows: np.ndarray, seen: Observation, good: np.ndarray) -> None:
        """Hold the symbolic result against W."""
        base, entries, chosen = self.of.base, self._entries[:, rows], np.flatnonzero(good)
        whole = np.isfinite(entries).all(axis=0)
        # Where a pivot vanishes there is no β to hold against W, but W has its rank all the same.
        entries = np.where(whole, entries, 0.0)
        held = linear.check(
            seen.W,
            seen.error[good],
            base.kept,
            base.eliminated,
            base.places,
            entries,
            seen.terms[good],
            chosen,
        )
        found = held.spectrum
        for name, values in (
            ("rank", found.rank),
            ("rank_gap", found.gap),
            ("condition", np.where(whole, held.condition, np.nan)),
            ("singular_values", found.singular_values),
        ):
            self.arrays[name][rows] = values
        self._judge(rows, held, whole)
        if not whole.all():
            lost = rows[~whole]
            self._mark(lost, Status.SPECIAL, Reason.VANISHING_PIVOT, self._smallest_pivot()[lost])

    def _smallest_pivot(self) -> np.ndarray:
        """Least pivot of β against its nominal value, per variant."""
        base = self.of.base
        if not base.validity:
            return np.ones(self.count)
        nominal = np.abs(base.pivot_values(self.of.model.mechanism.nominal))
        ratio = np.abs(base.pivot_values(self._known)) / nominal
        return np.broadcast_to(ratio.min(axis=0), (self.count,))

    def _judge(self, rows: np.ndarray, held: Check, whole: np.ndarray) -> None:
        """Solved, special or awaiting precise; `whole` where β exists."""
        found, generic = held.spectrum, self.of.base.rank
        sound = held.null_error <= allowed_share(found.noise)
        decided = found.clear & sound & (found.rank == generic)
        low = found.clear & sound & (found.rank < generic) & (self.of.rank == "numeric")
        self._mark(rows[low], Status.SPECIAL, Reason.LOW_RANK, found.rank[low])
        # A rank below the generic one may be low mobility that float64 cannot see.
        doubtful = ~decided & ~low & whole
        self._mark(
            rows[doubtful], Status.AWAITING_PRECISE, Reason.DOUBTFUL_RANK, found.gap[doubtful]
        )
        if self.of.rank == "precise":
            self._mark(rows[decided], Status.AWAITING_PRECISE, Reason.PRECISE_ASKED, np.nan)

    def _cycle(self, rows: np.ndarray, seen: Observation, good: np.ndarray) -> None:
        assert self.of.cycle is not None
        q = seen.trace.q[:, good]
        closed = ClosedCycle(self.of.model, self._part(rows), self.of.cycle, q)
        if self.of.meter is not None:
            self._regimes(rows, self.of.meter)
        apart = (*METRICS, *(self.of.meter.names if self.of.meter else ()))
        wanted = [name for name in self.of.metrics if name not in apart]
        for name, values in cycle_metrics.of_cycle(closed, wanted).items():
            self.arrays[array_name(name)][rows] = values
        for own in self.of.own:
            self.arrays[own.name][rows] = own(closed)
        if self.of.torque_metrics or self.of.reducer is not None:
            self._torques(rows, seen, good)

    def _regimes(self, rows: np.ndarray, meter: Meter) -> None:
        """Metrics of steady regimes; a variant without one is special, and its reason says why."""
        found = meter(self._part(rows))
        for name, values in found.values.items():
            self.arrays[array_name(name)][rows] = values
        missing = ~found.sound & (self.arrays["status"][rows] == Status.SOLVED)
        for state, reason in _REGIME_REASONS.items():
            hit = missing & (found.state == state)
            self._mark(rows[hit], Status.SPECIAL, reason, np.nan)

    def _torques(self, rows: np.ndarray, seen: Observation, good: np.ndarray) -> None:
        phi, chosen = self._phi[rows], np.flatnonzero(good)
        if self.of.reducer is not None:
            again = self._at(rows).observe
            entries = self._entries[:, rows]
            reduced, torques = self.of.reducer(
                seen.W, reduce.Chosen(chosen, phi, entries, seen.error[good], again)
            )
            for name, values in reduced.items():
                self.arrays[name][rows] = values
        elif self.of.torque_metrics:
            torques = paths.torques(seen.W, phi, chosen)
        mechanism = self.of.model.mechanism
        drives = [mechanism.coordinates.index(name) for name in mechanism.actuated]
        results = {"torque_rms": torques.rms, "torque_peak": torques.peak}
        for name in self.of.torque_metrics:
            values = results[name][:, drives]
            self.arrays[name][rows] = values[:, 0] if len(drives) == 1 else values

    def _wipe_failed(self) -> None:
        """Base parameters of what works; nothing stands as a number for what does not."""
        rows = self._going
        rows = rows[self.arrays["reason"][rows] != Reason.VANISHING_PIVOT]  # β is not to be had
        if rows.size and "base_parameters" in self.arrays:
            base = self.of.base
            found = base.combine(self._phi[rows], self._entries[:, rows])
            self.arrays["base_parameters"][rows] = found
        failed = np.isin(
            self.arrays["status"], (Status.UNASSEMBLABLE, Status.LOST, Status.SINGULAR)
        )
        for name, empty in blank(self.of, 1).items():
            self.arrays[name][failed] = empty[0]


def prepare(spec: SweepSpec) -> ChunkEvaluator:
    """Do once what all variants share.

    Raises
    ------
    MissingDataError
        The specification asks for what the mechanism does not state.
    UsageError
        It asks for what cannot be computed.
    """
    mechanism, asked = spec.mechanism, spec.evaluation
    torque_metrics = [name for name in asked.built_in if name in METRICS]
    if torque_metrics:
        _check_torques(spec, torque_metrics)
    cycle_metrics.check(mechanism, asked.built_in)
    if asked.reduction:
        check_reducible(mechanism, asked.reduction.criteria)
    from basepar_core.base.symbolic import symbolic  # computer algebra, which workers do without

    model = assemble(mechanism)
    base = symbolic(model)
    start = model.assembled.coordinates
    return ChunkEvaluator(
        model,
        base,
        asked.rank,
        asked.built_in,
        None if asked.rank == "none" else excitation(mechanism, start),
        cycle(mechanism, start) if asked.metrics or asked.users or asked.reduction else None,
        reduce.prepare(model, base, asked.reduction) if asked.reduction else None,
        _precise(model, base) if asked.rank in ("auto", "precise") else None,
        asked.users,
        _meter(model, asked.built_in),
    )


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
    passive = [name for name in mechanism.actuated if name not in mechanism.coordinates]
    if passive or len(mechanism.actuated) != len(mechanism.coordinates):
        raise UsageError(
            f"Torque metrics are of the coordinates ({', '.join(mechanism.coordinates)}); the "
            f"drives of {mechanism.name!r} are {', '.join(mechanism.actuated)}. Choose the driven "
            f"joints as coordinates.",
            ["actuated"],
        )
