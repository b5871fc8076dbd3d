"""One chunk of variants, start to finish: a pure function from columns to arrays.

What is done per mechanism, once: assembly, symbolic base parameters, the motions' samples; and
what the arrays are. What is done per chunk stands in `chunk.py`.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from basepar_core.base import BaseParameters, plain_result
from basepar_core.dynamics import (
    Model,
    column_values,
    cycle,
    excitation,
    select,
)
from basepar_core.dynamics import prepare as assemble
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import Meter, is_torque, meter_of, path_error, words
from basepar_core.metrics import cycle as cycle_metrics
from basepar_core.reduction import check_reducible
from basepar_core.texts import plural
from sweeps.spec import SweepSpec, fetched
from sweeps.store import Arrays, Columns, as_damage, blank

from . import reduction
from .precise import CERTAIN, PreciseEvaluator
from .recipe import Recipe


class ChunkEvaluator(Recipe):
    """Evaluates variants of one mechanism; picklable, made by `prepare`."""

    def warm(self, names: Sequence[str]) -> None:
        """Evaluate the nominal variant, so that all kernels needed are compiled and on disk."""
        from . import warmup

        if self.cycle is not None:
            warmup.beside()
        nominal = self.model.mechanism.nominal
        self({name: np.array([nominal[name]]) for name in names}, np.ones(1, dtype=bool))

    def __call__(
        self, columns: Columns, passed: np.ndarray, designs: np.ndarray | None = None
    ) -> Arrays:
        """Evaluate one chunk (see `outputs.Evaluator`); `designs` as `ClosedCycle` has them."""
        arrays = blank(self, len(passed))
        arrays["status"] = np.zeros(len(passed), np.int8)
        arrays["reason"] = np.zeros(len(passed), np.int16)
        arrays["reason_value"] = np.full(len(passed), np.nan)
        chosen = np.flatnonzero(passed)
        if chosen.size:
            from .chunk import Chunk  # the compiler, which whoever prepares a sweep does without

            part = {name: column[chosen] for name, column in columns.items()}
            chunk = Chunk(self, part, None if designs is None else designs[chosen])
            for name, values in chunk.run().items():
                arrays[name][chosen] = values
        return arrays


def prepare(spec: SweepSpec, known: Any = None) -> ChunkEvaluator:
    """Do once what all variants share.

    Parameters
    ----------
    known
        Symbolic base parameters as the sweep's store keeps them (`Recipe.attrs`, as JSON); None:
        they are derived.

    Raises
    ------
    MissingDataError
        The specification asks for what the mechanism does not state.
    MechanismError
        It asks for torques of drives that are no coordinates.
    OwnCodeError
        A store only describes a metric, and nobody fetched it.
    StoreError
        What the store keeps is damaged.
    """
    mechanism, asked = spec.mechanism, spec.evaluation
    users = fetched(asked.users)
    torque_metrics = [name for name in asked.built_in if is_torque(name)]
    if torque_metrics:
        _check_torques(spec, torque_metrics)
    cycle_metrics.check(mechanism, asked.built_in)
    if asked.reduction:
        check_reducible(mechanism, asked.reduction.criteria)
    columns = select(mechanism, asked.columns)
    column_values(mechanism, columns, mechanism.nominal)  # whether there are values
    model = assemble(mechanism)
    base = None
    if known is not None:
        with as_damage("symbolic result"):
            base = plain_result.of_plain(json.loads(str(known)), mechanism)
    base = base or _derived(spec, model)
    start = model.assembled.coordinates
    moving = cycle(mechanism, start) if asked.metrics or users or asked.reduction else None
    if moving is not None:
        path_error.check(mechanism, moving, asked.targets)
    return ChunkEvaluator(
        model,
        base,
        asked.rank,
        asked.built_in,
        None if asked.rank == "none" else excitation(mechanism, start),
        moving,
        reduction.prepare(model, base, asked.reduction, columns) if asked.reduction else None,
        _precise(model, base) if asked.rank in ("auto", "precise") else None,
        users,
        _meter(model, asked.built_in),
        asked.beta,
        columns,
        asked.targets,
    )


def _derived(spec: SweepSpec, model: Model) -> BaseParameters:
    # Computer algebra, which workers do without.
    from basepar_core.base import nearby_observation, symbolic

    # Who asks for no rank need not state an excitation.
    stated = spec.evaluation.rank != "none" or spec.mechanism.excitation is not None
    return symbolic(model, own=False, seen=None if stated else nearby_observation(model))


def _meter(model: Model, names: Sequence[str]) -> Meter | None:
    wanted = [name for name in names if name.partition("(")[0] in words("regime")]
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
    """Reject torques of drives that are no coordinates: τ is conjugate to the coordinates.

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
        said = f"{', '.join(others)} is none"
        remedy = (
            "Choose the driven joints as coordinates (of a drive that a coupling ties to one, its "
            "torque is the coordinate's times the ratio: in a study `torque_rms/n`, without "
            "`actuated`)"
        )
    if len(drives) > len(coordinates):
        remedy = (
            f"With {plural(len(drives), 'drive')} and {plural(len(coordinates), 'degree')} "
            f"of freedom the motion does "
            "not say how they share the load: leave some out, and choose the others as coordinates"
        )
    raise MechanismError(
        f"{' and '.join(metrics)} are torques of drives that are coordinates "
        f"({', '.join(coordinates)}); of the drives of {mechanism.name!r} "
        f"({', '.join(drives) or 'none'}) {said}. {remedy}, or drop the metrics.",
        ["actuated"],
    )
