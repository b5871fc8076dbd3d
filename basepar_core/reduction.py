"""Reduction of one mechanism, and what its sweep shares: torque, weights, samples.

The model's own torque τ = W φ over the cycle is what a reduced model has to explain. `paths`
orders the base parameters by relevance, `criteria` say how many of them are worth keeping.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from .base.numeric import NO_EFFECT
from .base.result import BaseParameters
from .closure import Model
from .criteria import CRITERIA, NO_NOISE, Selection, check_noise, select
from .errors import MissingDataError, UsageError
from .expressions import evaluate
from .mechanism import Mechanism
from .motion import cycle
from .paths import Path, backward, forward
from .regressor import Observation, observe
from .spatial import Array

METHODS = {"backward": backward, "forward": forward}
#: Numbers of W taken at a time (2 MB): best for four-bars (30 µs a variant against 45 at once,
#: 90 at an eighth) and near best for the UR10 (1.0 ms; 2.9 at a quarter); and temporary
#: copies stay small beside W.
BLOCK = 1 << 18


def noise_levels(mechanism: Mechanism) -> Array | None:
    """σ of each coordinate's torque (coordinate,), N m or N; None where none is stated."""
    if not mechanism.noise:
        return None
    stated = dict(mechanism.noise)
    levels = evaluate([stated[name] for name in mechanism.coordinates], mechanism.nominal)
    return np.array([float(level) for level in levels])


def effective_samples(mechanism: Mechanism, asked: float | None = None) -> float:
    """n of the criteria: as asked, as the cycle states, or its samples × coordinates."""
    if asked is not None:
        return float(asked)
    assert mechanism.cycle is not None
    if (stated := mechanism.cycle.effective_samples) is not None:
        return float(evaluate([stated], mechanism.nominal)[0])
    return float(mechanism.cycle.samples * len(mechanism.coordinates))


def check_reducible(mechanism: Mechanism, criteria: Sequence[str]) -> None:
    """Refuse what cannot be reduced.

    Raises
    ------
    MissingDataError
        No cycle, bodies without inertia, or no noise where a criterion needs it.
    """
    if mechanism.cycle is None:
        raise MissingDataError(
            f"Reduction compares torques over a cycle, and {mechanism.name!r} states none. Add "
            f"`cycle: {{joints: …, samples: …}}`.",
            ["cycle"],
        )
    bare = [body.name for body in mechanism.bodies if body.parameters is None]
    if bare:
        raise MissingDataError(
            f"Reduction needs torques, torques need inertias, and {', '.join(bare)} of "
            f"{mechanism.name!r} {'has' if len(bare) == 1 else 'have'} none. Give mass, centre "
            f"and inertia.",
            [f"bodies.{name}" for name in bare],
        )
    check_noise(criteria, bool(mechanism.noise))


