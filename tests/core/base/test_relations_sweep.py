"""Algebraic numbers that depend on swept symbols: the same mechanism written in two ways."""

import numpy as np

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.files.mechanism_file import library_path, loads


def with_the_coupler_along_its_axis() -> str:
    """The four-bar with frame 2 turned along BC, whose length is then a root."""
    text = library_path("four-bar").read_text()
    for old, new in (
        ("[[lx2, -ly2], [0, 0]]", "[[L2, 0], [0, 0]]"),
        (
            "  Dy: {value: 0.1, unit: m}",
            "  Dy: {value: 0.1, unit: m}\n  L2: {value: 1.3038, unit: m}\n"
            "relations: {L2: L2^2 = lx2^2 + ly2^2}",
        ),
        # The new frame is turned by atan(−1.1/0.7) = −57.5 deg.
        ("B: 91.3 deg", "B: 17 deg"),
        ("C: -203.8 deg", "C: -155 deg"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_root_follows_the_sweep():
    values = {"lx2": np.array([0.7, 0.75, 0.66]), "lx1": np.array([0.3, 0.35, 0.25])}
    spectra = []
    for mechanism in (load("four-bar"), loads(with_the_coupler_along_its_axis())):
        model = prepare(mechanism)
        seen = observe(model, values, excitation(mechanism, model.assembled.coordinates))
        assert seen.closed.all()
        spectra.append(np.linalg.svd(seen.stacked, compute_uv=False)[:, :8])
    # Turning a body's frame rotates (mx, my), which changes no singular value; the root is
    # exact to float64, and the smallest value is 1e-3 of the largest.
    np.testing.assert_allclose(spectra[0], spectra[1], rtol=1e-11)


def test_base_parameters_over_a_root():
    base = symbolic(prepare(loads(with_the_coupler_along_its_axis())))
    assert base.rank == 8
    entries = {
        (base.base_names[e.base], base.eliminated_names[e.eliminated]): e.value for e in base.beta
    }
    # J − L2·mx: a mass moved along the coupler. The nominal root of lx2² + ly2² = 1.7.
    assert np.isclose(entries["coupler.J", "coupler.mx"], -np.sqrt(1.7), rtol=1e-14)
    assert any("L2" in (e.text or "") for e in base.beta)
