"""The low-mobility paper's suspension: our routes on it, with the paper's φ₂ and short names.

Ground points and axes are not printed; ours are in `sla-suspension`, and of what is compared only
rounding noise and singular values depend on them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import (
    BaseParameters,
    PreciseParameters,
    nominal_observation,
    parameter_indices,
    precise,
    symbolic,
)
from basepar_core.dynamics import Model, Observation
from basepar_core.finite_field import BlackBox, black_box_beta
from basepar_core.symbolic import GeometryField, Transfers
from basepar_core.variable_precision import text

from .expressions import PrintedField

#: Digits that Table 2 is computed to: twenty more than the paper prints.
DIGITS = 30


@dataclass(frozen=True)
class Suspension:
    """The paper's mechanism, its printed numbers, and our routes on it with the paper's φ₂."""

    model: Model
    printed: Any

    @cached_property
    def wanted(self) -> list[int]:
        """φ₂ by index."""
        names = self.printed["no_effect"] + self.printed["transferred"]
        return parameter_indices(self.model.mechanism, names)

    @cached_property
    def short(self) -> dict[str, str]:
        """Short names by full ones."""
        return {full: name for name, full in self.model.mechanism.parameter_aliases.items()}

    @cached_property
    def symbolic(self) -> BaseParameters:
        return symbolic(self.model, self.wanted)

    @cached_property
    def precise(self) -> PreciseParameters:
        return precise(self.model, self.wanted, digits=DIGITS)

    @cached_property
    def black_box(self) -> BlackBox:
        return black_box_beta(self.model, self.wanted)

    @cached_property
    def observation(self) -> Observation:
        return nominal_observation(self.model)

    @cached_property
    def field(self) -> PrintedField:
        return PrintedField(self.model.mechanism, list(self.short.values()))

    @cached_property
    def double(self) -> dict[str, dict[str, float]]:
        """β by Gautier's procedure in floats, with the rank given."""
        rank = len(self.symbolic.kept)
        null = np.linalg.svd(self.observation.stacked[0])[2][rank:].T
        kept, eliminated = list(self.symbolic.kept), list(self.symbolic.eliminated)
        beta: Array = -np.linalg.solve(null[eliminated].T, null[kept].T).T
        names = self.symbolic.eliminated_names
        return {
            self.short[base]: {
                self.short[name]: float(x) for name, x in zip(names, row, strict=True)
            }
            for base, row in zip(self.symbolic.base_names, beta, strict=True)
        }

    @cached_property
    def right(self) -> dict[str, dict[str, str]]:
        """β in variable precision, nonzero entries as text."""
        found = self.precise
        rows: dict[str, dict[str, str]] = {self.short[name]: {} for name in found.base_names}
        for entry, value in zip(found.beta, found.decimals, strict=True):
            row = rows[self.short[found.base_names[entry.base]]]
            row[self.short[found.eliminated_names[entry.eliminated]]] = text(value, DIGITS)
        return rows

    def transfers(self, joint: str, kind: str) -> list[dict[str, Any]]:
        """Our null vectors of one joint and kind ("mass", "first moment", "second moment").

        Entries by short name in `field`; parameters without effect are left out, because they
        stand in ours and not in the paper's.
        """
        mechanism = self.model.mechanism
        own = GeometryField.of(mechanism)
        silent = {self.short[mechanism.parameter_names[k]] for k in self.symbolic.no_effect}
        names = [self.short[name] for name in mechanism.parameter_names]
        (here,) = (one for one in mechanism.joints if one.name == joint)
        return [
            {
                names[k]: self.field.element(own.to_expression(x))
                for k, x in vector.entries.items()
                if names[k] not in silent
            }
            for vector in Transfers(mechanism, own).over(here)
            if vector.reason.startswith(kind)
        ]