def own_path(
    W: Array,
    phi: Array,
    kept: Sequence[int],
    noise: Array | None = None,
    error: Array | float = 0.0,
    method: str = "backward",
) -> Path:
    """The path of models' own torques.

    Parameters
    ----------
    W
        (variant, sample, coordinate, parameter), all parameters.
    phi
        (variant, parameter), SI.
    kept
        Base parameters by index.
    noise
        (coordinate,): σ, N m or N; None: rows count alike.
    error
        (variant,): relative error of W.
    method
        backward or forward.
    """
    error = np.broadcast_to(error, (len(W),))
    block = max(1, BLOCK // W[0].size) if len(W) else 1
    parts = [slice(k, k + block) for k in range(0, len(W) or 1, block)]
    paths = [_own_path(W[p], phi[p], list(kept), noise, error[p], method) for p in parts]
    return Path(*(np.concatenate([getattr(path, f.name) for path in paths]) for f in fields(Path)))


def _own_path(
    W: Array, phi: Array, kept: list[int], noise: Array | None, error: Array, method: str
) -> Path:
    weights = np.ones(W.shape[2]) if noise is None else 1 / noise
    torque = np.einsum("vscp,vp->vsc", W, phi)
    # A balanced machine's torque is what rounding leaves of cancelling parts.
    parts = np.einsum("vscp,vscp,c->vp", W, W, weights**2) * phi**2
    negligible = NO_EFFECT * np.sqrt(parts.sum(axis=1))
    return METHODS[method](W[..., kept], torque, weights, error, negligible)


@dataclass(frozen=True)
class Term:
    """A parameter of a reduced model: its value (SI), and what it carries of the dropped.

    φ_k = φ_b + Σ `shares`·φ_b of dropped base parameters: generalised base parameters.
    """

    name: str
    value: float
    shares: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ReducedMechanism:
    """The reduction of one mechanism at its nominal geometry.

    Attributes
    ----------
    mechanism, method
        Names.
    names
        Base parameters, as `path` counts them.
    path, selection
        Of one variant.
    models
        Per criterion the parameters of the selected model.
    samples
        n of the criteria.
    tolerance
        Relative torque error of the criterion `tolerance`.
    noise
        σ by coordinate, N m or N; empty where none is stated.
    """

    mechanism: str
    method: str
    names: tuple[str, ...]
    path: Path
    selection: Selection
    models: tuple[tuple[Term, ...], ...]
    samples: float
    tolerance: float
    noise: tuple[tuple[str, float], ...]

    @property
    def explanation(self) -> str:
        """Why only the tolerance is offered; "" where noise is stated."""
        return "" if self.noise else f"{NO_NOISE} None is stated, so there is only the tolerance."

    @cached_property
    def removed(self) -> tuple[str | None, ...]:
        """Names by step; None at step 0."""
        return tuple(self.names[k] if k >= 0 else None for k in self.path.removed[0])

    def document(self) -> dict[str, Any]:
        """What `basepar reduce --json` prints; a criterion that cannot judge a size is null."""
        found = self.selection
        judged = [name for name in found.criteria if name != "tolerance"]
        values = {
            name: [float(x) if np.isfinite(x) else None for x in found.values[0, place]]
            for place, name in enumerate(found.criteria)
        }
        steps = [
            {
                "step": step,
                "removed": removed,
                "size": int(self.path.sizes[step]),
                "torque_error": float(self.path.torque_error[0, step]),
                "criteria": {name: values[name][step] for name in judged},
            }
            for step, removed in enumerate(self.removed)
        ]
        return {
            "mechanism": self.mechanism,
            "method": self.method,
            "base": list(self.names),
            "dependent": int(self.path.dependent[0]),
            "effective_samples": self.samples,
            "tolerance": self.tolerance,
            "noise": dict(self.noise),
            "explanation": self.explanation,
            "torque_norm": float(self.path.torque_norm[0]),
            "steps": steps,
            "selected": {name: self._selected(place) for place, name in enumerate(found.criteria)},
        }

    def _selected(self, place: int) -> dict[str, Any]:
        return {
            "size": int(self.selection.size[0, place]),
            "torque_error": float(self.selection.error[0, place]),
            "parameters": [
                {"parameter": term.name, "value": term.value, "shares": dict(term.shares)}
                for term in self.models[place]
            ],
        }

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and rows as text, one row per step; * marks where a criterion stops."""
        found = self.selection
        judged = [(p, name) for p, name in enumerate(found.criteria) if name != "tolerance"]
        header = ("step", "removed", "size", "torque error", *(name for _, name in judged))
        rows = []
        for step, removed in enumerate(self.removed):
            size = int(self.path.sizes[step])
            stops = {
                name for place, name in enumerate(found.criteria) if found.size[0, place] == size
            }
            error = _marked(self.path.torque_error[0, step], ".3e", "tolerance" in stops)
            others = [
                _marked(found.values[0, place, step], ".6g", name in stops)
                for place, name in judged
            ]
            rows.append((str(step), removed or "", str(size), error, *others))
        return header, rows


def _marked(value: float, form: str, stops: bool) -> str:
    text = format(value, form) if np.isfinite(value) else "–"
    return f"{text} *" if stops else text


def reduce_mechanism(
    model: Model,
    base: BaseParameters,
    method: str = "backward",
    criteria: Sequence[str] | None = None,
    tolerance: float = 0.01,
    samples: float | None = None,
) -> ReducedMechanism:
    """Reduce a mechanism at its nominal geometry over its cycle.

    Parameters
    ----------
    model, base
        The mechanism, prepared, and its base parameters.
    method
        backward (elimination) or forward (addition); the two greedy paths differ in general,
        and neither guarantees the smallest model.
    criteria
        Of `criteria.CRITERIA`; None: all, or the tolerance alone where no noise is stated.
    tolerance
        Relative torque error of the criterion `tolerance`.
    samples
        n of the criteria; None: as the file states, or samples × coordinates.

    Raises
    ------
    MissingDataError
        As `check_reducible`.
    UsageError
        Unknown method or criteria; or the cycle cannot be followed.
    """
    mechanism = model.mechanism
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise UsageError(f"No such method: {method!r}. Methods are {known}.", [method])
    if criteria is None:
        criteria = CRITERIA if mechanism.noise else CRITERIA[:1]
    check_reducible(mechanism, criteria)
    seen, noise = _observe_cycle(model), noise_levels(mechanism)
    phi = mechanism.inertial_parameters(mechanism.nominal).reshape(1, -1)
    path = own_path(seen.W, phi, base.kept, noise, seen.error, method)
    n = effective_samples(mechanism, samples)
    found = select(path, criteria, n, noise_known=noise is not None, tolerance=tolerance)
    sigma = np.ones(len(mechanism.coordinates)) if noise is None else noise
    columns = (seen.W[0][..., list(base.kept)] / sigma[:, None]).reshape(-1, base.rank)
    steps = base.rank - found.size[0]
    return ReducedMechanism(
        mechanism=mechanism.name,
        method=method,
        names=base.base_names,
        path=path,
        selection=found,
        models=tuple(_model(columns, path, base.base_names, int(step)) for step in steps),
        samples=n,
        tolerance=tolerance,
        noise=tuple(zip(mechanism.coordinates, map(float, sigma), strict=True))
        if noise is not None
        else (),
    )


def _observe_cycle(model: Model) -> Observation:
    """W at nominal geometry along the cycle."""
    mechanism = model.mechanism
    motion = cycle(mechanism, model.assembled.coordinates)
    seen = observe(model, {}, motion)
    if not seen.closed[0] or not np.isfinite(seen.W).all():
        sample = seen.trace.where[0]
        at = f" at sample {sample:.0f} of {motion.t.size}" if np.isfinite(sample) else ""
        raise UsageError(
            f"The cycle of {mechanism.name!r} cannot be followed at the nominal geometry: the "
            f"loops fail{at}. Change the cycle's motion, or the assembly.",
            ["cycle"],
        )
    return seen


def _model(columns: Array, path: Path, names: tuple[str, ...], step: int) -> tuple[Term, ...]:
    """Parameters of the model at a step, and how the dropped ones are regrouped into them.

    The dropped columns' least-squares projection onto the kept ones: what Gautier's procedure
    gives where they are dependent exactly (J. Robotic Systems 8(4), 1991).
    """
    dropped = [int(k) for k in path.removed[0, 1 : step + 1]]
    kept = [k for k in range(len(names)) if k not in dropped]
    lengths = np.sqrt((columns**2).sum(axis=0))
    unit = columns / np.where(lengths > 0, lengths, 1.0)
    shares = np.linalg.lstsq(unit[:, kept], unit[:, dropped], rcond=None)[0]
    # In unit columns entries are shares of a column; zeros come out at rounding.
    shares = np.where(np.abs(shares) < NO_EFFECT, 0.0, shares)
    lifted = shares * lengths[dropped] / lengths[kept][:, None]
    return tuple(
        Term(
            names[k],
            float(path.values[0, step, k]),
            tuple((names[d], float(x)) for d, x in zip(dropped, row, strict=True) if x != 0),
        )
        for k, row in zip(kept, lifted, strict=True)
    )
