"""Variants of real mechanisms on their cycles, for the tests of reduction."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from basepar_core.api import load
from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.result import BaseParameters
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import Model, prepare
from basepar_core.dynamics.motion import cycle
from basepar_core.dynamics.regressor import observe
from basepar_core.reduction.reduce import noise_levels
from tests.mechanisms import nearby

MECHANISMS = {"four-bar": 6, "slider-crank": 6, "five-bar": 6, "ur10": 2}


@dataclass(frozen=True)
class Case:
    """Variants of a mechanism on their cycle: nominal first, then others nearby."""

    model: Model
    base: BaseParameters
    W: np.ndarray
    phi: np.ndarray
    error: np.ndarray

    @property
    def W_b(self) -> np.ndarray:
        return self.W[..., list(self.base.kept)]

    @property
    def noise(self) -> np.ndarray:
        found = noise_levels(self.model.mechanism)
        assert found is not None
        return found

    def torque(self, phi: np.ndarray) -> np.ndarray:
        return np.einsum("vscp,vp->vsc", self.W, phi)

    def random_phi(self, seed: int) -> np.ndarray:
        """Parameters without the symmetry of bars, so that nothing is zero or equal."""
        return np.random.default_rng(seed).uniform(0.5, 2.0, self.phi.shape)


@cache
def case(name: str, eliminated: tuple[str, ...] = ()) -> Case:
    model = prepare(load(name))
    mechanism = model.mechanism
    wanted = parameter_indices(mechanism, eliminated) if eliminated else None
    base = symbolic(model, wanted)
    values = nearby(mechanism, MECHANISMS[name], 0.04, seed=3)
    values = {key: np.append(mechanism.nominal[key], x) for key, x in values.items()}
    seen = observe(model, values, cycle(mechanism, model.assembled.coordinates))
    assert seen.closed.all()
    phi = mechanism.inertial_parameters({**mechanism.nominal, **values})
    phi = np.broadcast_to(phi, (len(seen.W), phi.shape[-1]))
    return Case(model, base, seen.W, phi, seen.error)


def rows(W: np.ndarray, tau: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One variant's weighted observation matrix and torque."""
    return (W * weights[:, None]).reshape(-1, W.shape[-1]), (tau * weights).ravel()
