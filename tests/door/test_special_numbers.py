"""A file whose own numbers are special: its base parameters, and those of its family."""

import numpy as np

import basepar
from workflows.export.base import export

#: Equal wheels: turned alike and opposite, they are felt in fewer terms than other pairs are.
GEARED = """
name: geared crank
space: planar
gravity: [0, -9.81]
geometry:
  z1: {value: 20}
  z2: {value: 20}
  r: {value: 40, unit: mm}
  l: {value: 160, unit: mm}
bodies:
  pinion: {mass: 0.5 kg, centre: [5 mm, 0], inertia: 0.0003 kg*m^2}
  wheel: {mass: 2 kg, centre: [r/4, 0], inertia: 0.008 kg*m^2}
  rod: {mass: 0.4 kg, centre: [l/2, 0], central_inertia: 0.4 kg * l^2/12}
  slider: {mass: 0.6 kg, centre: [0, 0], inertia: 0.0002 kg*m^2}
joints:
  S1: {type: revolute, connects: [ground, pinion]}
  S2: {type: revolute, connects: [ground, wheel], at: [[0.12, 0], [0, 0]]}
  B: {type: revolute, connects: [wheel, rod], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, slider], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, slider], at: [[0.12, 0], [0, 0]], axis: [[1, 0], [1, 0]]}
couplings:
  mesh: {values: {S1: z1, S2: z2}}
coordinates: [S1]
assembly: {S1: -30 deg, S2: 30 deg, B: -37 deg, C: 7 deg}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {S1: 2 rad},
   samples: 64, seed: 1}
"""


def test_the_family_s_parameters_hold_at_every_geometry(tmp_path):
    """Torque by φ_b of the family, at the file's geometry and elsewhere: float64's rounding."""
    file = tmp_path / "geared.yaml"
    file.write_text(GEARED)
    model = basepar.load(file)
    base = model.base()
    assert base.rank == base.family.rank - 2
    assert base.family.family.rank == base.family.rank
    q = np.random.default_rng(1).uniform(-0.3, 0.3, (5, 1)) + model.assembly
    for geometry in ({}, {"r": 0.05}, {"z1": 22.0}):
        W = model.regressor(q, q, q, geometry)[..., base.family.columns]
        torque = model.torque(q, q, q, geometry=geometry)
        np.testing.assert_allclose(W @ base.base_parameters(geometry), torque, atol=1e-12)
    assert "l**2" not in base._repr_html_()
    assert "l**2" in base.family._repr_html_()
    own = model.regressor(q, q, q)[..., base.columns]
    phi = model.phi()
    eliminated = [model.parameters.index(name) for name in base.eliminated]
    beta = np.array(base.beta.subs(dict(model.mechanism.nominal)))
    found = phi[list(base.columns)] + beta.astype(float) @ phi[eliminated]
    np.testing.assert_allclose(own @ found, model.torque(q, q, q), atol=1e-12)


def test_exports_say_what_they_hold_for(tmp_path):
    """The file's title over the family's expressions would be taken for the file's own."""
    file = tmp_path / "geared.yaml"
    file.write_text(GEARED)
    base = basepar.load(file).base()
    for form, begin in (("python", "# "), ("c", "/* "), ("latex", "\\begin{align}\n% ")):
        text = export(base.parameters, form)
        head = f"Base parameters of the family of geared crank: {base.family.rank} of 16, SI."
        assert text.startswith(begin + head)
        assert f"special: {base.rank} are enough" in text
        plain = export(base.family.parameters, form)
        assert plain.startswith(f"{begin}Base parameters of geared crank: {base.family.rank} of")
        assert "special" not in plain
    assert base._repr_latex_() == ""
    assert base.family._repr_latex_() == plain
