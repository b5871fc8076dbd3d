"""Base parameters in Python: expressions, numbers, certificates."""

import numpy as np
import pytest
import sympy

import basepar


@pytest.fixture(scope="module")
def base():
    return basepar.load("four-bar").base(eliminate=["J1", "J2", "J3", "m1"])


def test_beta_is_the_papers(base):
    """The planar base-parameter paper's Eqs. 22–25 begin with crank.mx − crank.J/lx1."""
    lx1, lx2, ly2 = sympy.symbols("lx1 lx2 ly2")
    row = base.beta[base.names.index("coupler.m"), :]
    by_name = dict(zip(base.eliminated, row, strict=True))
    assert sympy.simplify(by_name["crank.J"] - 1 / lx1**2) == 0
    assert sympy.simplify(by_name["coupler.J"] + 1 / (lx2**2 + ly2**2)) == 0
    assert base.rank == 8
    assert base.beta.shape == (8, 4)


def test_base_parameters_give_the_torque(base):
    """τ = W[..., columns] φ_b at every geometry."""
    model = basepar.load("four-bar")
    lengths = {"lx1": np.array([[0.25], [0.32], [0.4]]), "Dx": 1.1}
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 5, 1))
    W = model.regressor(q, qd, qdd, lengths)
    phi_b = base.base_parameters(lengths)
    assert phi_b.shape == (3, 1, 8)
    tau = np.einsum("vscb,vsb->vsc", W[..., list(base.columns)], np.broadcast_to(phi_b, (3, 5, 8)))
    # Sums of twelve terms whose sizes are of the torque's order.
    np.testing.assert_allclose(tau, model.torque(q, qd, qdd, geometry=lengths), atol=1e-12)


def test_entries_are_betas_at_many_geometries(base):
    lengths = np.linspace(0.2, 0.5, 1000).reshape(10, 100)
    found = base.evaluate({"lx1": lengths})
    assert found.shape == (10, 100, len(base.entries))
    for place, (kept, gone) in enumerate(base.entries):
        expression = base.beta[base.names.index(kept), base.eliminated.index(gone)]
        function = sympy.lambdify(sympy.symbols("lx1 lx2 ly2 lx3 Dx Dy"), expression, "numpy")
        expected = function(lengths, 0.7, 1.1, 1.3, 1.0, 0.1)
        np.testing.assert_allclose(
            found[..., place], np.broadcast_to(expected, lengths.shape), rtol=1e-12
        )
    room = np.empty_like(found)
    assert base.evaluate({"lx1": lengths}, out=room) is room
    np.testing.assert_array_equal(room, found)


def test_a_certificate_is_confirmed_and_a_changed_one_rejected(base, tmp_path):
    document = base.certificate()
    assert basepar.verify(document, mechanism="four-bar").rank == 8
    with pytest.raises(basepar.BaseparError, match="rejected"):
        basepar.verify({**document, "grade": "proved"})
    with pytest.raises(basepar.UsageError, match="no file"):
        basepar.verify(tmp_path / "none.json")


def test_routes(base):
    model = basepar.load("four-bar")
    numeric = model.base("numeric")
    assert numeric.rank == 8
    assert numeric.beta.free_symbols == set()
    with pytest.raises(basepar.UsageError, match="symbolic route"):
        numeric.evaluate()
    with pytest.raises(basepar.UsageError, match="of the symbolic route, not of numeric"):
        numeric.certificate()
    with pytest.raises(basepar.UsageError, match="no route 'quick'"):
        model.base("quick")
    with pytest.raises(basepar.UsageError, match="digits"):
        model.base(digits=40)
    assert model.base("precise", digits=40).rank == 8


def test_other_values_have_no_certificate():
    """A certificate holds the file's text, which does not state them."""
    base = basepar.load("four-bar", {"lx1": 0.31}).base()
    with pytest.raises(basepar.UsageError, match="write these values into one"):
        base.certificate()


def test_a_notebook_shows_digits_as_they_are():
    shown = basepar.load("four-bar").base("precise", digits=20)._repr_html_()
    assert "0.27272727272727272727*coupler.my" in shown
