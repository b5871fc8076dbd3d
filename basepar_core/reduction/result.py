"""The reduction of one mechanism as a value: its path, its models, and what they consist of."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.errors import UsageError
from basepar_core.texts import plural

from .criteria import NO_NOISE, Selection
from .path import Path
from .projection import Generalised, generalise


@dataclass(frozen=True)
class Term:
    """A parameter of a reduced model: its value (SI), and what it carries of the dropped.

    φ_k = φ_b + Σ `shares`·φ_b of dropped base parameters: generalised base parameters.
    """

    name: str
    value: float
    shares: tuple[tuple[str, float], ...]


def terms(kept: Generalised, path: Path, step: int) -> tuple[Term, ...]:
    """Parameters of the model at a step, and how the dropped ones are regrouped into them."""
    names = kept.base.base_names
    return tuple(
        Term(
            names[k],
            float(path.values[0, step, k]),
            tuple((names[d], float(x)) for d, x in zip(kept.dropped, row, strict=True) if x != 0),
        )
        for k, row in zip(kept.kept, kept.shares, strict=True)
    )


@dataclass(frozen=True)
class ReducedMechanism:
    """The reduction of one mechanism at its nominal geometry.

    Attributes
    ----------
    mechanism, method
        Names.
    path, selection
        Of one variant.
    samples
        n of the criteria.
    tolerance
        Relative torque error of the criterion `tolerance`.
    noise
        σ by coordinate, N m or N; empty where none is stated.
    base, W
        What was reduced: base parameters, and W of the cycle (sample, coordinate, parameter).
    validation
        (step,): torque errors of the path's models on a second trajectory; None without one.
    record, estimated, notes
        Where torques were measured: the record, whether σ was estimated from it, and what to
        doubt, (kind, text) each. "" where they are the model's own.
    """

    mechanism: str
    method: str
    path: Path
    selection: Selection
    samples: float
    tolerance: float
    noise: tuple[tuple[str, float], ...]
    base: BaseParameters = field(repr=False)
    W: Array = field(repr=False)
    validation: Array | None = None
    record: str = ""
    estimated: bool = False
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Base parameters, as `path` counts them."""
        return self.base.base_names

    @cached_property
    def models(self) -> tuple[tuple[Term, ...], ...]:
        """Per criterion the parameters of the selected model."""
        return tuple(
            terms(self.generalised(int(size)), self.path, self.base.rank - int(size))
            for size in self.selection.size[0]
        )

    def generalised(self, size: int) -> Generalised:
        """The generalised base parameters of the path's model of a size.

        Raises
        ------
        UsageError
            The path has no model of this size.
        """
        if not 0 <= size <= self.base.rank:
            raise UsageError(
                f"There is no model of {size} parameters: the mechanism has "
                f"{plural(self.base.rank, 'base parameter')}, and reductions leave so many to 0. "
                f"Ask for a size of 0 to {self.base.rank}, or where a criterion stops: "
                f"{', '.join(self.selection.criteria)}.",
                ["size="],
            )
        gone = self.path.gone(self.base.rank - size)
        sigma = np.array([x for _, x in self.noise]) if self.noise else None
        return generalise(self.W, self.base, gone, sigma)

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
                **self._validated(step),
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
            "noise_estimated": self.estimated,
            "record": self.record or None,
            "explanation": self.explanation,
            "notes": [{"kind": kind, "text": text} for kind, text in self.notes],
            "torque_norm": float(self.path.torque_norm[0]),
            "steps": steps,
            "selected": {name: self._selected(place) for place, name in enumerate(found.criteria)},
        }

    def _validated(self, step: int) -> dict[str, float]:
        return {} if self.validation is None else {"validation": float(self.validation[step])}

    def _selected(self, place: int) -> dict[str, Any]:
        size = int(self.selection.size[0, place])
        return {
            "size": size,
            "torque_error": float(self.selection.error[0, place]),
            **self._validated(len(self.names) - size),
            "generalised": self.generalised(size).document(),
            "parameters": [
                {"parameter": term.name, "value": term.value, "shares": dict(term.shares)}
                for term in self.models[place]
            ],
        }

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and rows as text, one row per step; * marks where a criterion stops."""
        found = self.selection
        judged = [(p, name) for p, name in enumerate(found.criteria) if name != "tolerance"]
        second = () if self.validation is None else ("validation",)
        names = (name for _, name in judged)
        header = ("step", "removed", "size", "torque error", *second, *names)
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
            checked = [format(x, ".3e") for x in self._validated(step).values()]
            rows.append((str(step), removed or "", str(size), error, *checked, *others))
        return header, rows


def _marked(value: float, form: str, stops: bool) -> str:
    text = format(value, form) if np.isfinite(value) else "–"
    return f"{text} *" if stops else text
