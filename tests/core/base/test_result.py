"""Base parameters as a value: evaluation, combination, the document for programs."""

import json
import pickle

import numpy as np
import pytest

from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.result import Certificate
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.files import mechanism_file


@pytest.fixture(scope="module")
def base():
    model = closure.prepare(mechanism_file.load("four-bar"))
    return symbolic(model, parameter_indices(model.mechanism, ["J1", "J2", "J3", "m1"]))


def nominal(**changes):
    return {**mechanism_file.load("four-bar").nominal, **changes}


def by_hand(phi, lx1, lx2, ly2, lx3):
    """φ_b of the planar paper, Eq. 25, by parameter."""
    square = lx2**2 + ly2**2
    J1, J2, J3 = (phi[name] for name in ("crank.J", "coupler.J", "rocker.J"))
    return {
        "crank.mx": phi["crank.mx"] - J1 / lx1,
        "crank.my": phi["crank.my"],
        "coupler.mx": phi["coupler.mx"] - lx2 / square * J2,
        "coupler.my": phi["coupler.my"] + ly2 / square * J2,
        "coupler.m": phi["coupler.m"] + J1 / lx1**2 - J2 / square,
        "rocker.mx": phi["rocker.mx"] - J3 / lx3,
        "rocker.my": phi["rocker.my"],
        "rocker.m": phi["rocker.m"] + J2 / square - J3 / lx3**2,
    }


def test_variants_are_combined_as_the_paper_does(base):
    rng = np.random.default_rng(3)
    lengths = {name: rng.uniform(0.3, 1.5, 5) for name in ("lx1", "lx2", "ly2", "lx3")}
    phi = rng.uniform(-1, 1, (5, 12))
    entries = base.beta_entries(nominal(**lengths))
    found = base.combine(phi, entries)
    expected = by_hand(dict(zip(base.parameters, phi.T, strict=True)), **lengths)
    for k, name in enumerate(base.base_names):
        # A handful of operations.
        np.testing.assert_allclose(found[:, k], expected[name], rtol=1e-13, atol=1e-14)


def test_validity_are_the_lengths_divided_by(base):
    texts = {text for _, text in base.validity}
    assert any("lx1" in text for text in texts)
    here = base.pivot_values(nominal(lx1=np.array([0.3, 0.0]), lx3=np.array([0.0, 1.3])))
    assert (here == 0).any(axis=0).all()
    usual = base.pivot_values(nominal())
    assert usual.shape == (len(base.validity), 1)
    assert (usual != 0).all()


def test_document_is_what_the_format_says(base):
    document = json.loads(json.dumps(base.document(), allow_nan=False))
    assert document["rank"] == len(document["base"]) == 8
    assert document["eliminated"] == ["crank.m", "crank.J", "coupler.J", "rocker.J"]
    assert document["no_effect"] == ["crank.m"]
    rows = {row["parameter"]: row for row in document["base"]}
    assert set(rows["coupler.m"]["terms"]) == {"crank.J", "coupler.J"}  # zero terms left out
    assert rows["crank.my"]["terms"] == {}
    names = nominal()
    for row in document["base"]:
        for name, text in row["terms"].items():
            # Python syntax in the symbols of the file.
            value = eval(text, {"__builtins__": {}}, names)
            assert value == pytest.approx(row["values"][name], rel=1e-14)
    certificate = document["certificate"]
    assert certificate["at_most"]["rank"] == certificate["at_least"]["rank"] == 8
    assert len(certificate["at_most"]["vectors"]) == 4
    for vector in certificate["at_most"]["vectors"]:
        assert vector["grade"] == "theorem"
        assert vector["reason"]
        assert set(vector["entries"]) <= set(document["parameters"])


def test_null_vectors_of_the_document_belong_to_its_beta(base):
    """Each is a combination of parameters that β leaves without torque: n₁ = −β n₂."""
    names = nominal()
    beta = base.nominal_beta
    for vector in base.certificate.document()["at_most"]["vectors"]:
        n = np.array(
            [eval(vector["entries"].get(p, "0"), {}, names) for p in base.parameters], float
        )
        kept, eliminated = n[list(base.kept)], n[list(base.eliminated)]
        np.testing.assert_allclose(kept, -beta @ eliminated, rtol=1e-13, atol=1e-14)


def test_numeric_documents_have_no_terms():
    found = numeric(closure.prepare(mechanism_file.load("four-bar")))
    document = found.document()
    assert all("terms" not in row for row in document["base"])
    with pytest.raises(ValueError, match="nominal geometry only"):
        found.beta_entries(nominal())


def test_results_travel_to_workers(base):
    again = pickle.loads(pickle.dumps(base))
    assert again == base
    np.testing.assert_array_equal(again.nominal_beta, base.nominal_beta)


@pytest.mark.parametrize(
    ("least", "least_grade", "most", "most_grade", "grade"),
    [
        (8, "numerical", 8, "theorem", "numerical"),
        (8, "proved", 8, "theorem", "theorem"),
        (8, "proved", 8, "probability", "probability"),
        (8, "proved generically", 8, "theorem", "proved generically"),
        (7, "proved", 8, "theorem", "numerical"),  # they leave a gap
    ],
)
def test_the_weaker_statement_grades_the_certificate(least, least_grade, most, most_grade, grade):
    assert Certificate(least, least_grade, "", most, most_grade, "").grade == grade
