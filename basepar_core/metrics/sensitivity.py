"""Exact derivatives of a motion's results by symbols of the geometry.

Complex-step differentiation of the plain NumPy path: every symbol gets an imaginary part of
1e-100 in a lane of its own, all arithmetic is analytic, and what comes out has the derivative
times 1e-100 for its imaginary part. Squares of 1e-100 underflow, nothing is subtracted, so a
derivative is as exact as the value itself (Squire & Trapp, SIAM Review 40(1), 1998). Where an
iteration stands in the way, as in the closure of loops, its solution is differentiated instead:
the implicit function theorem, one linear solution with the loops' own Jacobian.

    seen = slopes(model, {"lx1": lengths}, cycle(mechanism, start), ["lx1", "Dx"])
    tau, tau_slope = seen.torques()      # (variant, sample, coordinate[, symbol])
    rms, rms_slope = root_mean_square(tau, tau_slope)

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
    places,
    regressor,
    spatial,
)
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.expressions import NUMPY, Expression, evaluate
from basepar_core.mechanism import Mechanism, joint_type
from basepar_core.symbolic import newton, polynomial, symbol_values

#: Imaginary part that marks a symbol; its square is below the least float64.
STEP = 1e-100


def _where_real(function: Callable[[Any], Any], low: float) -> Callable[[Any], Any]:
    """A function with the domain it has over real numbers: nan outside."""
    return lambda x: np.where(np.real(x) >= low, function(x), complex(np.nan, np.nan))


def _extreme(is_better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reduce(*values: Any) -> Any:
        result = values[0]
        for value in values[1:]:
            result = np.where(is_better(np.real(value), np.real(result)), value, result)
        return result

    return reduce


#: Analytic functions of complex numbers next to the real line, for `expressions.evaluate`.
ANALYTIC: Mapping[str, Callable[..., Any]] = {
    **NUMPY,
    "/": lambda a, b: np.asarray(a, complex) / b,
    "^": lambda a, b: np.asarray(a, complex) ** b,
    "sqrt": _where_real(lambda x: np.sqrt(np.asarray(x, complex)), 0.0),
    "abs": lambda x: np.where(np.real(x) < 0, -np.asarray(x), x),
    "min": _extreme(np.less),
    "max": _extreme(np.greater),
}


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
        lanes = self._q.shape[1]
        found = evaluate(expressions, self._known, ANALYTIC)
        table = np.stack([np.broadcast_to(np.asarray(x, complex), lanes) for x in found])
        return self._apart(table.T)

    def torques(self) -> tuple[Array, Array]:
        """τ (variant, sample, coordinate) and ∂τ/∂symbol (variant, sample, coordinate, symbol).

        N or N m, of the inertias as the file states them.
        """
        phi, phi_slope = self.inertial_parameters()
        tau = np.einsum("vtcp,vp->vtc", self.W, phi)
        by_geometry = np.einsum("vtcps,vp->vtcs", self.W_slope, phi)
        return tau, by_geometry + np.einsum("vtcp,vps->vtcs", self.W, phi_slope)

    def joint_values(self, name: str) -> tuple[Array, Array]:
        """A joint's value (variant, sample), continued past π, and its derivatives."""
        which = self.model.mechanism.value(name)
        joint, k, place = which.joint, which.number, which.place
        at = kinematics.poses(self.model.topology, self._geometry.over_samples(), self._q)
        found = joints.values(joint.type, at.X1[k], at.X2[k], at.P2[k] - at.P1[k])[place]
        value, slope = self._apart(np.broadcast_to(found, self._q.shape[1:]))
        if which.is_angle:
            value = np.unwrap(value, axis=-1)
        return value, slope

    def point(self, name: str, axis: int) -> tuple[Array, Array]:
        """A coordinate of a point (variant, sample), m in the ground's frame, and derivatives."""
        (point,) = (one for one in self.model.mechanism.points if one.name == name)
        numbers = evaluate(point.at, self._known, ANALYTIC)
        lanes = self._q.shape[1]
        local = np.stack([np.broadcast_to(np.asarray(x, complex), lanes) for x in numbers])
        dims = self._geometry.over_samples()
        found = places(self.model, dims, self._q, (point,), local[None, ..., None])
        return self._apart(found[0, axis])

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
    return Slopes(model, tuple(symbols), motion, path, known, q, dims)


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
    free = [s for s in (*mechanism.geometry, *mechanism.constants) if not s.is_angle]
    for relation in mechanism.relations:
        others = [symbol for symbol in free if symbol.name != relation.symbol]
        coefficients, _ = polynomial(others, relation)
        # At a root one step of Newton's method has the root's derivative: −(∂P/∂λ)/(∂P/∂r).
        numbers = evaluate(coefficients, known, ANALYTIC)
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


def root_mean_square(values: Array, slope: Array) -> tuple[Array, Array]:
    """Over the samples: values (variant, sample, …), slope (variant, sample, …, symbol).

    Smooth but where all values vanish.
    """
    rms = np.sqrt((values**2).mean(axis=1))
    with np.errstate(all="ignore"):
        return rms, (values[..., None] * slope).mean(axis=1) / rms[..., None]


def peak(values: Array, slope: Array) -> tuple[Array, Array]:
    """Largest absolute value over the samples, and the derivative of that sample's.

    Not smooth: where two samples tie, this is the derivative of one of them.
    """
    at = np.abs(values).argmax(axis=1, keepdims=True)
    found = np.take_along_axis(values, at, axis=1)
    moved = np.take_along_axis(slope, at[..., None], axis=1)
    return np.abs(found)[:, 0], (np.sign(found)[..., None] * moved)[:, 0]


def greatest(values: Array, slope: Array) -> tuple[Array, Array]:
    """Greatest value over the samples: values (variant, sample).

    A derivative almost everywhere, as `peak`.
    """
    rows, at = np.arange(len(values)), values.argmax(axis=1)
    return values[rows, at], slope[rows, at]


def least(values: Array, slope: Array) -> tuple[Array, Array]:
    """Least value over the samples, as `greatest`."""
    low, down = greatest(-values, -slope)
    return -low, -down


def stroke(values: Array, slope: Array) -> tuple[Array, Array]:
    """Greatest less least value over the samples, as `greatest`."""
    (high, up), (low, down) = greatest(values, slope), least(values, slope)
    return high - low, up - down


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
