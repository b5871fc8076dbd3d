"""Mechanisms of growing size, and every route on them: what `growth` measures.

`arms`: bodies in series, revolute joints in generic directions at generic points. `ladders`:
planar loops; each cell is two rails and a rung on the last rung (the first is the ground), four
pins, one more degree of freedom. Lengths are rational, some of them symbols.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.base import BaseParameters, black_box, numeric, precise, product, symbolic
from basepar_core.certificate import certify, verify
from basepar_core.compiled import Engine, linear, paths
from basepar_core.dynamics import Model, Motion, Observation, excitation, observe_alone, prepare
from basepar_core.files import loads
from basepar_core.finite_field.rank import generic_rank
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import mass_columns
from basepar_core.symbolic import symbol_values
from basepar_core.torque_code import torque_program
from tests.mechanisms import R, build, linkage, nearby

#: Random states of the coordinates: each gives W a row a coordinate, of which every coordinate
#: brings 10 columns (arms) or 12 (ladders).
SAMPLES = 64


def arm(bodies: int) -> Mechanism:
    names = ["ground", *(f"b{k}" for k in range(bodies))]
    links = [(f"J{k}", R, names[k], names[k + 1]) for k in range(bodies)]
    return linkage(bodies, links, amplitude=1.0, samples=SAMPLES)


def ladder(loops: int) -> Mechanism:
    rng = np.random.default_rng(loops)
    places = {"ground": [Fraction(0)] * 2}
    geometry: dict[str, Any] = {}
    joints: dict[str, Any] = {}

    def pin(name: str, one: str, two: str, x: float, y: float, symbols: Mapping[str, int]) -> None:
        """A pin near a point in both bodies' frames; of `symbols` one number is a symbol."""
        at = [Fraction(round(100 * (c + rng.uniform(-0.1, 0.1))), 100) for c in (x, y)]
        places.setdefault(two, at)
        ends: list[list[Any]] = [[at[k] - places[b][k] for k in (0, 1)] for b in (one, two)]
        for body, end in zip((one, two), ends, strict=True):
            if body in symbols:
                symbol, k = f"{body}_{name}", symbols[body]
                geometry[symbol], end[k] = {"value": end[k], "unit": "m"}, symbol
        joints[name] = {"type": R, "connects": [one, two], "at": ends}

    for k in range(loops):
        last, top, low, rung = f"rung{k - 1}" if k else "ground", f"top{k}", f"low{k}", f"rung{k}"
        pin(f"A{k}", last, top, k, 0.8, {})
        pin(f"B{k}", last, low, k, 0.0, {})
        pin(f"C{k}", top, rung, k + 0.8, 0.8, {top: 0})
        pin(f"D{k}", low, rung, k + 0.8, 0.0, {low: 0, rung: 1})
    driven = [f"A{k}" for k in range(loops)]
    states = {"kind": "states", "samples": SAMPLES, "seed": loops, "frequency": "0.3 Hz"}
    return build(
        {
            "name": f"ladder {loops}",
            "space": "planar",
            "gravity": [0, "-9.81"],
            "geometry": geometry,
            "bodies": {body: {} for body in places if body != "ground"},
            "joints": joints,
            "coordinates": driven,
            "excitation": states | {"amplitude": dict.fromkeys(driven, 0.3)},
        }
    )


FAMILIES: Mapping[str, tuple[Callable[[int], Mechanism], tuple[int, ...]]] = {
    "arms": (arm, (3, 5, 10, 20, 40)),
    "ladders": (ladder, (1, 2, 5, 10, 20)),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism, and what routes are given of it."""

    mechanism: Mechanism

    @cached_property
    def model(self) -> Model:
        return prepare(self.mechanism)

    @cached_property
    def motion(self) -> Motion:
        return excitation(self.mechanism, self.model.assembled.coordinates)

    @cached_property
    def base(self) -> BaseParameters:
        return symbolic(self.model)

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model)

    def values(self, count: int) -> dict[str, np.ndarray]:
        return nearby(self.mechanism, count, 0.02, 1)

    def seen(self, count: int) -> Observation:
        found = self.engine.observe(self.values(count), self.motion)
        assert found.closed.all()
        return found


Job = Callable[[], Any]


def _certificate(it: Subject, _: int) -> Job:
    base = it.base
    return lambda: certify(it.model, base)


def _checked(it: Subject, _: int) -> Job:
    document = json.loads(json.dumps(certify(it.model, it.base)))
    return lambda: verify(document)


def _black_box(it: Subject, _: int) -> Job:
    wanted = it.base.eliminated
    return lambda: black_box(it.model, wanted)


def _code(it: Subject, _: int) -> Job:
    kept = it.base.kept
    return lambda: torque_program(it.model, kept)


def _spectra(it: Subject, count: int) -> Job:
    base, seen = it.base, it.seen(count)
    entries = base.beta_entries(symbol_values(it.mechanism, it.values(count)))
    entries = np.ascontiguousarray(np.broadcast_to(entries, (len(base.beta), count)))
    own = seen.W, seen.error, base.kept, base.eliminated, base.places, entries, seen.terms
    return lambda: linear.check(*own)


def _path(it: Subject, count: int) -> Job:
    seen, kept = it.seen(count), it.base.kept
    phi = np.random.default_rng(5).uniform(0.5, 2.0, (count, seen.W.shape[3]))
    return lambda: paths.own_path(seen.W, phi, kept, None, seen.error, np.arange(count))


#: What does the work of some variants, given a subject: all before its return is preparation.
#: All but kernels look at the nominal geometry alone.
ROUTES: Mapping[str, Callable[[Subject, int], Job]] = {
    "file read, assembled": lambda it, _: lambda: prepare(loads(it.mechanism.source)),
    "numeric": lambda it, _: lambda: numeric(it.model),
    "generic rank": lambda it, _: lambda: generic_rank(it.model),
    "symbolic": lambda it, _: lambda: symbolic(it.model),
    "symbolic, φ₂ of float64": lambda it, _: (
        lambda: symbolic(it.model, numeric(it.model).eliminated)
    ),
    "precise": lambda it, _: lambda: precise(it.model),
    "black box": _black_box,
    "product": lambda it, _: lambda: product(it.model),
    "certificate": _certificate,
    "certificate checked": _checked,
    "W, NumPy": lambda it, _: lambda: observe_alone(it.model, it.motion),
    "mass matrix, NumPy": lambda it, _: lambda: mass_columns(it.model, it.motion),
    "torques as code": _code,
    "kernels: loops": lambda it, n: lambda: it.engine.variants(it.values(n)).close(it.motion),
    "kernels: loops and W": lambda it, n: lambda: it.seen(n),
    "kernels: spectra": _spectra,
    "kernels: reduction path": _path,
}
