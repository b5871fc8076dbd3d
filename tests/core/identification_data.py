"""The slider-crank's record for tests: another program's motion and torque (Exudyn), 125 Hz."""

from importlib import resources
from pathlib import Path

import numpy as np

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.identification.measurement import Measurement

FOLDER = Path(str(resources.files("workflows.reproduce")))
MECHANISM = FOLDER / "identification-mechanism.yaml"
TRAIN = FOLDER / "identification-train.csv"
VALIDATION = FOLDER / "identification-validation.csv"
EXACT = {"A": "q", "A'": "qd", "A''": "qdd", "tau.A": "tau"}
#: φ₂ of the paper.
ELIMINATED = [0, 4, 8, 9, 10, 11]
#: Formulas and values of the data's own description, not ours.
BASE = {
    "crank.mx": 0.0448,
    "crank.my": 0.0,
    "crank.J": 0.003392,
    "rod.mx": 0.09,
    "rod.my": 0.0,
    "rod.J": 0.020208333333333335,
}
SIGMA_Q, SIGMA_TAU = 1e-3, 1e-2


def slider_crank():
    """The mechanism, prepared."""
    return prepare(load(str(MECHANISM)))


def columns(path=TRAIN):
    """t, q, q̇, q̈, τ as arrays by name."""
    table = np.genfromtxt(path, delimiter=",", names=True)
    return {name: table[name] for name in table.dtype.names}


def noisy(rng, path=TRAIN):
    """A record with the paper's noise on crank angle and torque."""
    one = columns(path)
    q = one["q"] + SIGMA_Q * rng.standard_normal(one["t"].size)
    tau = one["tau"] + SIGMA_TAU * rng.standard_normal(one["t"].size)
    return Measurement("noisy", one["t"], q[None], None, tau[None])


def cramer_rao(W, sigma):
    """(parameter,): least standard deviations that any unbiased estimate has; σ (row,) or one."""
    R = np.linalg.qr(W / np.broadcast_to(sigma, (len(W),))[:, None], mode="r")
    return np.linalg.norm(np.linalg.inv(R), axis=1)
