"""The variants of one chunk, from geometry to results.

Loops closed along the excitation and along the cycle, W, its singular values held against the
symbolic result, base parameters, torques. A variant that fails has a status and a reason.
"""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from basepar_core.base import Check, allowed_share
from basepar_core.compiled import Variants, linear, paths
from basepar_core.dynamics import (
    OPEN,
    Motion,
    Observation,
    Outcome,
    column_values,
    observe_columns,
    with_columns,
)
from basepar_core.metrics import (
    BROKEN,
    COARSE,
    ClosedCycle,
    Meter,
    array_name,
    cycle,
    drives,
    is_torque,
)
from basepar_core.single_dof import cycle_integrator
from basepar_core.symbolic import roots, symbol_values
from sweeps.store import WITH_RESULTS, Arrays, Reason, Status, blank

from . import reduction
from .recipe import Recipe

#: W of so many bytes stays near the processor and in memory the process has already; a piece of
#: fewer variants would spend its time in Python, as long as memory allows. Measured:
#: docs/decisions/0036.
PIECE_BYTES, MOST_BYTES = 16 << 20, 256 << 20
LEAST_PIECE = 256

_REGIME_REASONS = {
    cycle_integrator.STALLED: Reason.STALLED,
    cycle_integrator.NEUTRAL: Reason.NEUTRAL,
    cycle_integrator.NONE: Reason.NO_REGIME,
    BROKEN: Reason.NO_TURN,
    COARSE: Reason.ROUGH_REGIME,
}


