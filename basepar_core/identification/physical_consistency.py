"""Full inertial parameters that bodies can have, nearest to an estimate.

Least squares knows nothing of mass distributions: it may say that a bar has a negative moment of
inertia about its centre. A body's parameters belong to some distribution of positive mass exactly
if its pseudo-inertia matrix is positive (Wensing, Kim & Slotine, IEEE Robotics and Automation
Letters 3(1), 2018; as linear matrix inequalities for identification: Sousa & Cortesão, Int. J.
Robotics Research 33(6), 2014). Friction, damping, stiffness and rotor inertia are not negative;
offsets, cables' polynomials and counterweights may be.

The base parameters are moved as little as can be, measured by the estimate's covariance; what they
leave open is chosen near to the file's inertias (or, without any, small). That is one convex
problem, min ‖Δ‖ + γ‖x − x₀‖: norms, not squares, so that an estimate that bodies can have stays
exactly where it is. CVXPY states it, Clarabel solves it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, kinematics
from basepar_core.errors import MissingDataError, UsageError

from .result import Identification

if TYPE_CHECKING:
    import cvxpy

#: Least eigenvalue of a scaled pseudo-inertia: a ten millionth of the heaviest body, or a
#: thickness of 3e-4 of the mechanism's size. The solver's own 1e-8 is below.
FLOOR = 1e-7
#: γ: deviations that the base parameters may move further for full parameters that are nearer to
#: the file's by as much as the heaviest body.
NEAR = 1e-3
#: Deviations below this share of a parameter's size count as this, the first that the solver
#: manages: exact signals have some of 1e-10, which it cannot weigh against the rest.
FINEST = (1e-5, 1e-4, 1e-3)
#: Kinds of force-law columns that may have any sign.
FREE = ("offset", "polynomial", "sine", "cosine")


@dataclass(frozen=True)
class Consistent:
    """Parameters that bodies can have.

    Attributes
    ----------
    parameters
        All, by name, SI.
    base_values
        (base,): what they amount to.
    distance
        How far the base parameters had to move, in deviations: √(Δᵀ Σ⁻¹ Δ).
    chance
        Probability that noise alone moves a consistent mechanism's estimate so far.
    least
        Least eigenvalue of each body's pseudo-inertia, lengths in units of `size`; kg.
    size
        The longest offset in the mechanism, m.
    """

    parameters: Mapping[str, float]
    base_values: Array
    distance: float
    chance: float
    least: Mapping[str, float]
    size: float


def pseudo_inertia(phi: Any, planar: bool, size: float = 1.0) -> list[list[Any]]:
    """Pseudo-inertia of one body's parameters, rows of entries, lengths in units of `size`.

    Spatial 4×4: ∫[x x1; x1 1]dm from I = tr(S)1 − S. In the plane only J = ∫x²+y² is known; the
    3×3 matrix that is positive for the same bodies has m J ≥ mx² + my².
    """
    if planar:
        m, x, y, J = phi[0], phi[1] / size, phi[2] / size, phi[3] / size**2
        return [[J, x, y], [x, m, 0 * m], [y, 0 * m, m]]
    m, x, y, z = phi[0], phi[1] / size, phi[2] / size, phi[3] / size
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = (phi[k] / size**2 for k in range(4, 10))
    half = (Ixx + Iyy + Izz) / 2
    return [
        [half - Ixx, -Ixy, -Ixz, x],
        [-Ixy, half - Iyy, -Iyz, y],
        [-Ixz, -Iyz, half - Izz, z],
        [x, y, z, m],
    ]


def consistent_parameters(
    found: Identification, given: Mapping[str, float] | None = None
) -> Consistent:
    """The nearest parameters that bodies can have.

    Parameters
    ----------
    found
        An identification. Base parameters that it knows stay as they are; ones that it dropped
        as not essential are free.
    given
        Eliminated parameters by name that are known, such as a weighed body's mass.

    Raises
    ------
    MissingDataError
        CVXPY is not installed, or β has no values.
    UsageError
        Names that are not eliminated, or values that no bodies have.
    """
    base, names = found.base, list(found.base.parameters)
    unknown = [name for name in given or {} if name not in base.eliminated_names]
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} cannot be given: only eliminated parameters can, "
            f"{', '.join(base.eliminated_names)}. Base parameters are given with `known=`.",
            unknown,
        )
    if not np.isfinite(base.nominal_beta).all():
        raise MissingDataError("β cannot be evaluated at the nominal geometry.", ["beta"])
    problem = _Problem(found.model, found, given or {})
    x = problem.solve()
    values = dict(zip(names, map(float, x), strict=True))
    moved = problem.moved(x)
    planar, bodies = found.model.mechanism.planar, found.model.mechanism.bodies
    each = len(found.model.mechanism.parameter_names) // len(bodies)
    least = {
        body.name: float(
            np.linalg.eigvalsh(
                np.array(pseudo_inertia(x[k * each : (k + 1) * each], planar, problem.size), float)
            )[0]
        )
        for k, body in enumerate(bodies)
    }
    return Consistent(
        values,
        problem.L @ x,
        float(np.linalg.norm(moved)),
        float(chi2.sf(moved @ moved, len(moved))),
        least,
        problem.size,
    )


class _Problem:
    """Both problems, in parameters that are scaled to the size of the mechanism."""

    def __init__(self, model: Model, found: Identification, given: Mapping[str, float]):
        self.cp = _library()
        mechanism, base = model.mechanism, found.base
        self.planar, self.bodies = mechanism.planar, len(mechanism.bodies)
        self.count, self.inertial = len(base.parameters), len(mechanism.parameter_names)
        self.L = np.zeros((base.rank, self.count))
        self.L[:, list(base.kept)] = np.eye(base.rank)
        self.L[:, list(base.eliminated)] = base.nominal_beta
        self.size = _size(model)
        places = [list(base.base_names).index(name) for name in found.names]
        self.rows, self.target = self.L[places], found.estimate.values
        self.known = [
            (self.L[list(base.base_names).index(n)], value) for n, value in found.known.items()
        ]
        self.known += [
            (np.eye(self.count)[list(base.parameters).index(n)], v) for n, v in given.items()
        ]
        self.signed = [
            self.inertial + k for k, one in enumerate(found.columns) if one.kind not in FREE
        ]
        self.prior, self.scale = self._scales(mechanism, found)
        self.covariance = found.estimate.covariance
        self.root = np.eye(len(self.target))

    def _scales(self, mechanism: Any, found: Identification) -> tuple[Array, Array]:
        """What to stay near to, and the size of each parameter."""
        orders = (0, 1, 1, 2) if self.planar else (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)
        lengths = self.size ** np.tile(np.array(orders, float), self.bodies)
        prior = np.zeros(self.count)
        if mechanism.has_inertias:
            prior[: self.inertial] = mechanism.inertial_parameters(mechanism.nominal)
            mass = prior[: self.inertial : len(orders)].max()
        else:  # the largest that a base parameter is worth
            places = [p for p in found.base.kept if p < self.inertial]
            mass = np.abs(found.base_values[: len(places)] / lengths[places]).max()
        further = np.maximum(np.abs(self._further(found)), np.finfo(float).eps)
        return prior, np.concatenate([mass * lengths, further])

    def _further(self, found: Identification) -> Array:
        names = [one.name for one in found.columns]
        known = dict(zip(found.base.base_names, found.base_values, strict=True))
        return np.array([known.get(name, 0.0) or 1.0 for name in names])

    def moved(self, x: Array) -> Array:
        """Base parameters' change, in independent deviations."""
        return np.linalg.solve(self.root, self.rows @ x - self.target)

    def solve(self) -> Array:
        """Parameters (parameter,), SI."""
        cp = self.cp
        x = cp.Variable(self.count)
        sizes = np.linalg.norm(self.rows * self.scale, axis=1)
        for share in FINEST:
            self.root = np.linalg.cholesky(self.covariance + np.diag((share * sizes) ** 2))
            A = np.linalg.solve(self.root, self.rows * self.scale)
            b = np.linalg.solve(self.root, self.target)
            far = cp.norm(A @ x - b) + NEAR * cp.norm(x - self.prior / self.scale)
            problem = cp.Problem(cp.Minimize(far), self._bounds(x))
            try:
                problem.solve(solver=cp.CLARABEL)
                status = problem.status
            except cp.SolverError:
                status = "the solver failed"
            if status == cp.OPTIMAL:
                break
        if status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            raise UsageError(
                f"No bodies of positive mass were found that have the known and given values "
                f"({status}). Give fewer of them, or others.",
                ["consistent="],
            )
        return np.asarray(x.value) * self.scale

    def _bounds(self, x: "cvxpy.Variable") -> list[Any]:
        cp = self.cp
        bounds = [(row * self.scale) @ x == value for row, value in self.known]
        each = self.inertial // self.bodies
        sides = self.scale[:each] / self.scale[0]
        for k in range(self.bodies):
            part = [x[k * each + j] * sides[j] for j in range(each)]
            matrix = cp.bmat(pseudo_inertia(part, self.planar, self.size))
            bounds.append((matrix + matrix.T) / 2 >> FLOOR * np.eye(matrix.shape[0]))
        return [*bounds, *(x[k] >= 0 for k in self.signed)]


def _size(model: Model) -> float:
    """The longest offset of a joint from its body's origin, m."""
    dims = kinematics.geometry(model.mechanism, {})
    origins = [o for joint in dims.joints for o in (joint.first_origin, joint.second_origin)]
    return max(float(np.sqrt((o**2).sum(axis=0)).max()) for o in origins) or 1.0


def _library() -> Any:
    try:
        import cvxpy
    except ModuleNotFoundError:
        raise MissingDataError(
            "Physical consistency needs CVXPY: pip install 'basepar[consistent]'.", ["cvxpy"]
        ) from None
    return cvxpy
