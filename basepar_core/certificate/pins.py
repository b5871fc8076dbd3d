"""Pins: natural coordinates of bodies with prescribed values, as a drive of the precise route."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from basepar_core.symbolic import cross, times
from basepar_core.variable_precision import ORIGIN, UNITS, ZERO, Poses, Row, Twists, Vec


@dataclass(frozen=True)
class Pin:
    """A natural coordinate with a prescribed value: of the origin (axis −1) or of an axis."""

    body: int
    axis: int
    component: int

    def label(self, bodies: Sequence[str]) -> str:
        """Its name in a certificate."""
        vector = "at" if self.axis < 0 else "xyz"[self.axis]
        return f"{bodies[self.body]}.{vector}.{'xyz'[self.component]}"

    def value(self, R: np.ndarray, p: np.ndarray) -> float:
        """At poses R (body, 3, 3), p (body, 3)."""
        if self.axis < 0:
            return float(p[self.body, self.component])
        return float(R[self.body, self.component, self.axis])


@dataclass(frozen=True)
class PinEquation:
    """A natural coordinate has a value; an equation of `variable_precision.constraints`."""

    pin: Pin
    target: arb

    def gap(self, at: Poses) -> arb:
        reached = at.p[self.pin.body] if self.pin.axis < 0 else self._arm(at)
        return reached[self.pin.component] - self.target

    def row(self, at: Poses) -> Row:
        b, e = self.pin.body, UNITS[self.pin.component]
        if self.pin.axis < 0:
            return [(b, ORIGIN, e)]
        return [(b, cross(self._arm(at), e), ORIGIN)]

    def bias(self, at: Poses, moving: Twists) -> arb:
        if self.pin.axis < 0:
            return ZERO
        w = moving.omega[self.pin.body]
        return cross(w, cross(w, self._arm(at)))[self.pin.component]

    def _arm(self, at: Poses) -> Vec:
        return times(at.R[self.pin.body], UNITS[self.pin.axis])


@dataclass(frozen=True)
class Pins:
    """All pins as one drive of `variable_precision.configurations`."""

    pins: Sequence[Pin]

    def equations(self, q: Sequence[arb]) -> list[PinEquation]:
        return [PinEquation(pin, x) for pin, x in zip(self.pins, q, strict=True)]

    def modes(self, at: Poses, q: Sequence[arb]) -> list[list[arb]]:
        count = len(self.pins)
        return [[arb(int(i == j)) for j in range(count)] for i in range(count)]

    def second(
        self,
        at: Poses,
        moving: Twists,
        q: Sequence[arb],
        q_dot: Sequence[arb],
        q_ddot: Sequence[arb],
    ) -> list[arb]:
        return [
            wanted - equation.bias(at, moving)
            for equation, wanted in zip(self.equations(q), q_ddot, strict=True)
        ]