class Chunk:
    """The variants of one chunk that are evaluated, and what is known of them so far."""

    def __init__(
        self,
        evaluator: Recipe,
        values: Mapping[str, np.ndarray],
        designs: np.ndarray | None = None,
    ):
        self.of, self.values, self.designs = evaluator, values, designs
        # Roots are followed once for all who ask for them.
        self.full = {**values, **roots(evaluator.model.mechanism, values)}
        self.count = next(iter(values.values())).size
        self.arrays = blank(evaluator, self.count)
        self.arrays["status"] = np.full(self.count, Status.SOLVED, np.int8)
        self.arrays["reason"] = np.zeros(self.count, np.int16)
        self.arrays["reason_value"] = np.full(self.count, np.nan)
        self.whole = evaluator.engine.variants(self.full)
        self.variants, self.rows = self.whole, np.arange(self.count)  # of a piece, later on

    def run(self) -> Arrays:
        self._find_undefined()
        self._find_poles()
        going = self._going(np.arange(self.count))
        ends = np.arange(self._piece, going.size, self._piece)
        if self.designs is not None:  # a design's steps stay with it
            ends = np.unique(np.searchsorted(self.designs[going], self.designs[going[ends]]))
        for piece in np.split(going, ends[ends > 0]):
            self._move(piece)
        self._wipe_failed()
        return self.arrays

    @property
    def _piece(self) -> int:
        """Variants whose W are held at once."""
        motions = [x.q.size for x in (self.of.excitation, self.of.cycle) if x is not None]
        each = 8 * max(motions, default=1) * len(self.of.base.parameters)
        return max(1, PIECE_BYTES // each, min(LEAST_PIECE, MOST_BYTES // each))

    def _move(self, rows: np.ndarray) -> None:
        """Follow the motions with some variants."""
        of = self.of
        self.variants, self.rows = self.whole.take(rows), rows
        if of.excitation is not None:
            self._follow(rows, of.excitation, self._rank, Reason.LOST_LOOP, Reason.NEAR_SINGULAR)
        if of.cycle is not None:
            reasons = Reason.LOST_IN_CYCLE, Reason.SINGULAR_IN_CYCLE
            self._follow(rows, of.cycle, self._cycle, *reasons)

    def _going(self, rows: np.ndarray) -> np.ndarray:
        """Of some variants those that have not failed so far, by index."""
        return rows[np.isin(self.arrays["status"][rows], WITH_RESULTS)]

    def _mark(
        self, rows: np.ndarray, status: Status, reason: int, number: np.ndarray | float
    ) -> None:
        self.arrays["status"][rows] = status
        self.arrays["reason"][rows] = reason
        self.arrays["reason_value"][rows] = number

    def _find_undefined(self) -> None:
        """Variants at which an expression has no finite value."""
        bad = ~self.whole.defined()
        if self.of.model.mechanism.has_inertias:
            bad |= ~np.isfinite(self._all_phi).all(axis=1)
        self._mark(np.flatnonzero(bad), Status.UNASSEMBLABLE, Reason.UNDEFINED, np.nan)

    def _find_poles(self) -> None:
        """Variants at which β does not exist; they have all other results."""
        rows = self._going(np.flatnonzero(~self._whole))
        if rows.size:
            pivot = self._smallest_pivot()[rows]
            self._mark(rows, Status.SPECIAL, Reason.VANISHING_PIVOT, pivot)

    def _part(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {name: column[rows] for name, column in self.values.items()}

    def _at(self, rows: np.ndarray) -> Variants:
        """Variants that still go, in their geometries."""
        if rows.size < self.rows.size:
            kept = np.searchsorted(self.rows, rows)
            self.variants, self.rows = self.variants.take(kept), rows
        return self.variants

    @cached_property
    def _known(self) -> Mapping[str, Any]:
        """Every symbol's values."""
        return symbol_values(self.of.model.mechanism, self.full)

    @cached_property
    def _phi(self) -> np.ndarray:
        """(variant, parameter), SI."""
        phi = self.of.model.mechanism.inertial_parameters(self._known)
        return np.broadcast_to(phi, (self.count, phi.shape[-1]))

    @cached_property
    def _all_phi(self) -> np.ndarray:
        """(variant, parameter), SI, with force-law columns behind the inertial ones."""
        further = column_values(self.of.model.mechanism, self.of.columns, self._known)
        shape = (self.count, len(self.of.columns))
        return np.concatenate([self._phi, np.broadcast_to(further, shape)], axis=1)

    @cached_property
    def _entries(self) -> np.ndarray:
        """β's nonzero entries (entry, variant)."""
        found = self.of.base.beta_entries(self._known)
        return np.broadcast_to(found, (len(self.of.base.beta), self.count))

    @cached_property
    def _whole(self) -> np.ndarray:
        """(variant,) bool: β exists; a pivot within rounding of zero is none to divide by."""
        poles = self.of.base.vanishing_pivots(self._known).any(axis=0)
        return np.isfinite(self._entries).all(axis=0) & ~poles

    def _follow(
        self, rows: np.ndarray, motion: Motion, then: Any, lost: Reason, singular: Reason
    ) -> None:
        """Close the loops along a motion; `then` takes the variants that got through."""
        rows = self._going(rows)
        if not rows.size:
            return
        variants = self._at(rows)
        bare = then == self._cycle and not self.of.needs_torques
        seen = variants.close(motion) if bare else variants.observe(motion)
        finite = linear.finite(seen.W) if seen.W.size else np.isfinite(seen.error)
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
        # Loops close by the independent constraints; the others hold only at certain geometries.
        gaping = seen.closed & (seen.residual > OPEN)
        self._mark(rows[gaping], Status.UNASSEMBLABLE, Reason.OPEN_LOOP, seen.residual[gaping])
        good = seen.closed & finite & ~gaping
        if good.any():
            self.arrays["branch"][rows[good]] = seen.trace.branch[good]
            for name, found in (("residual", seen.residual), ("margin", seen.trace.margin)):
                before = self.arrays[name][rows[good]]
                worst = np.fmax if name == "residual" else np.fmin
                self.arrays[name][rows[good]] = worst(before, found[good])
            then(rows[good], seen, good)

    def _rank(self, rows: np.ndarray, seen: Observation, good: np.ndarray) -> None:
        """Hold the symbolic result against W."""
        base, whole, chosen = self.of.base, self._whole[rows], np.flatnonzero(good)
        # Where a pivot vanishes there is no β to hold against W, but W has its rank all the same.
        entries = np.where(whole, self._entries[:, rows], 0.0)
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

    def _smallest_pivot(self) -> np.ndarray:
        """Least pivot of β against its nominal value, per variant."""
        base = self.of.base
        if not base.validity:
            return np.ones(self.count)
        nominal = np.abs(base.pivot_values(self.of.model.mechanism.nominal))
        ratio = np.abs(base.pivot_values(self._known)) / nominal
        return np.broadcast_to(ratio.min(axis=0), (self.count,))

    def _judge(self, rows: np.ndarray, held: Check, whole: np.ndarray) -> None:
        """Solved, special or awaiting precise; where β is not `whole`, special so far."""
        found, generic = held.spectrum, self.of.base.rank
        sound = (held.null_error <= allowed_share(found.noise)) | ~whole
        decided = found.clear & sound & (found.rank == generic)
        low = found.clear & sound & (found.rank < generic) & (self.of.rank == "numeric")
        special = low & whole
        self._mark(rows[special], Status.SPECIAL, Reason.LOW_RANK, found.rank[special])
        # A rank below the generic one may be low mobility that float64 cannot see.
        doubtful = ~decided & ~low
        self._await(rows, doubtful, whole, Reason.DOUBTFUL_RANK, found.clearance)
        if self.of.rank == "precise":
            self._await(rows, decided, whole, Reason.PRECISE_ASKED, np.full(rows.size, np.nan))

    def _await(
        self,
        rows: np.ndarray,
        chosen: np.ndarray,
        whole: np.ndarray,
        reason: Reason,
        number: np.ndarray,
    ) -> None:
        """Leave the rank of `chosen` ones to variable precision; no β is reported all the same."""
        plain, poles = chosen & whole, chosen & ~whole
        self._mark(rows[plain], Status.AWAITING_PRECISE, reason, number[plain])
        if poles.any():
            lost = rows[poles]
            pivot = self._smallest_pivot()[lost]
            self._mark(lost, Status.AWAITING_PRECISE, Reason.PIVOT_AND_RANK, pivot)

    def _cycle(self, rows: np.ndarray, seen: Observation, good: np.ndarray) -> None:
        if self.of.meter is not None:
            self._regimes(rows, self.of.meter)
        apart = self.of.meter.names if self.of.meter else ()
        wanted = [name for name in self.of.metrics if not is_torque(name) and name not in apart]
        if wanted or self.of.own:
            assert self.of.cycle is not None
            q, by = seen.trace.q, self._at(rows)
            if not good.all():  # a copy costs as much as the loops' residuals
                q = q[:, good]
            designs = None if self.designs is None else self.designs[rows]
            closed = ClosedCycle(self.of.model, self._part(rows), self.of.cycle, q, by, designs)
            for name, values in cycle.of_cycle(closed, wanted, self.of.targets).items():
                self.arrays[array_name(name)][rows] = values
            self._own(rows, closed)
        if self.of.needs_torques:
            self._torques(rows, seen, good)

    def _own(self, rows: np.ndarray, closed: ClosedCycle) -> None:
        """The user's metrics; a variant where one is not finite is special, and says which."""
        for place, own in enumerate(self.of.own):
            values = own(closed)
            self.arrays[own.name][rows] = values
            bad = ~np.isfinite(values) & (self.arrays["status"][rows] == Status.SOLVED)
            code = Reason.OWN_METRIC + place
            self._mark(rows[bad], Status.SPECIAL, code, values[bad])

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
        W, error, chosen = seen.W, seen.error[good], np.flatnonzero(good)
        if self.of.columns:
            W, there = self._widened(rows, seen, good)
            self._mark(rows[~there], Status.SINGULAR, Reason.SINGULAR_IN_CYCLE, np.nan)
            rows, error, chosen = rows[there], error[there], np.flatnonzero(there)
            if not rows.size:
                return
        phi = self._all_phi[rows]
        if self.of.reducer is not None:
            entries = self._entries[:, rows]
            reduced, torques = self.of.reducer(
                W, reduction.Chosen(chosen, phi, entries, error, partial(self._again, rows))
            )
            for name, values in reduced.items():
                self.arrays[name][rows] = values
        mechanism, motion = self.of.model.mechanism, self.of.cycle
        assert motion is not None
        found = {}
        if set(self.of.torque_metrics) - {"torque_rms", "torque_peak"}:
            shares = drives.shares(mechanism, motion)
            efforts = paths.efforts(W, phi, chosen, motion.q_dot, shares)
            found = {
                "torque_rms": efforts.rms,
                "torque_peak": efforts.peak,
                "torque_ripple": efforts.greatest - efforts.least,
                "power_peak": efforts.power,
                "drive_energy": efforts.energy,
            }
        elif self.of.torque_metrics:
            if self.of.reducer is None:
                torques = paths.torques(W, phi, chosen)
            found = {"torque_rms": torques.rms, "torque_peak": torques.peak}
        places = [mechanism.coordinates.index(name) for name in mechanism.actuated]
        for name in self.of.torque_metrics:
            values = found[name][:, places]
            self.arrays[name][rows] = values[:, 0] if len(places) == 1 else values

    def _widened(
        self, rows: np.ndarray, seen: Observation, good: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """W of the `good` ones with force-law columns, and for whom these exist.

        They do not where the two points of a spring coincide.
        """
        model, motion = self.of.model, self.of.cycle
        assert motion is not None
        q = seen.trace.q[:, good]
        extra = observe_columns(model, self._part(rows), motion, q, self.of.columns)
        return np.concatenate([seen.W[good], extra], axis=-1), np.isfinite(extra).all((1, 2, 3))

    def _again(self, rows: np.ndarray, motion: Motion) -> Observation:
        """Variants along another motion, with force-law columns."""
        seen = self._at(rows).observe(motion)
        return with_columns(self.of.model, self._part(rows), motion, seen, self.of.columns)

    def _wipe_failed(self) -> None:
        """Base parameters of what works; nothing stands as a number for what does not."""
        rows = self._going(np.flatnonzero(self._whole))  # elsewhere β is unavailable
        if rows.size and "base_parameters" in self.arrays:
            found = self.of.whole.combine(self._all_phi[rows], self._entries[:, rows])
            self.arrays["base_parameters"][rows] = found
        if self.of.beta_places:
            places = list(self.of.beta_places.values())
            self.arrays["beta"][rows] = self._entries[places][:, rows].T
        failed = np.isin(
            self.arrays["status"], (Status.UNASSEMBLABLE, Status.LOST, Status.SINGULAR)
        )
        for name, empty in blank(self.of, 1).items():
            self.arrays[name][failed] = empty[0]
