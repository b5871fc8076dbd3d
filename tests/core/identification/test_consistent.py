"""Physical consistency: eigenvalues about the centre of mass, and optimality by point masses."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from basepar_core.base.extended import extend
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.force_columns import columns
from basepar_core.errors import UsageError
from basepar_core.files import mechanism_file
from basepar_core.identification.estimate import Estimate
from basepar_core.identification.physical_consistency import NEAR, consistent_parameters
from basepar_core.identification.procedure import identify
from basepar_core.mechanism import Friction
from tests.core import identification_data as data

pytest.importorskip("cvxpy")


@dataclass
class Found:
    """As much of an identification as there is to it."""

    model: closure.Model
    base: object
    estimate: Estimate
    known: dict
    columns: tuple = ()

    @property
    def names(self):
        return self.base.base_names

    @property
    def base_values(self):
        return self.estimate.values


def estimated(model, base, values, covariance):
    blank = np.zeros(0)
    return Found(model, base, Estimate(values, covariance, blank, blank, blank, 1, 1.0), {})


def bodies(found, near):
    """(body, parameter) in the file's order."""
    names = found.model.mechanism.parameter_names
    count = len(found.model.mechanism.bodies)
    return np.array([near.parameters[name] for name in names]).reshape(count, -1)


def about_centre(phi):
    """Mass, and inertia about the centre of mass, by Steiner: nothing of pseudo-inertias."""
    m = phi[0]
    if len(phi) == 4:
        return m, np.array([phi[3] - (phi[1] ** 2 + phi[2] ** 2) / m])
    h = phi[1:4]
    xx, xy, xz, yy, yz, zz = phi[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return m, np.linalg.eigvalsh(I - (h @ h * np.eye(3) - np.outer(h, h)) / m)


def point_masses(planar, size, rng):
    """Parameters (point, parameter) of unit masses here, there and far away."""
    p = rng.standard_normal((4000, 3)) * size * 10.0 ** rng.uniform(-2, 2, (4000, 1))
    one = np.ones(4000)
    x, y, z = p.T
    if planar:
        return np.stack([one, x, y, x**2 + y**2], axis=1)
    squares = [y**2 + z**2, -x * y, -x * z, x**2 + z**2, -y * z, x**2 + y**2]
    return np.stack([one, x, y, z, *squares], axis=1)


def nearest(found, near):
    """No bodies are nearer: no point mass, added to any body anywhere, brings the estimate nearer,
    and neither more nor less of what is there does.

    Bodies are sums of point masses, and the distance is convex: that is all of optimality, and
    knows neither matrix inequalities nor the solver. NEAR is what ours gives up.
    """
    base, mechanism = found.base, found.model.mechanism
    phi = bodies(found, near)
    count, each = phi.shape
    root = np.linalg.cholesky(found.estimate.covariance)
    moved = np.linalg.solve(root, near.base_values - found.estimate.values)
    L = np.zeros((base.rank, len(base.parameters)))
    L[:, list(base.kept)], L[:, list(base.eliminated)] = np.eye(base.rank), base.nominal_beta
    slope = (np.linalg.solve(root.T, moved / np.linalg.norm(moved)) @ L)[: count * each]
    orders = [0, 1, 1, 2] if each == 4 else [0, 1, 1, 1] + [2] * 6
    true = mechanism.inertial_parameters(mechanism.nominal).reshape(count, each)
    scale = true[:, 0].max() * near.size ** np.array(orders, float)
    rays = point_masses(each == 4, near.size, np.random.default_rng(0))
    lengths = np.linalg.norm(rays / scale, axis=1)
    for one in slope.reshape(count, each):
        assert (rays @ one / lengths).min() >= -1.01 * NEAR - 1e-6
    total = np.linalg.norm(phi / scale)
    # The floor of a ten millionth keeps its share of slopes of up to a thousand.
    assert abs(slope @ phi.ravel()) <= 1.01 * NEAR * total + 1e-3


@pytest.fixture(scope="module")
def slider_crank():
    model = data.slider_crank()
    return model, symbolic(model, data.ELIMINATED, exact=False)


def test_a_consistent_estimate_stays(slider_crank):
    model, base = slider_crank
    found = identify(model, data.noisy(np.random.default_rng(3)), base=base)
    near = consistent_parameters(found)
    # Norms, not squares: it stays exactly, to the 1e-8 of its size at which the solver stops.
    assert near.distance < 1e-4
    assert near.chance > 0.999
    given = consistent_parameters(found, {"rod.m": 0.22})
    assert given.parameters["rod.m"] == pytest.approx(0.22, rel=1e-6)
    with pytest.raises(UsageError, match="`known=`"):
        consistent_parameters(found, {"crank.J": 1.0})


@pytest.mark.parametrize("seed", [1, 2])
def test_the_nearest_bodies_of_a_plane(slider_crank, seed):
    """Torque noise a hundred times the paper's: least squares gives what no bodies have."""
    model, base = slider_crank
    rng = np.random.default_rng(seed)
    truth = np.array([data.BASE[name] for name in base.base_names])
    spread = 0.6 * np.abs(truth) + 2e-3
    mix = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    covariance = np.diag(spread) @ (np.eye(6) / 2 + mix[:, :2] @ mix[:, :2].T) @ np.diag(spread)
    values = truth + np.linalg.cholesky(covariance) @ rng.standard_normal(6) * 1.5
    values[list(base.base_names).index("crank.J")] = -1e-3
    found = estimated(model, base, values, covariance)
    near = consistent_parameters(found)
    for phi in bodies(found, near):
        mass, central = about_centre(phi)
        assert mass > 0
        assert central.min() > 0
    assert near.distance > 0.1
    nearest(found, near)


def test_bodies_in_space_and_friction():
    """A SCARA's true parameters with errors of half their size: masses, eigenvalues, triangle."""
    plain = mechanism_file.load("scara")
    mechanism = replace(plain, friction=(Friction(plain.coordinates[0], "viscous"),))
    model = closure.prepare(mechanism)
    base = extend(model, numeric(model), columns(mechanism))
    phi = mechanism.inertial_parameters(mechanism.nominal)
    truth = np.append(phi, 0.5)
    values = truth[list(base.kept)] + base.nominal_beta @ truth[list(base.eliminated)]
    rng = np.random.default_rng(8)
    spread = 0.5 * np.abs(values) + 0.01
    wrong = values + spread * rng.standard_normal(values.size)
    wrong[list(base.base_names).index(columns(mechanism)[0].name)] = -0.4
    found = replace(estimated(model, base, wrong, np.diag(spread**2)), columns=columns(mechanism))
    near = consistent_parameters(found)
    for phi in bodies(found, near):
        mass, central = about_centre(phi)
        assert mass > 0
        assert central.min() > 0
        # Moments of real bodies: none is more than the other two together.
        assert central.sum() >= 2 * central.max() * (1 - 1e-9)
    assert near.parameters[columns(mechanism)[0].name] >= -1e-8
    assert min(near.least.values()) > 0
    off = (near.base_values - wrong) / spread
    # Deviations count as no less than 1e-5 of a parameter: of 0.01 and more, squared, 1e-6.
    assert np.linalg.norm(off) == pytest.approx(near.distance, rel=1e-6)
    nearest(found, near)
    # The true ones are bodies too, so the nearest are no further than they.
    assert near.distance <= np.linalg.norm((values - wrong) / spread)
