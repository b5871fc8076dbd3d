"""A small real sweep for these tests: a four-bar's closed-form quantities, and its accidents."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basepar_core.files.mechanism_file import loads
from sweeps.spec.filters import condition
from sweeps.spec.plans import Sobol
from sweeps.spec.sweep_spec import SweepSpec
from sweeps.store.outputs import Arrays, Columns, Output
from sweeps.store.statuses import PreciseStatus, Reason, Status

FOUR_BAR = """
name: four-bar
space: planar
gravity: [0, -9.81]
geometry:
  lx1: {value: 0.3, unit: m}
  lx2: {value: 700, unit: mm}
  lx3: {value: 1.3, unit: m}
  Dx: {value: 1.0, unit: m}
  tilt: {value: 10, unit: deg}
  r3: {value: 1.7}
  k: {value: 2}
constants: {rho: {value: 2.7, unit: kg/m}}
relations: {r3: r3^2 = 3}
bodies:
  crank: {mass: rho*lx1, centre: [lx1/2, 0], inertia: rho*lx1^3/3}
  coupler: {mass: rho*lx2, centre: [lx2/2, 0], inertia: rho*lx2^3/3}
  rocker: {mass: rho*lx3, centre: [lx3/2, 0], inertia: rho*lx3^3/3}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[lx1, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[lx2, 0], [lx3, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[Dx*cos(tilt), Dx*sin(tilt)], [0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -20 deg, C: 100 deg}
"""

MECHANISM = loads(FOUR_BAR)
#: With a root that follows swept lengths.
SPANNED = loads(
    FOUR_BAR.replace("  k: {value: 2}", "  k: {value: 2}\n  span: {value: 0.76, unit: m}").replace(
        "r3^2 = 3}", "r3^2 = 3, span: span^2 = lx1^2 + lx2^2}"
    )
)
BOUNDS = (("lx1", 0.2, 0.6), ("lx3", 0.4, 1.6), ("Dx", 0.6, 1.4))
LX2 = 0.7


def spec(store: object = "", count: int = 400, chunk: int = 16, **others: Any) -> SweepSpec:
    """A Sobol sweep of three lengths, a few of which are filtered."""
    where = (condition(MECHANISM, "lx1 + Dx <= 1.8 m"),)
    plan = others.pop("plan", Sobol(BOUNDS, count, 7))
    return SweepSpec(MECHANISM, plan, where, chunk=chunk, store=str(store), **others)


def rocker_angles(columns: Columns, crank: np.ndarray) -> np.ndarray:
    """Angle of the rocker over the crank's: (variant, sample), nan where the loop stays open."""
    lx1, lx3, dx = (columns[name][:, None] for name in ("lx1", "lx3", "Dx"))
    x, y = dx - lx1 * np.cos(crank), -lx1 * np.sin(crank)
    reach = np.hypot(x, y)
    with np.errstate(invalid="ignore"):
        inner = np.arccos((reach**2 + lx3**2 - LX2**2) / (2 * reach * lx3))
    return np.arctan2(y, x) + inner


@dataclass(frozen=True)
class FourBar:
    """Stroke of the rocker over a turn of the crank, closed form."""

    samples: int = 16
    doubtful: float = -1.0  # strokes below are for the precise task
    delay: float = 0.0  # s per chunk
    raises: frozenset[int] = frozenset()  # thousandths of lx1 at which things go wrong
    attrs: Mapping[str, Any] = field(default_factory=lambda: {"reasons": {100: "joint C"}})

    @property
    def outputs(self) -> tuple[Output, ...]:
        return (
            Output("stroke", unit="rad", long_name="stroke of the rocker"),
            Output("rocker", ("variant", "sample"), unit="rad"),
            Output("removed", ("variant", "step"), "int16"),
            Output("crank_turns", dtype="bool"),
        )

    @property
    def coords(self) -> dict[str, list[str] | list[int]]:
        return {"sample": list(range(self.samples)), "step": [0, 1], "parameter": ["a", "bc"]}

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        time.sleep(self.delay)
        self.accident(np.floor(columns["lx1"][passed] * 1000).astype(int))
        angles = rocker_angles(columns, np.linspace(0, 2 * np.pi, self.samples))
        open_at = np.isnan(angles).any(axis=1)
        stroke = np.ptp(angles, axis=1)
        status = np.where(open_at, Status.UNASSEMBLABLE, Status.SOLVED)
        status[stroke < self.doubtful] = Status.AWAITING_PRECISE
        return {
            "stroke": stroke,
            "rocker": np.where(open_at[:, None], np.nan, angles),
            "removed": np.tile(np.array([-1, 3]), (len(passed), 1)),
            "crank_turns": ~open_at,
            "status": status.astype(np.int8),
            "reason": np.where(open_at, Reason.OTHER_ASSEMBLY, 0).astype(np.int16),
            "reason_value": np.where(open_at, 0.1, np.nan),
        }

    def accident(self, marks: np.ndarray) -> None:
        if self.raises & set(marks.tolist()):
            raise ArithmeticError("a pivot is zero")


@dataclass(frozen=True)
class Deadly(FourBar):
    """Takes its process along."""

    def accident(self, marks: np.ndarray) -> None:
        if self.raises & set(marks.tolist()):
            os._exit(3)


@dataclass(frozen=True)
class Endless(FourBar):
    """Never returns."""

    def accident(self, marks: np.ndarray) -> None:
        while self.raises & set(marks.tolist()):
            time.sleep(0.01)


@dataclass(frozen=True)
class Digits:
    """A precise task: says which variants it was asked for."""

    attrs: Mapping[str, Any] = field(default_factory=dict)
    coords: Mapping[str, list[str]] = field(default_factory=dict)
    outputs: tuple[Output, ...] = (Output("precise_rank", dtype="int16"),)

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        count = len(passed)
        return {
            "precise_rank": np.full(count, 8),
            "precise_status": np.full(count, PreciseStatus.CERTIFIED),
            "precise_reason": np.zeros(count),
            "precise_reason_value": np.full(count, np.nan),
        }
