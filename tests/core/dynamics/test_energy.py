"""The energies' matrix H: against balls of variable precision, the work of the drives, and W."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from basepar_core.base.numeric_route import spectrum
from basepar_core.base.symbolic_route import numeric
from basepar_core.dynamics import closure, motion
from basepar_core.dynamics.energy import energies
from basepar_core.dynamics.force_columns import columns, with_columns
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.expressions.tree import Number
from basepar_core.files import mechanism_file
from basepar_core.identification.motion_regressor import observe_motion
from basepar_core.mechanism import Damper, Fourier, Friction, Spring
from basepar_core.variable_precision.observation import variant


def observed(mechanism, samples=None):
    model = closure.prepare(mechanism)
    law = mechanism.excitation
    law = law if samples is None else replace(law, samples=samples)
    moving = motion.excite(law, mechanism, model.assembled.coordinates)
    return model, moving, observe(model, {}, moving)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "rssr", "scara"])
def test_entries_are_those_of_variable_precision(name):
    """Balls, quaternions and Newton–Euler in the plain there; frames and batches here."""
    model, moving, seen = observed(mechanism_file.load(name))
    H = energies(model, {}, moving, seen).W[0]
    few = variant(model, {}, 5)
    found = few.observe(25, "energy")
    table = [[float(Fraction(int(x)) * Fraction(2) ** found.scale) for x in row]
             for row in found.entries.tolist()]  # fmt: skip
    # Both potentials less that of the first sample in use, which is sample 0 for both.
    ours = H[list(few.picks)].reshape(len(table), -1)
    # What is left is float64's closure, 1e-13, and rounding of entries of order one to a hundred.
    np.testing.assert_allclose(ours, table, atol=1e-12 * np.abs(ours).max(), rtol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar", "scara", "3-rrr"])
def test_the_null_space_is_that_of_inverse_dynamics(name):
    model, moving, seen = observed(mechanism_file.load(name))
    H = energies(model, {}, moving, seen)
    base = numeric(model, seen=seen)
    assert spectrum(H.stacked, H.error, H.terms).rank[0] == base.rank
    kept, gone = list(base.kept), list(base.eliminated)
    left = H.stacked[0][:, gone] - H.stacked[0][:, kept] @ base.nominal_beta
    assert np.abs(left).max() < 1e-10 * np.abs(H.stacked).max()  # rounding and closure
    # And the route itself takes H for W, with the same φ₂.
    again = numeric(model, base.eliminated, seen=H)
    np.testing.assert_allclose(again.nominal_beta, base.nominal_beta, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "scara"])
def test_energies_change_by_the_work_of_the_drives(name):
    """d/dt h φ = q̇ᵀ W φ for every column: differences of H against inverse dynamics."""
    mechanism = mechanism_file.load(name)
    first = mechanism.coordinates[0]
    bodies = (mechanism.bodies[0].name, mechanism.bodies[-1].name)
    points = tuple(tuple(Number(n) for n in p) for p in ((1, 2, 0), (-1, 1, 0)))
    mechanism = replace(
        mechanism,
        friction=(Friction(first, "rotor"),),
        springs=(Spring("S", Number(1), first), Spring("T", Number(2), None, bodies, points)),
    )
    law = mechanism.excitation
    assert isinstance(law, Fourier)
    slow = replace(law, harmonics=2, samples=2000)
    model = closure.prepare(mechanism)
    moving = motion.excite(slow, mechanism, model.assembled.coordinates)
    chosen = columns(mechanism)
    seen = observe_motion(model, moving)
    H = energies(model, {}, moving, seen, chosen).W[0]
    W = with_columns(model, {}, moving, seen, chosen).W[0]
    v = moving.q_dot
    pairs = [(i, j) for i in range(len(v)) for j in range(i, len(v))]
    weight = np.stack([v[i] * v[j] / (2 if i == j else 1) for i, j in pairs], axis=1)
    h = np.einsum("sr,srp->sp", weight, H[:, :-1]) + H[:, -1]
    step = moving.t[1]
    ahead = [np.roll(h, -k, axis=0) for k in (-2, -1, 1, 2)]  # the motion is periodic
    change = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * step)
    power = np.einsum("ks,skp->sp", v, W)
    # The stencil errs by (2π k/2000)⁴/30 of the k-th harmonic: 3e-8 of the tenth; rounding 1e-11.
    scale = np.abs(power).max(axis=0)
    assert (np.abs(change - power).max(axis=0) < 1e-6 * np.maximum(scale, 1e-3)).all()


def test_friction_is_refused_by_name():
    mechanism = mechanism_file.load("four-bar")
    points = tuple(tuple(Number(n) for n in p) for p in ((0, 0, 0), (1, 0, 0)))
    mechanism = replace(
        mechanism,
        friction=(Friction("A", "coulomb"), Friction("B", "rotor"), Friction("B", "offset")),
        dampers=(Damper("Z", ("ground", "rocker"), points),),
    )
    model, moving, seen = observed(mechanism)
    with pytest.raises(UsageError) as caught:
        energies(model, {}, moving, seen, columns(mechanism))
    assert caught.value.where == ("A.coulomb", "B.offset", "Z.damping")
