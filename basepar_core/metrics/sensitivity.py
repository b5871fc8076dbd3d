"""Exact derivatives of a motion's results by symbols of the geometry.

Complex-step differentiation of the plain NumPy path: every symbol gets an imaginary part of
1e-100 in a lane of its own, all arithmetic is analytic, and what comes out has the derivative
times 1e-100 for its imaginary part. Squares of 1e-100 underflow, nothing is subtracted, so a
derivative is as exact as the value itself (Squire & Trapp, SIAM Review 40(1), 1998). Where an
iteration stands in the way, as in the closure of loops, its solution is differentiated instead:
the implicit function theorem, one linear solution with the loops' own Jacobian.

    seen = slopes(model, {"lx1": lengths}, cycle(mechanism, start), ["lx1", "Dx"])
    tau, tau_slope = seen.torques()      # (variant, sample, coordinate[, symbol])
    peak, peak_slope = seen.of_cycle(lambda lanes: lanes.joint("D").max(axis=1))

What is smooth has a derivative. Extremes over samples (peaks, strokes) have one almost
everywhere, that of the sample where the extreme is; where two samples tie it is one-sided.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.compiled import Engine
from basepar_core.dynamics import (
    Geometry,
    Model,
    Motion,
    Outcome,
    Trace,
    invert,
    joints,
    kinematics,
    loop_gaps,
    loop_jacobian,
    regressor,
    spatial,
)
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import Mechanism, joint_type
from basepar_core.symbolic import newton, symbol_values

from .analytic import ANALYTIC, STEP
from .lane_cycle import LaneCycle


def differentiated(
    expressions: Sequence[Expression],
    known: Mapping[str, Any],
    slopes: Mapping[str, Array],
    count: int,
) -> tuple[Array, Array]:
    """Values of expressions and their derivatives, by the chain rule.

    Parameters
    ----------
    known
        Values of all names, numbers.
    slopes
        Derivatives (symbol,) of names; 0 for those that are not there.
    count
        Number of symbols.

    Returns
    -------
    (expression,) and (expression, symbol).
    """
    marked = {
        name: np.full(count, value) + 1j * STEP * np.asarray(slopes.get(name, 0.0))
        for name, value in known.items()
    }
    found = evaluate(expressions, marked, ANALYTIC)
    table = np.stack([np.broadcast_to(np.asarray(x, complex), count) for x in found])
    return table[:, 0].real.copy(), table.imag / STEP


def of_symbols(
    mechanism: Mechanism, values: Mapping[str, Array], symbols: Sequence[str]
) -> tuple[dict[str, float], dict[str, Array]]:
    """Every symbol and constant of one variant, and its derivatives (symbol,), roots' included.

    `values` are swept symbols, (1,) arrays, SI.
    """
    _check(mechanism, symbols)
    known = _marked(mechanism, values, symbols, 1)
    return (
        {name: float(lanes[0].real) for name, lanes in known.items()},
        {name: lanes.imag / STEP for name, lanes in known.items()},
    )


@dataclass(frozen=True)
class Slopes:
    """Many variants along one motion, and derivatives of what they do.

    Attributes
    ----------
    symbols
        What derivatives are taken by.
    motion
        The coordinates' motion.
    trace
        What became of each variant; rubbish in all else where it is not closed.
    """

    model: Model = field(repr=False)
    symbols: tuple[str, ...]
    motion: Motion = field(repr=False)
    trace: Trace
    _values: Mapping[str, Array] = field(repr=False)
    _known: Mapping[str, Array] = field(repr=False)
    _q: Array = field(repr=False)
    _geometry: Geometry = field(repr=False)

    @property
    def closed(self) -> Array:
        """(variant,) bool: variants that followed the whole motion."""
        return self.trace.outcome == Outcome.CLOSED

    @property
    def W(self) -> Array:
        """(variant, sample, coordinate, parameter), as `regressor.Observation.W`."""
        return self._observed[0]

    @property
    def W_slope(self) -> Array:
        """(variant, sample, coordinate, parameter, symbol), per m or rad."""
        return self._observed[1]

    @cached_property
    def _observed(self) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            parts = [
                regressor.evaluate(
                    self.model,
                    self._geometry.take(part).over_samples(),
                    self._q[:, part],
                    self.motion,
                )[0]
                for part in _blocks(*self._q.shape[1:])
            ]
        return self._apart(np.concatenate(parts))

    def inertial_parameters(self) -> tuple[Array, Array]:
        """φ (variant, parameter) and ∂φ/∂symbol (variant, parameter, symbol), SI.

        Raises
        ------
        MissingDataError
            Bodies without inertias.
        """
        mechanism = self.model.mechanism
        if not mechanism.has_inertias:
            raise MissingDataError(
                f"Derivatives of torques need inertias, and a body of {mechanism.name!r} has "
                f"none. Give mass, centre and inertia.",
                ["bodies"],
            )
        every = [entry for body in mechanism.bodies for entry in body.parameters or ()]
        return self.of_symbols(every)

    def of_symbols(self, expressions: Sequence[Expression]) -> tuple[Array, Array]:
        """Expressions in symbols alone: (variant, expression), (variant, expression, symbol)."""
        return self._apart(self.cycle._of_symbols(expressions))

    @cached_property
    def cycle(self) -> LaneCycle:
        """The variants closed along the motion, a complex lane for each of the symbols."""
        mine = (self.model, self._known, self.motion, self._q)

        def again(engine: Engine, motion: Motion) -> LaneCycle:
            return slopes(engine.model, self._values, motion, self.symbols, engine).cycle

        return LaneCycle(*mine, _geometry=self._geometry, _again=again)

    def of_cycle(self, value: Callable[[LaneCycle], Array]) -> tuple[Array, Array]:
        """What an analytic function makes of `cycle`: (variant, …), (variant, …, symbol)."""
        with np.errstate(all="ignore"):  # variants that did not close are passengers
            return self._apart(np.asarray(value(self.cycle), complex))

    def torques(self) -> tuple[Array, Array]:
        """τ (variant, sample, coordinate) and ∂τ/∂symbol (variant, sample, coordinate, symbol).

        N or N m, of the inertias as the file states them.
        """
        phi, phi_slope = self.inertial_parameters()
        tau = np.einsum("vtcp,vp->vtc", self.W, phi)
        by_geometry = np.einsum("vtcps,vp->vtcs", self.W_slope, phi)
        return tau, by_geometry + np.einsum("vtcp,vps->vtcs", self.W, phi_slope)

    def _apart(self, lanes: Array) -> tuple[Array, Array]:
        """Values (variant, …), derivatives (variant, …, symbol) of (variant·symbol, …)."""
        return _apart(lanes, len(self.symbols))


def slopes(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    symbols: Sequence[str],
    engine: Engine | None = None,
) -> Slopes:
    """Every variant along a motion, with derivatives by symbols.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, (variant,) arrays, SI; others are nominal. Empty: one nominal variant.
    motion
        The coordinates' motion. It does not depend on the geometry: it starts at the nominal
        assembly's coordinates in every variant.
    symbols
        Geometry symbols; angles in rad. Algebraic numbers follow theirs.
    engine
        What closes the loops, where one is prepared: derivatives are the plain path's, and of
        one variant that path would spend nearly all its time on them.

    Raises
    ------
    UsageError
        A symbol that is none, or follows from its relation.
    """
    mechanism = model.mechanism
    _check(mechanism, symbols)
    path = (engine or Engine(model)).variants(values).close(motion).trace
    known = _marked(mechanism, values, symbols, path.outcome.size)
    with np.errstate(all="ignore"):  # failed variants go on as passengers
        dims = kinematics.geometry_of(mechanism, known, ANALYTIC, complex)
        q = _moved(model, dims, np.repeat(path.q, len(symbols), axis=1))
    return Slopes(model, tuple(symbols), motion, path, values, known, q, dims)


def _check(mechanism: Mechanism, symbols: Sequence[str]) -> None:
    every = {symbol.name for symbol in (*mechanism.geometry, *mechanism.constants)}
    names = every - mechanism.roots
    wrong = [name for name in symbols if name not in names]
    if wrong or not symbols:
        raise UsageError(
            f"Derivatives of {mechanism.name!r} are by its symbols that follow from no relation "
            f"({', '.join(sorted(names))}), not by {', '.join(wrong) or 'nothing'}.",
            list(wrong),
        )


def _blocks(lanes: int, samples: int) -> list[Array]:
    block = max(1, regressor.LANES // samples)
    return [np.arange(k, min(k + block, lanes)) for k in range(0, lanes, block)]


def _apart(lanes: Array, count: int) -> tuple[Array, Array]:
    apart = lanes.reshape(-1, count, *lanes.shape[1:])
    return apart[:, 0].real.copy(), np.moveaxis(apart.imag, 1, -1) / STEP


def _marked(
    mechanism: Mechanism, values: Mapping[str, Array], symbols: Sequence[str], variants: int
) -> dict[str, Array]:
    """Every symbol (variant·symbol,), with an imaginary part in the lanes of its derivatives."""
    known: dict[str, Array] = {}
    for name, value in symbol_values(mechanism, values).items():
        lanes = np.broadcast_to(np.asarray(value, float), variants)
        known[name] = np.repeat(lanes, len(symbols)).astype(complex)
    for k, name in enumerate(symbols):
        known[name][k :: len(symbols)] += 1j * STEP
    for relation in mechanism.relations:
        # At a root one step of Newton's method has the root's derivative: −(∂P/∂λ)/(∂P/∂r).
        numbers = evaluate(relation.coefficients, known, ANALYTIC)
        known[relation.symbol] = newton(numbers, known[relation.symbol])
    return known


def _moved(model: Model, dims: Geometry, q: Array) -> Array:
    """The configuration with its derivatives: dq = −C_d⁻¹ (∂gaps/∂symbol)."""
    graph, q = model.topology, q.astype(complex)
    at = kinematics.poses(graph, dims.over_samples(), q)
    gaps = loop_gaps(graph, at).imag
    jacobian = loop_jacobian(graph, at, q.shape[1:]).real
    step = np.zeros((graph.speeds, *q.shape[1:]))
    for rows, speeds in model.loops.blocks:
        C = np.moveaxis(jacobian[np.ix_(rows, speeds)], (0, 1), (-2, -1))
        inverse = invert(C.reshape(-1, *C.shape[-2:])).reshape(C.shape)
        step[list(speeds)] = -np.einsum("...ij,j...->i...", inverse, gaps[list(rows)])
    for node in graph.tree:
        size = joints.configuration_size(node.kind)
        here = slice(node.position, node.position + size)
        rate = step[node.speed : node.speed + joint_type(node.kind).values]
        first = len(joint_type(node.kind).slides)
        if joint_type(node.kind).is_ball:  # q̇ = ½ (0, ω) q, behind the slides
            quaternion, omega = q[here][first:].real, rate[first:]
            scalar, vector = quaternion[0], quaternion[1:]
            turned = scalar * omega + spatial.cross(omega, vector)
            turning = np.concatenate([-spatial.dot(omega, vector)[None], turned]) / 2
            rate = np.concatenate([rate[:first], turning])
        q[here] += 1j * rate
    return q


def condition(seen: Slopes, base: BaseParameters) -> tuple[Array, Array]:
    """Condition of the reduced observation matrix with unit columns, and its derivatives.

    Returns
    -------
    (variant,) and (variant, symbol): dσ = uᵀ dA v for the largest and the least singular value,
    which is the derivative where these are simple. nan for variants that did not close.
    """
    shape = (len(seen.W), -1, len(base.kept))
    count, kept = len(seen.symbols), list(base.kept)
    number = np.full(len(seen.W), np.nan)
    slope = np.full((len(seen.W), count), np.nan)
    W, W_slope = seen.W[..., kept].reshape(shape), seen.W_slope[..., kept, :]
    W_slope = W_slope.reshape(*shape, count)
    for k in np.flatnonzero(seen.closed & np.isfinite(W).all(axis=(1, 2))):
        A, size = W[k] / (norm := np.linalg.norm(W[k], axis=0)), norm[:, None]
        # Of a unit column a/|a| the derivative is (da − a (a·da))/|a|, a of unit length.
        moved = W_slope[k] / size
        moved -= A[..., None] * np.einsum("rp,rps->ps", A, moved)
        U, sigma, V = np.linalg.svd(A, full_matrices=False)
        rates = [np.einsum("r,rps,p->s", U[:, j], moved, V[j]) for j in (0, -1)]
        number[k] = sigma[0] / sigma[-1]
        slope[k] = number[k] * (rates[0] / sigma[0] - rates[1] / sigma[-1])
    return number, slope
